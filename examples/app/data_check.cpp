// SPDX-License-Identifier: BSD-3-Clause
#include "app/data_check.hpp"

#include "app/format.hpp"

#include <cmath>
#include <numeric>

namespace moho::examples {

namespace {

// Option that is likely wrong.
std::string likely_cause(const LeftOut& out, survey::Elevations elevations) {
  constexpr double foot = 0.3048;
  for (std::size_t d = 0; d + 1 < out.axes.size(); ++d) {
    const AxisRange& axis = out.axes[d];
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
  const AxisRange& depth = out.axes.back();
  if (depth.low < depth.lower && -depth.low >= depth.lower && -depth.low <= depth.upper) {
    return concat("positions are above the model, try --elevations ",
                  elevations == survey::Elevations::standard ? "depth" : "standard");
  }
  if (!depth.inside()) return "check --origin, --elevations and --length-unit, depths are outside";
  return out.axes.size() == 2 ? "check --origin, and --line for surveys that do not run along x"
                              : "check --origin, and the order of the model's axes";
}

// Median of some values.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void check_left_out(const std::string& name, const LeftOut& out, survey::Elevations elevations,
                    bool allowed) {
  const bool none = out.shots == out.all_shots;
  if (!none &&
      (allowed || (10 * out.shots <= out.all_shots && 10 * out.traces <= out.all_traces))) {
    return;
  }
  std::string survey, model;
  for (const AxisRange& axis : out.axes) {
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

void OnsetCheck::add(const std::vector<float>& samples, std::int64_t count, double dt, double start,
                     const std::vector<double>& arrivals) {
  constexpr float level = 0.01F;
  std::vector<std::size_t> order(arrivals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return arrivals[a] < arrivals[b]; });
  order.resize((order.size() + 2) / 3);
  const double end = start + static_cast<double>(count - 1) * dt;
  for (const std::size_t r : order) {
    const double begin = arrivals[r] + m_wavelet.begin, peak = arrivals[r] + m_wavelet.peak;
    if (begin < start || peak > end) continue;  // the first arrival was not recorded
    const float* const trace = samples.data() + static_cast<std::int64_t>(r) * count;
    std::int64_t largest = 0, first = 0;
    for (std::int64_t i = 1; i < count; ++i) {
      if (std::fabs(trace[i]) > std::fabs(trace[largest])) largest = i;
    }
    if (!(std::fabs(trace[largest]) > 0.0F)) continue;
    while (!(std::fabs(trace[first]) > level * std::fabs(trace[largest]))) ++first;
    m_late.push_back(start + static_cast<double>(first) * dt - begin);
    m_early.push_back(start + static_cast<double>(largest) * dt - peak);
    m_arrivals.push_back(arrivals[r]);
  }
}

std::string OnsetCheck::note() const {
  if (m_late.empty()) return {};
  const double allowed = m_period + 0.25 * median(m_arrivals);
  const double late = median(m_late), early = median(m_early);
  if (late <= allowed && early >= -allowed) return {};
  return concat("the data begin ", significant(late > allowed ? late : -early, 3), " s ",
                late > allowed ? "after" : "before", " first arrivals of the model (median of ",
                m_late.size(), " traces): check the interval between samples (--data-interval), ",
                "--wavelet-zero, and units of velocities and positions",
                late > allowed ? ", unless the direct wave was muted" : "");
}

}  // namespace moho::examples
