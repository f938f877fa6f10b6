// SPDX-License-Identifier: BSD-3-Clause
#include "app/units.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/format.hpp"

#include <moho/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace moho::examples {

namespace {

// Bounds in m/s on the velocity of waves in rock, soil, water or air.
constexpr double too_slow = 20.0, too_fast = 50000.0;
// Below any wave's velocity in km/s: accepted here, and checked where velocities are used.
constexpr double no_unit = 0.1;

// Unit that a file names; unsaid for an unknown one.
VelocityUnit unit_of(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](unsigned char c) { return std::isspace(c) != 0; }),
             text.end());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "m/s" || text == "m/sec") return VelocityUnit::metres_per_second;
  if (text == "km/s" || text == "km/sec") return VelocityUnit::kilometres_per_second;
  if (text == "ft/s" || text == "ft/sec") return VelocityUnit::feet_per_second;
  return VelocityUnit::unsaid;
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

void bind_velocity_unit(Description& d, VelocityUnit& unit) {
  Option& row = d.add(
      "velocity-unit", "UNIT",
      "of velocities in files and of those given as numbers: m/s, km/s or ft/s (default: what "
      "the file says, or m/s; where they look like another one the program asks)");
  row.read = [&unit](const Arguments& given) {
    if (!given.given("velocity-unit")) return;
    unit = static_cast<VelocityUnit>(
        1 + parse_name("--velocity-unit", given.text("velocity-unit"), {"m/s", "km/s", "ft/s"}));
    // lengths in km go with velocities in km/s: a number below 1 is ambiguous without its unit
    const std::string spacing = given.text("spacing");
    if (unit == VelocityUnit::kilometres_per_second && !spacing.empty() &&
        spacing.find('m') == std::string::npos) {
      const std::vector<double> values = parse_spacing(spacing);
      const double largest = *std::max_element(values.begin(), values.end());
      if (largest < 1.0) {
        throw InputError(concat("--spacing ", spacing, ": metres or km? with --velocity-unit km/s ",
                                "numbers below 1 need their unit (allowed: ", largest, "km for ",
                                1000.0 * largest, " m, or ", largest, "m): write the unit"));
      }
    }
  };
  row.shown = [&unit] { return unit == VelocityUnit::unsaid ? Json() : Json(to_string(unit)); };
}

const char* to_string(VelocityUnit unit) {
  constexpr const char* names[] = {"", "m/s", "km/s", "ft/s"};
  return names[static_cast<int>(unit)];
}

double metres_per_second(VelocityUnit unit) {
  if (unit == VelocityUnit::kilometres_per_second) return 1000.0;
  return unit == VelocityUnit::feet_per_second ? 0.3048 : 1.0;
}

template <class T>
void to_metres_per_second(const std::string& what, VelocityUnit said, const std::string& value_unit,
                          const std::string& length_unit, std::vector<T>& values,
                          std::vector<std::string>& notes) {
  VelocityUnit unit = said;
  if (unit == VelocityUnit::unsaid) {
    unit = unit_of(value_unit);
    if (unit != VelocityUnit::unsaid && unit != VelocityUnit::metres_per_second) {
      notes.push_back(
          concat(what, " says that its velocities are in ", to_string(unit), ": converted to m/s"));
    }
  }
  const auto [low, high] = finite_range(values);
  const std::string range =
      low == high ? significant(low, 3) : concat(significant(low, 3), " to ", significant(high, 3));
  if (unit == VelocityUnit::unsaid && length_unit == "ft") {
    throw InputError(concat(what,
                            ": lengths in the file are in feet, and nothing says in which "
                            "unit velocities of ",
                            range, " are: give --velocity-unit ft/s or --velocity-unit m/s"));
  }
  if (unit == VelocityUnit::unsaid && high >= no_unit && high < too_slow) {
    throw InputError(concat(what, ": velocities of ", range,
                            ": km/s? give --velocity-unit km/s (or --velocity-unit m/s if that is "
                            "what they are)"));
  }
  const double factor = metres_per_second(unit);
  if (said != VelocityUnit::unsaid && said != VelocityUnit::metres_per_second &&
      high * factor > too_fast) {
    throw InputError(concat(what, ": velocities of ", range, " in ", to_string(said), " are up to ",
                            significant(high * factor, 3), " m/s (allowed: up to ", too_fast,
                            "): take another --velocity-unit"));
  }
  if (factor == 1.0) return;
  for (T& value : values) value = static_cast<T>(static_cast<double>(value) * factor);
}

template void to_metres_per_second(const std::string&, VelocityUnit, const std::string&,
                                   const std::string&, std::vector<float>&,
                                   std::vector<std::string>&);
template void to_metres_per_second(const std::string&, VelocityUnit, const std::string&,
                                   const std::string&, std::vector<double>&,
                                   std::vector<std::string>&);

}  // namespace moho::examples
