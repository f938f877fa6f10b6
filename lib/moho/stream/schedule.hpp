// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Schedule of a volume that streams through devices: a pure plan, without arrays.
///
/// Planes of the volume pass through a device in the order of x. A device holds a ring of planes
/// and steps each of them `updates` times during its stay. Stage u makes step u, `lag` planes
/// behind stage u - 1. With D devices in a chain each loads the output of the previous one. A sweep
/// is one pass of all planes through all devices; it advances the volume by D * updates steps.
/// docs/theory/stream.md has a diagram.

#include <moho/core/box.hpp>

#include <cstdint>
#include <vector>

namespace moho::stream {

/// Sizes that determine a schedule.
struct StreamShape {
  std::int64_t planes = 0;   ///< planes of the volume
  std::int64_t first = 0;    ///< first time level: steps done before
  std::int64_t steps = 0;    ///< last time level: total number of steps
  int halo = 0;              ///< halo planes on both sides of the volume: order / 2
  int reach = 1;             ///< planes that a step reads on both sides: Scheme::reach()
  int point_planes = 1;      ///< largest number of planes that a receiver reads
  std::int64_t block = 1;    ///< planes that arrive in an iteration
  std::int64_t updates = 1;  ///< steps of a plane on one device
  std::int64_t lag = 0;      ///< planes between stages; 0: min_lag()
  int devices = 1;           ///< devices of the chain
  /// Planes that each sweep advances, by sweep; each range contains the previous one.
  ///
  /// They are the planes that waves have reached. Empty: all planes.
  std::vector<PlaneRange> ranges = {};
  /// Empty positions before the volume's planes, for a concurrent volume with more planes there.
  ///
  /// \see run_concurrent_volumes()
  std::int64_t before = 0;
  std::int64_t trailing = 0;  ///< empty positions after the volume's planes
  /// Planes that wait between the last stage and the transfer from the device.
  ///
  /// No step reads them; the schedule of the paper has a block of them.
  std::int64_t hold = 0;
  /// True if a step overwrites the previous level; false writes a third array, as in the paper.
  bool in_place = true;
  /// True if blocks pass through page-locked memory in separate iterations, as in the paper.
  bool staged = false;

  /// Returns the planes on both sides that a step or a receiver reads.
  ///
  /// A ring repeats them at its ends.
  std::int64_t beyond() const;
  /// Returns the smallest lag: the reach of a step, and half of a receiver's planes.
  std::int64_t min_lag() const;
};

/// \brief Returns the schedule of the paper.
///
/// It has blocks of `block` planes, stages a block apart, a third level in every stage, and copies
/// through page-locked buffers.
StreamShape paper_shape(std::int64_t planes, std::int64_t steps, std::int64_t block,
                        std::int64_t updates);

/// \brief Makes the schedules of concurrent volumes advance in lockstep.
///
/// All shapes get the blocks, updates, devices and steps of the first shape, and the largest reach
/// and number of receiver planes of all. They also get a sufficient lag, and empty positions so
/// that the planes `zero` of all volumes have one position. Planes at the same time and location
/// are then on the device together.
///
/// Stage u begins with the positions [a, b). In every volume, its sweep's planes in [a - lag, b +
/// lag) are then at the time level from which the stage steps. An action before the stage may read
/// them there. Below, the ring keeps max(block, reach, point_planes - 1) planes.
/// \param shapes with planes, reach, halo, point_planes of their volumes; the halos have to be
///   equal
/// \param zero one plane of each volume, all at the same location
/// \throws InputError for volumes of different halos, or with ranges
void run_concurrent_volumes(std::vector<StreamShape>& shapes,
                            const std::vector<std::int64_t>& zero);

/// \brief Planes of one sweep that move or are stepped together.
///
/// Every plane of every sweep has a position, which is the same on all devices. A plane's slot in a
/// ring is its position modulo the size of the ring.
struct StreamRange {
  std::int64_t sweep = 0;     ///< number of the sweep
  PlaneRange planes;          ///< planes; with the halo these may lie outside the sweep's range
  std::int64_t position = 0;  ///< position of the first plane
};

/// Steps of some planes in one stage.
struct StreamStage {
  StreamRange range;       ///< planes without halo
  std::int64_t level = 0;  ///< time level before the step, which leads from `level` to `level + 1`
};

/// Work of a device in an iteration: concurrent loads, stages and stores; stages are sequential.
struct StreamWork {
  std::vector<StreamRange> loads;   ///< arrivals from the host, or from the previous device
  std::vector<StreamStage> stages;  ///< steps
  std::vector<StreamRange> stores;  ///< transfers to the host, or to the next device
  /// Returns true if the iteration has no work.
  bool empty() const { return loads.empty() && stages.empty() && stores.empty(); }
};

/// \brief Schedule of a run.
///
/// Iteration i loads B planes, and steps and stores those that arrived before. Stage u of device g
/// processes the positions [(i - 1) B - u lag - g latency, i B - u lag - g latency).
class Schedule {
 public:
  /// \throws InputError for sizes without a schedule, with the allowed ones
  explicit Schedule(const StreamShape& shape);

  /// Returns the sizes, with the chosen lag.
  const StreamShape& shape() const { return m_shape; }
  /// Returns the sweeps of the run.
  std::int64_t sweeps() const { return m_sweeps; }
  /// Returns the iterations of the run, including those of filling and draining.
  std::int64_t iterations() const;
  /// Returns the work of a device in an iteration, from 0 to iterations() - 1.
  StreamWork iteration(std::int64_t i, int device = 0) const;

  /// Returns the time level of a sweep's planes when they arrive at a device.
  std::int64_t first_level(std::int64_t sweep, int device = 0) const;
  /// Returns the steps of a device in a sweep: fewer in the last one.
  std::int64_t updates(std::int64_t sweep, int device = 0) const;
  /// Returns the planes that a sweep advances.
  PlaneRange range(std::int64_t sweep) const;

  /// Returns the planes that the ring of a device needs.
  std::int64_t ring_planes() const;
  /// Returns the planes of a third level for each field, if steps are not in place.
  std::int64_t third_level_planes() const;
  /// Returns the positions between a plane's arrival at a device and its departure.
  std::int64_t latency() const;
  /// Returns the positions between the first planes of two sweeps.
  ///
  /// They are the positions of a sweep, or of a plane's return to the host if these are more. A
  /// chain longer than the volume waits.
  std::int64_t period(std::int64_t sweep) const;
  /// Returns the number of plane steps of the run.
  std::int64_t plane_steps() const;
  /// Returns the number of planes that the run loads from the host and stores there.

  std::int64_t planes_loaded() const;
  std::int64_t planes_stored() const;  ///< see planes_loaded()

 private:
  std::int64_t positions(std::int64_t sweep) const;
  std::vector<StreamRange> ranges_of(std::int64_t begin, std::int64_t end, int halo) const;

  StreamShape m_shape;
  std::int64_t m_sweeps = 0;
  std::vector<std::int64_t> m_start;  ///< position of the first halo plane of every sweep
  std::int64_t m_end = 0;             ///< one past the last position
};

/// Returns the largest chain, in devices, that never waits for a volume; at least 1.
std::int64_t longest_chain(const StreamShape& shape);

}  // namespace moho::stream
