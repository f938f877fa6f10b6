// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The gradient of a shot in a cube, and iterations of L-BFGS, behind interfaces without
/// templates.

#include <moho/core/instance.hpp>
#include <moho/wave/types.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace moho::bench {

/// A shot.
struct GradientSettings {
  wave::Medium medium = wave::Medium::isotropic;
  bool several = false;  ///< density, or epsilon and delta, are unknowns, too
  std::int64_t n = 512;  ///< nodes of the model along each side
  int width = 20;        ///< nodes of the sponge around it
  std::int64_t steps = 600;
};

/// What it took.
struct GradientResult {
  double modelling = 0.0;     ///< seconds of the forward leg alone
  double gradient = 0.0;      ///< seconds of everything
  double points = 0.0;        ///< nodes of the grid times steps, once
  std::int64_t every = 0;     ///< steps from one product to the next
  double source_bytes = 0.0;  ///< that keeping the source's wavefield took
  double bytes = 0.0;         ///< of wavefields, sums and extended image besides
  double size = 0.0;          ///< greatest magnitude of the gradient by vp
};

/// What a gradient in a stream took.
struct StreamedResult {
  double gradient = 0.0;      ///< seconds of everything but the model's own way to the volumes
  double predicted = 0.0;     ///< seconds that were reckoned
  double points = 0.0;        ///< nodes of the grid times steps, once
  double stepped = 0.0;       ///< nodes that were stepped, of all wavefields
  std::int64_t every = 0;     ///< steps from one product to the next
  std::int64_t block = 0;     ///< planes that move at a time
  std::int64_t updates = 0;   ///< steps of a plane on the device
  double device_bytes = 0.0;  ///< of rings and all that is held there
  double host_bytes = 0.0;    ///< of volumes
  bool sums_held = false;     ///< sums stay on the device
  double size = 0.0;          ///< length of the gradient
};

/// Shots on a space.
class GradientRunner {
 public:
  virtual ~GradientRunner() = default;
  /// \param way "shell", "random", "stored" or "replay"
  /// \param lags largest half offset along x of an extended image; negative: none
  virtual GradientResult run(const std::string& way, int lags) = 0;
  /// The way "random" through a stream. \param block,updates 0: chosen
  virtual StreamedResult run_stream(std::int64_t block, std::int64_t updates) = 0;
};
/// Prepares model, propagator, source and receivers on a space.
template <class Memory>
std::unique_ptr<GradientRunner> make_gradient_runner(const Instance<Memory>& exec,
                                                     const GradientSettings& settings);

/// Seconds of an iteration of L-BFGS with so many unknowns and pairs, when the memory is full,
/// without the evaluation of the function.
template <class Memory>
double time_lbfgs(const Instance<Memory>& exec, std::int64_t unknowns, int pairs);

}  // namespace moho::bench
