// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Denormal numbers taken as zero for a while.

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace moho {

/// \brief While it lives, its thread takes denormal numbers (below 1.2e-38 in single precision) as
/// zero, and makes none. Then the thread's mode is as it was.
///
/// Processors take a hundred times as long for them. In front of a wave that begins at rest there
/// are many: steps in single precision were three to five times as slow. Processors other than x86
/// and ARM of 64 bits are left as they are.
class FlushDenormals {
 public:
  FlushDenormals() : m_mode(get()) { set(m_mode | flush); }
  ~FlushDenormals() { set(m_mode); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr std::uint64_t flush = 0x8040;  // results, and what is read
  static std::uint64_t get() { return _mm_getcsr(); }
  static void set(std::uint64_t mode) { _mm_setcsr(static_cast<unsigned int>(mode)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t flush = std::uint64_t{1} << 24;
  static std::uint64_t get() {
    std::uint64_t mode = 0;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set(std::uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  static constexpr std::uint64_t flush = 0;
  static std::uint64_t get() { return 0; }
  static void set(std::uint64_t) {}
#endif

  std::uint64_t m_mode;
};

}  // namespace moho
