// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief An earth model of several parameters: each from a file, or one number for all nodes.

#include "app/model_grid.hpp"
#include "app/option_table.hpp"
#include "app/units.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// Requested model. Lists are in the library's order of axes: (x, z) or (x, y, z).
struct EarthModelOptions {
  /// File or number by option: "vp", "rho", "epsilon", "delta", "theta", "phi".
  std::map<std::string, std::string> parameters;
  std::vector<std::int64_t> shape;   ///< required if all parameters are numbers
  std::vector<double> spacing;       ///< empty: that of the file; one value: along all axes
  std::vector<double> origin;        ///< empty: that of the file, or zero
  const ModelGrid* nodes = nullptr;  ///< nodes of --vp, which other models share
  std::string prefix;                ///< of the parameters' options in messages: "" or "true-"
  bool degrees = false;              ///< theta and phi of files and plain numbers are in degrees
  VelocityUnit velocity_unit = VelocityUnit::automatic;  ///< of vp
};

/// Binds the option of one parameter. \param name without the prefix of `options`
void bind_parameter(Description& d, EarthModelOptions& options, const std::string& name,
                    const std::string& form, const std::string& text);
/// Binds --vp, --rho, ..., --spacing and --origin.
void bind_earth_model(Description& d, EarthModelOptions& options);

/// Parameters on the nodes of a grid; the model's name is that of vp.
template <class T>
struct EarthModel : ModelGrid {
  /// Values by option, z fastest; angles in radians. Absent parameters have no entry.
  std::map<std::string, std::vector<T>> values;
  /// Parameters that are one number everywhere.
  std::map<std::string, double> constants;

  /// Returns the smallest and largest value of a parameter, which must be present.
  std::pair<T, T> range(const std::string& option) const {
    const auto constant = constants.find(option);
    if (constant == constants.end()) return range_of(values.at(option));
    return {static_cast<T>(constant->second), static_cast<T>(constant->second)};
  }
  /// Returns the mean of a parameter, which must be present.
  double mean(const std::string& option) const {
    const auto constant = constants.find(option);
    if (constant == constants.end()) return mean_of(values.at(option));
    return static_cast<double>(static_cast<T>(constant->second));
  }
};

/// Memory that load_earth_model() will need.
struct EarthModelNeed {
  std::vector<std::int64_t> shape;  ///< empty: unknown; the model will be refused
  double values = 0.0;              ///< bytes of all parameters
  double passing = 0.0;             ///< temporary bytes in addition while they are read
  int sponge = 0;                   ///< recommended_sponge_width() of the model; 0: it was not read

  /// Returns the number of nodes.
  double nodes() const;
};

/// Estimates it from options and headers of files; reads no values.
template <class T>
EarthModelNeed need_of_earth_model(const EarthModelOptions& options);

/// \brief Reads or makes the parameters, which have one shape. Their values are not checked.
/// \throws InputError, FileError, MemoryError with the option's name
template <class T>
EarthModel<T> load_earth_model(const EarthModelOptions& options);

}  // namespace moho::examples
