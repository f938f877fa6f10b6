// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The field of a prism by adaptive quadrature, without closed forms.

#include "gravity/extended.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace moho::testing {

/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1].
struct GaussRule {
  std::vector<double> nodes, weights;

  explicit GaussRule(int count) {
    for (int i = 0; i < count; ++i) {
      long double x = std::cos(3.14159265358979323846L * (i + 0.75L) / (count + 0.5L));
      long double slope = 1;
      for (int step = 0; step < 6; ++step) {
        long double before = 1, value = x;
        for (int n = 2; n <= count; ++n) {
          const long double next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
          before = value;
          value = next;
        }
        slope = count * (x * value - before) / (x * x - 1);
        x -= value / slope;
      }
      nodes.push_back(static_cast<double>(x));
      weights.push_back(static_cast<double>(2 / ((1 - x * x) * slope * slope)));
    }
  }
};

/// Product quadrature over a box in 2D or 3D. Boxes are halved along all axes until two orders
/// agree.
template <int Dim>
class BoxQuadrature {
 public:
  using Box = std::array<double, 2 * Dim>;
  using Point = std::array<double, Dim>;

  /// Returns the integral of a vector-valued function of a Point. `tolerance` is absolute, per
  /// component, for the complete box.
  template <class Function>
  Field integrate(const Function& f, const Box& box, const Field& tolerance, int depth = 12) const {
    const Field coarse = sum(m_coarse, f, box), fine = sum(m_fine, f, box);
    bool good = true;
    for (std::size_t c = 0; c < fine.size(); ++c) {
      good = good && std::abs(fine[c] - coarse[c]) <= tolerance[c];
    }
    if (good || depth == 0) return fine;
    Field total{}, part = tolerance;
    // errors of the parts have random signs, and the error of the finer sum is far below the
    // difference
    for (double& value : part) value *= 0.5;
    for (int child = 0; child < (1 << Dim); ++child) {
      Box piece;
      for (std::size_t d = 0; d < Dim; ++d) {
        const double middle = 0.5 * (box[2 * d] + box[2 * d + 1]);
        const bool upper = (child >> d) & 1;
        piece[2 * d] = upper ? middle : box[2 * d];
        piece[2 * d + 1] = upper ? box[2 * d + 1] : middle;
      }
      const Field value = integrate(f, piece, part, depth - 1);
      for (std::size_t c = 0; c < total.size(); ++c) total[c] += value[c];
    }
    return total;
  }

 private:
  template <class Function>
  static Field sum(const GaussRule& rule, const Function& f, const Box& box) {
    const std::size_t count = rule.nodes.size();
    std::size_t all = 1;
    double scale = 1.0;
    for (std::size_t d = 0; d < Dim; ++d) {
      all *= count;
      scale *= 0.5 * (box[2 * d + 1] - box[2 * d]);
    }
    Field total{};
    for (std::size_t flat = 0; flat < all; ++flat) {
      Point point;
      double weight = scale;
      std::size_t rest = flat;
      for (std::size_t d = 0; d < Dim; ++d) {
        const std::size_t i = rest % count;
        rest /= count;
        weight *= rule.weights[i];
        point[d] = 0.5 * (box[2 * d] + box[2 * d + 1]) +
                   0.5 * (box[2 * d + 1] - box[2 * d]) * rule.nodes[i];
      }
      const Field value = f(point);
      for (std::size_t c = 0; c < total.size(); ++c) total[c] += weight * value[c];
    }
    return total;
  }

  GaussRule m_coarse = GaussRule(6), m_fine = GaussRule(10);
};

/// Returns the field of a unit point mass at (x, y, z) relative to the station, for G = 1.
inline Field point_field(double x, double y, double z) {
  const double r2 = x * x + y * y + z * z, r = std::sqrt(r2), r3 = r * r2, r5 = r3 * r2;
  return {1 / r,
          x / r3,
          y / r3,
          z / r3,
          3 * x * x / r5 - 1 / r3,
          3 * y * y / r5 - 1 / r3,
          3 * z * z / r5 - 1 / r3,
          3 * x * y / r5,
          3 * x * z / r5,
          3 * y * z / r5};
}

/// Returns the field in library units.
inline Field in_units(Field field, double factor) {
  for (std::size_t c = 0; c < field.size(); ++c) {
    field[c] *= factor * (c == 0 ? 1.0 : c < 4 ? 1e5 : 1e9);
  }
  return field;
}

/// Integrates point masses over the volume, for stations outside. Errors are below `tolerance`
/// times the field of the total mass at the nearest point, a bound of the integrand.
inline Field volume_quadrature(const Prism& prism, const Station& station, double constant,
                               double tolerance) {
  double volume = 1.0, nearest = 0.0;
  BoxQuadrature<3>::Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box[2 * a] = prism[2 * a] - station[a];
    box[2 * a + 1] = prism[2 * a + 1] - station[a];
    volume *= box[2 * a + 1] - box[2 * a];
    const double off = std::max({box[2 * a], -box[2 * a + 1], 0.0});
    nearest += off * off;
  }
  nearest = std::sqrt(nearest);
  Field allowed;
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    allowed[c] = tolerance * volume / std::pow(nearest, c == 0 ? 1 : c < 4 ? 2 : 3);
  }
  return in_units(BoxQuadrature<3>().integrate(
                      [](const auto& p) { return point_field(p[0], p[1], p[2]); }, box, allowed),
                  constant * prism[6]);
}

/// Integrates along rays from the station, which leaves integrals over the six faces. Along a ray
/// the mass up to a face contributes R^2 / 2 to the potential, R to the attraction and ln R to the
/// gradient. The gradient also has the Cauchy principal value's -4 pi / 3 at the station. The
/// integrands are smooth for stations inside. For stations outside, faces seen from outside count
/// negatively. `tolerance` is absolute in units of G rho L^2, G rho L and G rho; L is the longest
/// side.
inline Field face_quadrature(const Prism& prism, const Station& station, double constant,
                             double tolerance) {
  double faces[3][2], longest = 0.0;
  bool inside = true;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t i = 0; i < 2; ++i) faces[a][i] = prism[2 * a + i] - station[a];
    inside = inside && faces[a][0] < 0.0 && faces[a][1] > 0.0;
    longest = std::max(longest, faces[a][1] - faces[a][0]);
  }
  Field allowed;
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    allowed[c] = tolerance * (c == 0 ? longest * longest : c < 4 ? longest : 1.0);
  }
  Field total{};
  const BoxQuadrature<2> quadrature;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    for (std::size_t i = 0; i < 2; ++i) {
      const double height = i == 0 ? -faces[a][0] : faces[a][1];  // along the outward normal
      const auto f = [&](const std::array<double, 2>& p) {
        std::array<double, 3> v;
        v[a] = faces[a][i];
        v[b] = p[0];
        v[c] = p[1];
        const double r2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], r = std::sqrt(r2);
        const double angle = height / (r * r2);  // solid angle per area
        const double log = 0.5 * std::log(r2 / (longest * longest));
        const auto second = [&](std::size_t m, std::size_t n) {
          return angle * (3 * v[m] * v[n] / r2 - (m == n ? 1.0 : 0.0)) * log;
        };
        return Field{0.5 * r2 * angle, v[0] * angle, v[1] * angle, v[2] * angle, second(0, 0),
                     second(1, 1),     second(2, 2), second(0, 1), second(0, 2), second(1, 2)};
      };
      const Field part = quadrature.integrate(
          f, {faces[b][0], faces[b][1], faces[c][0], faces[c][1]}, allowed, 20);
      for (std::size_t n = 0; n < part.size(); ++n) total[n] += part[n];
    }
  }
  if (inside) {
    for (std::size_t n = 4; n < 7; ++n) total[n] -= 4.0 * 3.14159265358979323846 / 3.0;
  }
  return in_units(total, constant * prism[6]);
}

}  // namespace moho::testing
