// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What modelling shots is asked for, and what it chooses: for programs, without kernels.

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

/// Samples of a wavelet at an interval that is not known yet: S(0), S(dt), ... \see wavelet.hpp
using WaveletAt = std::function<std::vector<double>(double dt)>;

/// A Ricker wavelet for make_modelling(). \see ricker()
inline WaveletAt ricker_wavelet(double frequency, double delay = -1.0) {
  return [=](double dt) { return ricker(frequency, dt, delay); };
}

/// \brief Layers that absorb on all faces: perfectly matched ones of 20 nodes, in TTI media, where
/// those are not stable, a sponge of 30.
/// \param medium of the model: Model::medium()
/// \param free_surface the top is free instead
template <int Dim>
Boundaries<Dim> absorbing_faces(Medium medium, bool free_surface = false) {
  auto faces = medium == Medium::tti ? all_faces<Dim>(FaceKind::sponge, 30)
                                     : all_faces<Dim>(FaceKind::cpml, 20);
  if (free_surface) faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}

/// Options of make_modelling().
template <int Dim>
struct ModellingOptions {
  TimeOptions time = {};                          ///< what to model, step, sampling
  int order = 8;                                  ///< of the differences in space
  Equations equations = Equations::self_adjoint;  ///< of VTI and TTI
  double sigma = 0.75;                            ///< of Fletcher's equations
  Points<Dim> sources = {};  ///< those that shots will have: delta goes over into epsilon around
                             ///< them (taper_delta()); none: nowhere
  std::optional<double> source_taper =
      {};                      ///< radius of that, m; 0: nowhere; empty: twice the shortest
                               ///< wave, and nowhere if the sources are in elliptical media
  std::uint64_t seed = 2011;   ///< of random layers
  std::int64_t receivers = 0;  ///< of the largest shot: for the estimate of memory
  std::int64_t shots = 1;      ///< that there will be: no more are computed at once
  int at_once = 1;             ///< shots computed at once (at_once.hpp); 0: chosen
  int together = 0;            ///< of these, shots in step with each other (model_together()), the
                               ///< others by threads of their own; 0: shots_together()
  std::size_t memory = 0;      ///< bytes that may be taken in the space; 0: what is free
  bool gathers_wait = true;    ///< results that wait for their turn keep their gathers, as those of
                               ///< model_shots() do: for the estimate of memory
  bool keep_model = false;     ///< keep the model with its layers for Modelling::extended_model()
};

/// Bytes in the space where the run is.
struct MemoryNeed {
  std::size_t model = 0;      ///< the model as it is given
  std::size_t extended = 0;   ///< with its layers
  std::size_t medium = 0;     ///< as kernels read it
  std::size_t wavefield = 0;  ///< both time levels, slopes, the memory of layers, of all at once
  std::size_t gathers = 0;    ///< receivers, what they record, and results that wait
  std::size_t snapshots = 0;  ///< on their way to the host
  std::size_t most = 0;       ///< at any one time, the model given included
  std::size_t host = 0;       ///< on the host besides: traces, those that wait as well
};

/// What was chosen and found before the first step.
template <int Dim>
struct ModellingPlan {
  TimePlan time;                       ///< step, samples
  Medium medium = Medium::isotropic;   ///< of the model
  Limits limits;                       ///< what the model allows
  std::vector<double> wavelet;         ///< samples at the time step
  double frequency = 0.0;              ///< the wavelet's highest, Hz
  double peak_time = 0.0;              ///< of the largest sample of the wavelet, s
  double source_taper = 0.0;           ///< radius within which delta goes over into epsilon, m
  double nodes_per_wave = 0.0;         ///< of the shortest wave
  double nodes_per_wave_wanted = 0.0;  ///< at this order
  Grid<Dim> grid;                      ///< with the layers of the faces
  Boundaries<Dim> faces;               ///< what the faces do
  int at_once = 1;                     ///< shots that are computed at once
  int together = 1;                    ///< of these, shots in step with each other
  MemoryNeed memory;                   ///< what is taken in the space
  RandomLayerOptions random;           ///< of random layers
};

}  // namespace moho::wave
