// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options and plan of the modelling of shots, without kernels.

#include <moho/wave/boundary_text.hpp>
#include <moho/wave/geometry.hpp>
#include <moho/wave/time_plan.hpp>
#include <moho/wave/types.hpp>
#include <moho/wave/wavelet.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace moho::wave {

/// Function that samples a wavelet at interval dt (s): S(0), S(dt), ... \see wavelet.hpp
using WaveletAt = std::function<std::vector<double>(double dt)>;

/// Returns a Ricker wavelet for make_modelling(). \see ricker()
inline WaveletAt ricker_wavelet(double frequency, double delay = -1.0) {
  return [=](double dt) { return ricker(frequency, dt, delay); };
}

/// \brief Returns absorbing layers on all faces: CPML, or sponges in TTI media.
///
/// They have the default widths of LayerWidths. CPML is unstable in TTI media.
/// \param medium of the model: Model::medium()
/// \param free_surface true for a free surface at the top
template <int Dim>
Boundaries<Dim> absorbing_faces(Medium medium, bool free_surface = false) {
  const FaceKind kind = info(medium).cpml ? FaceKind::cpml : FaceKind::sponge;
  auto faces = all_faces<Dim>(kind, LayerWidths{}.of(kind));
  if (free_surface) faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}

/// Options of make_modelling().
template <int Dim>
struct ModellingOptions {
  TimeOptions time = {};                          ///< modelled time, time step, sampling
  int order = 8;                                  ///< order of the spatial differences
  Equations equations = Equations::self_adjoint;  ///< equations of VTI and TTI media
  double sigma = 0.75;                            ///< sigma of Fletcher's equations
  /// Form of the model's parameters.
  ParameterStorage parameters = ParameterStorage::full;
  Points<Dim> sources = {};  ///< sources of the shots, around which delta is tapered to epsilon
                             ///< (taper_delta()); empty: no taper
  /// Radius of the taper, m; 0: no taper; empty: automatic.
  ///
  /// The automatic radius is twice the shortest wavelength, or 0 for sources in elliptical media.
  std::optional<double> source_taper = {};
  std::uint64_t seed = 2011;   ///< seed of random layers
  std::int64_t receivers = 0;  ///< receivers of the largest shot, for the estimate of memory
  std::int64_t shots = 1;      ///< number of shots: upper bound of concurrent shots
  int concurrent_shots = 1;    ///< concurrent shots (run_concurrently()); 0: automatic
  int batch_size = 0;      ///< batch size: shots that advance in the same launches (model_batch());
                           ///< batches run in separate threads; 0: shots_together()
  std::size_t memory = 0;  ///< memory limit in the space, bytes; 0: the free memory
  bool gathers_wait = true;  ///< results that wait for delivery keep their gathers, as in
                             ///< model_shots(); for the estimate of memory
  bool keep_model = false;   ///< keep the extended model for Modelling::extended_model()
};

/// Memory of a run in its space, bytes.
struct MemoryNeed {
  std::size_t model = 0;     ///< the given model
  std::size_t extended = 0;  ///< the model with its layers
  std::size_t medium = 0;    ///< coefficients that the kernels read
  /// Both time levels, axis derivatives and CPML memory of all concurrent shots.
  std::size_t wavefield = 0;
  std::size_t gathers = 0;    ///< receivers, recorded samples, and results that wait
  std::size_t snapshots = 0;  ///< snapshots in transfer to the host
  std::size_t peak = 0;       ///< peak, including the given model
  std::size_t host = 0;       ///< host memory in addition: traces, including those that wait
};

/// Quantities that make_modelling() chooses before the first step.
template <int Dim>
struct ModellingPlan {
  TimePlan time;                       ///< time step, samples
  Medium medium = Medium::isotropic;   ///< medium of the model
  Limits limits;                       ///< velocities and stable step of the model
  std::vector<double> wavelet;         ///< wavelet sampled at the time step
  double frequency = 0.0;              ///< highest frequency of the wavelet, Hz
  double peak_time = 0.0;              ///< time of the largest sample of the wavelet, s
  double source_taper = 0.0;           ///< radius within which delta is tapered to epsilon, m
  double nodes_per_wave = 0.0;         ///< nodes per shortest wavelength
  double nodes_per_wave_wanted = 0.0;  ///< nodes per shortest wavelength that the order requires
  Grid<Dim> grid;                      ///< grid with the layers of the faces
  Boundaries<Dim> faces;               ///< faces of the grid
  int parameter_bits = 0;              ///< bits of a stored parameter: 16, 32 or 64
  int concurrent_shots = 1;            ///< concurrent shots
  int batch_size = 1;                  ///< batch size
  MemoryNeed memory;                   ///< memory of the run
  RandomLayerOptions random;           ///< options of random layers
};

}  // namespace moho::wave
