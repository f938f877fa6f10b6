// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief --velocity-unit: in which unit velocities are given, and the question where nothing says
/// so.

#include "common/option_table.hpp"

#include <string>
#include <vector>

namespace moho::examples {

/// Units of velocity that programs read.
enum class VelocityUnit {
  unsaid,             ///< the file may say it; else m/s, unless the numbers look like another one
  metres_per_second,  ///< m/s
  kilometres_per_second,  ///< km/s
  feet_per_second         ///< ft/s, of 0.3048 m
};

/// --velocity-unit.
void bind_velocity_unit(Description& d, VelocityUnit& unit);

/// "m/s", "km/s", "ft/s", or "" where it is unsaid.
const char* to_string(VelocityUnit unit);

/// Metres per second in one of the unit; 1 where it is unsaid.
double metres_per_second(VelocityUnit unit);

/// \brief Turns velocities into m/s.
///
/// The unit is the one of --velocity-unit, else the one that the file names for its values. Where
/// neither says it, velocities whose greatest is from 0.1 to 20, or whose file has its lengths in
/// feet, are asked about. \param what the option and its file, for messages: "--vp FILE" \param
/// said by --velocity-unit \param value_unit of the file's values, as it says it; empty: it does
/// not \param length_unit of the file: io::LoadedModel::length_unit \param values changed to m/s
/// \param notes gets a line if a unit was read from the file
/// \throws InputError that asks for --velocity-unit, or for one that makes velocities above 50 km/s
template <class T>
void to_metres_per_second(const std::string& what, VelocityUnit said, const std::string& value_unit,
                          const std::string& length_unit, std::vector<T>& values,
                          std::vector<std::string>& notes);

}  // namespace moho::examples
