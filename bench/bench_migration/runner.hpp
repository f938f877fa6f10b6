// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Migration of a shot in core and in a stream, interface without templates.

#include <moho/core/instance.hpp>
#include <moho/wave/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace moho::bench {

/// Settings of a shot.
struct MigrationSettings {
  wave::Medium medium = wave::Medium::isotropic;     ///< medium of the model
  std::array<std::int64_t, 3> shape{256, 256, 256};  ///< nodes of the model
  int width = 20;                                    ///< width of the sponge, nodes
  std::int64_t steps = 128;                          ///< time steps
  std::size_t device_memory = 0;  ///< bytes of a device that a stream may use; 0: in core
  int devices = 1;                ///< devices of the chain of a stream
};

/// Costs of a migration.
struct MigrationCosts {
  double plan = 0.0;          ///< seconds of plan and measurements
  double shot = 0.0;          ///< seconds of a shot, with its preparation
  double legs = 0.0;          ///< seconds of its propagations
  double predicted = 0.0;     ///< predicted seconds of its propagations
  double points = 0.0;        ///< nodes stepped, of all wavefields
  double device_bytes = 0.0;  ///< memory of the device
  double host_bytes = 0.0;    ///< memory of the host for volumes and image
  std::int64_t interval = 0;  ///< steps between snapshots
  std::int64_t block = 0;     ///< planes that move at a time
  std::int64_t updates = 0;   ///< steps of a plane on the device
  int devices = 1;            ///< devices of the chain
  double size = 0.0;          ///< largest magnitude of the image
};

/// Migrates two shots with random layers; the costs are those of the second one.
template <class Memory>
MigrationCosts time_migration(const Instance<Memory>& exec, const MigrationSettings& settings);

/// Settings of a survey of small shots over a section.
struct SurveySettings {
  std::array<std::int64_t, 2> nodes{461, 151};  ///< along x and z
  int shots = 24;                               ///< of the survey
  double time = 2.4;                            ///< migrated time, s
  int receivers = 231;                          ///< of each shot
  int concurrent = 0;                           ///< concurrent shots; 0: chosen
  int batch = 0;                                ///< shots in the same launches; 0: chosen
};

/// Costs of the migration of a survey.
struct SurveyCosts {
  double seconds = 0.0;       ///< of all shots, with the preparation of their data
  double prepare = 0.0;       ///< of these, preparation; of concurrent shots the mean
  double migrate = 0.0;       ///< propagations and imaging
  double transfer = 0.0;      ///< of images to the host
  double predicted = 0.0;     ///< seconds predicted by the plan for propagations of single shots
  double points = 0.0;        ///< nodes stepped
  int concurrent = 1;         ///< shots migrated concurrently
  int batch = 1;              ///< of these, shots that advance in the same launches
  std::int64_t interval = 0;  ///< steps between snapshots
  double size = 0.0;          ///< sum of the largest magnitudes of the images
};

/// Migrates a survey twice with uncompressed snapshots; the costs are those of the second time.
template <class Memory>
SurveyCosts time_survey(const Instance<Memory>& exec, const SurveySettings& settings);

}  // namespace moho::bench
