// SPDX-License-Identifier: BSD-3-Clause
#include "app/units.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/error.hpp>

#include <algorithm>

namespace moho::examples {

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
  row.shown = [&unit] { return unit == VelocityUnit::automatic ? Json() : Json(to_string(unit)); };
}

}  // namespace moho::examples
