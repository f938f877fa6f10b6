// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief --velocity-unit: the unit of given velocities, and the error if it is ambiguous.

#include "app/option_table.hpp"

#include <string>
#include <vector>

namespace moho::examples {

/// Units of velocity that programs read.
enum class VelocityUnit {
  unsaid,             ///< set by the file; otherwise m/s, unless the numbers suggest another unit
  metres_per_second,  ///< m/s
  kilometres_per_second,  ///< km/s
  feet_per_second         ///< ft/s, of 0.3048 m
};

/// Binds --velocity-unit.
void bind_velocity_unit(Description& d, VelocityUnit& unit);

/// Returns the name of a unit: "m/s", "km/s", "ft/s", or "" for unsaid.
const char* to_string(VelocityUnit unit);

/// Returns the metres per second of one unit; 1 for unsaid.
double metres_per_second(VelocityUnit unit);

/// Converts velocities to m/s. The unit is that of --velocity-unit, otherwise that of the file's
/// values. Without either, ambiguous velocities are refused: the largest is from 0.1 to 20, or the
/// file has lengths in feet.
/// \param what the option and its file, for messages: "--vp FILE"
/// \param said unit of --velocity-unit
/// \param value_unit of the file's values, as the file has it; empty: not in the file
/// \param length_unit of the file: io::LoadedModel::length_unit \param values changed to m/s
/// \param notes gets a line if a unit was read from the file
/// \throws InputError that requests --velocity-unit, or another one for velocities above 50 km/s
template <class T>
void to_metres_per_second(const std::string& what, VelocityUnit said, const std::string& value_unit,
                          const std::string& length_unit, std::vector<T>& values,
                          std::vector<std::string>& notes);

}  // namespace moho::examples
