// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Extended images: products of source and adjoint wavefield at different points.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/extended_pass.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Half subsurface offsets in nodes: half the distance of the two points.
struct Lags {
  std::int64_t x = 0;  ///< largest half offset along x; 2 x + 1 lags
  std::int64_t y = 0;  ///< largest half offset along y, in 3D; 2 y + 1 lags

  /// Number of lags: product of both axes.
  std::int64_t count() const { return (2 * x + 1) * (2 * y + 1); }
};

/// Returns columns of nodes at even distances along x, in 3D in the middle of y.
template <int Dim>
std::vector<Index<Dim>> even_columns(const Grid<Dim>& grid, std::int64_t count) {
  std::vector<Index<Dim>> columns;
  for (std::int64_t c = 1; c <= count; ++c) {
    Index<Dim> node{};
    node[0] = (grid.extents[0] - 1) * c / (count + 1);
    if (Dim == 3) node[1] = grid.extents[1] / 2;
    columns.push_back(node);
  }
  return columns;
}

/// Returns offset gathers of an extended image at columns of nodes, with y offset 0.
/// \param values lags x nodes of the grid
/// \param columns nodes at the surface
/// \return columns x half offsets along x x depths
template <class T, int Dim>
std::vector<double> offset_gathers(const Grid<Dim>& grid, const Lags& lags,
                                   const std::vector<T>& values,
                                   const std::vector<Index<Dim>>& columns) {
  std::vector<double> gathers;
  const std::int64_t wide = 2 * lags.x + 1;
  for (const Index<Dim>& column : columns) {
    for (std::int64_t h = 0; h < wide; ++h) {
      const std::int64_t begin = (lags.y * wide + h) * grid.size() + grid.flat(column);
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
      gathers.insert(gathers.end(), first,
                     first + static_cast<std::ptrdiff_t>(grid.extents[Dim - 1]));
    }
  }
  return gathers;
}

namespace detail {

/// Kernel: q(x) += weight sum over h of I(x - h, h) source(x - 2 h).
template <class T, int Dim>
struct ScatterExtended {
  ExtendedPass<T, Dim> pass;
  const T* image;
  T* to;
  T weight;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    T sum = 0;
    std::int64_t lag = 0;
    for (std::int64_t hy = -pass.y; hy <= pass.y; ++hy) {
      for (std::int64_t hx = -pass.x; hx <= pass.x; ++hx, ++lag) {
        std::int64_t middle = 0, far = 0;
        if (!pass.moved(node, -hx, -hy, middle) || !pass.moved(node, -2 * hx, -2 * hy, far)) {
          continue;
        }
        sum += image[lag * pass.size + middle] * pass.source[0][far];
      }
    }
    to[pass.nodes.at(node)] += weight * sum;
  }
};

/// Reduction: 1/2 sum h^2 I^2, and its derivative with respect to I.
template <class T>
struct FocusOf {
  using value_type = double;
  const T* image;
  T* derivative;  ///< null: no derivative
  std::int64_t size, x, y;
  double spacing_x, spacing_y;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    const std::int64_t lag = i / size, wide = 2 * x + 1;
    const double hx = static_cast<double>(lag % wide - x) * spacing_x;
    const double hy = static_cast<double>(lag / wide - y) * spacing_y;
    const double square = hx * hx + hy * hy, value = static_cast<double>(image[i]);
    sum += 0.5 * square * value * value;
    if (derivative != nullptr) derivative[i] = static_cast<T>(square * value);
  }
  KOKKOS_INLINE_FUNCTION void init(double& sum) const { sum = 0.0; }
  KOKKOS_INLINE_FUNCTION void join(double& to, const double& from) const { to += from; }
};

/// Kernel: copies the nodes of a box from a padded array.
template <class T, int Dim>
struct GetNodes {
  const T* from;
  T* to;
  wave::Layout<Dim> layout;
  DenseBox<Dim> nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    to[nodes.at(node)] = from[layout.flat(node)];
  }
};
/// Kernel: copies the nodes of a box from the array of a larger box.
template <class T, int Dim>
struct PickNodes {
  const T* from;
  T* to;
  DenseBox<Dim> other, nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    to[nodes.at(node)] = from[other.at(node)];
  }
};

}  // namespace detail

/// Buffers of a pair of wavefields on the nodes of an extended image, contiguous.
template <class T>
struct ExtendedPair {
  T* source = nullptr;   ///< p
  T* adjoint = nullptr;  ///< c, see ExtendedImage
};

/// \brief Extended image I(x, h) = sum over time of c(x + h) p(x - h), in the memory of the run.
///
/// h are half offsets of complete nodes. I is zero where one of the points is outside the box.
///
/// p is the source wavefield. c is its factor in the gradient: the second time difference of the
/// adjoint field nu over its scale, D nu and the residual. Summed over time, the product at any two
/// points equals nu times the second difference of p: h = 0 is the gradient kernel. Up to eight
/// pairs of wavefields are buffered and added in one pass over the image.
///
/// Memory: lags().count() + 16 values of type T per node.
template <class T, int Dim, class Memory>
class ExtendedImage {
 public:
  using Array = wave::Storage<T, Memory>;  ///< values of nodes
  /// Receives the arrays of pairs of a part of an image, on the nodes of read_box().
  using Complete = std::function<void(const std::vector<Array>& pairs)>;

  /// Creates an image of zeros.
  /// \param exec instance of the arrays
  /// \param box nodes of the image in a grid with layers
  /// \param lags half offsets
  /// \throws InputError for negative lags, lags over half of the box, and lags along y in 2D
  ExtendedImage(const InstanceOf<Memory>& exec, const Box<Dim>& box, const Lags& lags);
  /// \brief Creates the image of some planes, which reads further planes of the wavefields.
  /// \param exec instance of the arrays
  /// \param box nodes of this part of the image
  /// \param lags half offsets
  /// \param all nodes of the complete image; `box` has some of its planes
  /// \param complete called before pairs are added: sets their planes outside of `box`
  /// \throws InputError as above, for lags of the complete image
  ExtendedImage(const InstanceOf<Memory>& exec, const Box<Dim>& box, const Lags& lags,
                const Box<Dim>& all, Complete complete);
  /// Creates an image of given values, which it shares.
  /// \param box,lags as above
  /// \param values lags (x fastest) x nodes of the box
  /// \throws InputError as above, and for another number of values
  ExtendedImage(const Box<Dim>& box, const Lags& lags, const Array& values);

  /// \brief Checks lags. \throws InputError for negative lags, lags over half of the box, and lags
  /// along y in 2D
  static void check(const Box<Dim>& box, const Lags& lags);
  /// Returns the memory of an image in bytes.
  static double bytes_of(const Box<Dim>& box, const Lags& lags) { return bytes_of(box, lags, box); }
  /// Returns the memory of some planes of an image in bytes. \param all nodes of the complete image
  static double bytes_of(const Box<Dim>& box, const Lags& lags, const Box<Dim>& all) {
    const auto values = static_cast<double>(box.size()) * static_cast<double>(lags.count());
    const auto slice = static_cast<double>(read_box(box, lags, all).size());
    return static_cast<double>(sizeof(T)) * (values + 2 * detail::slices_at_once * slice);
  }
  /// Returns the nodes of wavefields that some planes of an image read. \param all nodes of the
  /// complete image
  static Box<Dim> read_box(Box<Dim> box, const Lags& lags, const Box<Dim>& all) {
    box.lower[0] = std::max(box.lower[0] - lags.x, all.lower[0]);
    box.upper[0] = std::min(box.upper[0] + lags.x, all.upper[0]);
    return box;
  }
  /// Nodes.
  const Box<Dim>& box() const { return m_box; }
  /// Nodes of the wavefields that are read: box(), and planes on both sides of a part.
  const Box<Dim>& read_box() const { return m_read; }
  /// Half offsets.
  const Lags& lags() const { return m_lags; }

  /// \brief Adds the product of a pair of wavefields, immediately or with later pairs.
  /// \param exec instance to which the work is submitted
  /// \param source values of p on the nodes of `of`
  /// \param of box of `source`, contiguous; contains box()
  /// \param layout,adjoint c in a padded array
  /// \param weight factor of the product; a new weight adds the buffered pairs first
  void add(const InstanceOf<Memory>& exec, const T* source, const Box<Dim>& of,
           const wave::Layout<Dim>& layout, const Kokkos::View<const T*, Memory>& adjoint,
           double weight);
  /// \brief Returns buffers of pairs of wavefields that count as added.
  ///
  /// The caller submits the work that writes them, on the nodes of box(), to `exec`. Parts of an
  /// image need the same calls of pairs() and flush().
  /// \param exec instance; adds earlier pairs to the image first if the buffers are full
  /// \param weight of the products, as in add()
  /// \param count 1 or 2 pairs
  std::array<ExtendedPair<T>, 2> pairs(const InstanceOf<Memory>& exec, double weight, int count);
  /// Adds the buffered pairs. The image is complete afterwards.
  void flush(const InstanceOf<Memory>& exec);
  /// Sets the image to zero and discards buffered pairs.
  void clear(const InstanceOf<Memory>& exec);
  /// Values of the image, lags (x fastest) x nodes of box(). Call flush() before.
  const Array& values() const { return m_values; }

  /// \brief Transpose of add() in c: to += weight sum over h of I(x - h, h) p(x - 2 h).
  ///
  /// This is the source of extended Born modelling; not for parts of an image. \param exec instance
  /// to which the work is submitted
  /// \param source p on the nodes of box(), contiguous
  /// \param to values of the same nodes to add to
  /// \param weight factor, as in add()
  void scatter(const InstanceOf<Memory>& exec, const Array& source, const Array& to,
               double weight) const;

  /// \brief Returns the focusing penalty 1/2 sum of h^2 I^2, h in m; waits for the result.
  /// \param exec instance
  /// \param grid grid with the spacing of the nodes
  /// \param derivative written: derivative with respect to the image, with the size of values();
  /// empty: not computed
  double focus(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
               const Array& derivative = {}) const;

 private:
  detail::ExtendedPass<T, Dim> pass() const;
  void make_slices(const Instance<Memory>& exec);
  Box<Dim> m_box, m_read;
  Lags m_lags;
  Complete m_complete;  ///< empty: the image is complete
  Array m_values;
  std::array<Array, detail::slices_at_once> m_source, m_adjoint;
  int m_slices = 0;
  double m_weight = 0.0;
};

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::check(const Box<Dim>& box, const Lags& lags) {
  const auto along = [&](std::int64_t lag, int axis) {
    const std::int64_t max = (box.extent(axis) - 1) / 2;
    if (lag >= 0 && lag <= max) return;
    throw InputError(concat("lags: the largest along ", axis_name<Dim>(axis), " is ", lag,
                            " nodes (allowed: 0 to ", max,
                            ", half of the nodes there are): take fewer"));
  };
  along(lags.x, 0);
  if (Dim == 2 && lags.y != 0) {
    throw InputError(concat("lags: the largest along y is ", lags.y,
                            " in two dimensions (allowed: 0): leave them out"));
  }
  if (Dim == 3) along(lags.y, 1);
}

template <class T, int Dim, class Memory>
ExtendedImage<T, Dim, Memory>::ExtendedImage(const InstanceOf<Memory>& exec, const Box<Dim>& box,
                                             const Lags& lags)
    : ExtendedImage(exec, box, lags, box, {}) {}

template <class T, int Dim, class Memory>
ExtendedImage<T, Dim, Memory>::ExtendedImage(const InstanceOf<Memory>& exec, const Box<Dim>& box,
                                             const Lags& lags, const Box<Dim>& all,
                                             Complete complete)
    : m_box(box), m_read(read_box(box, lags, all)), m_lags(lags), m_complete(std::move(complete)) {
  check(all, lags);
  const Instance<Memory>& instance = exec;
  m_values = allocate<Array>(instance, "moho::fwi::extended_image",
                             static_cast<std::size_t>(box.size() * lags.count()));
  make_slices(instance);
  clear(exec);
}

template <class T, int Dim, class Memory>
ExtendedImage<T, Dim, Memory>::ExtendedImage(const Box<Dim>& box, const Lags& lags,
                                             const Array& values)
    : m_box(box), m_read(box), m_lags(lags), m_values(values) {
  check(box, lags);
  const auto count = static_cast<std::size_t>(box.size() * lags.count());
  if (values.size() == count) return;
  throw InputError(concat("values: there are ", values.size(), " (allowed: ", count,
                          ", lags x nodes of the box)"));
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::make_slices(const Instance<Memory>& exec) {
  for (auto* slices : {&m_source, &m_adjoint}) {
    for (Array& slice : *slices) {
      slice = allocate<Array>(exec, "moho::fwi::slice", static_cast<std::size_t>(m_read.size()));
    }
  }
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::clear(const InstanceOf<Memory>& exec) {
  fill(Instance<Memory>(exec), m_values, T(0));
  m_slices = 0;
}

template <class T, int Dim, class Memory>
detail::ExtendedPass<T, Dim> ExtendedImage<T, Dim, Memory>::pass() const {
  detail::ExtendedPass<T, Dim> pass{};
  pass.nodes = detail::dense(m_read);
  pass.x = m_lags.x;
  pass.y = m_lags.y;
  pass.size = m_box.size();
  pass.planes = {m_box.lower[0] - m_read.lower[0], m_box.upper[0] - m_read.lower[0]};
  pass.image_first = pass.planes.begin;
  if (m_complete) {
    // rings that do not turn
    const std::int64_t tiles = (m_read.extent(0) + detail::tile_planes - 1) / detail::tile_planes;
    for (std::size_t k = 0; k < static_cast<std::size_t>(m_slices); ++k) {
      pass.add_pair(m_source[k].data(), m_adjoint[k].data(), 0, tiles * detail::tile_planes);
    }
    return pass;
  }
  for (std::size_t k = 0; k < m_source.size(); ++k) {
    pass.source[k] = m_source[k].data();
    pass.adjoint[k] = m_adjoint[k].data();
  }
  pass.slices = m_slices;
  return pass;
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::add(const InstanceOf<Memory>& exec, const T* source,
                                        const Box<Dim>& of, const wave::Layout<Dim>& layout,
                                        const Kokkos::View<const T*, Memory>& adjoint,
                                        double weight) {
  const Instance<Memory>& instance = exec;
  const ExtendedPair<T> to = pairs(exec, weight, 1)[0];
  const auto nodes = detail::dense(m_box);
  launch_box("moho::fwi::keep_slice", instance, m_box,
             detail::PickNodes<T, Dim>{source, to.source, detail::dense(of), nodes});
  launch_box("moho::fwi::keep_slice", instance, m_box,
             detail::GetNodes<T, Dim>{adjoint.data(), to.adjoint, layout, nodes});
}

template <class T, int Dim, class Memory>
std::array<ExtendedPair<T>, 2> ExtendedImage<T, Dim, Memory>::pairs(const InstanceOf<Memory>& exec,
                                                                    double weight, int count) {
  if (count < 1 || count > 2) {
    throw InputError(concat("count is ", count, " (allowed: 1 or 2 pairs)"));
  }
  if (m_source[0].data() == nullptr) make_slices(exec);
  const bool room = m_slices + count <= detail::slices_at_once;
  if (!room || (m_slices > 0 && weight != m_weight)) flush(exec);
  m_weight = weight;
  // of the first node of box()
  const std::int64_t first = detail::dense(m_read).at(m_box.lower);
  std::array<ExtendedPair<T>, 2> result;
  for (int n = 0; n < count; ++n) {
    const auto slot = static_cast<std::size_t>(m_slices++);
    result[static_cast<std::size_t>(n)] = {m_source[slot].data() + first,
                                           m_adjoint[slot].data() + first};
  }
  return result;
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::flush(const InstanceOf<Memory>& exec) {
  if (m_slices == 0) return;
  if (m_complete) {
    std::vector<Array> arrays;
    for (std::size_t k = 0; k < static_cast<std::size_t>(m_slices); ++k) {
      arrays.insert(arrays.end(), {m_source[k], m_adjoint[k]});
    }
    m_complete(arrays);
  }
  detail::add_extended<T, Dim, Memory>(exec, pass(), m_values.data(), static_cast<T>(m_weight));
  m_slices = 0;
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::scatter(const InstanceOf<Memory>& exec, const Array& source,
                                            const Array& to, double weight) const {
  detail::ExtendedPass<T, Dim> one = pass();
  one.source[0] = source.data();
  launch_box(
      "moho::fwi::extended_source", Instance<Memory>(exec), m_box,
      detail::ScatterExtended<T, Dim>{one, m_values.data(), to.data(), static_cast<T>(weight)});
}

template <class T, int Dim, class Memory>
double ExtendedImage<T, Dim, Memory>::focus(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                            const Array& derivative) const {
  return reduce(
      "moho::fwi::focus", Instance<Memory>(exec), static_cast<std::int64_t>(m_values.size()),
      detail::FocusOf<T>{m_values.data(), derivative.size() > 0 ? derivative.data() : nullptr,
                         m_box.size(), m_lags.x, m_lags.y, grid.spacing[0],
                         Dim == 3 ? grid.spacing[1] : 0.0});
}

}  // namespace moho::fwi

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, ExtendedImage)
}  // namespace moho::fwi
#endif
/// \endcond
