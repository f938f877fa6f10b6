// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers on the host as views of a memory space.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>

#include <cstddef>
#include <vector>

namespace moho::gravity {

namespace detail {

/// Returns the number of rows in a list.
/// \param name name of the list, for messages
/// \param values the rows, one after the other
/// \param width numbers of a row
/// \throws InputError if the last row is not complete
inline std::size_t row_count(const char* name, const std::vector<double>& values,
                             std::size_t width) {
  if (values.size() % width == 0) return values.size() / width;
  throw InputError(
      concat(name, ": there are ", values.size(), " numbers (allowed: rows of ", width, ")"));
}

/// Host numbers as a view that the space reads: the numbers themselves, or a copy.
template <class View, class Memory, class... Extents>
View to_space(const Instance<Memory>& exec, const std::vector<double>& values, const char* label,
              Extents... extents) {
  if constexpr (is_host_memory<Memory>) {
    (void)exec;
    (void)label;
    return View(values.data(), extents...);
  } else {
    using Copy = Kokkos::View<typename View::non_const_data_type, typename View::array_layout,
                              typename View::memory_space>;
    using Host = Kokkos::View<typename View::const_data_type, typename View::array_layout,
                              Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const Copy result = allocate<Copy>(exec, label, extents...);
    copy(exec, result, Host(values.data(), extents...));
    return result;
  }
}

}  // namespace detail

}  // namespace moho::gravity
