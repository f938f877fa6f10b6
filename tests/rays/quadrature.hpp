// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Integrals along segments by adaptive quadrature in extended precision: the reference.

#include <moho/rays/types.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace moho::testing {

/// Computes one interval of adaptive Simpson quadrature.
template <class Function>
long double integrate(const Function& f, long double a, long double b, long double fa,
                      long double fm, long double fb, int depth) {
  const long double m = 0.5L * (a + b);
  const long double fl = f(0.5L * (a + m)), fr = f(0.5L * (m + b));
  const long double coarse = (b - a) / 6 * (fa + 4 * fm + fb);
  const long double fine = (b - a) / 12 * (fa + 4 * fl + 2 * fm + 4 * fr + fb);
  if (depth == 0 || std::abs(fine - coarse) <= 1e-15L * std::abs(fine)) {
    return fine + (fine - coarse) / 15;
  }
  return integrate(f, a, m, fa, fl, fm, depth - 1) + integrate(f, m, b, fm, fr, fb, depth - 1);
}

/// Returns the integral of f from a to b.
template <class Function>
long double integrate(const Function& f, long double a, long double b) {
  long double sum = 0;
  for (int i = 0; i < 4; ++i) {  // so that the estimate also holds for symmetric functions
    const long double low = a + (b - a) * i / 4, high = a + (b - a) * (i + 1) / 4;
    sum += integrate(f, low, high, f(low), f(0.5L * (low + high)), f(high), 40);
  }
  return sum;
}

/// Returns the multilinear interpolant of node values at a position in index space.
template <int Dim, class Value>
long double brute_interpolant(const long double (&x)[Dim], const Index<Dim>& extents,
                              const Value& value) {
  long double sum = 0;
  for (int corner = 0; corner < (1 << Dim); ++corner) {
    long double weight = 1;
    Index<Dim> node;
    for (int d = 0; d < Dim; ++d) {
      const long double low =
          std::max(0.0L, std::min(std::floor(x[d]), static_cast<long double>(extents[d] - 2)));
      const bool upper = (corner >> d) & 1;
      node[d] = static_cast<std::int64_t>(low) + (upper ? 1 : 0);
      weight *= upper ? x[d] - low : 1 - (x[d] - low);
    }
    if (weight != 0) sum += weight * value(node);
  }
  return sum;
}

/// Returns the mean slowness from p to q by the definition of the rule.
template <int Dim, class Value>
long double brute_mean_slowness(rays::WeightRule rule, int radius, const Point<Dim>& p,
                                const Point<Dim>& q, const Index<Dim>& extents,
                                const Value& value) {
  const auto interpolant = [&](long double t) {
    long double x[Dim];
    for (int d = 0; d < Dim; ++d) {
      x[d] = p[d] == q[d]
                 ? static_cast<long double>(p[d])
                 : (1 - t) * static_cast<long double>(p[d]) + t * static_cast<long double>(q[d]);
    }
    return brute_interpolant<Dim>(x, extents, value);
  };
  long double sum = 0;
  if (rule == rays::WeightRule::sampled) {
    const int steps = radius + 1;
    for (int i = 0; i < steps; ++i) {
      const long double a = interpolant(static_cast<long double>(i) / steps);
      const long double b = interpolant(static_cast<long double>(i + 1) / steps);
      sum += 2 / (a + b) / steps;
    }
    return sum;
  }
  // every parameter at which a coordinate is an integer
  std::vector<long double> cuts{0, 1};
  for (int d = 0; d < Dim; ++d) {
    if (p[d] == q[d]) continue;
    for (std::int64_t k = 0; k < extents[d]; ++k) {
      const long double t =
          (static_cast<long double>(k) - p[d]) / (static_cast<long double>(q[d]) - p[d]);
      if (t > 0 && t < 1) cuts.push_back(t);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const long double a = cuts[i], b = cuts[i + 1];
    if (b - a < 1e-15L) continue;
    if (rule == rays::WeightRule::slowness) {
      sum += integrate(interpolant, a, b);
    } else if (rule == rays::WeightRule::velocity) {
      sum += integrate([&](long double t) { return 1 / interpolant(t); }, a, b);
    } else {
      // mean over all cells that contain the piece's midpoint, inside or on their border
      long double cells = 0, slowness = 0;
      std::int64_t count = 1;
      for (int d = 0; d < Dim; ++d) count *= extents[d] - 1;
      for (std::int64_t flat = 0; flat < count; ++flat) {
        Index<Dim> cell;
        std::int64_t rest = flat;
        bool holds = true;
        for (int d = Dim - 1; d >= 0; --d) {
          cell[d] = rest % (extents[d] - 1);
          rest /= extents[d] - 1;
          const long double middle =
              p[d] + 0.5L * (a + b) * (static_cast<long double>(q[d]) - p[d]);
          holds = holds && middle >= cell[d] && middle <= cell[d] + 1;
        }
        if (!holds) continue;
        for (int corner = 0; corner < (1 << Dim); ++corner) {
          Index<Dim> node = cell;
          for (int d = 0; d < Dim; ++d) node[d] += (corner >> d) & 1;
          slowness += static_cast<long double>(value(node)) / (1 << Dim);
        }
        ++cells;
      }
      sum += (b - a) * slowness / cells;
    }
  }
  return sum;
}

}  // namespace moho::testing
