// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Four neighbouring numbers that a thread of a device reads and writes at once.

#include <moho/core/kokkos.hpp>

#include <cstdint>

namespace moho::rtm::detail {

/// Four numbers along the last axis.
template <class T>
struct alignas(16) Quad {
  T at[4];
};

/// True where a quad can be read and written at once.
KOKKOS_FORCEINLINE_FUNCTION bool on_16_bytes(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

/// Four numbers, wherever they begin.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Quad<T> load_quad(const T* from) {
  if (on_16_bytes(from)) return *reinterpret_cast<const Quad<T>*>(from);
  return {{from[0], from[1], from[2], from[3]}};
}

/// Writes four numbers, wherever they begin.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void store_quad(T* to, const Quad<T>& values) {
  if (on_16_bytes(to)) {
    *reinterpret_cast<Quad<T>*>(to) = values;
  } else {
    for (int k = 0; k < 4; ++k) to[k] = values.at[k];
  }
}

}  // namespace moho::rtm::detail
