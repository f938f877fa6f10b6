// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Comparison of fields; random prisms and stations.

#include <moho/gravity/prism.hpp>
#include <moho/gravity/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gravity/extended.hpp"

namespace moho::testing {

inline constexpr double pi = 3.14159265358979323846;
/// A density of rocks, kg/m^3, and its product with G in 1/s^2.
inline constexpr double rock = 2670.0;
inline constexpr double g_rock = gravity::gravitational_constant * rock;

/// Indices of the ten components in a Field.
enum Slot : std::size_t { U, GX, GY, GZ, GXX, GYY, GZZ, GXY, GXZ, GYZ };
inline constexpr std::size_t all_slots[] = {U, GX, GY, GZ, GXX, GYY, GZZ, GXY, GXZ, GYZ};

/// Returns the index of ga, a = 0, 1, 2; the next function returns that of gab.
inline constexpr std::size_t attraction_slot(std::size_t a) { return GX + a; }
inline constexpr std::size_t gradient_slot(std::size_t a, std::size_t b) {
  return a == b ? GXX + a : GXY - 1 + a + b;
}

inline const char* slot_name(std::size_t slot) {
  return gravity::to_string(static_cast<gravity::Component>(slot));
}

/// Returns 0 for the potential, 1 for the attraction, 2 for the gradient.
inline constexpr std::size_t order_of(std::size_t slot) {
  return slot == U ? 0 : slot < GXX ? 1 : 2;
}

/// Norms of the potential, of the attraction vector and of the gradient matrix. Errors are relative
/// to them, because single components may vanish. Components that do not exist are omitted.
using Norms = std::array<double, 3>;

inline Norms norms_of(const Field& f) {
  const auto squares = [&](std::size_t first, std::size_t last) {
    double sum = 0.0;
    for (std::size_t n = first; n <= last; ++n) sum += std::isnan(f[n]) ? 0.0 : f[n] * f[n];
    return sum;
  };
  return {std::abs(f[U]), std::sqrt(squares(GX, GZ)),
          std::sqrt(squares(GXX, GZZ) + 2.0 * squares(GXY, GYZ))};
}

/// Returns the norms of the field in and near a body, from length and density, in library units.
inline Norms own_norms(double length, double density = rock) {
  const double g_rho = gravity::gravitational_constant * std::abs(density);
  return {g_rho * length * length, g_rho * length * 1e5, g_rho * 1e9};
}

/// Compares every component with tolerance times the norm of its order. NaN must occur exactly
/// where it is expected.
inline ::testing::AssertionResult fields_agree(const Field& found, const Field& expected,
                                               const Norms& norms, double tolerance) {
  for (const std::size_t slot : all_slots) {
    const double allowed = tolerance * norms[order_of(slot)];
    const bool same = std::isnan(expected[slot])
                          ? std::isnan(found[slot])
                          : std::abs(found[slot] - expected[slot]) <= allowed;
    if (!same) {
      return ::testing::AssertionFailure()
             << slot_name(slot) << " is " << found[slot] << ", not " << expected[slot]
             << ": off by " << std::abs(found[slot] - expected[slot]) << ", allowed " << allowed;
    }
  }
  return ::testing::AssertionSuccess();
}

/// Returns the library's robust field of one prism; the next function the textbook's field.
inline Field quick_prism(const Prism& prism, const Station& station,
                         double constant = gravity::gravitational_constant) {
  double row[7], slot[3], out[10];
  std::copy(prism.begin(), prism.end(), row);
  std::copy(station.begin(), station.end(), slot);
  gravity::prism_field(row, slot, constant, out);
  Field field;
  std::copy(out, out + 10, field.begin());
  return field;
}

inline Field reference_prism(const Prism& prism, const Station& station,
                             double constant = gravity::gravitational_constant) {
  double row[7], slot[3], out[10];
  std::copy(prism.begin(), prism.end(), row);
  std::copy(station.begin(), station.end(), slot);
  gravity::prism_reference(row, slot, constant, out);
  Field field;
  std::copy(out, out + 10, field.begin());
  return field;
}

inline Field exact(const Prism& prism, const Station& station) {
  return exact_prism(prism, station, gravity::gravitational_constant);
}

/// A random number generator with the same results on every machine.
class Random {
 public:
  explicit Random(unsigned seed) : m_engine(seed) {}
  /// Returns a number uniformly distributed between two numbers.
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(m_engine()) / 4294967296.0;
  }
  /// Returns a number whose logarithm is uniformly distributed.
  double log_between(double low, double high) {
    return low * std::exp(std::log(high / low) * between(0.0, 1.0));
  }
  /// Returns a direction uniformly distributed on the sphere.
  Station direction() {
    const double z = between(-1.0, 1.0), angle = between(0.0, 2.0 * pi);
    const double r = std::sqrt(1.0 - z * z);
    return {r * std::cos(angle), r * std::sin(angle), z};
  }
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(m_engine() % static_cast<std::uint64_t>(count));
  }

 private:
  std::mt19937 m_engine;
};

inline double side_of(const Prism& p, std::size_t a) { return p[2 * a + 1] - p[2 * a]; }
inline double volume_of(const Prism& p) { return side_of(p, 0) * side_of(p, 1) * side_of(p, 2); }
inline double longest_of(const Prism& p) {
  return std::max({side_of(p, 0), side_of(p, 1), side_of(p, 2)});
}
inline double shortest_of(const Prism& p) {
  return std::min({side_of(p, 0), side_of(p, 1), side_of(p, 2)});
}
inline Station centre_of(const Prism& p) {
  return {0.5 * (p[0] + p[1]), 0.5 * (p[2] + p[3]), 0.5 * (p[4] + p[5])};
}

/// Returns the distance from a prism's centre.
inline double distance_from(const Prism& p, const Station& s) {
  const Station c = centre_of(p);
  return std::hypot(s[0] - c[0], s[1] - c[1], s[2] - c[2]);
}

/// Returns a prism whose sides are `size` times a factor from 1 / `aspect` to `aspect`.
inline Prism random_prism(Random& random, double size, double aspect, const Station& centre = {}) {
  Prism p{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double side = size * random.log_between(1.0 / aspect, aspect);
    p[2 * a] = centre[a] - side * random.between(0.3, 0.7);
    p[2 * a + 1] = p[2 * a] + side;
  }
  p[6] = rock;
  return p;
}

/// Returns a point at fractions of the sides.
inline Station point_in(const Prism& p, double fx, double fy, double fz) {
  return {p[0] + fx * side_of(p, 0), p[2] + fy * side_of(p, 1), p[4] + fz * side_of(p, 2)};
}

inline std::string describe(const Prism& p, const Station& s) {
  std::ostringstream text;
  text.precision(17);
  text << "prism";
  for (const double v : p) text << ' ' << v;
  text << ", station";
  for (const double v : s) text << ' ' << v;
  return text.str();
}

}  // namespace moho::testing
