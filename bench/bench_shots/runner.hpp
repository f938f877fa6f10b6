// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A survey of small shots, some of them at once.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace moho::bench {

/// A survey over a section.
struct ShotsSettings {
  std::int64_t extents[2] = {1601, 401};  ///< nodes of the model, without its layers
  std::int64_t shots = 60, receivers = 401;
  double seconds = 2.0;  ///< modelled time
};

/// What a survey took and gave.
struct ShotsResult {
  double seconds = 0.0;                    ///< from the first shot to the last
  double points = 0.0;                     ///< nodes stepped
  int at_once = 0;                         ///< shots at once
  int together = 0;                        ///< of these, shots in step with each other
  std::vector<std::vector<float>> traces;  ///< of each shot, receivers x samples
};

/// A survey on a space.
class ShotsRunner {
 public:
  virtual ~ShotsRunner() = default;
  /// Models all shots. \param at_once how many at once; 0: chosen \param together how many of these
  /// in step with each other; 0: chosen
  virtual ShotsResult run(int at_once, int together) = 0;
};

/// Prepares the model on a space.
template <class Memory>
std::unique_ptr<ShotsRunner> make_shots_runner(const Instance<Memory>& exec,
                                               const ShotsSettings& settings);

}  // namespace moho::bench
