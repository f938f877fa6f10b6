// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory layout of wavefields and models: rows aligned to 128 bytes, with a halo of zeros.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace moho::wave {

/// \brief Memory layout of a padded array: maps nodes to elements.
///
/// An array holds a window of the grid: some planes across x, the slowest axis, and all nodes of
/// the other axes. Nodes are always those of the grid, for any window.
///
/// The last axis is contiguous. Each row begins at a multiple of 128 bytes and is followed by at
/// least 128 bytes of halo. This halo is also the one in front of the next row. The other axes have
/// `halo` rows (planes) on both sides. The halo is zero, or the odd image of the field beyond a
/// free surface.
template <int Dim>
struct Layout {
  Index<Dim> extents{};     ///< nodes of the grid
  PlaneRange window{};      ///< planes that the array holds
  Index<Dim> strides{};     ///< elements between neighbours along each axis; the last is 1
  std::int64_t offset = 0;  ///< element of node (0, ..., 0), which may lie outside the window
  std::int64_t size = 0;    ///< elements of the array
  int halo = 0;             ///< nodes outside the window that may be read, along every axis

  /// Returns the element of a node of the window or its halo.
  ///
  /// Along x indices range from window.begin - halo to window.end + halo - 1, along the other axes
  /// from -halo to extents + halo - 1.
  KOKKOS_INLINE_FUNCTION std::int64_t flat(const Index<Dim>& node) const {
    std::int64_t element = offset;
    for (int d = 0; d < Dim; ++d) element += node[d] * strides[d];
    return element;
  }
  /// Returns the nodes of the window.
  Box<Dim> box() const {
    Box<Dim> result{{}, extents};
    result.lower[0] = window.begin;
    result.upper[0] = window.end;
    return result;
  }
  /// Returns the first element of a plane of the window, with the halo in front of its first row.
  ///
  /// The next plane begins strides[0] elements further. These elements contain all values of a
  /// plane that a step reads.
  std::int64_t plane_begin(std::int64_t plane) const {
    return offset + plane * strides[0] - (Dim == 3 ? halo * strides[1] : 0) - halo;
  }
  /// Returns true for layouts whose arrays hold the same nodes at the same elements.
  friend bool operator==(const Layout& a, const Layout& b) {
    bool same = a.window == b.window && a.offset == b.offset && a.size == b.size;
    for (int d = 0; d < Dim; ++d) {
      same = same && a.extents[d] == b.extents[d] && a.strides[d] == b.strides[d];
    }
    return same;
  }
};

/// Nodes in 128 bytes; rows begin at multiples of 128 bytes.
template <class T>
inline constexpr std::int64_t row_alignment = 128 / static_cast<std::int64_t>(sizeof(T));

namespace detail {
/// \brief Returns the nodes of the longest vector of a kernel. Rows of a layer's memory are padded
/// to such vectors of the grid: 64 bytes on hosts, 16 on devices.
template <class T>
constexpr std::int64_t layer_alignment(bool on_host) {
  return (on_host ? 64 : 16) / static_cast<std::int64_t>(sizeof(T));
}

/// \brief Returns the elements from one row to the next in the memory of a layer.
///
/// Each row has `nodes` nodes; the first lies `shift` elements after a multiple of `alignment`.
constexpr std::int64_t layer_row(std::int64_t nodes, std::int64_t shift, std::int64_t alignment) {
  return (shift + nodes + alignment - 1) / alignment * alignment;
}
}  // namespace detail

/// Padded array. `Space` is a memory space, or an execution space for its memory space.
template <class T, class Space>
using Storage = Kokkos::View<T*, typename Space::memory_space>;

/// \brief Factors by node, in the layout of a wavefield: the product of two arrays.
///
/// An unallocated array means 1.
template <class T, class Memory>
struct NodeFactors {
  Storage<const T, Memory> first;   ///< first factor
  Storage<const T, Memory> second;  ///< second factor

  NodeFactors() = default;
  /// Constructs factors from one array or two.
  template <class... Properties>
  NodeFactors(const Kokkos::View<Properties...>& one,  // NOLINT: implicit
              const Storage<const T, Memory>& other = {})
      : first(one), second(other) {}
};

/// Returns the layout of a window for stencils that reach `radius` nodes to each side (at most 8).
template <class T, int Dim>
Layout<Dim> make_layout(const Grid<Dim>& grid, int radius, const PlaneRange& window) {
  constexpr std::int64_t row = row_alignment<T>;
  Layout<Dim> layout;
  layout.extents = grid.extents;
  layout.window = window;
  layout.halo = radius;
  std::int64_t stride = 1;
  for (int d = Dim - 1; d >= 0; --d) {
    layout.strides[d] = stride;
    if (d == Dim - 1) {
      // the halo after a row is the halo before the next one
      stride = (grid.extents[d] + row - 1) / row * row + row;
    } else {
      stride *= (d == 0 ? window.count() : grid.extents[d]) + 2 * radius;
    }
  }
  layout.offset = row - window.begin * layout.strides[0];
  for (int d = 0; d < Dim - 1; ++d) layout.offset += radius * layout.strides[d];
  layout.size = stride + row;
  return layout;
}
/// Returns the layout of all planes.
template <class T, int Dim>
Layout<Dim> make_layout(const Grid<Dim>& grid, int radius) {
  return make_layout<T>(grid, radius, all_planes(grid));
}

/// Returns a padded array of zeros.
template <class T, class Memory, int Dim>
Storage<T, Memory> make_storage(const Instance<Memory>& exec, const Layout<Dim>& layout,
                                const std::string& label) {
  auto storage = allocate<Storage<T, Memory>>(exec, label, layout.size);
  fill(exec, storage, T(0));
  return storage;
}

namespace detail {
/// Functor that copies a dense field of the window's planes into a padded array.
template <class T, int Dim>
struct CopyIn {
  const T* dense;
  T* padded;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    padded[layout.flat(box.node(n))] = dense[n];
  }
};
/// Functor that copies a padded array into a dense field of the window's planes.
template <class T, int Dim>
struct CopyOut {
  const T* padded;
  T* dense;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    dense[n] = padded[layout.flat(box.node(n))];
  }
};

/// Throws InputError unless a view is an array of the layout.
template <int Dim, class ViewType>
void check_storage(const Layout<Dim>& layout, const ViewType& view, const char* argument) {
  if (static_cast<std::int64_t>(view.extent(0)) == layout.size) return;
  throw InputError(concat(argument, ": it has ", view.extent(0),
                          " elements (allowed: ", layout.size,
                          ", the size of the layout): allocate it with "
                          "moho::wave::make_storage"));
}
/// Throws InputError unless a dense field has the shape of the layout's window.
template <int Dim, class ViewType>
void check_dense(const Layout<Dim>& layout, const ViewType& view, const char* argument) {
  Grid<Dim> window;
  for (int d = 0; d < Dim; ++d) window.extents[d] = layout.box().extent(d);
  check_shape(window, view, argument);
}
}  // namespace detail

/// Copies a dense field of the window into a padded array; the halo is not changed.
/// \throws InputError for arrays of another shape
template <class T, int Dim, class Memory>
void copy_in(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
             const std::type_identity_t<Field<const T, Dim, Memory>>& dense,
             const Kokkos::View<T*, Memory>& storage) {
  detail::check_dense(layout, dense, "dense");
  detail::check_storage(layout, storage, "storage");
  const Box<Dim> box = layout.box();
  launch("moho::wave::copy_in", exec, box.size(),
         detail::CopyIn<T, Dim>{dense.data(), storage.data(), layout, box});
}

/// Copies a padded array into a dense field of the window. \throws InputError as above
template <class T, int Dim, class Memory>
void copy_out(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
              const Kokkos::View<T*, Memory>& storage,
              const std::type_identity_t<Field<std::remove_const_t<T>, Dim, Memory>>& dense) {
  detail::check_dense(layout, dense, "dense");
  detail::check_storage(layout, storage, "storage");
  const Box<Dim> box = layout.box();
  launch("moho::wave::copy_out", exec, box.size(),
         detail::CopyOut<std::remove_const_t<T>, Dim>{storage.data(), dense.data(), layout, box});
}

/// \brief Copies planes, with their halos across the other axes, between two padded arrays.
///
/// Both windows hold these planes.
/// \throws InputError for planes outside either window
template <class T, int Dim, class Memory>
void copy_planes(const InstanceOf<Memory>& exec, const Layout<Dim>& from_layout,
                 const std::type_identity_t<Kokkos::View<const T*, Memory>>& from,
                 const Layout<Dim>& to_layout, const Kokkos::View<T*, Memory>& to,
                 const PlaneRange& planes) {
  if (planes.empty()) return;
  for (const Layout<Dim>* layout : {&from_layout, &to_layout}) {
    if (intersection(planes, layout->window) == planes) continue;
    throw InputError(concat("planes ", planes.begin, " to ", planes.end - 1,
                            " are not all in the window (allowed: ", layout->window.begin, " to ",
                            layout->window.end - 1, "): copy those that both hold"));
  }
  const auto count = static_cast<std::size_t>(planes.count() * to_layout.strides[0]);
  const auto at = [&](const Layout<Dim>& layout) {
    const auto begin = static_cast<std::size_t>(layout.plane_begin(planes.begin));
    return std::pair<std::size_t, std::size_t>(begin, begin + count);
  };
  copy(Instance<Memory>(exec), Kokkos::subview(to, at(to_layout)),
       Kokkos::subview(from, at(from_layout)));
}

}  // namespace moho::wave
