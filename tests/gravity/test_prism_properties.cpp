// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Properties of the field of one prism: symmetry, Poisson's equation, derivatives, additivity,
// flux, scaling. These are host functions.

#include "gravity/one_prism.hpp"
#include "gravity/quadrature.hpp"

namespace {

using namespace moho::testing;
using moho::gravity::gravitational_constant;

// Mirrored and rotated prisms have mirrored and rotated fields. The tolerance everywhere is the
// documented 1e-10 of the prism's own far field, plus rounding.
TEST(Prism, MirroredAndTurned) {
  for (const Prism& p : {ugly, thin, at_origin}) {
    for (const Station& s : assorted_stations(p, 6, 60)) {
      const Field f = quick_prism(p, s);
      const Norms scale = scale_at(p, s);
      for (std::size_t a = 0; a < 3; ++a) {
        Prism q = p;
        q[2 * a] = -p[2 * a + 1];
        q[2 * a + 1] = -p[2 * a];
        Station t = s;
        t[a] = -s[a];
        Field expected = f;
        for (std::size_t b = 0; b < 3; ++b) {
          if (a == b) {
            expected[attraction_slot(a)] *= -1.0;
          } else {
            expected[gradient_slot(a, b)] *= -1.0;
          }
        }
        EXPECT_TRUE(fields_agree(quick_prism(q, t), expected, scale, 1e-10))
            << "axis " << a << ": " << describe(p, s);
      }
      constexpr std::size_t turns[][3] = {{1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
      for (const auto& turn : turns) {
        Prism q = p;
        Station t;
        Field expected = f;
        for (std::size_t a = 0; a < 3; ++a) {
          q[2 * a] = p[2 * turn[a]];
          q[2 * a + 1] = p[2 * turn[a] + 1];
          t[a] = s[turn[a]];
          expected[attraction_slot(a)] = f[attraction_slot(turn[a])];
          for (std::size_t b = 0; b < 3; ++b) {
            expected[gradient_slot(a, b)] = f[gradient_slot(turn[a], turn[b])];
          }
        }
        EXPECT_TRUE(fields_agree(quick_prism(q, t), expected, scale, 1e-10)) << describe(p, s);
      }
      // the field is linear in the density and in the constant
      Prism negative = p;
      negative[6] = -2.0 * p[6];
      Field expected = f;
      for (double& v : expected) v *= -2.0 * 1.5;
      EXPECT_TRUE(fields_agree(quick_prism(negative, s, 1.5 * gravitational_constant), expected,
                               scale, 1e-14));
    }
  }
}

TEST(Prism, TheTraceIsPoissons) {
  for (const Prism& p : {ugly, thin, at_origin}) {
    int inside = 0;
    for (const Station& s : assorted_stations(p, 7, 300)) {
      const Field f = quick_prism(p, s);
      const double expected = is_inside(p, s) ? -4.0 * pi * g_rock * unit_t : 0.0;
      inside += is_inside(p, s);
      // solid angles of up to 4 pi are summed with errors of a few ulps; far fields are exact to
      // 1e-10
      EXPECT_NEAR(f[GXX] + f[GYY] + f[GZZ], expected,
                  std::min(1e-10 * scale_at(p, s)[2], 1e-13 * 4.0 * pi * g_rock * unit_t))
          << describe(p, s);
    }
    EXPECT_GE(inside, 30);
  }
}

// Compares derivatives with central differences of two steps, extrapolated to fourth order. The
// step is 1e-3 of the length over which the field changes, the distance from the nearest face's
// plane. The remainder is (1e-3)^4 times a fifth derivative (5! for 1/r); rounding is 1e-16 / 1e-3
// times the form's own loss. The tolerance 1e-8 covers both and detects a wrong sign or term.
TEST(Prism, IsTheDerivativeOfWhatComesBefore) {
  for (const Prism& p : {ugly, thin, at_origin}) {
    int tested = 0;
    for (const Station& s : assorted_stations(p, 8, 150)) {
      double length = 1e300;
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t f = 0; f < 2; ++f)
          length = std::min(length, std::abs(p[2 * a + f] - s[a]));
      }
      const double distance = distance_from(p, s);
      if (distance > 2.0 * longest_of(p)) length = 0.5 * distance;
      if (length < 0.02 * shortest_of(p) || distance > 30.0 * longest_of(p)) continue;
      ++tested;
      const double step = 1e-3 * length;
      const Field f = quick_prism(p, s);
      const Norms scale = scale_at(p, s);
      for (std::size_t a = 0; a < 3; ++a) {
        const auto difference = [&](double h) {
          Station low = s, high = s;
          low[a] -= h;
          high[a] += h;
          const Field below = quick_prism(p, low), above = quick_prism(p, high);
          Field d;
          for (std::size_t n = 0; n < 10; ++n) d[n] = (above[n] - below[n]) / (high[a] - low[a]);
          return d;
        };
        const Field one = difference(step), two = difference(2.0 * step);
        const auto derivative = [&](std::size_t slot) {
          return (4.0 * one[slot] - two[slot]) / 3.0;
        };
        // rounding of U and g divided by the step
        const Norms rounded = with_rounding(scale, p);
        const double noise_g = 1e-14 * rounded[0] / step * unit_g;
        const double noise_t = 1e-14 * rounded[1] / unit_g / step * unit_t;
        EXPECT_NEAR(derivative(U) * unit_g, f[attraction_slot(a)], 1e-8 * scale[1] + noise_g)
            << "axis " << a << ": " << describe(p, s);
        for (std::size_t b = 0; b < 3; ++b) {
          EXPECT_NEAR(derivative(attraction_slot(b)) / unit_g * unit_t, f[gradient_slot(a, b)],
                      1e-8 * scale[2] + noise_t)
              << "axes " << a << " and " << b << ": " << describe(p, s);
        }
      }
    }
    EXPECT_GE(tested, 40);
  }
}

std::vector<Prism> cut_into_eight(const Prism& p, const Station& at) {
  std::vector<Prism> parts;
  for (int octant = 0; octant < 8; ++octant) {
    Prism part = p;
    for (std::size_t a = 0; a < 3; ++a) part[2 * a + ((octant >> a) & 1 ? 0 : 1)] = at[a];
    parts.push_back(part);
  }
  return parts;
}

// A prism divided into eight parts has the same field, up to rounding of nine fields. Far away the
// tolerance is 1e-10 of the prism's own field.
TEST(Prism, IsTheSumOfEightParts) {
  for (const Prism& p : {ugly, thin, at_origin}) {
    const Station cut = point_in(p, 0.37, 0.52, 0.71);
    const auto parts = cut_into_eight(p, cut);
    auto stations = assorted_stations(p, 9, 150);
    for (const Station& s : stations) {
      Field sum{};
      for (const Prism& part : parts) {
        const Field f = quick_prism(part, s);
        for (std::size_t n = 0; n < 10; ++n) sum[n] += f[n];
      }
      const bool far = distance_from(p, s) > 10.0 * longest_of(p);
      const Field whole = quick_prism(p, s);
      if (far) {
        EXPECT_TRUE(fields_agree(sum, whole, scale_at(p, s), 1e-10)) << describe(p, s);
      } else {
        EXPECT_TRUE(fields_agree(sum, whole, with_rounding(scale_at(p, s), p), 1e-13))
            << describe(p, s);
      }
    }
    // On a cut both neighbours give their limit from outside: 4 pi G rho more than inside.
    const Station on_cut{cut[0], cut[1] + 0.1 * side_of(p, 1), cut[2] - 0.1 * side_of(p, 2)};
    Field sum{};
    for (const Prism& part : parts) {
      const Field f = quick_prism(part, on_cut);
      for (std::size_t n = 0; n < 10; ++n) sum[n] += f[n];
    }
    Field expected = quick_prism(p, on_cut);
    expected[GXX] += 4.0 * pi * g_rock * unit_t;
    EXPECT_TRUE(fields_agree(sum, expected, scale_at(p, on_cut), 1e-12));
  }
}

// Returns the flux of g out of a box by Gauss quadrature on panels that end at the prism's faces.
// Where the box cuts edges of the prism, panels have logarithmic singularities. 24 nodes integrate
// them to about 1e-4 of a panel. Boxes around the complete prism have smooth integrands.
double outward_flux(const Prism& p, const Station& low, const Station& high) {
  const GaussRule rule(24);
  double flux = 0.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    const auto panels = [&](std::size_t axis) {
      std::vector<double> ends{low[axis]};
      for (const double end : {p[2 * axis], p[2 * axis + 1]}) {
        if (end > low[axis] && end < high[axis]) ends.push_back(end);
      }
      ends.push_back(high[axis]);
      return ends;
    };
    const auto ends_b = panels(b), ends_c = panels(c);
    for (std::size_t i = 0; i + 1 < ends_b.size(); ++i) {
      for (std::size_t j = 0; j + 1 < ends_c.size(); ++j) {
        const double half_b = 0.5 * (ends_b[i + 1] - ends_b[i]);
        const double half_c = 0.5 * (ends_c[j + 1] - ends_c[j]);
        for (std::size_t m = 0; m < rule.nodes.size(); ++m) {
          for (std::size_t n = 0; n < rule.nodes.size(); ++n) {
            Station s;
            s[b] = ends_b[i] + half_b * (1.0 + rule.nodes[m]);
            s[c] = ends_c[j] + half_c * (1.0 + rule.nodes[n]);
            const double weight = rule.weights[m] * rule.weights[n] * half_b * half_c;
            s[a] = high[a];
            flux += weight * quick_prism(p, s)[attraction_slot(a)];
            s[a] = low[a];
            flux -= weight * quick_prism(p, s)[attraction_slot(a)];
          }
        }
      }
    }
  }
  return flux / unit_g;
}

// g points to the mass: its flux out of a surface is -4 pi G times the enclosed mass.
TEST(Prism, FluxIsThatOfTheMassWithin) {
  const double whole = -4.0 * pi * g_rock * volume_of(ugly);
  // box around the complete prism, with a margin of about half its sides
  EXPECT_NEAR(outward_flux(ugly, point_in(ugly, -0.5, -0.6, -0.7), point_in(ugly, 1.4, 1.6, 1.5)),
              whole, 1e-9 * -whole);
  // box next to the prism
  EXPECT_NEAR(outward_flux(ugly, point_in(ugly, 1.4, -0.6, -0.7), point_in(ugly, 2.4, 1.6, 1.5)),
              0.0, 1e-9 * -whole);
  // box inside the prism: 0.4 x 0.5 x 0.6 of the volume
  EXPECT_NEAR(outward_flux(ugly, point_in(ugly, 0.3, 0.2, 0.2), point_in(ugly, 0.7, 0.7, 0.8)),
              0.12 * whole, 1e-9 * -whole);
  // box that cuts the prism: 0.6 x 0.3 x 1 of the volume
  EXPECT_NEAR(outward_flux(ugly, point_in(ugly, 0.4, -0.5, -0.5), point_in(ugly, 1.5, 0.3, 1.5)),
              0.18 * whole, 1e-5 * -whole);
}

// Sizes from micrometres to the Earth's. Potentials scale with the square of lengths, attraction
// with lengths; the gradient does not change. Powers of two change only the exponent.
TEST(Prism, ScalesWithItsSize) {
  for (const int power : {-20, 0, 23}) {
    const double factor = std::ldexp(1.0, power);
    for (const Station& s : assorted_stations(ugly, 14, 60)) {
      Prism p = ugly;
      Station t = s;
      for (std::size_t i = 0; i < 6; ++i) p[i] *= factor;
      for (double& v : t) v *= factor;
      Field expected = quick_prism(ugly, s);
      const Norms scale = scale_at(p, t);
      for (const std::size_t slot : all_slots) {
        expected[slot] *= slot == U ? factor * factor : slot < GXX ? factor : 1.0;
      }
      EXPECT_TRUE(fields_agree(quick_prism(p, t), expected, scale, 1e-13)) << describe(p, t);
    }
  }
}

}  // namespace
