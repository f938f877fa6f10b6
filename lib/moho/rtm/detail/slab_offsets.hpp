// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Offset gathers of a shot whose grid several devices hold in slabs (internal).

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/rtm/image.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/stream/kernel/grid_parts.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace moho::rtm::detail {

/// \brief Columns of gathers, and the lines of nodes along depth that they read, by slabs.
///
/// A column at x reads the lines at x - h and x + h for each half offset h. Lines are sorted along
/// x, so that those of a slab are consecutive. A slab adds to the gathers of its columns.
template <int Dim>
struct OffsetLines {
  std::vector<std::size_t> order;   ///< positions of sorted columns in the options of the shot
  std::vector<Index<Dim>> columns;  ///< nodes of the window, sorted along x
  std::vector<PlaneRange> own;      ///< sorted columns of each slab
  std::vector<Index<Dim>> lines;    ///< nodes of the window, sorted along x
  stream::PartPlanes planes;        ///< lines of each slab, in place of planes
  std::int64_t count = 0;           ///< half offsets
  std::int64_t offset_step = 1;     ///< nodes from one half offset to the next

  OffsetLines() = default;
  /// \param window grid without layers
  /// \param offsets columns and half offsets in the window
  /// \param slabs planes of the window in each slab
  OffsetLines(const Grid<Dim>& window, const OffsetOptions<Dim>& offsets,
              const std::vector<PlaneRange>& slabs)
      : order(offsets.columns.size()), count(offsets.count()), offset_step(offsets.offset_step) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return offsets.columns[a][0] < offsets.columns[b][0];
    });
    for (const std::size_t c : order) columns.push_back(offsets.columns[c]);
    for (const Index<Dim>& column : columns) {
      for (std::int64_t k = 0; k < count; ++k) {
        const Index<Dim> line = at(column, k);
        if (line[0] >= 0 && line[0] < window.extents[0]) lines.push_back(line);
      }
    }
    std::sort(lines.begin(), lines.end(), before);
    lines.erase(std::unique(lines.begin(), lines.end(),
                            [](const auto& a, const auto& b) { return !before(a, b); }),
                lines.end());
    planes.elements = window.extents[Dim - 1];
    for (const PlaneRange& slab : slabs) {
      own.push_back(within(columns, slab));
      PlaneRange held = within(lines, slab);
      planes.own.push_back(held);
      for (std::int64_t c = own.back().begin; c < own.back().end; ++c) {
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t line = find(at(columns[static_cast<std::size_t>(c)], k));
          if (line < 0) continue;
          held = held.empty()
                     ? PlaneRange{line, line + 1}
                     : PlaneRange{std::min(held.begin, line), std::max(held.end, line + 1)};
        }
      }
      planes.held.push_back(held);
    }
  }

  /// Returns the line of a column at a half offset, which may be outside of the window.
  Index<Dim> at(Index<Dim> column, std::int64_t k) const {
    column[0] += (k - count / 2) * offset_step;
    column[Dim - 1] = 0;
    return column;
  }
  /// Returns the position of a line; -1 outside of the window.
  std::int64_t find(const Index<Dim>& line) const {
    const auto found = std::lower_bound(lines.begin(), lines.end(), line, before);
    if (found == lines.end() || before(line, *found)) return -1;
    return found - lines.begin();
  }

 private:
  static bool before(const Index<Dim>& a, const Index<Dim>& b) {
    for (int d = 0; d < Dim - 1; ++d) {
      if (a[d] != b[d]) return a[d] < b[d];
    }
    return false;
  }
  // Returns the positions of sorted nodes that are in some planes.
  static PlaneRange within(const std::vector<Index<Dim>>& nodes, const PlaneRange& slab) {
    const auto first = [&](std::int64_t plane) -> std::int64_t {
      return std::partition_point(nodes.begin(), nodes.end(),
                                  [&](const Index<Dim>& node) { return node[0] < plane; }) -
             nodes.begin();
    };
    return {first(slab.begin), first(slab.end)};
  }
};

/// Kernel: copies the values of two fields at lines of nodes.
template <class T, int Dim>
struct CopyLines {
  const std::int64_t* lines;  ///< Dim numbers of the first node of each line
  std::int64_t depths;        ///< nodes of a line
  const T* snapshot;          ///< values in `box`, the last axis fastest
  Box<Dim> box;               ///< may be empty
  Index<Dim> strides;         ///< of `snapshot`
  const T* field;             ///< padded
  wave::Layout<Dim> layout;   ///< of `field`
  T* from_snapshot;           ///< zero outside of `box`
  T* from_field;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    Index<Dim> node{};
    for (int d = 0; d < Dim; ++d) node[d] = lines[n / depths * Dim + d];
    node[Dim - 1] += n % depths;
    T value = 0;
    if (box.contains(node)) {
      std::int64_t at = 0;
      for (int d = 0; d < Dim; ++d) at += (node[d] - box.lower[d]) * strides[d];
      value = snapshot[at];
    }
    from_snapshot[n] = value;
    from_field[n] = field[layout.flat(node)];
  }
};

/// Position of a value of the gathers of a slab, and its two lines.
template <int Dim>
struct LinePairs {
  const std::int64_t* lines;  ///< Dim numbers of the first node of each held line
  const std::int64_t* ends;  ///< held line of each column and half offset; -1 outside of the window
  std::int64_t count;        ///< half offsets
  std::int64_t depths;       ///< nodes of a line

  /// Computes the elements of a value in the lines at x - h and x + h; false outside of the window.
  KOKKOS_FORCEINLINE_FUNCTION bool find(const std::int64_t n, std::int64_t& left,
                                        std::int64_t& right) const {
    const std::int64_t depth = n % depths, k = n / depths % count, column = n / depths / count;
    const std::int64_t low = ends[column * count + count - 1 - k], high = ends[column * count + k];
    left = low * depths + depth;
    right = high * depths + depth;
    return low >= 0 && high >= 0;
  }
  /// Returns the node of an element of the lines.
  KOKKOS_FORCEINLINE_FUNCTION Index<Dim> node(const std::int64_t element) const {
    Index<Dim> result{};
    for (int d = 0; d < Dim; ++d) result[d] = lines[element / depths * Dim + d];
    result[Dim - 1] += element % depths;
    return result;
  }
};

/// Kernel: adds S(x - h) R(x + h) at a column, half offset and depth. \see AddOffsets
template <class T, int Dim>
struct AddLines {
  LinePairs<Dim> pairs;
  Box<Dim> box;                ///< nodes with values of both wavefields
  const T *source, *receiver;  ///< values of lines
  T weight;
  T* offsets;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    std::int64_t left = 0, right = 0;
    if (!pairs.find(n, left, right)) return;
    if (!box.contains(pairs.node(left)) || !box.contains(pairs.node(right))) return;
    offsets[n] += weight * source[left] * receiver[right];
  }
};

/// Kernel: multiplies a product by the roots of both densities. \see ScaleOffsets
template <class T, int Dim>
struct ScaleLines {
  LinePairs<Dim> pairs;
  const T* root_density;  ///< values of lines
  T* offsets;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    std::int64_t left = 0, right = 0;
    if (!pairs.find(n, left, right)) return;
    offsets[n] *= root_density[left] * root_density[right];
  }
};

/// \brief Gathers of the columns of a slab, in the memory of its device.
///
/// Slabs exchange the lines that columns of a neighbour read. All slabs call the functions in the
/// same order, in functions of GridParts::run().
template <class T, int Dim, class Memory>
class SlabOffsets {
  using Parts = stream::GridParts<T, Dim, Memory>;
  using Array = wave::Storage<T, Memory>;

 public:
  /// Allocates gathers of zero.
  /// \param exec instance of the slab
  /// \param lines of all slabs; they outlive the object
  /// \param g slab
  /// \param interior nodes of the window in the grid with layers
  SlabOffsets(const Instance<Memory>& exec, const OffsetLines<Dim>& lines, std::size_t g,
              const Box<Dim>& interior);

  /// \brief Adds the products of a snapshot and the receiver wavefield at its time.
  /// \param exec instance of the slab \param parts the slabs
  /// \param snapshot of the slab, in the grid of the receiver wavefield; empty without nodes
  /// \param layout,field receiver wavefield
  /// \param box nodes of the complete grid with values of both wavefields
  /// \param weight factor of the product, s
  void add(const Instance<Memory>& exec, Parts& parts,
           const snapshot::Snapshot<T, Dim, Memory>& snapshot, const wave::Layout<Dim>& layout,
           const wave::Storage<const T, Memory>& field, const Box<Dim>& box, double weight);
  /// Multiplies sums of p / sqrt(rho) by the density. \see scale_by_density()
  void scale(const Instance<Memory>& exec, Parts& parts, const wave::Layout<Dim>& layout,
             const wave::Storage<const T, Memory>& pressure);
  /// Gathers of the sorted columns of this slab: columns x half offsets x depths.
  const Array& values() const { return m_offsets; }

 private:
  std::int64_t depths() const { return m_all.planes.elements; }
  LinePairs<Dim> pairs() const { return {m_nodes.data(), m_ends.data(), m_all.count, depths()}; }
  void copy_lines(const Instance<Memory>& exec, const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                  const wave::Layout<Dim>& layout, const wave::Storage<const T, Memory>& field);

  const OffsetLines<Dim>& m_all;
  std::size_t m_g;
  wave::Storage<const std::int64_t, Memory> m_nodes, m_ends;
  Array m_source, m_receiver;  ///< values of held lines
  Array m_offsets;
};

/// Returns the largest memory of gathers in a slab of any window, bytes.
template <class T, int Dim>
double slab_offset_bytes(const Grid<Dim>& grid, const OffsetOptions<Dim>& offsets) {
  const std::int64_t pairs = static_cast<std::int64_t>(offsets.columns.size()) * offsets.count();
  const std::int64_t depths = grid.extents[Dim - 1];
  const std::int64_t lines = std::min(pairs, grid.size() / depths);
  return static_cast<double>(sizeof(T)) * static_cast<double>(depths * (pairs + 2 * lines)) +
         static_cast<double>(sizeof(std::int64_t)) * static_cast<double>(pairs + Dim * lines);
}

template <class T, int Dim, class Memory>
SlabOffsets<T, Dim, Memory>::SlabOffsets(const Instance<Memory>& exec,
                                         const OffsetLines<Dim>& lines, std::size_t g,
                                         const Box<Dim>& interior)
    : m_all(lines), m_g(g) {
  const PlaneRange held = lines.planes.held[g];
  std::vector<std::int64_t> nodes, ends;
  for (std::int64_t i = held.begin; i < held.end; ++i) {
    const Index<Dim>& line = lines.lines[static_cast<std::size_t>(i)];
    for (int d = 0; d < Dim; ++d) nodes.push_back(interior.lower[d] + line[d]);
  }
  for (std::int64_t c = lines.own[g].begin; c < lines.own[g].end; ++c) {
    for (std::int64_t k = 0; k < lines.count; ++k) {
      const std::int64_t line = lines.find(lines.at(lines.columns[static_cast<std::size_t>(c)], k));
      ends.push_back(line < 0 ? -1 : line - held.begin);
    }
  }
  m_nodes = upload(exec, nodes, "moho::rtm::lines");
  m_ends = upload(exec, ends, "moho::rtm::line_ends");
  const auto array = [&](std::int64_t size, const char* name) {
    const auto values = allocate<Array>(exec, name, static_cast<std::size_t>(size));
    if (size > 0) fill(exec, values, T(0));
    return values;
  };
  m_source = array(held.count() * depths(), "moho::rtm::source_lines");
  m_receiver = array(held.count() * depths(), "moho::rtm::receiver_lines");
  m_offsets = array(lines.own[g].count() * lines.count * depths(), "moho::rtm::offsets");
}

template <class T, int Dim, class Memory>
void SlabOffsets<T, Dim, Memory>::add(const Instance<Memory>& exec, Parts& parts,
                                      const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                                      const wave::Layout<Dim>& layout,
                                      const wave::Storage<const T, Memory>& field,
                                      const Box<Dim>& box, double weight) {
  copy_lines(exec, snapshot, layout, field);
  parts.exchange(m_g, exec, {m_source, m_receiver}, m_all.planes);
  launch("moho::rtm::offsets", exec, static_cast<std::int64_t>(m_offsets.size()),
         AddLines<T, Dim>{pairs(), box, m_source.data(), m_receiver.data(), static_cast<T>(weight),
                          m_offsets.data()});
}

template <class T, int Dim, class Memory>
void SlabOffsets<T, Dim, Memory>::scale(const Instance<Memory>& exec, Parts& parts,
                                        const wave::Layout<Dim>& layout,
                                        const wave::Storage<const T, Memory>& pressure) {
  if (pressure.data() == nullptr) return;
  copy_lines(exec, {}, layout, pressure);
  parts.exchange(m_g, exec, {m_source, m_receiver}, m_all.planes);
  launch("moho::rtm::scale_offsets", exec, static_cast<std::int64_t>(m_offsets.size()),
         ScaleLines<T, Dim>{pairs(), m_receiver.data(), m_offsets.data()});
}

// Copies the values of the lines in own planes.
template <class T, int Dim, class Memory>
void SlabOffsets<T, Dim, Memory>::copy_lines(const Instance<Memory>& exec,
                                             const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                                             const wave::Layout<Dim>& layout,
                                             const wave::Storage<const T, Memory>& field) {
  const PlaneRange own = m_all.planes.own[m_g];
  if (own.empty()) return;
  const std::int64_t first = own.begin - m_all.planes.held[m_g].begin;
  launch(
      "moho::rtm::lines", exec, own.count() * depths(),
      CopyLines<T, Dim>{m_nodes.data() + first * Dim, depths(), snapshot.values.data(),
                        snapshot.box, dense_strides(snapshot.box), field.data(), layout,
                        m_source.data() + first * depths(), m_receiver.data() + first * depths()});
}

}  // namespace moho::rtm::detail

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm::detail {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, SlabOffsets)
}  // namespace moho::rtm::detail
#endif
/// \endcond
