// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A model of several parameters for programs of waves: each from a file, or one number for
/// all nodes.

#include "common/model_grid.hpp"
#include "common/option_table.hpp"
#include "common/units.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// What was asked for. Lists are in the library's order of axes: (x, z) or (x, y, z).
struct EarthModelOptions {
  /// By option: "vp", "rho", "epsilon", "delta", "theta", "phi"; a file or a number.
  std::map<std::string, std::string> parameters;
  std::vector<std::int64_t> shape;  ///< needed if all parameters are numbers
  std::vector<double> spacing;      ///< empty: that of the file; one value: along all axes
  std::vector<double> origin;       ///< empty: that of the file, or zero
  std::string prefix;               ///< of the parameters' options, for messages: "" or "true-"
  bool degrees = false;             ///< theta and phi of files and plain numbers are in degrees
  VelocityUnit velocity_unit = VelocityUnit::unsaid;  ///< of vp
};

/// One parameter of a model. \param name without the prefix of `options`
void bind_parameter(Description& d, EarthModelOptions& options, const std::string& name,
                    const std::string& form, const std::string& text);
/// --vp, --rho, ..., --spacing and --origin.
void bind_earth_model(Description& d, EarthModelOptions& options);

/// The parameters on the nodes of a grid; its name is that of vp.
template <class T>
struct EarthModel : ModelGrid {
  /// Values by option, z fastest; angles in radians. Those that are absent are not there.
  std::map<std::string, std::vector<T>> values;
  /// Those of them that are one number everywhere.
  std::map<std::string, double> constants;

  /// The least and the greatest value of a parameter that is there.
  std::pair<T, T> range(const std::string& option) const {
    const auto constant = constants.find(option);
    if (constant == constants.end()) return range_of(values.at(option));
    return {static_cast<T>(constant->second), static_cast<T>(constant->second)};
  }
  /// The mean of a parameter that is there.
  double mean(const std::string& option) const {
    const auto constant = constants.find(option);
    if (constant == constants.end()) return mean_of(values.at(option));
    return static_cast<double>(static_cast<T>(constant->second));
  }
};

/// What load_earth_model() will take.
struct EarthModelNeed {
  std::vector<std::int64_t> shape;  ///< empty: unknown, and the model will be refused
  double values = 0.0;              ///< bytes of all parameters
  double passing = 0.0;             ///< bytes beside them while they are read

  /// Nodes.
  double nodes() const;
};

/// Looks at the options and at the headers of files, and reads no values.
template <class T>
EarthModelNeed need_of_earth_model(const EarthModelOptions& options);

/// \brief Reads or makes the parameters. They have the same shape; their values are not checked.
/// \throws InputError, FileError, MemoryError with the option's name
template <class T>
EarthModel<T> load_earth_model(const EarthModelOptions& options);

}  // namespace moho::examples
