// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Step and node of the model at the first overflow of a wavefield.

#include <moho/core/grid.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/not_finite.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace moho::wave {

/// Advice against an overflow for messages; programs use the names of their options.
inline constexpr const char* overflow_advice = "take self-adjoint equations, or a smaller dt";

namespace detail {
/// Returns "at node (3, 4), (30, 40)", or the distance of a layer node from the model.
/// \param model grid without layers
/// \param position position, m
template <int Dim>
std::string model_node(const Grid<Dim>& model, const std::vector<double>& position) {
  Index<Dim> node{}, nearest{};
  std::int64_t outside = 0;
  for (int d = 0; d < Dim; ++d) {
    node[d] =
        std::llround((position[static_cast<std::size_t>(d)] - model.origin[d]) / model.spacing[d]);
    nearest[d] = std::clamp<std::int64_t>(node[d], 0, model.extents[d] - 1);
    outside = std::max(outside, std::abs(node[d] - nearest[d]));
  }
  const std::string at = concat(format_index(nearest), ", ", format_point(model.position(nearest)));
  return outside > 0 ? concat("in the layer ", text::counted(outside, "node"),
                              " outside of the model, near its node ", at)
                     : concat("at node ", at);
}
}  // namespace detail

/// \brief Returns the error of a wavefield that overflowed, with step and node of the model.
/// \param failure exception of the run
/// \param model grid without layers
/// \param steps number of steps of the propagation
/// \param advice end of the message
template <int Dim>
Error overflow_error(const NotFinite& failure, const Grid<Dim>& model, std::int64_t steps,
                     const std::string& advice = overflow_advice) {
  const std::string& context = failure.context();
  // streams of two wavefields check planes when these leave the device
  const bool later = context.find("at the end of a pass") != std::string::npos;
  return Error(concat(
      context.empty() ? "" : context + ", ", "step ", failure.step(), ": the wavefield ",
      failure.field(), " is no longer finite ", detail::model_node<Dim>(model, failure.position()),
      " (of ", text::counted(steps, "step"), "; ",
      later ? "the first was up to a pass before" : "it is the first at which it is not",
      "; it overflowed, or the source or the data hold such a number): look at "
      "the model there, smooth its angles, ",
      advice));
}

/// \brief Runs a shot, and finds the first step and node where its wavefield overflows.
///
/// A run checks its wavefield every 200 to 512 steps, by when an overflow has spread over the grid.
/// The shot is then repeated with a check of every step.
/// \param model grid of the model, without layers
/// \param steps number of steps of the propagation
/// \param name of the shot for the message, such as "shot 3"; empty: the caller adds it
/// \param shot function from the steps between two checks to a result. With 1 it is called to find
/// the step: it should write nothing, and step the complete grid
/// \param advice end of the message
/// \return the result of the shot
/// \throws Error with the step and the node of the model
template <int Dim, class Shot>
auto locate_overflow(const Grid<Dim>& model, std::int64_t steps, const std::string& name,
                     const Shot& shot, const std::string& advice = overflow_advice) {
  constexpr std::int64_t usual = 200;
  std::exception_ptr failed;
  try {
    return shot(usual);
  } catch (const NotFinite&) {
    failed = std::current_exception();
  } catch (const InputError&) {
    // codecs refuse such numbers, and see snapshots more often than wavefields are checked
    failed = std::current_exception();
  }
  try {
    shot(std::int64_t{1});
  } catch (const NotFinite& failure) {
    throw overflow_error<Dim>(name.empty() ? failure : failure.with_context(name), model, steps,
                              advice);
  } catch (const Error&) {  // it was something else
  }
  std::rethrow_exception(failed);
}

}  // namespace moho::wave
