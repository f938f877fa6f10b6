// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fields of the host in another memory space.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>

namespace moho {

/// Returns a field of the host in another memory space; hosts share it. It waits.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> field_in(const Instance<Memory>& exec, const Grid<Dim>& grid,
                               const Field<T, Dim, Kokkos::HostSpace>& field) {
  if constexpr (is_host_memory<Memory>) {
    return field;
  } else {
    auto result = make_field<T>(exec, grid, field.label());
    copy(exec,
         Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(result.data(),
                                                                           result.size()),
         HostElements<const T>(field.data(), field.size()));
    exec.fence();
    return result;
  }
}

}  // namespace moho
