// SPDX-License-Identifier: BSD-3-Clause
#include "app/data_check.hpp"

#include "app/format.hpp"

namespace moho::examples {

namespace {

// Option that is likely wrong.
std::string likely_cause(const survey::LeftOut& out, survey::Elevations elevations) {
  constexpr double foot = 0.3048;
  for (std::size_t d = 0; d + 1 < out.axes.size(); ++d) {
    const survey::AxisRange& axis = out.axes[d];
    const double survey = axis.high - axis.low, model = axis.upper - axis.lower;
    if (axis.inside() || !(survey > 1.02 * model)) continue;
    std::string text =
        concat("check --spacing, the model is ", significant(model, 5), " m long along ", axis.name,
               " and the survey ", significant(survey, 5), " m");
    if (foot * axis.low >= axis.lower && foot * axis.high <= axis.upper) {
      text += ", or --length-unit ft, with which it would be inside";
    }
    return text;
  }
  const survey::AxisRange& depth = out.axes.back();
  if (depth.low < depth.lower && -depth.low >= depth.lower && -depth.low <= depth.upper) {
    return concat("positions are above the model, try --elevations ",
                  elevations == survey::Elevations::standard ? "depth" : "standard");
  }
  if (!depth.inside()) return "check --origin, --elevations and --length-unit, depths are outside";
  return out.axes.size() == 2 ? "check --origin, and --line for surveys that do not run along x"
                              : "check --origin, and the order of the model's axes";
}

}  // namespace

void check_left_out(const std::string& name, const survey::LeftOut& out,
                    survey::Elevations elevations, bool allowed) {
  const bool none = out.shots == out.all_shots;
  if (!none &&
      (allowed || (10 * out.shots <= out.all_shots && 10 * out.traces <= out.all_traces))) {
    return;
  }
  std::string survey, model;
  for (const survey::AxisRange& axis : out.axes) {
    const auto range = [&](double low, double high) {
      return concat(axis.name, " ", low, high != low ? concat(" to ", high) : "");
    };
    survey += concat(survey.empty() ? "" : ", ", range(axis.low, axis.high));
    model += concat(model.empty() ? "" : ", ", range(axis.lower, axis.upper));
  }
  throw InputError(concat(name, ": ", out.shots, " of ", out.all_shots, " shots and ", out.traces,
                          " of ", out.all_traces, " traces are outside of the model (sources and ",
                          "receivers ", survey, " m; the model ", model,
                          " m; allowed: up to a tenth): ", likely_cause(out, elevations),
                          none ? "" : "; --allow-left-out leaves them out"));
}

std::string describe(const survey::OnsetDifference& found) {
  return concat("the data begin ", significant(found.seconds, 3), " s ",
                found.late ? "after" : "before", " first arrivals of the model (median of ",
                found.traces, " traces): check the interval between samples (--data-interval), ",
                "--wavelet-zero, and units of velocities and positions",
                found.late ? ", unless the direct wave was muted" : "");
}

}  // namespace moho::examples
