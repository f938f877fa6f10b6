// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Largest stable time step and shortest wavelength, from differences and model.

#include <moho/core/instances.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace moho::wave {

namespace detail {

/// Value of the reduction to the largest rate and the range of velocities of a model.
struct LimitSum {
  double rate;  ///< largest eigenvalue of -R, where p_tt = R p, 1/s^2
  double slowest, fastest;
  ValueRange vp, a, b;
  std::int64_t clamped;
  double contrast;           ///< largest ratio of two densities within a stencil, at least 1
  std::int64_t node, other;  ///< flat indices of these two, the lower one first
};

/// Returns the largest eigenvalue of the symbol of Fletcher's equations over v^2 Lap.
///
/// The maximum is over all shares of H1.
KOKKOS_INLINE_FUNCTION double fletcher_rate(double a, double b, double s) {
  double max = 0.0;
  constexpr int steps = 32;
  for (int i = -2; i <= steps + 2; ++i) {
    // the symbols of H1 and H2 may lie slightly outside [0, 1] for short waves
    const double h1 = static_cast<double>(i) / steps, h2 = 1.0 - h1;
    const double pp = a * h2 + s * h1, pq = (1.0 - s) * h1, qp = (b - s) * h2, qq = h1 + s * h2;
    const double mean = 0.5 * (pp + qq), det = pp * qq - pq * qp;
    const double square = mean * mean - det;
    const double value = square > 0.0 ? mean + sqrt(square) : sqrt(det > 0.0 ? det : 0.0);
    if (value > max) max = value;
  }
  return max;
}

/// Extends a range by a value or by another range.
KOKKOS_INLINE_FUNCTION void extend(ValueRange& range, const ValueRange& by) {
  if (by.min < range.min) range.min = by.min;
  if (by.max > range.max) range.max = by.max;
}

template <class T, int Dim>
struct LimitsOf {
  using value_type = LimitSum;
  const T *vp, *density, *epsilon, *delta;  ///< null if absent
  Grid<Dim> grid;
  double laplacian;  ///< largest symbol of the Laplacian, 1/m^2
  double inverse_sigma;
  int radius;
  bool fletcher;
  double second[Dim][largest_radius + 1];

  // Keeps the larger contrast; for equal ones, the lower nodes.
  KOKKOS_INLINE_FUNCTION static void keep(LimitSum& sum, double contrast, std::int64_t node,
                                          std::int64_t other) {
    if (contrast < sum.contrast) return;
    if (contrast == sum.contrast && node >= sum.node) return;
    sum.contrast = contrast;
    sum.node = node;
    sum.other = other;
  }
  /// Returns the potential (L s) / s of s = 1 / sqrt(rho), and keeps contrasts.
  ///
  /// Beyond a face the density is that of the nearest node or, at free surfaces, the even image;
  /// the larger potential counts.
  KOKKOS_INLINE_FUNCTION double potential(std::int64_t i, LimitSum& sum) const {
    const Index<Dim> node = grid.node(i);
    const double own = static_cast<double>(density[i]);
    double total = 0.0;
    std::int64_t stride = 1;
    for (int d = Dim - 1; d >= 0; --d) {
      const std::int64_t last = grid.extents[d] - 1;
      const bool inner = node[d] >= radius && node[d] + radius <= last;
      double max = 0.0;
      for (int image = 0; image < (inner ? 1 : 2); ++image) {
        double part = 0.0;
        for (int k = 1; k <= radius; ++k) {
          for (int sign = -1; sign <= 1; sign += 2) {
            std::int64_t to = node[d] + sign * k;
            if (to < 0) to = image ? -to : 0;
            if (to > last) to = image ? 2 * last - to : last;
            // the differences may be wider than the grid
            if (to < 0 || to > last) to = node[d];
            const std::int64_t other = i + (to - node[d]) * stride;
            const double neighbour = static_cast<double>(density[other]);
            if (other > i) keep(sum, own < neighbour ? neighbour / own : own / neighbour, i, other);
            part += second[d][k] * (sqrt(own / neighbour) - 1.0);
          }
        }
        if (image == 0 || part > max) max = part;
      }
      total += max;
      stride *= grid.extents[d];
    }
    return total;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, LimitSum& sum) const {
    const double v = static_cast<double>(vp[i]);
    double rate = laplacian, min = 1.0, max = 1.0;
    extend(sum.vp, {v, v});
    if (density != nullptr) rate += potential(i, sum);
    if (epsilon != nullptr || delta != nullptr) {
      const double e = epsilon != nullptr ? static_cast<double>(epsilon[i]) : 0.0;
      const double t = delta != nullptr ? static_cast<double>(delta[i]) : 0.0;
      const double a = 1.0 + 2.0 * e;
      double b = 1.0 + 2.0 * t;
      const double s = (e > t ? e - t : t - e) * inverse_sigma;
      if (fletcher) {
        rate *= fletcher_rate(a, b, s);
      } else {
        if (a > 1.0) rate *= a;
        if (b > a) {
          b = a;
          ++sum.clamped;
        }
      }
      extend(sum.a, {a, a});
      extend(sum.b, {sqrt(b), sqrt(b)});
      min = a < b ? a : b;
      max = a < b ? b : a;
      if (min > 1.0) min = 1.0;
      if (max < 1.0) max = 1.0;
    }
    rate *= v * v;
    const double slow = v * sqrt(min), fast = v * sqrt(max);
    if (rate > sum.rate) sum.rate = rate;
    if (slow < sum.slowest) sum.slowest = slow;
    if (fast > sum.fastest) sum.fastest = fast;
  }
  KOKKOS_INLINE_FUNCTION void init(LimitSum& sum) const {
    sum.rate = 0.0;
    sum.slowest = 1.0e300;
    sum.fastest = 0.0;
    sum.vp = sum.a = sum.b = {1.0e300, -1.0e300};
    sum.clamped = 0;
    sum.contrast = 1.0;
    sum.node = sum.other = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(LimitSum& to, const LimitSum& from) const {
    if (from.rate > to.rate) to.rate = from.rate;
    if (from.slowest < to.slowest) to.slowest = from.slowest;
    if (from.fastest > to.fastest) to.fastest = from.fastest;
    extend(to.vp, from.vp);
    extend(to.a, from.a);
    extend(to.b, from.b);
    to.clamped = to.clamped + from.clamped;
    keep(to, from.contrast, from.node, from.other);
  }
};
}  // namespace detail

/// \brief Returns the largest ratio of two densities within order / 2 nodes along an axis.
///
/// Up to this ratio the operator V - L of q = p / sqrt(rho) has no negative eigenvalue, and
/// therefore no growing solutions, for any pattern of densities; see docs/theory/waves.md. The
/// ratio is infinite at order 2.
inline double largest_density_ratio(int order) {
  check_order(order);
  constexpr double ratios[] = {
      std::numeric_limits<double>::infinity(), 50.0, 25.0, 16.0, 12.5, 10.5, 9.5, 8.5};
  return ratios[order / 2 - 1];
}

namespace detail {
/// \brief Throws InputError if two densities within a stencil differ too much.
///
/// Their ratio may not exceed largest_density_ratio(). The message gives both nodes.
template <class T, int Dim, class Memory>
void check_contrast(const Instance<Memory>& exec, const Grid<Dim>& grid,
                    const Field<T, Dim, Memory>& density, int order, const LimitSum& sum) {
  const double largest = largest_density_ratio(order);
  if (sum.contrast <= largest) return;
  int lower = order;
  while (sum.contrast > largest_density_ratio(lower)) lower -= 2;
  const auto node = [&](std::int64_t at) {
    const Index<Dim> index = grid.node(at);
    return concat(value_at(exec, density.data() + at), " at node ", format_index(index), ", ",
                  format_point(grid.position(index)), " m");
  };
  throw InputError(concat("density: ", node(sum.node), ", and ", node(sum.other),
                          ", differ by a ratio of ", sum.contrast,
                          ", with which wavefields may grow without bound (allowed: ", largest,
                          " within ", text::counted(order / 2, "node"), " along an axis at order ",
                          order, "): smooth the density there, or take order ", lower, " or less"));
}
}  // namespace detail

/// \brief Returns the largest stable step of a checked model, and its range of velocities.
///
/// The leapfrog scheme is stable while dt^2 times the largest eigenvalue of the spatial operator
/// stays below 4. Two factors bound this eigenvalue: the symbol of the differences at the shortest
/// wavelength, and a factor of the model at every node. The latter is v^2 for isotropic media; with
/// variable density the potential of the node is added to the symbol. For the self-adjoint
/// equations it is v^2 max(1, 1 + 2 epsilon); for Fletcher's, the larger eigenvalue of the two
/// equations for any direction. \param sigma as in PropagatorOptions \throws InputError if
/// densities differ by more than largest_density_ratio() within a stencil
template <class T, int Dim, class Memory>
Limits limits_of(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                 const Model<T, Dim, Memory>& model, int order,
                 Equations equations = Equations::self_adjoint, double sigma = 0.75);

template <class T, int Dim, class Memory>
Limits limits_of(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                 const Model<T, Dim, Memory>& model, int order, Equations equations, double sigma) {
  check_order(order);
  detail::LimitsOf<T, Dim> functor;
  functor.vp = model.vp.data();
  functor.density = model.density.data();
  functor.epsilon = model.epsilon.data();
  functor.delta = model.delta.data();
  functor.grid = grid;
  functor.inverse_sigma = 1.0 / sigma;
  functor.radius = order / 2;
  functor.fletcher = equations == Equations::fletcher;
  functor.laplacian = 0.0;
  const Coefficients c = second_derivative(order / 2);
  for (int d = 0; d < Dim; ++d) {
    const double over = 1.0 / (grid.spacing[d] * grid.spacing[d]);
    functor.laplacian += largest_symbol(order / 2) * over;
    for (int k = 0; k <= order / 2; ++k) functor.second[d][k] = c[k] * over;
  }
  const detail::LimitSum sum =
      reduce("moho::wave::limits", Instance<Memory>(exec), grid.size(), functor);
  if (model.density.data() != nullptr) {
    detail::check_contrast<T, Dim, Memory>(exec, grid, model.density, order, sum);
  }
  // the bound of anisotropic media is that of homogeneous ones: 1 % less
  const bool anisotropic = fields_of(model.medium()) == 2;
  Limits limits{(anisotropic ? 1.98 : 2.0) / std::sqrt(sum.rate), sum.slowest, sum.fastest,
                sum.clamped};
  limits.vp = sum.vp;
  if (anisotropic) {
    limits.a = sum.a;
    limits.b = sum.b;
  }
  limits.density_contrast = sum.contrast;
  return limits;
}

/// Throws InputError unless 0 < dt <= limits.largest_dt.
inline void check_dt(double dt, const Limits& limits) {
  if (std::isfinite(dt) && dt > 0.0 && dt <= limits.largest_dt) return;
  // rounded down, so that the number of the message is allowed
  const double digits = std::pow(10.0, std::floor(std::log10(limits.largest_dt)) - 4.0);
  throw InputError(concat("dt is ", dt, " s (allowed: positive and at most ",
                          std::floor(limits.largest_dt / digits) * digits,
                          " s, the largest stable step of this model, grid and order): take a "
                          "smaller step or a wider grid spacing"));
}

/// Throws InputError if the shortest wavelength has too few nodes for the order of the differences.
/// \param frequency highest frequency of the source, Hz
template <int Dim>
void check_dispersion(const Grid<Dim>& grid, const Limits& limits, int order, double frequency) {
  if (!(frequency > 0.0) || !std::isfinite(frequency)) {
    throw InputError(concat("highest frequency is ", frequency, " Hz (allowed: positive numbers)"));
  }
  double spacing = 0.0;
  for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
  const double points = limits.min_velocity / (frequency * spacing);
  const double wanted = required_points_per_wavelength(order);
  if (points >= wanted) return;
  throw InputError(
      concat("the shortest wave, ", limits.min_velocity, " m/s at ", frequency, " Hz, has ", points,
             " points per wavelength at a spacing of ", spacing, " m (allowed: at least ", wanted,
             " at order ", order, "): lower the frequency below ",
             limits.min_velocity / (wanted * spacing), " Hz, refine the spacing below ",
             limits.min_velocity / (wanted * frequency), " m, or take a higher order"));
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, limits_of)
}  // namespace moho::wave
#endif
/// \endcond
