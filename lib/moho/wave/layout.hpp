// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How wavefields and their models lie in memory: rows on boundaries of 128 bytes, a halo of
/// zeros around the grid.

#include <moho/core/box.hpp>
#include <moho/core/field.hpp>

#include <cstdint>
#include <string>

namespace moho::wave {

/// Where a node of a padded array is.
///
/// The last axis is contiguous. Each row begins on a boundary of 128 bytes and is followed by at
/// least 128 bytes of halo, which are at the same time the halo in front of the next row; the other
/// axes have `halo` rows (planes) on both sides. What is in the halo is zero, or the odd image of
/// the field behind a free surface.
template <int Dim>
struct Layout {
  Index<Dim> extents{};     ///< nodes of the grid
  Index<Dim> strides{};     ///< elements between neighbours along each axis; the last is 1
  std::int64_t offset = 0;  ///< element of node (0, ..., 0)
  std::int64_t size = 0;    ///< elements of the array
  int halo = 0;             ///< nodes outside of the grid, along every axis, that may be read

  /// The element of a node, whose indices may run from -halo to extents + halo - 1.
  KOKKOS_INLINE_FUNCTION std::int64_t flat(const Index<Dim>& node) const {
    std::int64_t element = offset;
    for (int d = 0; d < Dim; ++d) element += node[d] * strides[d];
    return element;
  }
};

/// Nodes in 128 bytes: rows begin at multiples of it.
template <class T>
inline constexpr std::int64_t row_alignment = 128 / static_cast<std::int64_t>(sizeof(T));

/// A padded array in the memory of an execution space.
template <class T, class Exec>
using Storage = Kokkos::View<T*, typename Exec::memory_space>;

/// The layout for stencils that reach `radius` nodes to each side (at most 8).
template <class T, int Dim>
Layout<Dim> make_layout(const Grid<Dim>& grid, int radius) {
  constexpr std::int64_t row = row_alignment<T>;
  Layout<Dim> layout;
  layout.extents = grid.extents;
  layout.halo = radius;
  std::int64_t stride = 1;
  for (int d = Dim - 1; d >= 0; --d) {
    layout.strides[d] = stride;
    if (d == Dim - 1) {
      // the halo behind a row is the halo in front of the next
      stride = (grid.extents[d] + row - 1) / row * row + row;
    } else {
      stride *= grid.extents[d] + 2 * radius;
    }
  }
  layout.offset = row;
  for (int d = 0; d < Dim - 1; ++d) layout.offset += radius * layout.strides[d];
  layout.size = stride + row;
  return layout;
}

/// A padded array full of zeros.
template <class T, class Exec, int Dim>
Storage<T, Exec> make_storage(const Exec& exec, const Layout<Dim>& layout,
                              const std::string& label) {
  auto storage = allocate<Storage<T, Exec>>(exec, label, layout.size);
  Kokkos::deep_copy(exec, storage, T(0));
  return storage;
}

/// Calls function(node) for every node of a box, on the instance.
template <class Exec, int Dim, class Function>
void for_each_node(const Exec& exec, const std::string& label, const Box<Dim>& box,
                   const Function& function) {
  if (box.empty()) return;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, box.size()),
      KOKKOS_LAMBDA(const std::int64_t count) { function(box.node(count)); });
}

/// The element of a dense field at a node.
template <class FieldType>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at(const FieldType& field, const Index<2>& node) {
  return field(node[0], node[1]);
}
/// \overload
template <class FieldType>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at(const FieldType& field, const Index<3>& node) {
  return field(node[0], node[1], node[2]);
}

namespace detail {
template <class T, int Dim, class Exec>
struct CopyIn {
  Field<const T, Dim, Exec> dense;
  Storage<T, Exec> storage;
  Layout<Dim> layout;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    storage(layout.flat(node)) = at(dense, node);
  }
};
template <class T, int Dim, class Exec>
struct CopyOut {
  Storage<const T, Exec> storage;
  Field<T, Dim, Exec> dense;
  Layout<Dim> layout;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    at(dense, node) = storage(layout.flat(node));
  }
};
}  // namespace detail

/// Copies a dense field into a padded array, whose halo stays as it is.
template <class T, int Dim, class Exec>
void copy_in(const Exec& exec, const Layout<Dim>& layout,
             const std::type_identity_t<Field<const T, Dim, Exec>>& dense,
             const Storage<T, Exec>& storage) {
  for_each_node(exec, "moho::wave::copy_in", Box<Dim>{{}, layout.extents},
                detail::CopyIn<T, Dim, Exec>{dense, storage, layout});
}

/// Copies a padded array into a dense field.
template <class T, int Dim, class Exec>
void copy_out(const Exec& exec, const Layout<Dim>& layout,
              const std::type_identity_t<Storage<const T, Exec>>& storage,
              const Field<T, Dim, Exec>& dense) {
  for_each_node(exec, "moho::wave::copy_out", Box<Dim>{{}, layout.extents},
                detail::CopyOut<T, Dim, Exec>{storage, dense, layout});
}

}  // namespace moho::wave
