// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_times.

#include "app/common_options.hpp"
#include "app/units.hpp"

#include <moho/tomography/types.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace moho::examples::invert_times {

/// Options of invert_times. Lists of coordinates are in the order of axes: (x, z) or (x, y, z).
struct Options : CommonOptions {
  std::string picks;                                     ///< file of picks
  std::string format;                                    ///< "csv", "sgt", or empty: by the ending
  std::string shots, receivers;                          ///< tables of points for picks with ids
  std::size_t time_unit = 0;                             ///< position in s, ms, us
  bool elevations = false;                               ///< z of tables points up
  std::vector<double> error;                             ///< absolute in s, and relative
  std::vector<double> spacing;                           ///< m, one value; empty: chosen
  std::vector<std::int64_t> shape;                       ///< nodes; empty: chosen
  std::vector<double> origin;                            ///< m; empty: chosen
  double margin = -1.0;                                  ///< m; negative: chosen
  double depth = 0.0;                                    ///< m; 0: chosen
  std::string topography = "auto";                       ///< auto, none or a table
  double buried_below = 2.0;                             ///< m
  int coarsening = 0;                                    ///< 0: 1 in 2D, 2 in 3D
  std::string start = "auto";                            ///< auto, layers, v0,g, a number or a file
  std::string reference = "start";                       ///< start, or a file
  VelocityUnit velocity_unit = VelocityUnit::automatic;  ///< of files of velocities
  std::vector<double> bounds;                            ///< velocities, m/s
  tomography::Times times = tomography::Times::automatic;  ///< solver of the traveltimes
  std::string epsilon, delta;              ///< file or number of a VTI medium; empty: isotropic
  bool locate = false;                     ///< positions and origin times of sources are unknown
  std::vector<double> location_deviation;  ///< m along each axis; empty: chosen
  double origin_deviation = 0.005;         ///< s
  std::vector<double> checks;              ///< dx[,dy],dz in m and percent; empty: no test
  std::vector<std::string> exports;        ///< vtk, rsf, sgt: files for other programs
  int jackknife = 0;                       ///< number of runs without every n-th source; 0: no runs
  int radius = 0;                          ///< 0: 8 in 2D, 3 in 3D
  std::vector<double> lengths;             ///< m; empty: chosen
  double deviation_max = 0.5;              ///< of ln slowness
  std::set<std::string> given;             ///< of the options that some runs do not use
  double lambda = 0.0;                     ///< 0: chosen
  tomography::DampingRule rule = tomography::DampingRule::target;  ///< choice of lambda
  tomography::Robust robust = tomography::Robust::none;            ///< weights of residuals
  tomography::Statics statics = tomography::Statics::none;         ///< unknown delays
  double static_deviation = 0.005;                                 ///< s
  int iterations = 20;                                             ///< largest number
  double target = 1.0;                                             ///< chi^2
  double tolerance = 0.04;                                         ///< of chi^2
  int krylov = 100;                                                ///< largest number of steps
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::invert_times
