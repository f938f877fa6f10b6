// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of trace_rays.

#include "app/common_options.hpp"
#include "app/units.hpp"

#include <moho/rays/rows.hpp>
#include <moho/rays/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::trace_rays {

/// Origin of the velocity.
enum class ModelKind { file, gradient, salt };

/// Options of trace_rays. Lists are in the order of axes: (x, z) or (x, y, z).
struct Options : CommonOptions {
  ModelKind model = ModelKind::file;                     ///< origin of the velocity
  std::string model_file;                                ///< for ModelKind::file
  std::vector<double> linear;                            ///< v0 and gradient, for --gradient
  std::string builtin;                                   ///< name of a built-in model
  double v0 = 0.0;                                       ///< at z = 0, for ModelKind::gradient
  double gradient = 0.0;                                 ///< 1/s, for ModelKind::gradient
  VelocityUnit velocity_unit = VelocityUnit::automatic;  ///< of files and v0
  std::vector<std::int64_t> shape;                       ///< of a model by formula
  std::vector<double> spacing;            ///< empty: that of the file; one value: along all axes
  std::vector<std::string> sources;       ///< points; empty: one in the middle of the surface
  std::string receivers;                  ///< points; empty: a line along the surface
  std::optional<int> radius;              ///< empty: 6 in 2D, 3 in 3D
  rays::Star star = rays::Star::coprime;  ///< neighbours of a node
  rays::Method method = rays::Method::active_tiles;              ///< method of the search
  rays::WeightRule rule = rays::WeightRule::slowness;            ///< interpolation along edges
  rays::WeightStorage storage = rays::WeightStorage::automatic;  ///< table of weights, or none
  int devices = 1;                                               ///< that share the model
  int slabs = 0;  ///< parts of the model per device; 0: chosen
  std::optional<rays::Basis>
      matrix;  ///< columns of the tomography matrix; empty: no matrix is written
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::trace_rays
