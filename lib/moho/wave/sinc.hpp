// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Interpolation between nodes by a Kaiser-windowed sinc (Hicks 2002).
///
/// Sources and receivers between nodes use it.

#include <moho/core/error.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace moho::wave {

/// Largest radius of a window: nodes on either side of a position.
inline constexpr int largest_sinc_radius = 10;

/// Distance, in units of the spacing, below which a position coincides with a node.
inline constexpr double sinc_snap = 1e-9;

/// \brief Throws InputError unless the radius is allowed.
inline void check_sinc_radius(int radius) {
  if (radius >= 1 && radius <= largest_sinc_radius) return;
  throw InputError(concat("radius is ", radius, " (allowed: 1 to ", largest_sinc_radius,
                          " nodes on either side of a position): 4 serves most purposes"));
}

/// \brief Returns the parameter b of the Kaiser window I0(b sqrt(1 - (x/radius)^2)) / I0(b).
///
/// It minimises the largest error of interpolating exp(i k x) anywhere between two nodes. The
/// maximum is over k from 0 to a quarter of the sampling wavenumber (four nodes per wavelength).
/// The errors are .17, .028, .0048, .0014, 2.5e-4, 4.9e-5, 9.5e-6, 2.1e-6, 3.6e-7, 7.3e-8 for
/// radius 1 ... 10. Radius 2 uses 3.00 instead of the optimum 2.94, which suits longer waves
/// better.
/// \throws InputError if the radius is not from 1 to 10
inline double kaiser_parameter(int radius) {
  check_sinc_radius(radius);
  constexpr double best[largest_sinc_radius] = {1.24, 3.00,  4.52,  6.30,  7.92,
                                                9.42, 10.96, 12.60, 14.16, 15.70};
  return best[radius - 1];
}

/// \brief Returns the modified Bessel function of the first kind and order zero.
///
/// Its power series serves arguments up to some tens.
inline double bessel_i0(double x) {
  const double quarter = 0.25 * x * x;
  double term = 1.0, sum = 1.0;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

/// Returns sin(pi x) / (pi x).
inline double sinc(double x) {
  constexpr double pi = 3.14159265358979323846;
  return x == 0.0 ? 1.0 : std::sin(pi * x) / (pi * x);
}

/// \brief Weights of neighbouring nodes along one axis.
struct SincWeights {
  std::int64_t first = 0;  ///< node of weight[0]
  int count = 0;           ///< number of nodes with a weight
  /// Weights of the nodes first, first + 1, ...
  std::array<double, 2 * largest_sinc_radius> weight{};
};

/// \brief Returns the weights of the nodes around a position.
///
/// The position is in units of the spacing, counted from node 0. The value at the position is the
/// sum of weight times value over 2 radius nodes, on an unbounded grid. A position on a node
/// (closer than `sinc_snap`) uses that node alone, with a weight of exactly 1. \throws InputError
/// if the radius is not from 1 to 10
inline SincWeights sinc_weights(double position, int radius) {
  check_sinc_radius(radius);
  SincWeights result;
  const double nearest = std::floor(position + 0.5);
  if (std::fabs(position - nearest) < sinc_snap) {
    result.first = static_cast<std::int64_t>(nearest);
    result.count = 1;
    result.weight[0] = 1.0;
    return result;
  }
  const double b = kaiser_parameter(radius);
  const double scale = 1.0 / bessel_i0(b);
  const double below = std::floor(position);
  result.first = static_cast<std::int64_t>(below) - radius + 1;
  result.count = 2 * radius;
  for (int i = 0; i < result.count; ++i) {
    const double x = below - radius + 1 + i - position;
    const double inside = 1.0 - x * x / (static_cast<double>(radius) * radius);
    const double window = inside > 0.0 ? bessel_i0(b * std::sqrt(inside)) * scale : 0.0;
    result.weight[static_cast<std::size_t>(i)] = window * sinc(x);
  }
  return result;
}

}  // namespace moho::wave
