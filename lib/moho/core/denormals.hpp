// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Flush-to-zero mode for denormal numbers.

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace moho {

/// \brief Treats denormal numbers as zero on the calling thread during the lifetime of the object.
///
/// Denormal numbers are below 1.2e-38 in single precision; as operands and as results they become
/// zero. The destructor restores the previous mode of the thread.
///
/// An operation on a denormal number costs about a hundred times as much as on a normal one. Fields
/// of waves that start from rest contain many of them ahead of the wavefront. Processors other than
/// x86 and 64-bit ARM keep their mode.
class FlushDenormals {
 public:
  FlushDenormals() : m_mode(get()) { set(m_mode | flush); }
  ~FlushDenormals() { set(m_mode); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr std::uint64_t flush = 0x8040;  // flush results and operands to zero
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
