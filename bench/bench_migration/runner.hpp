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

}  // namespace moho::bench
