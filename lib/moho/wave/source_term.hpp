// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Source terms: points and amplitudes that drive a wavefield over a range of steps.

#include <moho/wave/model_shot.hpp>

#include <cstdint>

namespace moho::wave {

/// \brief Points and amplitudes that drive a wavefield, such as sources or receivers' data.
///
/// Row n of the amplitudes is added to p and q in the step that begins at time n, in either
/// direction. It is multiplied by v^2 dt^2 over the volume of a cell. Sources drive forward
/// propagation, and receivers' data drive backward propagation.
template <class T, int Dim, class Memory>
struct SourceTerm {
  const wave::Propagator<T, Dim, Memory>* propagator = nullptr;  ///< propagator of the model
  const wave::PointSet<T, Dim, Memory>* points = nullptr;        ///< points of injection
  wave::PointSeries<const T, Memory> amplitudes;                 ///< amplitudes, steps x points

  /// Adds the amplitudes of the step that begins at `time` to wavefield.next.
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
  /// Runs the steps; sets options.stepped to the injection.
  wave::RunReport<Dim> run(const InstanceOf<Memory>& exec,
                           wave::Wavefield<T, Dim, Memory>& wavefield,
                           wave::RunOptions<T, Dim, Memory> options) const {
    options.stepped = [&](std::int64_t time, const Box<Dim>&) { inject(exec, wavefield, time); };
    return wave::run_steps<T, Dim, Memory>(exec, *propagator, wavefield, options);
  }
};

}  // namespace moho::wave
