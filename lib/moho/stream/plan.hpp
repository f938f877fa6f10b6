// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How to stream: blocks, steps in a pass, devices, from memory and measured rates. Pure
/// arithmetic, without kernels.

#include <moho/stream/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::stream {

/// What rates a plan reckons with, measured on the machine.
struct StreamRates {
  /// Nodes a second of steps on slabs of so many planes.
  struct Slab {
    std::int64_t planes = 0;         ///< of the slab
    double points_per_second = 0.0;  ///< nodes a second
  };
  std::vector<Slab> slabs;  ///< by ascending planes
  double in = 0.0;          ///< bytes a second to a device while others leave it; 0: no copies
  double out = 0.0;         ///< bytes a second from a device while others arrive
  double memory = 0.0;  ///< bytes a second of the device's own memory, read and written; 0: free
  double look = 0.0;    ///< bytes a second searched for values that are not finite; 0: `memory`
  double stage_seconds = 0.0;      ///< of a stage besides its step: launches, points, events
  double iteration_seconds = 0.0;  ///< of an iteration besides bytes: copies, events
  double load = 0.0;               ///< nodes a second of preparing a volume's parameters; 0: free
  double clear = 0.0;              ///< bytes a second of setting a volume to rest; 0: free
  bool in_turn = false;   ///< devices are one host, which executes their work one after the other
  double disk_in = 0.0;   ///< bytes a second from the file of a volume; 0: it is in memory
  double disk_out = 0.0;  ///< bytes a second to it
  double in_core = 0.0;   ///< nodes a second of steps of the whole grid, to compare with; 0: that
                          ///< of the largest slab
};

/// Seconds of a run of stages, of which the steps are known.
struct LaunchSample {
  double seconds = 0.0;     ///< of the run
  double steps = 0.0;       ///< seconds of its steps alone
  double stages = 0.0;      ///< stages on all devices
  double iterations = 0.0;  ///< of the schedule
};

/// \brief Seconds that a stage and an iteration cost besides steps, from two runs with different
/// numbers of stages in an iteration.
///
/// Both are 0 or more. Runs whose numbers of stages and iterations are proportional give the cost
/// of the first one to the stages alone.
void solve_launches(const LaunchSample& one, const LaunchSample& other, StreamRates& rates);

/// What streams: arrays, planes, and what they take.
struct StreamNeed {
  StreamShape shape;                 ///< planes, steps, halo, reach, point_planes
  std::int64_t plane_nodes = 0;      ///< of the grid
  std::int64_t plane_elements = 0;   ///< of an array, with its padding
  int scalar = 4;                    ///< bytes of a number
  int order = 8;                     ///< of the differences
  int fields = 1;                    ///< p, or p and q
  int parameters = 1;                ///< arrays that a step reads
  int work = 0;                      ///< arrays beside the state: slopes
  std::int64_t layer_elements = 0;   ///< of the memory of layers across y and z, a plane, one array
                                     ///< of three
  std::int64_t across_elements = 0;  ///< of layers across x, all planes, one array of three
  std::size_t fixed = 0;             ///< bytes on the device besides: points, gathers, tapers
  /// Volumes that stream beside this one (side_by_side()), each with `beside` empty.
  std::vector<StreamNeed> beside = {};
  int sums = 0;                    ///< arrays of sums, VolumeShape::sums
  std::int64_t sum_planes = 0;     ///< planes of them
  std::int64_t sum_elements = 0;   ///< of a plane of one
  int window_arrays = 0;           ///< arrays of a block and the planes around it, for actions
  std::int64_t window_around = 0;  ///< planes on both sides of the block in these
  double action_bytes = 0.0;       ///< that an action moves on the device, a plane and step

  /// Bytes of the rings of a schedule, and of parameters and sums that are held there.
  std::size_t device_bytes(const StreamShape& shape, bool resident, bool sums_held = false) const;
  /// Bytes on the host of volumes of one model: its parameters once, and a state each.
  std::size_t host_bytes(int volumes = 1) const;
  /// Bytes of a plane that arrive at a device, of all volumes.
  double plane_in(bool resident, bool sums_held = false) const;
  /// Bytes of a plane that leave it.
  double plane_out(bool sums_held = false) const;
  /// Nodes of all volumes.
  double nodes() const;

 private:
  std::int64_t ring_elements(const StreamShape& shape, bool resident) const;
  // A plane's share of what is on some planes only.
  double share(std::int64_t planes) const;
};

/// What may be chosen.
struct StreamWishes {
  std::size_t device_memory = 0;  ///< bytes of a device; 0: without limit
  int devices = 1;                ///< that there are
  int groups = 0;                 ///< chains of as many devices each, every one with shots of its
                                  ///< own; 0: as few as the volume allows
  std::int64_t shots = 1;         ///< that there will be: no more chains than these have work
  std::int64_t block = 0;         ///< 0: to be chosen
  std::int64_t updates = 0;       ///< 0: to be chosen
  std::int64_t lag = 0;           ///< 0: the least
  bool hold_parameters = true;    ///< parameters may stay on the device where that is faster
};

/// What a plan reckons a run to do.
struct StreamForecast {
  double seconds = 0.0;            ///< of the run
  double points_per_second = 0.0;  ///< of the run, filling and draining included
  /// Of in_core_rate(), times the devices; at most 1, but where the rates of slabs say that a
  /// stream is faster than steps of the complete grid.
  double share = 0.0;
  double fill = 0.0;  ///< part of the seconds in which pipelines fill and drain
  std::string binds;  ///< "steps", "launches", "link in", "link out", "disk", "filling"
};

/// A plan.
struct StreamPlan {
  StreamShape shape;             ///< with block, updates, lag and devices
  bool resident = false;         ///< parameters stay on the device
  bool sums_held = false;        ///< sums stay on the device
  int groups = 1;                ///< chains side by side, each for a shot of its own
  std::size_t device_bytes = 0;  ///< on each device
  std::size_t host_bytes = 0;    ///< of the volumes of a process
  std::int64_t ring_planes = 0;  ///< of each device
  double plane_in = 0.0;         ///< bytes a plane
  double plane_out = 0.0;        ///< bytes a plane
  StreamForecast forecast;       ///< rates and what binds
  bool slabs = false;            ///< the volume fits the devices together: each holds a slab
  bool in_core = false;          ///< the whole volume fits the device, and nothing need stream
};

/// What a run with these sizes would do. Sums that are not held move with the planes.
StreamForecast forecast(const StreamNeed& need, const StreamShape& shape, bool resident,
                        const StreamRates& rates, bool sums_held = false);

/// \brief The fastest plan that the wishes allow; of those within half a percent of it, the one
/// that takes the least memory. \throws MemoryError for a memory below that of one stage (the text
/// names the least that would do), InputError for wishes that cannot be
StreamPlan plan_stream(const StreamNeed& need, const StreamWishes& wishes,
                       const StreamRates& rates);

/// The lines of a plan, for people.
std::vector<std::string> describe(const StreamPlan& plan, const StreamNeed& need,
                                  const StreamRates& rates);

}  // namespace moho::stream
