// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms of the tests of one prism, stations around them, and norms of their fields.

#include "gravity/fields.hpp"

namespace moho::testing {

/// An SI unit of the potential, the attraction and the gradient in the library's m^2/s^2, mGal and
/// Eotvos.
inline constexpr double unit_u = 1.0, unit_g = 1e5, unit_t = 1e9;

/// A prism whose sides and coordinates are not round numbers.
inline const Prism ugly{-103.7, 241.3, 17.1, 260.9, -33.3, 120.2, rock};
/// A prism with sides 1 : 30 : 1000, far from the origin.
inline const Prism thin{431.7, 432.9, 5021.3, 5057.9, 1033.1, 2241.7, rock};
/// A prism with a vertex at the origin: coordinates near the vertex are exact to any digit.
inline const Prism at_origin{0.0, 1.0, 0.0, 0.75, 0.0, 1.25, rock};

/// Returns regular stations in critical positions: inside, outside, near and far.
inline std::vector<Station> assorted_stations(const Prism& p, unsigned seed, int count) {
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

/// Returns true if a station is inside a prism, not on its faces.
inline bool is_inside(const Prism& p, const Station& s) {
  bool inside = true;
  for (std::size_t a = 0; a < 3; ++a) inside = inside && s[a] > p[2 * a] && s[a] < p[2 * a + 1];
  return inside;
}

/// Returns the norms of a prism's field, bounded below by its far field; g vanishes near the
/// centre.
inline Norms scale_at(const Prism& p, const Station& s) {
  Norms norms = norms_of(exact(p, s));
  const double reach = std::hypot(longest_of(p), distance_from(p, s));
  const double mass = g_rock * volume_of(p);
  norms[0] = std::max(norms[0], unit_u * mass / reach);
  norms[1] = std::max(norms[1], unit_g * mass / std::pow(reach, 2));
  norms[2] = std::max(norms[2], unit_t * mass / std::pow(reach, 3));
  return norms;
}

/// Adds the effect of rounding near a prism to norms. Every form sums terms of G rho times a power
/// of the longest side, and logarithms that may cancel. For a needle the field is smaller than
/// these terms by the square of the aspect ratio.
inline Norms with_rounding(Norms norms, const Prism& p) {
  const Norms own = own_norms(longest_of(p));
  for (std::size_t n = 0; n < norms.size(); ++n) norms[n] += 0.5 * own[n];
  return norms;
}

}  // namespace moho::testing
