// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Grids, faces and shots of the tests of streams, and their results in core and streamed.

#include <moho/stream/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "wave/support.hpp"

namespace moho::testing {

using stream::Streaming;
using stream::StreamingOptions;
using HostModelMemory = Kokkos::HostSpace;

/// Returns the host's default instance.
inline Instance<HostModelMemory> host() { return Kokkos::DefaultHostExecutionSpace(); }

/// Returns the grid of the tests.
template <int Dim>
Grid<Dim> stream_grid() {
  if constexpr (Dim == 2) {
    return {{47, 21}, {10.0, 8.0}, {}};
  } else {
    return {{47, 13, 15}, {10.0, 12.0, 8.0}, {}};
  }
}

/// All kinds of faces, across the stream and along it.
template <int Dim>
std::vector<Boundaries<Dim>> stream_faces(const Kind& kind) {
  std::vector<Boundaries<Dim>> result;
  Boundaries<Dim> mixed = wave::all_faces<Dim>(FaceKind::rigid);
  mixed.lower[0] = {FaceKind::free_surface, 0};
  mixed.upper[0] = {FaceKind::sponge, 7};
  mixed.lower[Dim - 1] = {FaceKind::free_surface, 0};
  result.push_back(mixed);
  Boundaries<Dim> random = wave::all_faces<Dim>(FaceKind::random, 5);
  random.lower[Dim - 1] = {FaceKind::free_surface, 0};
  random.upper[0] = {FaceKind::free_surface, 0};
  result.push_back(random);
  if (kind.medium != Medium::tti) {
    result.push_back(wave::all_faces<Dim>(FaceKind::cpml, 6));
  } else {
    // steps of one pass, where the device has them
    Boundaries<Dim> sponge = wave::all_faces<Dim>(FaceKind::sponge, 5);
    sponge.lower[Dim - 1] = {FaceKind::free_surface, 0};
    result.push_back(sponge);
  }
  return result;
}

/// Returns a shot with sources between nodes near the middle and near the face, receivers anywhere.
template <int Dim>
wave::Shot<Dim> stream_shot(const Grid<Dim>& grid) {
  wave::Shot<Dim> shot;
  Point<Dim> middle{}, edge{};
  for (int d = 0; d < Dim; ++d) {
    middle[d] = 0.4823 * grid.upper(d);
    edge[d] = (d == 0 ? 0.06 : 0.37) * grid.upper(d);
  }
  shot.sources = {middle, edge};
  std::mt19937 random(4);
  for (int k = 0; k < 7; ++k) {
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) p[d] = uniform(random, 0.06, 0.95) * grid.upper(d);
    shot.receivers.push_back(p);
  }
  return shot;
}

/// Compared results of a run.
template <class T>
struct Outcome {
  std::vector<T> traces, fields;
};

/// Returns options of modelling with a given time in s.
template <int Dim>
wave::ModellingOptions<Dim> stream_modelling(const Kind& kind, int order, double time) {
  wave::ModellingOptions<Dim> options;
  options.time.time = time;
  options.time.dt = 4e-4;
  options.time.snapshot_every = 0.0;
  options.order = order;
  options.equations = kind.equations;
  return options;
}

/// Returns the samples of traces.
template <class T>
std::vector<T> values_of(const wave::Traces<T>& traces) {
  return {traces.data(), traces.data() + traces.size()};
}

/// Returns the modelling of a shot on the complete grid. \param options without sources
template <class T, int Dim, class Memory>
wave::Modelling<T, Dim, Memory> whole_modelling(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                                const Model<T, Dim, HostModelMemory>& model,
                                                const Boundaries<Dim>& faces,
                                                wave::ModellingOptions<Dim> options,
                                                const wave::Shot<Dim>& shot) {
  options.sources = shot.sources;
  return wave::make_modelling<T, Dim, Memory>(
      exec, grid, stream::detail::model_in<T, Dim, Memory>(exec, grid, model), faces,
      wave::ricker_wavelet(3.0), options);
}

/// Runs on the complete grid.
template <class T, int Dim, class Memory>
Outcome<T> in_core(const Instance<Memory>& exec, const Grid<Dim>& grid,
                   const Model<T, Dim, HostModelMemory>& model, const Boundaries<Dim>& faces,
                   const wave::ModellingOptions<Dim>& options, const wave::Shot<Dim>& shot) {
  auto modelling = whole_modelling<T, Dim, Memory>(exec, grid, model, faces, options, shot);
  Outcome<T> result;
  result.traces = values_of(modelling.shot(exec, shot).traces);
  const auto& field = modelling.wavefield();
  for (int f = 0; f < field.fields; ++f) {
    for (const double value : nodes_of<T, Dim, Memory>(exec, field.layout, field.now[f])) {
      result.fields.push_back(static_cast<T>(value));
    }
  }
  return result;
}

/// Runs through a stream.
template <class T, int Dim, class Memory>
Outcome<T> streamed(Streaming<T, Dim, Memory>& streaming, const wave::Shot<Dim>& shot,
                    const stream::StreamShotOptions<Dim>& options = {}) {
  Outcome<T> result;
  result.traces = values_of(streaming.shot(shot, options).traces);
  const Box<Dim> whole = whole_box(streaming.modelling().grid);
  for (int f = 0; f < wave::fields_of(streaming.modelling().medium); ++f) {
    std::vector<T> values(static_cast<std::size_t>(whole.size()));
    streaming.copy_out(f, whole, values.data());
    result.fields.insert(result.fields.end(), values.begin(), values.end());
  }
  return result;
}

/// Returns the largest magnitude.
template <class T>
double largest(const std::vector<T>& values) {
  double max = 0.0;
  for (const T value : values) max = std::max(max, std::fabs(static_cast<double>(value)));
  return max;
}

/// Boxes by step, for the run on the complete grid.
template <class T, int Dim, class Memory>
struct Boxes : wave::Domain<T, Dim, Memory> {
  std::function<Box<Dim>(std::int64_t)> at;
  Box<Dim> box(const Instance<Memory>&, const Propagator<T, Dim, Memory>&,
               const Wavefield<T, Dim, Memory>&, std::int64_t step) override {
    return at(step);
  }
};

}  // namespace moho::testing
