// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Plan of a stream: blocks, steps in a pass and devices, from memory and measured rates.
///
/// Pure arithmetic, without kernels.

#include <moho/stream/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::stream {

/// Measured rates of a machine, on which plans are based.
struct StreamRates {
  /// Nodes per second of steps on slabs of a number of planes.
  struct Slab {
    std::int64_t planes = 0;         ///< planes of the slab
    double points_per_second = 0.0;  ///< nodes per second
  };
  std::vector<Slab> slabs;     ///< slabs by ascending planes
  double in = 0.0;             ///< B/s to a device, concurrent with transfers from it; 0: no copies
  double out = 0.0;            ///< B/s from a device, concurrent with transfers to it
  double memory = 0.0;         ///< B/s of the device's memory, read and written; 0: free
  double look = 0.0;           ///< B/s of the search for values that are not finite; 0: `memory`
  double stage_seconds = 0.0;  ///< overhead of a stage beyond its step: launches, points, events
  double iteration_seconds = 0.0;  ///< overhead of an iteration beyond bytes: copies, events
  double load = 0.0;      ///< nodes per second of the preparation of a volume's parameters; 0: free
  double clear = 0.0;     ///< B/s of setting a volume to rest; 0: free
  bool in_turn = false;   ///< devices are one host, which executes their work one after the other
  double disk_in = 0.0;   ///< B/s from the file of a volume; 0: the volume is in memory
  double disk_out = 0.0;  ///< B/s to that file
  double in_core = 0.0;   ///< nodes per second of steps of the complete grid, for comparison; 0:
                          ///< that of the largest slab
};

/// Rates on which the plan of a ReversedPair is based.
struct PairRates {
  StreamRates both;    ///< both volumes with the action
  StreamRates single;  ///< one volume
};

/// Times of a run of stages with known steps.
struct LaunchSample {
  double seconds = 0.0;     ///< time of the run
  double steps = 0.0;       ///< seconds of its steps alone
  double stages = 0.0;      ///< number of stages on all devices
  double iterations = 0.0;  ///< number of iterations of the schedule
};

/// \brief Computes the overhead of a stage and an iteration from two runs.
///
/// The runs have different numbers of stages in an iteration. Both overheads are 0 or more. Runs
/// whose numbers of stages and iterations are proportional assign the overhead of the first run to
/// the stages alone.
void solve_launches(const LaunchSample& one, const LaunchSample& other, StreamRates& rates);

/// \brief Planes that some stages of a pass keep for a later one, in rings of their own.
///
/// Every `interval`-th stage of a pass keeps its block. `group` consecutive ones of these stages
/// have one reader: the last of them, which reads its own block and `around` planes below it. Rings
/// are multiples of `align` planes long, and sweeps may begin at multiples of it.
struct KeptPlanes {
  int arrays = 0;             ///< arrays that a stage keeps; 0: none
  std::int64_t interval = 1;  ///< stages from one that keeps planes to the next
  std::int64_t group = 1;     ///< stages with one reader
  std::int64_t around = 0;    ///< planes below the reader's block that it reads
  std::int64_t align = 1;     ///< see above
  std::int64_t elements = 0;  ///< elements of a plane of an array

  /// Returns the largest number of stages of a pass that keep planes.
  std::int64_t count(const StreamShape& shape) const;
  /// Returns the planes of the ring of the n-th of these stages, n from 0 to count() - 1.
  std::int64_t slots(const StreamShape& shape, std::int64_t n) const;
  /// Returns the elements of all rings.
  std::int64_t ring_elements(const StreamShape& shape) const;
};

/// Requirements of a stream: arrays, planes, and their memory.
struct StreamRequirements {
  StreamShape shape;                ///< planes, steps, halo, reach, point_planes
  std::int64_t plane_nodes = 0;     ///< nodes of a plane of the grid
  std::int64_t plane_elements = 0;  ///< elements of a plane of an array, with its padding
  int scalar = 4;                   ///< bytes of a number
  int order = 8;                    ///< order of the differences
  int fields = 1;                   ///< wavefields: p, or p and q
  int parameters = 1;               ///< arrays that a step reads
  int work = 0;                     ///< arrays in addition to the state: axis derivatives
  /// Elements of the memory of layers across y and z, for a plane and one array of three.
  std::int64_t layer_elements = 0;
  /// Elements of the memory of layers across x, for all planes and one array of three.
  std::int64_t across_elements = 0;
  std::size_t fixed = 0;  ///< further bytes on the device: points, gathers, tapers
  /// Volumes that stream concurrently (run_concurrent_volumes()), each with `others` empty.
  std::vector<StreamRequirements> others = {};
  int sums = 0;                    ///< number of arrays of sums, VolumeShape::sums
  std::int64_t sum_planes = 0;     ///< planes of the sums
  std::int64_t sum_elements = 0;   ///< elements of a plane of an array of sums
  int window_arrays = 0;           ///< arrays of a block and the adjacent planes, for actions
  std::int64_t window_around = 0;  ///< planes on both sides of the block in these arrays
  double action_bytes = 0.0;  ///< bytes that an action moves on the device, for each plane and step
  KeptPlanes kept = {};       ///< planes that actions keep for later stages

  /// Returns the bytes of the rings of a schedule, and of parameters and sums held on the device.
  std::size_t device_bytes(const StreamShape& shape, bool resident, bool sums_held = false) const;
  /// Returns the host bytes of volumes of one model: its parameters once, each volume's state.
  std::size_t host_bytes(int volumes = 1) const;
  /// Returns the bytes of a plane that arrive at a device, for all volumes.
  double plane_in(bool resident, bool sums_held = false) const;
  /// Returns the bytes of a plane that leave a device, for all volumes.
  double plane_out(bool sums_held = false) const;
  /// Returns the nodes of all volumes.
  double nodes() const;

 private:
  std::int64_t ring_elements(const StreamShape& shape, bool resident) const;
  // Share of a plane in quantities that only some planes have.
  double share(std::int64_t planes) const;
};

/// Constraints of a plan.
struct StreamRequest {
  std::size_t device_memory = 0;  ///< bytes of a device; 0: no limit
  int devices = 1;                ///< number of available devices
  /// \brief Chains with equal numbers of devices and separate shots; 0: few, see plan_stream().
  int groups = 0;
  std::int64_t shots = 1;       ///< number of shots, the largest number of chains with work
  std::int64_t block = 0;       ///< block; 0: automatic
  std::int64_t updates = 0;     ///< steps in a pass; 0: automatic
  std::int64_t lag = 0;         ///< lag; 0: the smallest
  bool hold_parameters = true;  ///< true if parameters may stay on the device when that is faster
};

/// Returns a number of devices for messages; 0 is "0 (auto)", the fewest that suffice.
inline std::string device_count_text(int devices) {
  return devices == 0 ? "0 (auto)" : std::to_string(devices);
}

/// Predicted performance of a run.
struct StreamForecast {
  double seconds = 0.0;            ///< time of the run
  double points_per_second = 0.0;  ///< nodes per second, including filling and draining
  /// Ratio of points_per_second to in_core_rate() times the devices.
  ///
  /// It is at most 1, unless the rates of slabs predict a stream faster than steps of the complete
  /// grid.
  double share = 0.0;
  double fill = 0.0;  ///< fraction of the time in which pipelines fill and drain
  std::string binds;  ///< bottleneck: "steps", "launches", "link in", "link out", "disk", "filling"
};

/// Plan of a stream.
struct StreamPlan {
  StreamShape shape;                      ///< with block, updates, lag and devices
  bool resident = false;                  ///< parameters stay on the device
  bool sums_held = false;                 ///< sums stay on the device
  int groups = 1;                         ///< concurrent chains with separate shots
  std::size_t device_bytes = 0;           ///< bytes on each device
  std::size_t host_bytes = 0;             ///< bytes of the volumes of a process
  std::int64_t ring_planes = 0;           ///< planes in the ring of each device
  double plane_in = 0.0;                  ///< arriving bytes of a plane
  double plane_out = 0.0;                 ///< leaving bytes of a plane
  StreamForecast forecast;                ///< rates and bottleneck
  std::vector<std::int64_t> slab_planes;  ///< planes of each device, if devices hold slabs
  std::string exchange;                   ///< of slabs of ranks, see StreamRanks::exchange()
  bool slabs = false;    ///< the volume fits the memory of all devices: each holds a slab
  bool in_core = false;  ///< the complete volume fits the device, and nothing streams
};

/// Returns the predicted performance of a run with these sizes.
///
/// Sums that are not held move with the planes.
StreamForecast forecast(const StreamRequirements& need, const StreamShape& shape, bool resident,
                        const StreamRates& rates, bool sums_held = false);

/// Throws InputError if a requested block has more planes than the volume with its layers.
void check_block(const StreamRequest& wishes, std::int64_t planes);

/// \brief Returns the fastest plan with the longest chains within the constraints.
///
/// Shorter chains are chosen if they are over twice as fast; of plans within half a percent of the
/// fastest, that with the least memory. \throws MemoryError for a memory below that of one stage
/// (the text gives the smallest sufficient one), InputError for constraints that cannot be met
StreamPlan plan_stream(const StreamRequirements& need, const StreamRequest& wishes,
                       const StreamRates& rates);

/// \brief Returns the lines of a plan's description.
/// \param seconds of a shot, all its passes; 0: those of the forecast, which is that of one pass
std::vector<std::string> describe(const StreamPlan& plan, const StreamRequirements& need,
                                  const StreamRates& rates, double seconds = 0.0);

}  // namespace moho::stream
