// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Streams of one volume by several methods, behind an interface without templates.

#include "bench_waves/runner.hpp"

#include <moho/core/instance.hpp>
#include <moho/stream/plan.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace moho::bench {

/// Settings of a volume: noise in a rough model, single precision, order 8, a sponge.
struct StreamSettings {
  WaveMedium medium = WaveMedium::isotropic;  ///< medium of the volume
  std::array<std::int64_t, 3> extents{};      ///< nodes of the complete grid, layers included
  int width = 20;                             ///< width of the sponge, nodes
};

/// A method of streaming.
struct StreamMethod {
  /// Bytes of a device; 0: the memory that block and updates require.
  std::size_t device_memory = 0;
  std::int64_t block = 0;    ///< planes per transfer; 0: planned
  std::int64_t updates = 0;  ///< steps per pass; 0: planned
  int devices = 1;           ///< devices of the chain
  bool hold = true;          ///< allow parameters to stay on the device
  bool slabs = false;        ///< devices hold slabs of the grid, and nothing streams
  std::int64_t steps = 200;  ///< steps in slabs
  bool whole = false;        ///< stages sweep over arrays of the complete grid, without a ring
  std::int64_t sweeps = 4;   ///< sweeps through the volume
};

/// Results of a run.
struct StreamFound {
  stream::StreamPlan plan;  ///< plan of the run
  double seconds = 0.0;     ///< seconds of the run
  double points = 0.0;      ///< stepped nodes
  double steady = 0.0;      ///< nodes per second while all stages are busy
  double bytes_in = 0.0;    ///< bytes from the host
  double bytes_out = 0.0;   ///< bytes to the host
};

/// A volume on the host, and the devices that process it.
class StreamRunner {
 public:
  virtual ~StreamRunner() = default;
  /// Returns the nodes per second of steps of the complete grid on one device; 0 if too large.
  virtual double in_core() = 0;
  /// Streams the volume.
  virtual StreamFound run(const StreamMethod& method) = 0;
  /// Returns the rates measured before.
  virtual const stream::StreamRates& rates() const = 0;
  /// Returns true if the volume is page-locked.
  virtual bool locked() const = 0;
  /// Returns the seconds spent on page-locking.
  virtual double lock_seconds() const = 0;
  /// Returns true if a small volume of the same medium has the same bits with and without a ring.
  virtual bool agrees() = 0;
  /// Returns true if a small volume of the same medium has the same bits in one and in more slabs.
  virtual bool slabs_agree(int devices) = 0;
};

/// Returns a runner on a space.
template <class Memory>
std::unique_ptr<StreamRunner> make_stream_runner(const Instance<Memory>& exec,
                                                 const StreamSettings& settings);

}  // namespace moho::bench
