// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of trace_rays, and how it is read.

#include "common/command_line.hpp"
#include "common/units.hpp"

#include <moho/rays/rows.hpp>
#include <moho/rays/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::trace_rays {

/// Where the velocity comes from.
enum class ModelKind { file, gradient, salt };

/// What was asked for. Lists are in the order of axes: (x, z) or (x, y, z).
struct Options : CommonOptions {
  ModelKind model = ModelKind::file;                  ///< where the velocity comes from
  std::string model_file;                             ///< for ModelKind::file
  double v0 = 0.0;                                    ///< at z = 0, for ModelKind::gradient
  double gradient = 0.0;                              ///< 1/s, for ModelKind::gradient
  VelocityUnit velocity_unit = VelocityUnit::unsaid;  ///< of files and v0
  std::vector<std::int64_t> shape;                    ///< of a model made by formula
  std::vector<double> spacing;       ///< empty: that of the file; one value: along all axes
  std::vector<std::string> sources;  ///< points; empty: one in the middle of the surface
  std::string receivers;             ///< points; empty: a line along the surface
  std::optional<int> radius;         ///< empty: 6 in 2D, 3 in 3D
  rays::Star star = rays::Star::coprime;
  rays::Method method = rays::Method::active_tiles;
  rays::WeightRule rule = rays::WeightRule::slowness;
  rays::WeightStorage storage = rays::WeightStorage::automatic;
  std::optional<rays::Basis>
      matrix;  ///< columns of the tomography matrix; empty: it is not written
};

/// The options, for --help.
Description describe();

/// What was given. \throws InputError for what is missing, malformed or contradictory
Options read_options(const Arguments& arguments);

}  // namespace moho::examples::trace_rays
