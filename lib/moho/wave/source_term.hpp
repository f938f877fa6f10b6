// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The two legs of a shot: a wavefield that a point set drives, over a range of steps.

#include <moho/wave/model_shot.hpp>

#include <cstdint>

namespace moho::wave {

/// \brief A wavefield driven by points: a source forwards in time, the data of receivers backwards.
///
/// Row n of the amplitudes is added in the step that begins at time n, in either direction, times
/// v^2 dt^2 over the volume of a cell, to p and q.
template <class T, int Dim, class Memory>
struct SourceTerm {
  const wave::Propagator<T, Dim, Memory>* propagator = nullptr;  ///< of the model
  const wave::PointSet<T, Dim, Memory>* points = nullptr;        ///< where amplitudes are added
  wave::PointSeries<const T, Memory> amplitudes;                 ///< steps x points

  /// Adds what belongs to the step that begins at `time` to wavefield.next.
  void inject(const InstanceOf<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
              std::int64_t time) const {
    if (time < 0 || time >= static_cast<std::int64_t>(amplitudes.extent(0))) return;
    double volume = 1.0;
    for (int d = 0; d < Dim; ++d) volume *= propagator->grid().spacing[d];
    for (int f = 0; f < wavefield.fields; ++f) {
      points->inject(exec, wavefield.next[f], amplitudes, time, propagator->source_scale(f),
                     static_cast<T>(1.0 / volume));
    }
  }
  /// Runs; options.stepped is taken.
  wave::RunReport<Dim> run(const InstanceOf<Memory>& exec,
                           wave::Wavefield<T, Dim, Memory>& wavefield,
                           wave::RunOptions<T, Dim, Memory> options) const {
    options.stepped = [&](std::int64_t time, const Box<Dim>&) { inject(exec, wavefield, time); };
    return wave::run_steps<T, Dim, Memory>(exec, *propagator, wavefield, options);
  }
};

}  // namespace moho::wave
