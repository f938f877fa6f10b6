// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// The field of one prism: against quadrature and known bodies, near prisms of all shapes and far
// away. These are host functions; the tests of forward() compare every space with them.

#include "gravity/one_prism.hpp"
#include "gravity/quadrature.hpp"

namespace {

using namespace moho::testing;
using moho::gravity::gravitational_constant;

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
    const Field expected = volume_quadrature(p, s, gravitational_constant, 1e-13);
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
    const Field expected = face_quadrature(p, s, gravitational_constant, 1e-12);
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
  const Field point = in_units(point_field(-s[0], -s[1], -s[2]), gravitational_constant * mass);
  const Norms norms = norms_of(point);
  EXPECT_NEAR(sum[U], point[U], 4e-5 * norms[0]);
  EXPECT_TRUE(fields_agree(sum, point, norms, 6e-4));
  // GM / r^2 towards the mass
  const double inwards = -(sum[GX] * u[0] + sum[GY] * u[1] + sum[GZ] * u[2]);
  EXPECT_NEAR(inwards, unit_g * gravitational_constant * mass / (r * r), 2e-4 * norms[1]);
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
      for (const std::size_t slot : all_slots) {
        double& w = worst[order_of(slot)];
        w = std::max(w, std::abs(found[slot] - expected[slot]) / norms[order_of(slot)]);
        ASSERT_FALSE(std::isnan(found[slot])) << describe(p, s);
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
      for (const std::size_t slot : all_slots) {
        double& worst = sides == 2.0 ? near : far;
        worst = std::max(worst, std::abs(found[slot] - expected[slot]) / norms[order_of(slot)]);
      }
    }
  }
  EXPECT_LE(near, 1e-11);  // eps (D / a)^3 times some hundreds, D / a up to 5
  EXPECT_GE(far, 1e-6);    // the reason for the other forms
}

}  // namespace
