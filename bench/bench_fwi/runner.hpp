// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradients of a shot in a cube and L-BFGS iterations, interfaces without templates.

#include <moho/core/instance.hpp>
#include <moho/wave/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace moho::bench {

/// Settings of a shot.
struct GradientSettings {
  wave::Medium medium = wave::Medium::isotropic;  ///< medium of the model
  bool several = false;  ///< invert also for density, or for epsilon and delta
  std::array<std::int64_t, 3> extents = {512, 512, 512};  ///< nodes of the model
  int width = 20;            ///< width of the sponge around the model, nodes
  std::int64_t steps = 600;  ///< time steps
};

/// Costs of a gradient.
struct GradientResult {
  double modelling = 0.0;     ///< seconds of forward propagation alone
  double gradient = 0.0;      ///< seconds of the complete gradient
  double points = 0.0;        ///< nodes of the grid times steps, counted once
  std::int64_t every = 0;     ///< steps between two products
  double source_bytes = 0.0;  ///< memory of the stored source wavefield
  double bytes = 0.0;  ///< memory of wavefields, sums and extended image, without source_bytes
  double size = 0.0;   ///< largest magnitude of the gradient with respect to vp
};

/// Costs of a streamed gradient.
struct StreamedResult {
  double gradient = 0.0;      ///< seconds without the transfer of the model to the volumes
  double predicted = 0.0;     ///< seconds predicted by the plan
  double points = 0.0;        ///< nodes of the grid times steps, counted once
  double stepped = 0.0;       ///< stepped nodes of all wavefields
  std::int64_t every = 0;     ///< steps between two products
  std::int64_t block = 0;     ///< planes per transfer
  std::int64_t updates = 0;   ///< steps of a plane on the device per pass
  double device_bytes = 0.0;  ///< device memory of rings and resident arrays
  double host_bytes = 0.0;    ///< host memory of the volumes
  bool sums_held = false;     ///< sums remain on the device
  int devices = 1;            ///< devices of the chain
  double backward = 0.0;      ///< seconds of the source wavefield and of both wavefields backward
  double size = 0.0;          ///< norm of the gradient
};

/// Costs of a gradient over slabs.
struct SlabResult {
  double step = 0.0;          ///< seconds of a step of one wavefield
  double gradient = 0.0;      ///< seconds of all propagations with their products
  double derivatives = 0.0;   ///< seconds of the derivatives on the host, from the sums
  double points = 0.0;        ///< nodes of the grid times steps, counted once
  std::int64_t every = 0;     ///< steps between two products
  double device_bytes = 0.0;  ///< planned memory of each device
  double size = 0.0;          ///< largest magnitude of the gradient with respect to vp
};

/// Shots on a space.
class GradientRunner {
 public:
  virtual ~GradientRunner() = default;
  /// Computes the gradient.
  /// \param method "shell", "random", "stored" or "replay"
  /// \param lags largest half offset along x of an extended image; negative: no extended image
  virtual GradientResult run(const std::string& method, int lags) = 0;
  /// Computes the gradient "random" by streaming. \param block,updates 0: planned
  /// \param lags as in run()
  /// \param device_memory bytes of each device that the stream may use; 0: what is free
  /// \param devices devices in a chain
  virtual StreamedResult run_stream(std::int64_t block, std::int64_t updates, int lags,
                                    std::size_t device_memory, int devices) = 0;
  /// Computes the gradient "shell" over slabs. \param devices number of slabs
  virtual SlabResult run_slabs(int devices) = 0;
};
/// Prepares model, propagator, source and receivers on a space.
template <class Memory>
std::unique_ptr<GradientRunner> make_gradient_runner(const Instance<Memory>& exec,
                                                     const GradientSettings& settings);

/// Costs of an evaluation of a survey.
struct SurveyResult {
  double seconds = 0.0;    ///< seconds of misfit and gradient of all shots
  double predicted = 0.0;  ///< seconds predicted by the plan
  double points = 0.0;     ///< nodes of the grid times steps, counted once, of all shots
  int concurrent = 1;      ///< shots computed concurrently
  int batch = 1;           ///< of these, shots that advance in the same launches
  double misfit = 0.0;     ///< value of the misfit
};
/// Evaluates an objective over a section: data are modelled from another section.
/// \param nodes along x and z \param shots number of shots \param seconds modelled time
/// \param batch shots in the same launches; 0: chosen
template <class Memory>
SurveyResult time_survey(const Instance<Memory>& exec, std::array<std::int64_t, 2> nodes, int shots,
                         double seconds, int batch);

/// Returns the seconds of one L-BFGS iteration with full memory for the given unknowns and pairs.
/// Evaluation of the function is excluded.
template <class Memory>
double time_lbfgs(const Instance<Memory>& exec, std::int64_t unknowns, int pairs);

}  // namespace moho::bench
