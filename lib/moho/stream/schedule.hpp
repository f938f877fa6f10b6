// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What moves and what is stepped when a volume streams through devices: a pure plan,
/// without arrays.
///
/// Planes of the volume go through a device in the order of x. A device holds a ring of planes and
/// steps each of them `updates` times while it is there: stage u makes the u-th of these steps,
/// `lag` planes behind stage u - 1. With D devices in a chain each takes over what the one before
/// hands on. All planes going once through all devices is a sweep: it advances the volume by D *
/// updates steps. docs/theory/stream.md draws it.

#include <moho/core/box.hpp>

#include <cstdint>
#include <vector>

namespace moho::stream {

/// The sizes that a schedule follows from.
struct StreamShape {
  std::int64_t planes = 0;   ///< of the volume
  std::int64_t first = 0;    ///< time at which the run begins: steps done before
  std::int64_t steps = 0;    ///< time at which it ends: steps in all
  int halo = 0;              ///< planes on both sides of the volume that go with it: order / 2
  int reach = 1;             ///< planes that a step reads on both sides: Scheme::reach()
  int point_planes = 1;      ///< the most planes that a receiver reads
  std::int64_t block = 1;    ///< planes that arrive in an iteration
  std::int64_t updates = 1;  ///< steps of a plane on one device
  std::int64_t lag = 0;      ///< planes between stages; 0: least_lag()
  int devices = 1;           ///< of the chain
  /// Planes that each sweep advances, by sweep, each range within the next one: those that waves
  /// have come to. Empty: all of them.
  std::vector<Planes> ranges = {};
  /// Positions before the volume's planes that are empty: those of another volume that streams
  /// beside this one and has more planes there (side_by_side()).
  std::int64_t before = 0;
  std::int64_t behind = 0;  ///< the same after its planes
  /// Planes that have left the last stage and wait before they leave the device. They are needed by
  /// nothing; the schedule of the paper holds a block.
  std::int64_t hold = 0;
  /// False: a step writes a third array per field, as in the paper, not over the level before.
  bool in_place = true;
  /// Blocks are copied to and from page-locked memory in iterations of their own, as in the paper.
  bool staged = false;

  /// Planes on both sides that a step or a receiver reads: those that a ring repeats at its ends.
  std::int64_t beyond() const;
  /// The least planes between stages: what a step reads, and half of what a receiver reads.
  std::int64_t least_lag() const;
};

/// \brief The schedule of the paper: blocks of `block` planes, stages a whole
/// block apart, a third level in every stage, copies through page-locked buffers.
StreamShape paper_shape(std::int64_t planes, std::int64_t steps, std::int64_t block,
                        std::int64_t updates);

/// \brief Makes schedules go in step: all shapes get the blocks, updates, devices and steps of the
/// first, the greatest reach and number of planes of receivers of all, a lag that suffices for
/// these, and empty positions so that the planes `zero` of all of them have one position. Planes
/// that are at the same time, at the same place of the earth, are then on the device together.
///
/// When stage u begins with the positions [a, b), its sweep's planes in [a - lag, b + lag) are at
/// the time that it leads from, in every one of the volumes. An action before the stage may read
/// them there, as far as the ring keeps planes below: max(block, reach, point_planes - 1) of them.
/// \param shapes with planes, reach, halo, point_planes of their volumes; the halo has to be the
/// same
/// \param zero a plane of each volume, of the same place
/// \throws InputError for volumes of different halos, or with ranges
void side_by_side(std::vector<StreamShape>& shapes, const std::vector<std::int64_t>& zero);

/// \brief Planes of one sweep that move or are stepped together.
///
/// Every plane of every sweep has a position, which is the same on all devices: a plane's slot in a
/// ring is its position modulo the size of the ring.
struct StreamRange {
  std::int64_t sweep = 0;     ///< which sweep
  Planes planes;              ///< planes; with the halo these may lie outside of the sweep's range
  std::int64_t position = 0;  ///< of the first plane
};

/// The steps of some planes by one stage.
struct StreamStage {
  StreamRange range;       ///< without halo
  std::int64_t level = 0;  ///< time before the step: it leads from `level` to `level + 1`
};

/// What a device does in an iteration: all three at the same time, the stages one after the other.
struct StreamWork {
  std::vector<StreamRange> loads;   ///< arrive: from the host, or from the device before
  std::vector<StreamStage> stages;  ///< are stepped
  std::vector<StreamRange> stores;  ///< leave: to the host, or to the device behind
  /// True where there is nothing.
  bool empty() const { return loads.empty() && stages.empty() && stores.empty(); }
};

/// \brief The schedule of a run.
///
/// Iteration i loads B planes, and steps and stores those that came before; stage u of device g
/// works on the positions [(i - 1) B - u lag - g latency, i B - u lag - g latency).
class Schedule {
 public:
  /// \throws InputError for sizes that make no schedule, with what is allowed
  explicit Schedule(const StreamShape& shape);

  /// The sizes, with the lag that was chosen.
  const StreamShape& shape() const { return m_shape; }
  /// Sweeps of the run.
  std::int64_t sweeps() const { return m_sweeps; }
  /// Iterations of the run, those of filling and draining included.
  std::int64_t iterations() const;
  /// What a device does in an iteration, from 0 to iterations() - 1.
  StreamWork iteration(std::int64_t i, int device = 0) const;

  /// The time of a sweep's planes when they arrive at a device.
  std::int64_t first_level(std::int64_t sweep, int device = 0) const;
  /// Steps that a device does in a sweep: fewer in the last one.
  std::int64_t updates(std::int64_t sweep, int device = 0) const;
  /// Planes that a sweep advances.
  Planes range(std::int64_t sweep) const;

  /// Planes that the ring of a device needs.
  std::int64_t ring_planes() const;
  /// Planes of a third level per field, where steps are not in place.
  std::int64_t third_level_planes() const;
  /// Positions between a plane's arrival at a device and its leaving.
  std::int64_t latency() const;
  /// Positions between two sweeps' first planes: as many as a sweep has, or as many as a plane
  /// needs to come back to the host. A chain that is longer than the volume waits.
  std::int64_t period(std::int64_t sweep) const;
  /// Plane steps of the whole run.
  std::int64_t plane_steps() const;
  /// Planes that are loaded from the host in the run, and stored there.

  std::int64_t planes_loaded() const;
  std::int64_t planes_stored() const;  ///< see planes_loaded()

 private:
  std::int64_t positions(std::int64_t sweep) const;
  std::vector<StreamRange> ranges_of(std::int64_t begin, std::int64_t end, int halo) const;

  StreamShape m_shape;
  std::int64_t m_sweeps = 0;
  std::vector<std::int64_t> m_start;  ///< position of the first halo plane of every sweep
  std::int64_t m_end = 0;             ///< one behind the last position
};

/// The most devices of a chain that never waits for a volume of so many planes; at least 1.
std::int64_t longest_chain(const StreamShape& shape);

}  // namespace moho::stream
