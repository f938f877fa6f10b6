// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/optimize/lbfgs_types.hpp>

#include <cmath>

namespace moho::optimize {

const char* to_string(StopReason stop) {
  constexpr const char* names[] = {"none",        "gradient",  "ratio", "decrease", "iterations",
                                   "evaluations", "direction", "noise", "search"};
  return names[static_cast<int>(stop)];
}

void check_options(const LbfgsOptions& o) {
  const auto refuse = [](const char* name, auto value, const char* allowed) {
    throw InputError(concat(name, " is ", value, " (allowed: ", allowed, ")"));
  };
  const auto negative = [](double value) { return !(value >= 0.0) || !std::isfinite(value); };
  if (o.memory < 1 || o.memory > 64) refuse("memory", o.memory, "1 to 64 pairs; 5 is usual");
  if (negative(o.first_change)) refuse("first_change", o.first_change, "0 or more");
  if (negative(o.largest_change)) refuse("largest_change", o.largest_change, "0 or more");
  if (negative(o.gradient)) refuse("gradient", o.gradient, "0 or more");
  if (negative(o.ratio) || o.ratio >= 1.0) refuse("ratio", o.ratio, "0 to less than 1");
  if (negative(o.decrease) || o.decrease >= 1.0) refuse("decrease", o.decrease, "0 to less than 1");
  if (o.iterations < 0) refuse("iterations", o.iterations, "0 or more");
  if (o.evaluations < 0) refuse("evaluations", o.evaluations, "0 or more");
  const LineSearchOptions& s = o.search;
  if (!(s.decrease > 0.0 && s.decrease < 0.5)) {
    refuse("search.decrease", s.decrease, "between 0 and 0.5; 1e-4 is usual");
  }
  if (!(s.curvature > s.decrease && s.curvature < 1.0)) {
    refuse("search.curvature", s.curvature, "between search.decrease and 1; 0.9 is usual");
  }
  if (negative(s.interval) || s.interval >= 1.0) {
    refuse("search.interval", s.interval, "0 to less than 1");
  }
  if (negative(s.noise)) refuse("search.noise", s.noise, "0 or more");
  if (s.evaluations < 1) refuse("search.evaluations", s.evaluations, "1 or more");
}

namespace detail {

std::string stop_message(const LbfgsState& state, const LbfgsOptions& options) {
  const std::string so_far = concat(" after ", text::counted(state.iterations, "iteration"),
                                    " and ", text::counted(state.evaluations, "evaluation"));
  switch (state.stop) {
    case StopReason::none:
      return "it has not stopped";
    case StopReason::gradient:
      return concat(state.gradient == 0.0 ? "the gradient is zero"
                                          : concat("the gradient is small (", state.gradient, ")"),
                    so_far);
    case StopReason::ratio:
      return concat("f is ", state.f / state.first, " of the first one (", options.ratio,
                    " was asked for)", so_far);
    case StopReason::decrease:
      return concat("the last iteration lowered f by ",
                    (state.before - state.f) / std::fabs(state.before), " of it (",
                    options.decrease, " was asked for)", so_far);
    case StopReason::iterations:
      return concat("as many iterations as were allowed,", so_far);
    case StopReason::evaluations:
      return concat("as many evaluations as were allowed,", so_far);
    case StopReason::direction:
      return concat("f does not fall along its gradient: they do not belong together,", so_far);
    case StopReason::noise:
      return concat("f rises where its slopes say that it falls: the rest is noise,", so_far);
    default:
      return concat(
          "no step along the gradient lowers f: it is rounded, or the gradient is not its "
          "own,",
          so_far);
  }
}

}  // namespace detail

}  // namespace moho::optimize
