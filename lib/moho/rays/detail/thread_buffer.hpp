// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Scratch memory of a host's threads.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::rays::detail {

/// A buffer of the calling thread of at least `bytes` bytes, at the beginning of a cache line. It
/// is valid until the thread's next call, and kept for that.
inline void* thread_buffer(std::size_t bytes) {
  constexpr std::size_t line = 64;
  thread_local std::vector<unsigned char> memory;
  if (memory.size() < bytes + line) memory.resize(bytes + line);
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (begin + line - 1) / line * line - begin;
}

/// Bytes that `count` elements take in a buffer, in whole cache lines.
template <class T>
constexpr std::size_t buffer_bytes(std::size_t count) {
  return (count * sizeof(T) + 63) / 64 * 64;
}

}  // namespace moho::rays::detail
