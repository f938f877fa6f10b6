// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Units of velocities in files, and their conversion to m/s.

#include <moho/io/model.hpp>

#include <string>
#include <vector>

namespace moho::io {

/// Units of velocity.
enum class VelocityUnit {
  automatic,          ///< unit in the file; otherwise m/s, unless the numbers suggest another unit
  metres_per_second,  ///< m/s
  kilometres_per_second,  ///< km/s
  feet_per_second         ///< ft/s, of 0.3048 m
};

/// Returns "m/s", "km/s" or "ft/s"; "" for automatic.
const char* to_string(VelocityUnit unit);

/// Returns the metres per second in one of the unit; 1 for automatic.
double metres_per_second(VelocityUnit unit);

/// Origin of velocities, for to_metres_per_second().
struct VelocitySource {
  std::string name = "the model";  ///< of the velocities in messages, such as the file
  std::string value_unit = {};     ///< LoadedModel::value_unit; empty: unknown
  std::string length_unit = {};    ///< LoadedModel::length_unit; empty: unknown
  std::string argument = "unit";   ///< name of the argument `unit` in messages
};

/// \brief Converts velocities to m/s.
///
/// Ambiguous velocities are refused if neither the caller nor the file gives a unit: the largest is
/// from 0.1 to 20, as in km/s, or the file has lengths in feet. T: float or double.
/// \param values velocities; changed in place
/// \param unit of the values; automatic: source.value_unit, if that is known
/// \param source origin of the values
/// \returns a note for the user if a unit other than m/s was read from the file; otherwise empty
/// \throws InputError for ambiguous velocities, and for velocities above 50 km/s in the given unit
template <class T>
std::string to_metres_per_second(std::vector<T>& values,
                                 VelocityUnit unit = VelocityUnit::automatic,
                                 const VelocitySource& source = {});

/// Converts the velocities of a file to m/s.
/// \overload
template <class T>
std::string to_metres_per_second(LoadedModel<T>& model, VelocityUnit unit = VelocityUnit::automatic,
                                 const std::string& name = "the model") {
  return to_metres_per_second(
      model.values.data, unit,
      {.name = name, .value_unit = model.value_unit, .length_unit = model.length_unit});
}

}  // namespace moho::io
