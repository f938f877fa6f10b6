// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/units.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace moho::io {

namespace {

// Bounds in m/s on the velocity of waves in rock, soil, water or air.
constexpr double too_slow = 20.0, too_fast = 50000.0;
// Below any wave's velocity in km/s: accepted here, and checked where velocities are used.
constexpr double no_unit = 0.1;

// Unit that a file names; automatic for an unknown one.
VelocityUnit unit_of(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](unsigned char c) { return std::isspace(c) != 0; }),
             text.end());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "m/s" || text == "m/sec") return VelocityUnit::metres_per_second;
  if (text == "km/s" || text == "km/sec") return VelocityUnit::kilometres_per_second;
  if (text == "ft/s" || text == "ft/sec") return VelocityUnit::feet_per_second;
  return VelocityUnit::automatic;
}

// Smallest and largest of the finite values.
template <class T>
std::pair<double, double> finite_range(const std::vector<T>& values) {
  double low = 0.0, high = 0.0;
  bool any = false;
  for (const T value : values) {
    const auto v = static_cast<double>(value);
    if (!std::isfinite(v)) continue;
    low = any ? std::min(low, v) : v;
    high = any ? std::max(high, v) : v;
    any = true;
  }
  return {low, high};
}

}  // namespace

const char* to_string(VelocityUnit unit) {
  constexpr const char* names[] = {"", "m/s", "km/s", "ft/s"};
  return names[static_cast<int>(unit)];
}

double metres_per_second(VelocityUnit unit) {
  if (unit == VelocityUnit::kilometres_per_second) return 1000.0;
  return unit == VelocityUnit::feet_per_second ? 0.3048 : 1.0;
}

template <class T>
std::string to_metres_per_second(std::vector<T>& values, VelocityUnit given,
                                 const VelocitySource& source) {
  const std::string &what = source.name, &argument = source.argument;
  std::string note;
  VelocityUnit unit = given;
  if (unit == VelocityUnit::automatic) {
    unit = unit_of(source.value_unit);
    if (unit != VelocityUnit::automatic && unit != VelocityUnit::metres_per_second) {
      note =
          concat(what, " says that its velocities are in ", to_string(unit), ": converted to m/s");
    }
  }
  const auto [low, high] = finite_range(values);
  const std::string range =
      low == high ? text::significant(low, 3)
                  : concat(text::significant(low, 3), " to ", text::significant(high, 3));
  if (unit == VelocityUnit::automatic && source.length_unit == "ft") {
    throw InputError(concat(what,
                            ": lengths in the file are in feet, and nothing says in which "
                            "unit velocities of ",
                            range, " are: give ", argument, " ft/s or ", argument, " m/s"));
  }
  if (unit == VelocityUnit::automatic && high >= no_unit && high < too_slow) {
    throw InputError(concat(what, ": velocities of ", range, ": km/s? give ", argument,
                            " km/s (or ", argument, " m/s if that is what they are)"));
  }
  const double factor = metres_per_second(unit);
  if (given != VelocityUnit::automatic && given != VelocityUnit::metres_per_second &&
      high * factor > too_fast) {
    throw InputError(concat(what, ": velocities of ", range, " in ", to_string(given),
                            " are up to ", text::significant(high * factor, 3),
                            " m/s (allowed: up to ", too_fast, "): take another ", argument));
  }
  if (factor == 1.0) return note;
  for (T& value : values) value = static_cast<T>(static_cast<double>(value) * factor);
  return note;
}

template std::string to_metres_per_second(std::vector<float>&, VelocityUnit, const VelocitySource&);
template std::string to_metres_per_second(std::vector<double>&, VelocityUnit,
                                          const VelocitySource&);

}  // namespace moho::io
