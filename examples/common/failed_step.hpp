// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Where and when a wavefield stopped being finite.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/wave/propagator.hpp>
#include <moho/wave/wavefield.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace moho::examples {

namespace detail {

// "node (3, 4) of the model, (30, 40)", or how far outside of it a node of the grid with layers is.
template <int Dim>
std::string model_node(const Grid<Dim>& model, const Point<Dim>& place) {
  Index<Dim> node{}, nearest{};
  double outside = 0.0;
  for (int d = 0; d < Dim; ++d) {
    node[d] = std::llround((place[d] - model.origin[d]) / model.spacing[d]);
    nearest[d] = std::clamp<std::int64_t>(node[d], 0, model.extents[d] - 1);
    outside = std::max(outside, std::fabs(static_cast<double>(node[d] - nearest[d])));
  }
  const std::string at = concat(format_index(nearest), ", ", format_point(model.position(nearest)));
  return outside > 0.0
             ? concat("in the layer ", outside, " nodes outside of the model, near its node ", at)
             : concat("at node ", at);
}

}  // namespace detail

/// \brief Runs a shot; if its wavefield overflows, it is run once more, with a look at every step,
/// so that the error names the first step and node at which it did.
///
/// A run looks for such numbers every 200 steps, by when they have spread over the grid.
/// \param wavefield that shots use
/// \param model grid of the model, without layers
/// \param options wave::ShotOptions
/// \param shot from the options to a result, called again with other options
/// \throws Error with the step and the node of the model
template <class T, int Dim, class Memory, class Options, class Shot>
auto tell_failed_step(const Instance<Memory>& exec,
                      const wave::Propagator<T, Dim, Memory>& propagator,
                      const wave::Wavefield<T, Dim, Memory>& wavefield, const Grid<Dim>& model,
                      const Options& options, const Shot& shot) {
  try {
    return shot(options);
  } catch (const Error& failure) {
    if (std::string(failure.what()).find("is no longer finite") == std::string::npos) throw;
  }
  Options again = options;
  again.check_every = 1;
  again.domain = nullptr;
  again.snapshot_every = 0;
  try {
    return shot(again);
  } catch (const Error& failure) {
    const std::string text = failure.what();  // "step 412: the wavefield p is no longer finite at"
    const std::string words = " is no longer finite";
    const auto end = text.find(words);
    if (end == std::string::npos) throw;
    for (int f = 0; f < wavefield.fields; ++f) {
      const wave::Amplitude found = wave::amplitude<T, Dim, Memory>(
          exec, wavefield.layout, wavefield.now[f], whole_box(propagator.grid()));
      if (found.bad < 0) continue;
      const Point<Dim> place = propagator.grid().position(propagator.grid().node(found.bad));
      throw Error(concat(text.substr(0, end + words.size()), " ",
                         detail::model_node<Dim>(model, place), " (of ", options.steps,
                         " steps; it is the first at which it is not): look at the model there, "
                         "smooth its angles, take --equations self_adjoint, or a smaller --dt"));
    }
    throw;
  }
}

}  // namespace moho::examples
