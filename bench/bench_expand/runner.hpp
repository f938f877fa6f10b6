// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot in a model of 16 km, in domains that expand, behind an interface without
/// templates.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// A shot.
struct ExpandSettings {
  bool tti = true;       ///< tilted transversely isotropic, or isotropic
  std::int64_t n = 512;  ///< nodes of the model along each side, over 16 km
  int width = 30;        ///< nodes of the sponge around the model
  double seconds = 6.0;  ///< modelled time
};

/// What a shot took and gave.
struct ExpandResult {
  std::int64_t steps = 0;
  double dt = 0.0;              ///< time step, s
  double seconds = 0.0;         ///< elapsed: the method's preparation and the shot
  double setup_seconds = 0.0;   ///< of them, the method's preparation
  double method_seconds = 0.0;  ///< of them, the method's work while the shot runs
  double fraction = 0.0;        ///< nodes stepped, over nodes of the grid times steps
  double points = 0.0;          ///< nodes stepped
  std::vector<float> traces;    ///< receivers x samples
};

/// A shot on a space.
class ExpandRunner {
 public:
  virtual ~ExpandRunner() = default;
  /// Runs it. \param method "none", "layers", "eikonal" (on every fourth node), "eikonal_full" (on
  /// all nodes) or "amplitude"
  virtual ExpandResult run(const std::string& method) = 0;
};

/// Prepares model, propagator, source and receivers on a space.
template <class Memory>
std::unique_ptr<ExpandRunner> make_expand_runner(const Instance<Memory>& exec,
                                                 const ExpandSettings& settings);

}  // namespace moho::bench
