// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Streams of one volume in many ways, behind an interface without templates.

#include "bench_waves/runner.hpp"

#include <moho/core/instance.hpp>
#include <moho/stream/plan.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace moho::bench {

/// A volume: noise in a rough model, single precision, order 8, a sponge.
struct StreamSettings {
  WaveMedium medium = WaveMedium::isotropic;
  std::array<std::int64_t, 3> extents{};  ///< of the whole grid, layers included
  int width = 20;                         ///< nodes of the sponge
};

/// A way of going through it.
struct StreamWay {
  std::size_t device_memory = 0;  ///< bytes of a device; 0: what block and updates take
  std::int64_t block = 0;         ///< 0: to be planned
  std::int64_t updates = 0;       ///< 0: to be planned
  int devices = 1;                ///< of a chain
  bool hold = true;               ///< parameters may stay on the device
  bool whole = false;             ///< stages sweep over arrays of the whole grid: no ring
  std::int64_t sweeps = 4;        ///< through the volume
};

/// What it came to.
struct StreamFound {
  stream::StreamPlan plan;
  double seconds = 0.0;    ///< of the run
  double points = 0.0;     ///< nodes stepped
  double steady = 0.0;     ///< nodes a second while all stages are at work
  double bytes_in = 0.0;   ///< from the host
  double bytes_out = 0.0;  ///< to the host
};

/// A volume on the host, and devices that it goes through.
class StreamRunner {
 public:
  virtual ~StreamRunner() = default;
  /// Nodes a second of steps of the whole grid on one device; 0: it does not fit.
  virtual double in_core() = 0;
  /// Goes through the volume.
  virtual StreamFound run(const StreamWay& way) = 0;
  /// What was measured before.
  virtual const stream::StreamRates& rates() const = 0;
  /// True where the volume is page-locked.
  virtual bool locked() const = 0;
  /// Seconds that page-locking took.
  virtual double lock_seconds() const = 0;
  /// Steps a small volume of the same medium with a ring, and whole; true for the same bits.
  virtual bool agrees() = 0;
};

/// A runner on a space.
template <class Memory>
std::unique_ptr<StreamRunner> make_stream_runner(const Instance<Memory>& exec,
                                                 const StreamSettings& settings);

}  // namespace moho::bench
