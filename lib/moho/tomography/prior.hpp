// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The exponential prior: a square root of its covariance, by recursions along the axes.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/instance.hpp>
#include <moho/core/launch.hpp>

#include <cmath>
#include <cstdint>

namespace moho::tomography {

/// A vector of unknowns or data in a memory space.
template <class Memory>
using Vector = Kokkos::View<double*, Memory>;

namespace detail {

/// What a recursion along a line computes.
enum class Sweep {
  forward,            ///< y = S x
  transposed,         ///< y = S^T x
  inverse,            ///< y = S^-1 x, where c is 0 the pseudoinverse
  transposed_inverse  ///< y = S^-T x, where c is 0 the transposed pseudoinverse
};

/// A recursion in place along the lines of an axis.
template <Sweep sweep>
struct LineRecursion {
  double* values;
  std::int64_t count, stride;  ///< nodes of a line and the distance between them
  double a, c;                 ///< exp(-h / l), sqrt(1 - a^2)
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t line) const {
    double* const x = values + line / stride * stride * count + line % stride;
    if constexpr (sweep == Sweep::forward) {
      double y = x[0];
      for (std::int64_t i = 1; i < count; ++i) {
        y = a * y + c * x[i * stride];
        x[i * stride] = y;
      }
    } else if constexpr (sweep == Sweep::transposed) {
      double y = 0.0;
      for (std::int64_t i = count - 1; i > 0; --i) {
        y = a * y + x[i * stride];
        x[i * stride] = c * y;
      }
      x[0] += a * y;
    } else if (c == 0.0) {
      spread(x);
    } else if constexpr (sweep == Sweep::inverse) {
      for (std::int64_t i = count - 1; i > 0; --i) {
        x[i * stride] = (x[i * stride] - a * x[(i - 1) * stride]) / c;
      }
    } else {
      for (std::int64_t i = 1; i < count; ++i) {
        const double own = x[i * stride] / c;
        x[(i - 1) * stride] -= a * own;
        x[i * stride] = own;
      }
    }
  }
  // S of an infinite length copies the first unknown: its pseudoinverse is the mean of the line.
  KOKKOS_INLINE_FUNCTION void spread(double* const x) const {
    double sum = 0.0;
    if constexpr (sweep == Sweep::inverse) {
      for (std::int64_t i = 0; i < count; ++i) sum += x[i * stride];
      for (std::int64_t i = 1; i < count; ++i) x[i * stride] = 0.0;
      x[0] = sum / static_cast<double>(count);
    } else {
      sum = x[0] / static_cast<double>(count);
      for (std::int64_t i = 0; i < count; ++i) x[i * stride] = sum;
    }
  }
};

}  // namespace detail

/// \brief S with S S^T = exp(-|dx| / lx) exp(-|dz| / lz) between all nodes of a grid.
///
/// Along an axis y_0 = w_0 and y_i = a y_(i-1) + sqrt(1 - a^2) w_i with a = exp(-h / l), the
/// stationary autoregressive process of first order. Its variance is 1 at every node. The operator
/// of a grid is the product over its axes. An infinite length makes all nodes of an axis equal; S
/// is singular then, and the pseudoinverse takes the place of its inverse.
template <int Dim, class Memory>
class ExponentialPrior {
 public:
  /// \param grid nodes of the unknowns
  /// \param lengths correlation lengths along the axes in the units of the grid, positive
  /// \throws InputError for a length that is not positive
  ExponentialPrior(const Grid<Dim>& grid, const Point<Dim>& lengths) : m_grid(grid) {
    for (int d = 0; d < Dim; ++d) {
      if (!(lengths[d] > 0.0)) {
        throw InputError(concat("prior: the length along ", axis_name<Dim>(d), " is ", lengths[d],
                                " m (allowed: positive)"));
      }
      m_a[d] = std::exp(-grid.spacing[d] / lengths[d]);
    }
  }
  /// Returns the number of unknowns.
  std::int64_t size() const { return m_grid.size(); }
  /// Replaces x by S x.
  void apply(const Instance<Memory>& exec, const Vector<Memory>& x) const {
    for (int d = 0; d < Dim; ++d) sweep<detail::Sweep::forward>(exec, x, d);
  }
  /// Replaces x by S^T x.
  void transpose(const Instance<Memory>& exec, const Vector<Memory>& x) const {
    for (int d = Dim; d-- > 0;) sweep<detail::Sweep::transposed>(exec, x, d);
  }
  /// Replaces x by S^-1 x.
  void inverse(const Instance<Memory>& exec, const Vector<Memory>& x) const {
    for (int d = Dim; d-- > 0;) sweep<detail::Sweep::inverse>(exec, x, d);
  }
  /// Replaces x by S^-T x.
  void transposed_inverse(const Instance<Memory>& exec, const Vector<Memory>& x) const {
    for (int d = 0; d < Dim; ++d) sweep<detail::Sweep::transposed_inverse>(exec, x, d);
  }

 private:
  template <detail::Sweep kind>
  void sweep(const Instance<Memory>& exec, const Vector<Memory>& x, int axis) const {
    const std::int64_t count = m_grid.extents[axis];
    if (count < 2) return;
    std::int64_t stride = 1;
    for (int d = axis + 1; d < Dim; ++d) stride *= m_grid.extents[d];
    const double a = m_a[axis];
    launch(
        "moho::tomography::prior", exec, m_grid.size() / count,
        detail::LineRecursion<kind>{x.data(), count, stride, a, std::sqrt((1.0 - a) * (1.0 + a))});
  }

  Grid<Dim> m_grid;
  Point<Dim> m_a{};
};

}  // namespace moho::tomography
