// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief --velocity-unit: the unit of given velocities, and the error if it is ambiguous.

#include "app/option_table.hpp"

#include <moho/io/units.hpp>

#include <string>
#include <vector>

namespace moho::examples {

using io::VelocityUnit;

/// Binds --velocity-unit.
void bind_velocity_unit(Description& d, VelocityUnit& unit);

/// Converts velocities to m/s, as io::to_metres_per_second() does.
/// \param what the option and its file, for messages: "--vp FILE" \param unit of --velocity-unit
/// \param value_unit,length_unit those of io::LoadedModel; empty for numbers of the command line
/// \param notes gets a line if a unit was read from the file
template <class T>
void to_metres_per_second(const std::string& what, VelocityUnit unit, const std::string& value_unit,
                          const std::string& length_unit, std::vector<T>& values,
                          std::vector<std::string>& notes) {
  const std::string note =
      io::to_metres_per_second(values, unit, {what, value_unit, length_unit, "--velocity-unit"});
  if (!note.empty()) notes.push_back(note);
}

/// Returns velocities of the command line in m/s; see to_metres_per_second().
inline std::vector<double> metres_per_second(const std::string& option, VelocityUnit unit,
                                             std::vector<double> values,
                                             std::vector<std::string>& notes) {
  to_metres_per_second(option, unit, "", "", values, notes);
  return values;
}

}  // namespace moho::examples
