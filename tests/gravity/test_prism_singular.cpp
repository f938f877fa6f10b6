// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// The field of one prism on and near its vertices, edges and faces, where components do not exist
// or jump. These are host functions.

#include "gravity/one_prism.hpp"

namespace {

using namespace moho::testing;

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
        EXPECT_TRUE(std::isfinite(found[attraction_slot(a)])) << describe(p, spot.station);
        for (std::size_t b = a; b < 3; ++b) {
          bool missing = false;
          if (!outside && on == 3) missing = true;
          if (!outside && on == 2) missing = on_axis[a] && on_axis[b];
          const double value = found[gradient_slot(a, b)];
          EXPECT_EQ(std::isnan(value), missing)
              << slot_name(gradient_slot(a, b)) << ": " << describe(p, spot.station);
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
        expected[gradient_slot(a, a)] -= jump;
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
          for (const std::size_t slot : {U, GX, GY, GZ}) {
            EXPECT_NEAR(found[slot], limit[slot], room * longest[order_of(slot)]);
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
        for (const std::size_t slot : all_slots) {
          if (std::isnan(expected[slot])) {
            EXPECT_TRUE(std::isnan(found[slot])) << describe(at_origin, close);
          } else {
            EXPECT_EQ(found[slot], expected[slot])
                << slot_name(slot) << ": " << describe(at_origin, close);
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
    for (const std::size_t slot : all_slots) EXPECT_TRUE(std::isfinite(expected[slot]));
    EXPECT_TRUE(fields_agree(quick_prism(p, s), expected, norms_of(expected), 1e-13))
        << describe(p, s);
  }
}

}  // namespace
