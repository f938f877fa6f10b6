// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A survey of small shots, some of them concurrent.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace moho::bench {

/// Settings of a survey over a section.
struct ShotsSettings {
  std::int64_t extents[2] = {1601, 401};     ///< nodes of the model, without its layers
  std::int64_t shots = 60, receivers = 401;  ///< of the survey; receivers of each shot
  double seconds = 2.0;                      ///< modelled time
};

/// Results and costs of a survey.
struct ShotsResult {
  double seconds = 0.0;                    ///< seconds from the first shot to the last
  double points = 0.0;                     ///< stepped nodes
  int at_once = 0;                         ///< concurrent shots
  int together = 0;                        ///< shots in one batch
  std::vector<std::vector<float>> traces;  ///< traces of each shot, receivers x samples
};

/// A survey on a space.
class ShotsRunner {
 public:
  virtual ~ShotsRunner() = default;
  /// Models all shots.
  /// \param at_once number of concurrent shots; 0: the library chooses
  /// \param together number of shots in one batch; 0: the library chooses
  virtual ShotsResult run(int at_once, int together) = 0;
};

/// Prepares the model on a space.
template <class Memory>
std::unique_ptr<ShotsRunner> make_shots_runner(const Instance<Memory>& exec,
                                               const ShotsSettings& settings);

}  // namespace moho::bench
