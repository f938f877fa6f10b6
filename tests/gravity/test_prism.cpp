// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// The field of one prism: against quadrature and known bodies, properties of potentials, singular
// points. These are host functions; test_forward compares every space with them.

#include "gravity/fields.hpp"
#include "gravity/quadrature.hpp"

namespace {

using namespace moho::testing;

constexpr double constant = moho::gravity::gravitational_constant;
constexpr double unit_u = 1.0, unit_g = 1e5, unit_t = 1e9;

// A prism whose sides and coordinates are not round numbers.
const Prism ugly{-103.7, 241.3, 17.1, 260.9, -33.3, 120.2, rock};
// A prism with sides 1 : 30 : 1000, far from the origin.
const Prism thin{431.7, 432.9, 5021.3, 5057.9, 1033.1, 2241.7, rock};
// A prism with a vertex at the origin: coordinates near the vertex are exact to any digit.
const Prism at_origin{0.0, 1.0, 0.0, 0.75, 0.0, 1.25, rock};

// ------------------------------------------------------------------------------- the reference

TEST(Extended, FunctionsObeyIdentities) {
  // Machin's formula, and ln 2 = 2 atanh(1/3)
  const Extended one(1.0);
  const auto inverse = [&](double n) { return one / Extended(n); };
  Extended difference = Extended(16.0) * arc_tangent(inverse(5.0), one) -
                        Extended(4.0) * arc_tangent(inverse(239.0), one) - pi_extended();
  EXPECT_LE(std::abs(to_double(difference)), 1e-30);
  Extended two, power = inverse(3.0);
  for (int k = 0; k < 40; ++k) {
    two += Extended(2.0) * power / Extended(2.0 * k + 1.0);
    power = power * inverse(9.0);
  }
  EXPECT_LE(std::abs(to_double(logarithm(Extended(2.0)) - two)), 1e-31);
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Extended a =
        Extended(random.log_between(1e-12, 1e12)) + Extended(random.between(0, 1e-15));
    const Extended b = Extended(random.log_between(1e-12, 1e12)) / Extended(3.0);
    const Extended root = square_root(a);
    EXPECT_LE(std::abs(to_double(root * root - a)), 1e-30 * to_double(a));
    // log(a b) = log a + log b; absolute values are at most 60
    EXPECT_LE(std::abs(to_double(logarithm(a * b) - logarithm(a) - logarithm(b))), 1e-29);
    // atan(a / b) + atan(b / a) = pi / 2, and the angle halved
    const Extended angle = arc_tangent(a, b);
    EXPECT_LE(std::abs(to_double(angle + arc_tangent(b, a) - pi_extended() / Extended(2.0))),
              1e-30);
    const Extended half = arc_tangent(a, b + square_root(a * a + b * b));
    EXPECT_LE(std::abs(to_double(half + half - angle)), 1e-30);
  }
}

// --------------------------------------------------------------------------------- quadrature

// Stations outside, at a tenth of a side or more. The quadrature error is below 1e-12 of the field
// of the total mass at its nearest point, an upper bound of the field. The textbook's form in
// double loses eps (D / a)^3, that is 1e-13 at 10 sides.
TEST(Prism, AgreesWithQuadratureOfItsVolumeFromOutside) {
  Random random(2);
  for (int i = 0; i < 12; ++i) {
    const Prism p = random_prism(random, 100.0, 1.7, {30.0, -50.0, 80.0});
    const Station c = centre_of(p), u = random.direction();
    const double far = longest_of(p) * random.log_between(1.0, 6.0);
    const Station s{c[0] + far * u[0], c[1] + far * u[1], c[2] + far * u[2]};
    const Field expected = volume_quadrature(p, s, constant, 1e-13);
    // distance at which the total mass at the nearest point would be
    const double distance = std::max(far - longest_of(p), 0.1 * longest_of(p));
    const double mass = g_rock * volume_of(p);
    const Norms scale{unit_u * mass / distance, unit_g * mass / std::pow(distance, 2),
                      unit_t * mass / std::pow(distance, 3)};
    EXPECT_TRUE(fields_agree(exact(p, s), expected, scale, 1e-12)) << describe(p, s);
    EXPECT_TRUE(fields_agree(quick_prism(p, s), expected, scale, 1e-12)) << describe(p, s);
    EXPECT_TRUE(fields_agree(reference_prism(p, s), expected, scale, 1e-12)) << describe(p, s);
  }
}

// Stations inside and near the prism, by integrals over the faces. The tolerance of the sum of
// pieces is 1e-11.
TEST(Prism, AgreesWithQuadratureOfRaysInsideAndClose) {
  Random random(3);
  int inside = 0;
  for (int i = 0; i < 40; ++i) {
    const Prism p = random_prism(random, 100.0, 2.0, {30.0, -50.0, 80.0});
    const Station s = point_in(p, random.between(-0.35, 1.35), random.between(-0.35, 1.35),
                               random.between(-0.35, 1.35));
    bool close = false;  // near the plane of a face, where quadrature converges slowly
    bool within = true;
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t f = 0; f < 2; ++f) {
        close = close || std::abs(p[2 * a + f] - s[a]) < 0.02 * side_of(p, a);
      }
      within = within && s[a] > p[2 * a] && s[a] < p[2 * a + 1];
    }
    if (close) continue;
    inside += within;
    const Field expected = face_quadrature(p, s, constant, 1e-12);
    const Norms scale = own_norms(longest_of(p));
    EXPECT_TRUE(fields_agree(exact(p, s), expected, scale, 1e-11)) << describe(p, s);
    EXPECT_TRUE(fields_agree(quick_prism(p, s), expected, scale, 1e-11)) << describe(p, s);
    EXPECT_TRUE(fields_agree(reference_prism(p, s), expected, scale, 1e-11)) << describe(p, s);
  }
  EXPECT_GE(inside, 5);
}

// -------------------------------------------------------------------------------- known bodies

// A ball of cubes with the sphere's mass. By symmetry it has no quadrupole; its hexadecapole is
// reduced by (R / r)^4 = 1/256 at r = 4 R. The staircase's own moment of that order is below a
// hundredth of M R^4. The errors are therefore at most 4e-5 for U, 5 times that for g and 15 times
// that for the gradient.
TEST(Prism, ManyMakeASphereSeenFromOutside) {
  constexpr int cells = 12;  // per radius
  const double side = 10.0, radius = cells * side;
  Random random(4);
  const Station u = random.direction();
  const double r = 4.0 * radius;
  const Station s{r * u[0], r * u[1], r * u[2]};
  Field sum{};
  double mass = 0.0;
  for (int i = -cells; i < cells; ++i) {
    for (int j = -cells; j < cells; ++j) {
      for (int k = -cells; k < cells; ++k) {
        const double x = i + 0.5, y = j + 0.5, z = k + 0.5;
        if (x * x + y * y + z * z > cells * cells) continue;
        const Prism p{i * side, (i + 1) * side, j * side, (j + 1) * side,
                      k * side, (k + 1) * side, rock};
        const Field f = quick_prism(p, s);
        for (std::size_t c = 0; c < 10; ++c) sum[c] += f[c];
        mass += rock * volume_of(p);
      }
    }
  }
  // mass of the ball, up to the staircase's error
  EXPECT_NEAR(mass, rock * 4.0 / 3.0 * pi * std::pow(radius, 3), 0.01 * mass);
  const Field point = in_units(point_field(-s[0], -s[1], -s[2]), constant * mass);
  const Norms norms = norms_of(point);
  EXPECT_NEAR(sum[U], point[U], 4e-5 * norms[0]);
  EXPECT_TRUE(fields_agree(sum, point, norms, 6e-4));
  // GM / r^2 towards the mass
  const double inwards = -(sum[GX] * u[0] + sum[GY] * u[1] + sum[GZ] * u[2]);
  EXPECT_NEAR(inwards, unit_g * constant * mass / (r * r), 2e-4 * norms[1]);
}

// A distant cube is a point mass: the quadrupole vanishes, and (a / D)^4 is 1e-16 at 1e4 sides.
TEST(Prism, ACubeFarAwayIsAPoint) {
  Random random(5);
  for (const double sides : {1e4, 1e5, 1e6}) {
    for (int i = 0; i < 20; ++i) {
      const double a = 37.0;
      const Prism p{100.0, 100.0 + a, -70.0, -70.0 + a, 20.0, 20.0 + a, rock};
      const Station c = centre_of(p), u = random.direction();
      const Station s{c[0] + a * sides * u[0], c[1] + a * sides * u[1], c[2] + a * sides * u[2]};
      const Field point =
          in_units(point_field(c[0] - s[0], c[1] - s[1], c[2] - s[2]), g_rock * a * a * a);
      EXPECT_TRUE(fields_agree(quick_prism(p, s), point, norms_of(point), 1e-12))
          << sides << " sides: " << describe(p, s);
    }
  }
}

// A plate of width W has the Bouguer attraction 2 pi G rho h. The relative deficit beyond its edges
// is about 2 sqrt(2) (D + h) / (pi W) * 2. z points down: a plate below attracts downwards.
TEST(Prism, AWideSlabIsBouguers) {
  const double width = 1e8, h = 50.0;
  const Prism slab{-0.5 * width, 0.5 * width, -0.5 * width, 0.5 * width, 10.0, 10.0 + h, rock};
  const double bouguer = 2.0 * pi * g_rock * h * unit_g;
  EXPECT_NEAR(bouguer, 0.0419 * 2.67 * h, 0.002 * bouguer);  // the field geophysicist's value, mGal
  for (const double above : {0.0, 1.0, 100.0, 1e4}) {
    const double missing = 4.0 * (above + h) / width * bouguer;
    // textbook terms of size G rho W have errors of eps W in the reference; the robust form does
    // not
    for (const double off : {0.0, 1234.5}) {
      const Field over = quick_prism(slab, {off, -off, 10.0 - above});
      EXPECT_NEAR(over[GZ], bouguer, missing + 1e-8 * bouguer);
      const Field under = quick_prism(slab, {off, off, 10.0 + h + above});
      EXPECT_NEAR(under[GZ], -bouguer, missing + 1e-8 * bouguer);
      if (off == 0.0) {
        EXPECT_NEAR(over[GX], 0.0, 1e-8 * bouguer);
        EXPECT_NEAR(over[GY], 0.0, 1e-8 * bouguer);
      }
    }
  }
  for (const double part : {0.1, 0.5, 0.9}) {
    const Field within = quick_prism(slab, {3.0, 4.0, 10.0 + part * h});
    EXPECT_NEAR(within[GZ], bouguer * (1.0 - 2.0 * part),
                4.0 * h / width * bouguer + 1e-8 * bouguer);
    // the field of a slab is one-dimensional: all curvature is along z
    EXPECT_NEAR(within[GZZ], -4.0 * pi * g_rock * unit_t, 1e-5 * 4.0 * pi * g_rock * unit_t);
  }
}

// ---------------------------------------------------------------------------------- properties

// Returns regular stations in critical positions: inside, outside, near and far.
std::vector<Station> assorted_stations(const Prism& p, unsigned seed, int count) {
  Random random(seed);
  std::vector<Station> stations;
  const Station c = centre_of(p);
  for (int i = 0; i < count; ++i) {
    if (i % 3 == 0) {
      stations.push_back(point_in(p, random.between(-0.1, 1.1), random.between(-0.1, 1.1),
                                  random.between(-0.1, 1.1)));
    } else {
      const double far = longest_of(p) * random.log_between(0.3, i % 3 == 1 ? 5.0 : 1e3);
      const Station u = random.direction();
      stations.push_back({c[0] + far * u[0], c[1] + far * u[1], c[2] + far * u[2]});
    }
  }
  return stations;
}

bool is_inside(const Prism& p, const Station& s) {
  bool inside = true;
  for (std::size_t a = 0; a < 3; ++a) inside = inside && s[a] > p[2 * a] && s[a] < p[2 * a + 1];
  return inside;
}

// Returns the norms of a prism's field, bounded below by its far field; g vanishes near the centre.
Norms scale_at(const Prism& p, const Station& s) {
  Norms norms = norms_of(exact(p, s));
  const double reach = std::hypot(longest_of(p), distance_from(p, s));
  const double mass = g_rock * volume_of(p);
  norms[0] = std::max(norms[0], unit_u * mass / reach);
  norms[1] = std::max(norms[1], unit_g * mass / std::pow(reach, 2));
  norms[2] = std::max(norms[2], unit_t * mass / std::pow(reach, 3));
  return norms;
}

// Adds the effect of rounding near a prism to norms. Every form sums terms of G rho times a power
// of the longest side, and logarithms that may cancel. For a needle the field is smaller than these
// terms by the square of the aspect ratio.
Norms with_rounding(Norms norms, const Prism& p) {
  const Norms own = own_norms(longest_of(p));
  for (std::size_t n = 0; n < norms.size(); ++n) norms[n] += 0.5 * own[n];
  return norms;
}

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
            expected[attraction_place(a)] *= -1.0;
          } else {
            expected[gradient_place(a, b)] *= -1.0;
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
          expected[attraction_place(a)] = f[attraction_place(turn[a])];
          for (std::size_t b = 0; b < 3; ++b) {
            expected[gradient_place(a, b)] = f[gradient_place(turn[a], turn[b])];
          }
        }
        EXPECT_TRUE(fields_agree(quick_prism(q, t), expected, scale, 1e-10)) << describe(p, s);
      }
      // the field is linear in the density and in the constant
      Prism negative = p;
      negative[6] = -2.0 * p[6];
      Field expected = f;
      for (double& v : expected) v *= -2.0 * 1.5;
      EXPECT_TRUE(fields_agree(quick_prism(negative, s, 1.5 * constant), expected, scale, 1e-14));
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
        const auto derivative = [&](std::size_t place) {
          return (4.0 * one[place] - two[place]) / 3.0;
        };
        // rounding of U and g divided by the step
        const Norms rounded = with_rounding(scale, p);
        const double noise_g = 1e-14 * rounded[0] / step * unit_g;
        const double noise_t = 1e-14 * rounded[1] / unit_g / step * unit_t;
        EXPECT_NEAR(derivative(U) * unit_g, f[attraction_place(a)], 1e-8 * scale[1] + noise_g)
            << "axis " << a << ": " << describe(p, s);
        for (std::size_t b = 0; b < 3; ++b) {
          EXPECT_NEAR(derivative(attraction_place(b)) / unit_g * unit_t, f[gradient_place(a, b)],
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
            flux += weight * quick_prism(p, s)[attraction_place(a)];
            s[a] = low[a];
            flux -= weight * quick_prism(p, s)[attraction_place(a)];
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

// -------------------------------------------------------------------------- accuracy everywhere

// The reference is exact to the last bit of a double here; 1e-14 is some tens of roundings.
TEST(Prism, RightNearPrismsOfAllShapes) {
  Random random(10);
  for (const double aspect : {1.0, 4.0, 32.0}) {
    for (int i = 0; i < 700; ++i) {
      const Prism p = random_prism(random, 100.0, aspect, {40.0, -30.0, 20.0});
      const Station s = point_in(p, random.between(-2.0, 3.0), random.between(-2.0, 3.0),
                                 random.between(-2.0, 3.0));
      EXPECT_TRUE(
          fields_agree(quick_prism(p, s), exact(p, s), with_rounding(scale_at(p, s), p), 1e-14))
          << describe(p, s);
    }
  }
}

// Distances of 1 to 1e4 sides, cubes to needles and plates of 1000 : 1, all directions. The bound
// is 1e-10 of the prism's own field. A point mass verifies the reference.
TEST(Prism, RightFarAway) {
  Random random(11);
  for (const double sides : {1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4}) {
    double worst[3] = {};
    for (int i = 0; i < 200; ++i) {
      const Prism p = random_prism(random, 100.0, i % 2 == 0 ? 1.0 : 32.0);
      const Station c = centre_of(p), u = random.direction();
      const double far = longest_of(p) * (sides + 0.5);
      const Station s{c[0] + far * u[0], c[1] + far * u[1], c[2] + far * u[2]};
      const Field expected = exact(p, s), found = quick_prism(p, s);
      const Norms norms = norms_of(expected);
      for (const std::size_t place : all_places) {
        double& w = worst[order_of(place)];
        w = std::max(w, std::abs(found[place] - expected[place]) / norms[order_of(place)]);
        ASSERT_FALSE(std::isnan(found[place])) << describe(p, s);
      }
      if (sides >= 1e3) {
        const Field point =
            in_units(point_field(c[0] - s[0], c[1] - s[1], c[2] - s[2]), g_rock * volume_of(p));
        EXPECT_TRUE(fields_agree(expected, point, norms_of(point), 3.0 / (sides * sides)));
      }
    }
    for (int order = 0; order < 3; ++order) {
      EXPECT_LE(worst[order], 1e-10) << sides << " sides, order " << order;
    }
  }
}

// The textbook's form is exact near a prism and loses digits far away.
TEST(Prism, TheTextbookFormIsRightNearAndLosesDigitsFarAway) {
  Random random(12);
  double near = 0.0, far = 0.0;
  for (int i = 0; i < 200; ++i) {
    const Prism p = random_prism(random, 100.0, 1.5);
    const Station u = random.direction();
    for (const double sides : {2.0, 1e4}) {
      const double d = longest_of(p) * sides;
      const Station s{d * u[0], d * u[1], d * u[2]};
      const Field expected = exact(p, s), found = reference_prism(p, s);
      const Norms norms = norms_of(expected);
      for (const std::size_t place : all_places) {
        double& worst = sides == 2.0 ? near : far;
        worst = std::max(worst, std::abs(found[place] - expected[place]) / norms[order_of(place)]);
      }
    }
  }
  EXPECT_LE(near, 1e-11);  // eps (D / a)^3 times some hundreds, D / a up to 5
  EXPECT_GE(far, 1e-6);    // the reason for the other forms
}

// ----------------------------------------------------------------------------- singular points

// A position relative to a prism, for each axis: on the lower face (0), on the upper face (1),
// between (2), below (3) or above both (4).
struct Spot {
  int where[3];
  Station station;
};

std::vector<Spot> spots(const Prism& p) {
  std::vector<Spot> all;
  Random random(13);
  for (int code = 0; code < 5 * 5 * 5; ++code) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      Spot spot{{code % 5, code / 5 % 5, code / 25}, {}};
      for (std::size_t a = 0; a < 3; ++a) {
        const double low = p[2 * a], high = p[2 * a + 1];
        switch (spot.where[a]) {
          case 0:
            spot.station[a] = low;
            break;
          case 1:
            spot.station[a] = high;
            break;
          case 2:
            spot.station[a] = low + (high - low) * random.between(0.05, 0.95);
            break;
          case 3:
            spot.station[a] = low - (high - low) * random.log_between(1e-3, 1.5);
            break;
          default:
            spot.station[a] = high + (high - low) * random.log_between(1e-3, 1.5);
        }
      }
      all.push_back(spot);
    }
  }
  return all;
}

// 8 vertices, 12 edges, 6 faces, 24 extensions of edges, planes of faces outside, and all regions
// around. Components that do not exist are NaN, and only these. All others are the limit; on faces
// it is the limit from outside.
TEST(Singular, EveryPlaceByContract) {
  for (const Prism& p : {ugly, thin, at_origin}) {
    int vertices = 0, edges = 0, faces = 0, extensions = 0, planes = 0;
    for (const Spot& spot : spots(p)) {
      const Field found = quick_prism(p, spot.station), expected = exact(p, spot.station);
      int on = 0;
      bool outside = false;
      bool on_axis[3];
      for (int a = 0; a < 3; ++a) {
        on_axis[a] = spot.where[a] < 2;
        on += on_axis[a];
        outside = outside || spot.where[a] > 2;
      }
      // the contract, written independently of the reference
      for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_TRUE(std::isfinite(found[attraction_place(a)])) << describe(p, spot.station);
        for (std::size_t b = a; b < 3; ++b) {
          bool missing = false;
          if (!outside && on == 3) missing = true;
          if (!outside && on == 2) missing = on_axis[a] && on_axis[b];
          const double value = found[gradient_place(a, b)];
          EXPECT_EQ(std::isnan(value), missing)
              << place_name(gradient_place(a, b)) << ": " << describe(p, spot.station);
          EXPECT_FALSE(std::isinf(value));
        }
      }
      EXPECT_TRUE(std::isfinite(found[U])) << describe(p, spot.station);
      vertices += !outside && on == 3;
      edges += !outside && on == 2;
      faces += !outside && on == 1;
      extensions += outside && on == 2;
      planes += outside && on == 1;
      EXPECT_TRUE(fields_agree(found, expected, with_rounding(norms_of(expected), p), 1e-14))
          << describe(p, spot.station);
    }
    EXPECT_EQ(vertices, 3 * 8);
    EXPECT_EQ(edges, 3 * 12);
    EXPECT_EQ(faces, 3 * 6);
    EXPECT_EQ(extensions, 3 * 24);
    EXPECT_EQ(planes, 3 * 6 * 8);
  }
}

// On a face gaa is the limit from outside, and 4 pi G rho less just below the face. All other
// components are continuous.
TEST(Singular, FacesJumpInOneComponentAlone) {
  const double jump = 4.0 * pi * g_rock * unit_t;
  for (const Prism& p : {ugly, thin, at_origin}) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t f = 0; f < 2; ++f) {
        Station s = point_in(p, 0.31, 0.63, 0.45);
        s[a] = p[2 * a + f];
        const double outwards = f == 0 ? -1.0 : 1.0;
        const double step = 1e-9 * shortest_of(p);
        Station out = s, in = s;
        out[a] += outwards * step;
        in[a] -= outwards * step;
        const Field at = quick_prism(p, s), outside = quick_prism(p, out),
                    inside = quick_prism(p, in);
        // the step times a derivative, at most about 1 / shortest side, with a margin
        const Norms own = own_norms(longest_of(p));
        const Norms scale{own[0], own[1], own_norms(1.0)[2]};
        EXPECT_TRUE(fields_agree(outside, at, scale, 1e-7)) << describe(p, s);
        Field expected = at;
        expected[gradient_place(a, a)] -= jump;
        EXPECT_TRUE(fields_agree(inside, expected, scale, 1e-7)) << describe(p, s);
      }
    }
  }
}

// Approaches vertices, edges and faces along axes and between them. The potential and g converge to
// their values at the point as eps ln eps. All ten components agree with the reference at the same
// station. Stations are rounded beforehand, so that the distance from the singular point is exact
// in both.
TEST(Singular, ApproachedFromAllSides) {
  for (const Prism& p : {ugly, thin, at_origin}) {
    for (const Spot& spot : spots(p)) {
      bool outside = false;
      int on = 0;
      for (const int where : spot.where) {
        outside = outside || where > 2;
        on += where < 2;
      }
      if (on == 0) continue;
      const Field limit = quick_prism(p, spot.station);
      for (const double eps : {1e-3, 1e-6, 1e-9, 1e-12}) {
        for (int direction = 0; direction < 27; ++direction) {
          const int d[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
          if (d[0] == 0 && d[1] == 0 && d[2] == 0) continue;
          Station s = spot.station;
          for (std::size_t a = 0; a < 3; ++a) s[a] += d[a] * eps * side_of(p, a);
          const Field expected = exact(p, s);
          const Norms scale = with_rounding(norms_of(expected), p);
          const Field found = quick_prism(p, s);
          EXPECT_TRUE(fields_agree(found, expected, scale, 1e-14))
              << "eps " << eps << ": " << describe(p, s);
          if (outside) continue;
          // |g - limit| <= G rho times a few eps L (1 + ln(1 / eps))
          const double room = 20.0 * eps * (1.0 - std::log(eps)) + 1e-12;
          const Norms longest = own_norms(longest_of(p));
          for (const std::size_t place : {U, GX, GY, GZ}) {
            EXPECT_NEAR(found[place], limit[place], room * longest[order_of(place)]);
          }
        }
      }
    }
  }
}

// Distances of the size of rounding, and distances whose squares and products approach the limits
// of doubles. No overflow or underflow may give a wrong result.
TEST(Singular, VeryCloseToAVertex) {
  for (const double tiny : {1e-16, 1e-30, 1e-100}) {
    for (const Station& s :
         {Station{-tiny, -tiny, -tiny}, Station{tiny, tiny, tiny}, Station{-tiny, 0.5, -tiny},
          Station{tiny, 0.5, -tiny}, Station{0.0, 0.0, -tiny}, Station{0.0, -tiny, 0.25}}) {
      const Field expected = exact(at_origin, s);
      EXPECT_TRUE(fields_agree(quick_prism(at_origin, s), expected, norms_of(expected), 1e-13))
          << describe(at_origin, s);
    }
  }
}

// A station counts as on a face if the square of its distance underflows, down to the smallest
// numbers.
TEST(Singular, CloserThanSquaresCanSay) {
  for (const double tiny : {1e-142, 1e-155, 1e-158, 1e-160, 1e-200, 1e-300, 1e-310, 1e-320}) {
    for (const Spot& spot : spots(at_origin)) {
      for (int direction = 0; direction < 27; ++direction) {
        const int d[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
        Station on = spot.station, close = on;
        for (std::size_t a = 0; a < 3; ++a) {
          if (spot.where[a] == 0) close[a] = d[a] * tiny;
        }
        const Field expected = quick_prism(at_origin, on), found = quick_prism(at_origin, close);
        for (const std::size_t place : all_places) {
          if (std::isnan(expected[place])) {
            EXPECT_TRUE(std::isnan(found[place])) << describe(at_origin, close);
          } else {
            EXPECT_EQ(found[place], expected[place])
                << place_name(place) << ": " << describe(at_origin, close);
          }
        }
      }
    }
  }
}

// A station near an upper face, where the difference from the lower face rounds to the side. It
// does not count as on the face.
TEST(Singular, OnlyTheVeryPlaceIsSingular) {
  const Prism p{-1.0, 0.0, -0.75, 0.0, -1.25, 0.0, rock};
  for (const Station& s : {Station{1e-17, -0.5, 0.0}, Station{-1e-17, -0.5, 0.0},
                           Station{1e-17, 0.0, -0.5}, Station{1e-17, 1e-18, -1e-19}}) {
    const Field expected = exact(p, s);
    for (const std::size_t place : all_places) EXPECT_TRUE(std::isfinite(expected[place]));
    EXPECT_TRUE(fields_agree(quick_prism(p, s), expected, norms_of(expected), 1e-13))
        << describe(p, s);
  }
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
      for (const std::size_t place : all_places) {
        expected[place] *= place == U ? factor * factor : place < GXX ? factor : 1.0;
      }
      EXPECT_TRUE(fields_agree(quick_prism(p, t), expected, scale, 1e-13)) << describe(p, t);
    }
  }
}

}  // namespace
