// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Return of freed arrays to the operating system.

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace moho {

/// \brief Makes the allocator return freed arrays of a MiB or more to the system immediately.
///
/// The C library of GNU otherwise keeps arrays of up to 32 MiB for later use, in a separate heap of
/// each thread: the memory of a process then exceeds that of its arrays. Other libraries are not
/// changed. Programs that plan their memory call it before they allocate arrays.
inline void return_freed_arrays() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

}  // namespace moho
