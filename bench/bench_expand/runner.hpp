// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot in a model of 16 km with expanding domains, an interface without templates.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// Settings of a shot.
struct ExpandSettings {
  bool tti = true;       ///< tilted transversely isotropic, or isotropic
  std::int64_t n = 512;  ///< nodes of the model along each side, over 16 km
  int width = 30;        ///< width of the sponge around the model, nodes
  double seconds = 6.0;  ///< modelled time
};

/// Results and costs of a shot.
struct ExpandResult {
  std::int64_t steps = 0;       ///< time steps
  double dt = 0.0;              ///< time step, s
  double seconds = 0.0;         ///< elapsed seconds of the method's preparation and the shot
  double setup_seconds = 0.0;   ///< part of `seconds`: the method's preparation
  double method_seconds = 0.0;  ///< part of `seconds`: the method's work during the shot
  double fraction = 0.0;        ///< stepped nodes over nodes of the grid times steps
  double points = 0.0;          ///< stepped nodes
  std::vector<float> traces;    ///< receivers x samples
};

/// A shot on a space.
class ExpandRunner {
 public:
  virtual ~ExpandRunner() = default;
  /// Runs the shot. \param method "none", "layers", "eikonal" (on every fourth node),
  /// "eikonal_full" (on all nodes) or "amplitude"
  virtual ExpandResult run(const std::string& method) = 0;
};

/// Prepares model, propagator, source and receivers on a space.
template <class Memory>
std::unique_ptr<ExpandRunner> make_expand_runner(const Instance<Memory>& exec,
                                                 const ExpandSettings& settings);

}  // namespace moho::bench
