// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Coefficients of centred differences of order 2 to 16, and their symbols.

#include <moho/core/error.hpp>

#include <array>
#include <cmath>
#include <cstddef>

namespace moho::wave {

/// Largest spatial order.
inline constexpr int largest_order = 16;
/// Nodes on each side in a difference of the largest order.
inline constexpr int largest_radius = largest_order / 2;

/// Coefficients of a node (k = 0) and its neighbours at distance k = 1 ... radius.
using Coefficients = std::array<double, largest_radius + 1>;

namespace detail {
/// Returns (R!)^2 / ((R - k)! (R + k)!).
constexpr double binomial_ratio(int radius, int k) {
  double ratio = 1.0;
  for (int i = 1; i <= k; ++i) {
    ratio *= static_cast<double>(radius - k + i) / static_cast<double>(radius + i);
  }
  return ratio;
}
}  // namespace detail

/// \brief Returns the second derivative of order 2 radius.
///
/// h^2 f''(0) = c_0 f(0) + sum c_k (f(kh) + f(-kh)). c_k = 2 (-1)^(k+1) (R!)^2 / (k^2 (R-k)!
/// (R+k)!), and c_0 makes the sum of all coefficients zero.
constexpr Coefficients second_derivative(int radius) {
  Coefficients c{};
  for (int k = 1; k <= radius; ++k) {
    const double sign = k % 2 == 1 ? 1.0 : -1.0;
    c[k] = 2.0 * sign * detail::binomial_ratio(radius, k) / (static_cast<double>(k) * k);
    c[0] -= 2.0 * c[k];
  }
  return c;
}

/// \brief Returns the first derivative of order 2 radius: h f'(0) = sum d_k (f(kh) - f(-kh)).
///
/// d_k = (-1)^(k+1) (R!)^2 / (k (R-k)! (R+k)!), and d_0 = 0.
constexpr Coefficients first_derivative(int radius) {
  Coefficients d{};
  for (int k = 1; k <= radius; ++k) {
    const double sign = k % 2 == 1 ? 1.0 : -1.0;
    d[k] = sign * detail::binomial_ratio(radius, k) / k;
  }
  return d;
}

/// Returns the symbol of the second derivative, -h^2 d2/dx2 of exp(i theta x / h).
///
/// It is about theta^2 for small theta.
inline double second_derivative_symbol(int radius, double theta) {
  const Coefficients c = second_derivative(radius);
  double sum = -c[0];
  for (int k = 1; k <= radius; ++k) sum -= 2.0 * c[k] * std::cos(k * theta);
  return sum;
}

/// Returns the symbol of the first derivative, h d/dx of exp(i theta x / h) over i.
///
/// It is about theta for small theta.
inline double first_derivative_symbol(int radius, double theta) {
  const Coefficients d = first_derivative(radius);
  double sum = 0.0;
  for (int k = 1; k <= radius; ++k) sum += 2.0 * d[k] * std::sin(k * theta);
  return sum;
}

/// Returns the largest symbol of the second derivative: that of the shortest wave, theta = pi.
inline double largest_symbol(int radius) {
  return second_derivative_symbol(radius, 3.14159265358979323846);
}

/// Throws InputError unless the order is one of 2, 4, ..., 16.
inline void check_order(int order) {
  if (order >= 2 && order <= largest_order && order % 2 == 0) return;
  throw InputError(
      concat("order is ", order, " (allowed: 2, 4, 6, 8, 10, 12, 14, 16): 8 is a good choice"));
}

/// \brief Returns the minimum number of nodes per wavelength for a wave along an axis.
///
/// At this number and above, the spatial differences change the phase velocity by at most
/// `tolerance`, relatively.
inline double required_points_per_wavelength(int order, double tolerance = 0.01) {
  check_order(order);
  constexpr double pi = 3.14159265358979323846;
  double theta = 0.0;
  for (double next = 0.002; next <= pi; next += 0.002) {
    const double ratio = std::sqrt(second_derivative_symbol(order / 2, next)) / next;
    if (std::abs(ratio - 1.0) > tolerance) break;
    theta = next;
  }
  return 2.0 * pi / theta;
}

}  // namespace moho::wave
