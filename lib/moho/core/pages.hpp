// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Huge pages for large host arrays.

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace moho::detail {

/// \brief Requests huge pages for memory that has not been accessed.
///
/// Hardware prefetching stops at the end of a page, and each new page needs a translation. Stencils
/// that read several arrays enter a new page every few rows. Huge pages change only the speed.
/// Arrays of less than 4 MiB are ignored.
inline void advise_huge_pages(void* memory, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t page = 2u << 20;
  if (bytes < 2 * page) return;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

}  // namespace moho::detail
