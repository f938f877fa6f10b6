// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of first_arrivals.

#include "app/common_options.hpp"
#include "app/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace moho::examples::first_arrivals {

/// Methods of computing traveltimes.
enum class Solver { active_tiles, sweeping, fast_marching };

/// Names of the solvers on the command line.
inline const std::vector<std::string> solver_names = {"active_tiles", "sweeping", "fast_marching"};

/// Options of first_arrivals. Lists of coordinates are in the order of axes: (x, z) or (x, y, z).
struct Options : CommonOptions {
  std::string model;                ///< a file or a number; empty: by formula
  std::string epsilon, delta;       ///< files or numbers; empty: not given
  std::string builtin;              ///< name of the built-in model; empty: another one
  double v0 = 0.0, gradient = 0.0;  ///< of v0 + gradient z: v0 in the velocity unit, and 1/s
  VelocityUnit velocity_unit = VelocityUnit::automatic;  ///< of the model and v0
  std::vector<std::int64_t> shape;                       ///< of a model without a file
  std::vector<double> spacing;       ///< empty: that of the file; one value: along all axes
  std::vector<double> origin;        ///< empty: that of the file, or zero
  std::vector<std::string> sources;  ///< points or tables; empty: the middle of the surface
  std::string receivers;             ///< points or a table; empty: no receivers
  bool each = false;                 ///< write a field for each source
  int order = 2;                     ///< of the differences, 1 or 2
  bool factored = true;              ///< true: solve for the factor of the source's analytic times
  Solver solver = Solver::active_tiles;  ///< method of the solution
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::first_arrivals
