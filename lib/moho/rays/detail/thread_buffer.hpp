// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Scratch memory of host threads.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::rays::detail {

/// Returns a buffer of at least `bytes` bytes for the calling thread, aligned to a cache line. The
/// buffer is reused: its contents are valid until the thread's next call.
inline void* thread_buffer(std::size_t bytes) {
  constexpr std::size_t line = 64;
  thread_local std::vector<unsigned char> memory;
  if (memory.size() < bytes + line) memory.resize(bytes + line);
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (begin + line - 1) / line * line - begin;
}

/// Returns the bytes of `count` elements in a buffer, rounded up to complete cache lines.
template <class T>
constexpr std::size_t buffer_bytes(std::size_t count) {
  return (count * sizeof(T) + 63) / 64 * 64;
}

}  // namespace moho::rays::detail
