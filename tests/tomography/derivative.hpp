// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Rows of predictions against central differences of their times, and against integrals along the
// circular rays of a linear velocity.

#include "tomography/line.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace moho::testing {

// A smooth change of ln slowness of about 1; higher numbers vary faster.
inline double smooth_change(int number, double x, double z) {
  return 1.0 + std::sin(0.008 * (number + 1) * x + number) * std::cos(0.01 * z * number);
}

// What rows and differences say about a change of ln slowness, a value for each pick over its time.
struct Derivatives {
  std::vector<double> rows, differences;
};

template <class T, int Dim, class Memory>
Derivatives derivatives_of(const Instance<Memory>& exec,
                           const tomography::Forward<T, Dim, Memory>& forward, int number,
                           const std::vector<double>& velocity, double step) {
  const auto now = forward.evaluate(exec, velocity);
  const tomography::SparseRows rows = tomography::download_rows(exec, now.rows);
  std::vector<double> change;
  for (std::int64_t i = 0; i < forward.unknowns().size(); ++i) {
    const auto p = forward.unknowns().position(forward.unknowns().node(i));
    change.push_back(smooth_change(number, p[0], p[Dim - 1]));
  }
  const auto wide = forward.interpolation().interpolate(change);
  std::vector<double> slower(velocity), quicker(velocity);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    slower[i] *= std::exp(-step * wide[i]);
    quicker[i] *= std::exp(step * wide[i]);
  }
  const auto late = forward.evaluate(exec, slower).times,
             early = forward.evaluate(exec, quicker).times;
  Derivatives result;
  for (std::size_t k = 0; k < now.times.size(); ++k) {
    double linear = 0.0;
    for (auto e = static_cast<std::size_t>(rows.first[k]);
         e < static_cast<std::size_t>(rows.first[k + 1]); ++e) {
      linear += rows.value[e] * change[static_cast<std::size_t>(rows.column[e])];
    }
    result.rows.push_back(linear / now.times[k]);
    result.differences.push_back((late[k] - early[k]) / (2.0 * step) / now.times[k]);
  }
  return result;
}

// The largest difference of two lists.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

// The integral of a change over the time along the ray between two points of the velocity
// line_truth, an arc of a circle whose centre is where the velocity is zero, over its time.
inline double exact_derivative(int number, const Point<2>& a, const Point<2>& b) {
  const double depth = line_truth.v0 / line_truth.gradient, dx = b[0] - a[0];
  const double za = a[1] + depth, zb = b[1] + depth;
  constexpr int pieces = 2000;
  double sum = 0.0, time = 0.0;
  const auto add = [&](double x, double z, double length) {
    const double dt = length / (line_truth.v0 + line_truth.gradient * z);
    sum += smooth_change(number, x, z) * dt;
    time += dt;
  };
  if (std::abs(dx) < 1e-9) {
    for (int i = 0; i < pieces; ++i) {
      add(a[0], a[1] + (b[1] - a[1]) * (i + 0.5) / pieces, std::abs(b[1] - a[1]) / pieces);
    }
    return sum / time;
  }
  const double centre = (dx * dx + zb * zb - za * za) / (2.0 * dx);
  const double radius = std::hypot(centre, za);
  const double from = std::atan2(za, -centre), to = std::atan2(zb, dx - centre);
  for (int i = 0; i < pieces; ++i) {
    const double angle = from + (to - from) * (i + 0.5) / pieces;
    add(a[0] + centre + radius * std::cos(angle), radius * std::sin(angle) - depth,
        radius * std::abs(to - from) / pieces);
  }
  return sum / time;
}

}  // namespace moho::testing
