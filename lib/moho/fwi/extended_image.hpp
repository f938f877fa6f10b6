// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Extended images: products of the source's and the adjoint wavefield at points apart.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/extended_pass.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/wave/layout.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::fwi {

/// Subsurface offsets in nodes, as half of the distance of the two points.
struct Lags {
  std::int64_t x = 0;  ///< largest along x: 2 x + 1 of them
  std::int64_t y = 0;  ///< largest along y, in 3D

  /// Lags along both axes together.
  std::int64_t count() const { return (2 * x + 1) * (2 * y + 1); }
};

namespace detail {

/// q(x) += weight sum over h of I(x - h, h) source(x - 2 h).
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

/// 1/2 sum h^2 I^2, and its derivative by I.
template <class T>
struct FocusOf {
  using value_type = double;
  const T* image;
  T* derivative;  ///< null: not wanted
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

/// Nodes of a box out of a padded array.
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
/// Nodes of a box out of another box.
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

/// Room for a pair of wavefields at the nodes of an extended image, one after the other.
template <class T>
struct ExtendedPair {
  T* source = nullptr;   ///< p
  T* adjoint = nullptr;  ///< what it meets
};

/// \brief An extended image, in the memory of the run: I(x, h) = sum over time of c(x + h) p(x - h)
/// for half offsets h of whole nodes, zero where one of the points is outside of the box.
///
/// p is the source's wavefield, and c what meets it in a gradient: the second difference in time of
/// the adjoint field over its scale, D nu and the residual. Summed over time at any two points that
/// is the product of nu with the second difference of p, so that h = 0 is the gradient's kernel. Up
/// to eight pairs of wavefields are kept, and added in one pass over the image.
///
/// Memory: sizeof(T) count() numbers a node, and 16 more.
template <class T, int Dim, class Memory>
class ExtendedImage {
 public:
  using Array = wave::Storage<T, Memory>;  ///< values of nodes

  /// An image of nothing.
  /// \param exec where it is allocated
  /// \param box nodes, of a grid with layers
  /// \param lags half offsets
  /// \throws InputError for lags that are negative, reach over half of the box, or along y in 2D
  ExtendedImage(const InstanceOf<Memory>& exec, const Box<Dim>& box, const Lags& lags);

  /// Bytes that an image takes.
  static double bytes_of(const Box<Dim>& box, const Lags& lags) {
    return static_cast<double>(sizeof(T)) * static_cast<double>(box.size()) *
           static_cast<double>(lags.count() + 2 * detail::slices_at_once);
  }
  /// Nodes.
  const Box<Dim>& box() const { return m_box; }
  /// Half offsets.
  const Lags& lags() const { return m_lags; }

  /// \brief Adds the product of a pair of wavefields, now or with later ones.
  /// \param exec where the work is submitted
  /// \param source values of p at the nodes of `of`, which holds box()
  /// \param of nodes of `source`, one after the other
  /// \param layout,adjoint c in a padded array
  /// \param weight of the product; a pass is made before another weight
  void add(const InstanceOf<Memory>& exec, const T* source, const Box<Dim>& of,
           const wave::Layout<Dim>& layout, const Kokkos::View<const T*, Memory>& adjoint,
           double weight);
  /// \brief Room for pairs of wavefields, which the caller writes at the nodes of box() with work
  /// that it submits to `exec`: they count as added.
  /// \param exec where earlier pairs are added to the image, if there is no room beside them
  /// \param weight of the products, as in add()
  /// \param count 1 or 2 pairs
  std::array<ExtendedPair<T>, 2> pairs(const InstanceOf<Memory>& exec, double weight, int count);
  /// Adds the pairs that are kept. The image is complete afterwards.
  void flush(const InstanceOf<Memory>& exec);
  /// Sets the image to zero, and forgets pairs that are kept.
  void clear(const InstanceOf<Memory>& exec);
  /// The image, lag after lag (x fastest), each with the nodes of box(). Call flush() before.
  const Array& values() const { return m_values; }

  /// \brief The transpose of add() in c: to += weight sum over h of I(x - h, h) p(x - 2 h).
  ///
  /// That is the source of extended Born modelling. \param exec where the work is submitted
  /// \param source p at the nodes of box(), one after the other
  /// \param to values of the same nodes, added to
  /// \param weight as in add()
  void scatter(const InstanceOf<Memory>& exec, const Array& source, const Array& to,
               double weight) const;

  /// \brief How far the image is from being focused: 1/2 sum of h^2 I^2, h in metres. It waits for
  /// it.
  /// \param exec where it is computed
  /// \param grid whose spacing counts
  /// \param derivative by the image, if it has elements, as many as values()
  double focus(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
               const Array& derivative = {}) const;

 private:
  detail::ExtendedPass<T, Dim> pass() const;
  Box<Dim> m_box;
  Lags m_lags;
  Array m_values;
  std::array<Array, detail::slices_at_once> m_source, m_adjoint;
  int m_slices = 0;
  double m_weight = 0.0;
};

template <class T, int Dim, class Memory>
ExtendedImage<T, Dim, Memory>::ExtendedImage(const InstanceOf<Memory>& exec, const Box<Dim>& box,
                                             const Lags& lags)
    : m_box(box), m_lags(lags) {
  const auto check = [&](std::int64_t lag, int axis) {
    const std::int64_t most = (box.extent(axis) - 1) / 2;
    if (lag >= 0 && lag <= most) return;
    throw InputError(concat("lags: the largest along ", axis_name<Dim>(axis), " is ", lag,
                            " nodes (allowed: 0 to ", most,
                            ", half of the nodes there are): take fewer"));
  };
  check(lags.x, 0);
  if (Dim == 2 && lags.y != 0) {
    throw InputError(concat("lags: the largest along y is ", lags.y,
                            " in two dimensions (allowed: 0): leave them out"));
  }
  if (Dim == 3) check(lags.y, 1);
  const auto make = [&](const char* label, std::int64_t count) {
    return allocate<Array>(Instance<Memory>(exec), label, static_cast<std::size_t>(count));
  };
  m_values = make("moho::fwi::extended_image", box.size() * lags.count());
  for (auto* slices : {&m_source, &m_adjoint}) {
    for (Array& slice : *slices) slice = make("moho::fwi::slice", box.size());
  }
  clear(exec);
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::clear(const InstanceOf<Memory>& exec) {
  fill(Instance<Memory>(exec), m_values, T(0));
  m_slices = 0;
}

template <class T, int Dim, class Memory>
detail::ExtendedPass<T, Dim> ExtendedImage<T, Dim, Memory>::pass() const {
  detail::ExtendedPass<T, Dim> pass{};
  for (std::size_t k = 0; k < m_source.size(); ++k) {
    pass.source[k] = m_source[k].data();
    pass.adjoint[k] = m_adjoint[k].data();
  }
  pass.slices = m_slices;
  pass.nodes = detail::dense(m_box);
  pass.x = m_lags.x;
  pass.y = m_lags.y;
  pass.size = m_box.size();
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
  const bool room = m_slices + count <= detail::slices_at_once;
  if (!room || (m_slices > 0 && weight != m_weight)) flush(exec);
  m_weight = weight;
  std::array<ExtendedPair<T>, 2> result;
  for (int n = 0; n < count; ++n) {
    const auto slot = static_cast<std::size_t>(m_slices++);
    result[static_cast<std::size_t>(n)] = {m_source[slot].data(), m_adjoint[slot].data()};
  }
  return result;
}

template <class T, int Dim, class Memory>
void ExtendedImage<T, Dim, Memory>::flush(const InstanceOf<Memory>& exec) {
  if (m_slices == 0) return;
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
#define MOHO_FWI_EXTENDED_IMAGE(prefix, T, Dim, Memory) \
  prefix template class ExtendedImage<T, Dim, Memory>;
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi {
MOHO_FOR_ALL(MOHO_FWI_EXTENDED_IMAGE, extern)
}
#endif
/// \endcond
