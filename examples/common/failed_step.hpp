// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Where and when a wavefield stopped being finite, in the words of the programs.

#include <moho/core/grid.hpp>
#include <moho/wave/not_finite.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace moho::examples {

/// \brief "node (3, 4) of the model, (30, 40)", or how far outside of it a place is.
/// \param model grid without layers
/// \param place m
template <int Dim>
std::string model_node(const Grid<Dim>& model, const std::vector<double>& place) {
  Index<Dim> node{}, nearest{};
  std::int64_t outside = 0;
  for (int d = 0; d < Dim; ++d) {
    node[d] =
        std::llround((place[static_cast<std::size_t>(d)] - model.origin[d]) / model.spacing[d]);
    nearest[d] = std::clamp<std::int64_t>(node[d], 0, model.extents[d] - 1);
    outside = std::max(outside, std::abs(node[d] - nearest[d]));
  }
  const std::string at = concat(format_index(nearest), ", ", format_point(model.position(nearest)));
  return outside > 0
             ? concat("in the layer ", outside, " nodes outside of the model, near its node ", at)
             : concat("at node ", at);
}

/// \brief What is told of a wavefield that overflowed: step and node of the model.
/// \param model grid without layers
/// \param steps of a leg
template <int Dim>
Error overflow_in_model(const wave::NotFinite& failure, const Grid<Dim>& model,
                        std::int64_t steps) {
  const std::string& leg = failure.leg();
  // streams step two wavefields backwards side by side, and look at them when planes leave
  const bool later = leg.find("at the end of a pass") != std::string::npos;
  return Error(concat(
      leg.empty() ? "" : leg + ", ", "step ", failure.step(), ": the wavefield ", failure.field(),
      " is no longer finite ", model_node<Dim>(model, failure.place()), " (of ", steps, " steps; ",
      later ? "the first was up to a pass before" : "it is the first at which it is not",
      "; it overflowed, or the source or the data hold such a number): look at "
      "the model there, smooth its angles, take --equations self_adjoint, or a "
      "smaller --dt"));
}

/// \brief Runs a shot; if its wavefield overflows, it is run once more, with a look at every step,
/// so that the error names the first step and node at which it did.
///
/// A run looks for such numbers every 200 steps, by when they have spread over the grid.
/// \param model grid of the model, without layers
/// \param steps of a leg
/// \param name of the shot for the message, such as "shot 3"; empty: the caller says it
/// \param shot from the steps between two looks to a result. With 1 it is called to find the step:
/// it should write nothing, and step the whole grid
/// \throws Error with the step and the node of the model
template <int Dim, class Shot>
auto tell_failed_step(const Grid<Dim>& model, std::int64_t steps, const std::string& name,
                      const Shot& shot) {
  constexpr std::int64_t usual = 200;
  std::exception_ptr failed;
  try {
    return shot(usual);
  } catch (const wave::NotFinite&) {
    failed = std::current_exception();
  } catch (const InputError&) {
    // snapshots are compressed more often than wavefields are looked at: codecs refuse such numbers
    failed = std::current_exception();
  }
  try {
    shot(std::int64_t{1});
  } catch (const wave::NotFinite& failure) {
    throw overflow_in_model<Dim>(name.empty() ? failure : failure.of_leg(name), model, steps);
  } catch (const Error&) {  // it was something else
  }
  std::rethrow_exception(failed);
}

}  // namespace moho::examples
