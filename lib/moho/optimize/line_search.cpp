// SPDX-License-Identifier: BSD-3-Clause
#include <moho/optimize/line_search.hpp>

#include <algorithm>
#include <cmath>

namespace moho::optimize {

namespace {

// Returns the minimum of the cubic that interpolates two values and derivatives.
//
// The result is a fraction of the interval from `from` to `to`. A negative discriminant counts as
// 0; has_minimum is then false.
double cubic_part(double step_from, double f_from, double slope_from, double step_to, double f_to,
                  double slope_to, bool clamp, bool& has_minimum) {
  const double theta = 3.0 * (f_from - f_to) / (step_to - step_from) + slope_from + slope_to;
  const double scale = std::max({std::fabs(theta), std::fabs(slope_from), std::fabs(slope_to)});
  double inside = theta / scale * (theta / scale) - slope_from / scale * (slope_to / scale);
  if (clamp) inside = std::max(inside, 0.0);
  double gamma = scale * std::sqrt(std::max(inside, 0.0));
  if (step_to < step_from) gamma = -gamma;
  has_minimum = gamma != 0.0;
  return ((gamma - slope_from) + theta) / (((gamma - slope_from) + gamma) + slope_to);
}

}  // namespace

LineSearch::LineSearch(const LineSearchOptions& options, double f, double slope, double first,
                       double max)
    : m_options(options),
      m_f0(f),
      m_slope0(slope),
      m_step(first),
      m_min(0.0),
      m_max(5.0 * first),
      m_limit(max),
      m_width(max),
      m_width_before(2.0 * max),
      m_x{0.0, f, slope, f},
      m_y{0.0, f, slope, f} {}

// Computes the next step by interpolation, and updates the interval that contains the minimum.
void LineSearch::update(Trial& x, Trial& y, Trial trial) {
  const bool turned = trial.derivative * (x.derivative < 0.0 ? -1.0 : 1.0) < 0.0;
  bool minimum = true;
  double next = 0.0;
  if (trial.f > x.f) {
    // higher value: the minimum is between the two
    const double part = cubic_part(x.step, x.f, x.derivative, trial.step, trial.f, trial.derivative,
                                   false, minimum);
    const double cubic = x.step + part * (trial.step - x.step);
    const double slope = (x.f - trial.f) / (trial.step - x.step) + x.derivative;
    const double quadratic = x.step + 0.5 * (x.derivative / slope) * (trial.step - x.step);
    next = std::fabs(cubic - x.step) < std::fabs(quadratic - x.step)
               ? cubic
               : cubic + 0.5 * (quadratic - cubic);
    m_bracketed = true;
  } else if (turned) {
    // lower value, derivative of opposite sign: the minimum is between the two
    const double part = cubic_part(trial.step, trial.f, trial.derivative, x.step, x.f, x.derivative,
                                   false, minimum);
    const double cubic = trial.step + part * (x.step - trial.step);
    const double secant =
        trial.step + trial.derivative / (trial.derivative - x.derivative) * (x.step - trial.step);
    next = std::fabs(cubic - trial.step) > std::fabs(secant - trial.step) ? cubic : secant;
    m_bracketed = true;
  } else if (std::fabs(trial.derivative) < std::fabs(x.derivative)) {
    // lower value, smaller derivative
    const double part =
        cubic_part(trial.step, trial.f, trial.derivative, x.step, x.f, x.derivative, true, minimum);
    double cubic;
    if (part < 0.0 && minimum) {
      cubic = trial.step + part * (x.step - trial.step);
    } else {
      cubic = trial.step > x.step ? m_max : m_min;
    }
    const double secant =
        trial.step + trial.derivative / (trial.derivative - x.derivative) * (x.step - trial.step);
    const bool cubic_is_nearer = std::fabs(cubic - trial.step) < std::fabs(secant - trial.step);
    if (m_bracketed) {
      next = cubic_is_nearer ? cubic : secant;
      const double max = trial.step + 0.66 * (y.step - trial.step);
      next = trial.step > x.step ? std::min(next, max) : std::max(next, max);
    } else {
      next = std::clamp(cubic_is_nearer ? secant : cubic, m_min, m_max);
    }
  } else if (m_bracketed) {
    // lower value, derivative of at least the same magnitude
    const double part = cubic_part(trial.step, trial.f, trial.derivative, y.step, y.f, y.derivative,
                                   false, minimum);
    next = trial.step + part * (y.step - trial.step);
  } else {
    next = trial.step > x.step ? m_max : m_min;
  }
  if (trial.f > x.f) {
    y = trial;
  } else {
    if (turned) y = x;
    x = trial;
  }
  m_step = next;
}

LineSearch::Outcome LineSearch::tell(double given, double slope) {
  ++m_evaluations;
  if (!std::isfinite(given) || !std::isfinite(slope)) {
    // the function is not finite here: an upper limit of all steps
    m_limit = m_step;
    m_max = std::min(m_max, m_step);
    m_step = m_x.step + 0.1 * (m_step - m_x.step);
    return m_evaluations < m_options.evaluations ? Outcome::evaluate : Outcome::best;
  }
  double f = given;
  if (std::fabs(f - m_f0) <= m_options.noise * std::fabs(m_f0)) {
    f = m_f0 + 0.5 * m_step * (m_slope0 + slope);
  }
  const Trial trial{m_step, f, slope, given};
  const double wanted = m_options.decrease * m_slope0;
  const double highest = m_f0 + m_step * wanted;
  if (f <= highest && std::fabs(slope) <= -m_options.curvature * m_slope0) {
    m_x = trial;
    return Outcome::accepted;
  }
  if (!m_second_stage && f <= highest && slope >= 0.0) m_second_stage = true;
  if (m_step >= m_limit && f <= highest && slope <= wanted) {
    // f decreases up to the largest allowed step
    m_x = trial;
    return Outcome::accepted;
  }
  const bool outside = m_bracketed && (m_step <= m_min || m_step >= m_max);
  if (!m_second_stage && f <= m_x.f && f > highest) {
    // on f minus the line of sufficient decrease
    const auto lowered = [&](Trial t) {
      return Trial{t.step, t.f - t.step * wanted, t.derivative - wanted, t.given};
    };
    const auto raised = [&](Trial t) {
      return Trial{t.step, t.f + t.step * wanted, t.derivative + wanted, t.given};
    };
    Trial x = lowered(m_x), y = lowered(m_y);
    update(x, y, lowered(trial));
    m_x = raised(x);
    m_y = raised(y);
  } else {
    update(m_x, m_y, trial);
  }
  if (m_bracketed) {
    if (std::fabs(m_y.step - m_x.step) >= 0.66 * m_width_before) {
      m_step = m_x.step + 0.5 * (m_y.step - m_x.step);
    }
    m_width_before = m_width;
    m_width = std::fabs(m_y.step - m_x.step);
    m_min = std::min(m_x.step, m_y.step);
    m_max = std::max(m_x.step, m_y.step);
  } else {
    m_min = m_step + 1.1 * (m_step - m_x.step);
    m_max = m_step + 4.0 * (m_step - m_x.step);
  }
  const bool capped = m_step >= m_limit && trial.step >= m_limit;
  m_step = std::clamp(m_step, 0.0, m_limit);
  const bool narrow = m_bracketed && (m_step <= m_min || m_step >= m_max ||
                                      m_max - m_min <= m_options.interval * m_max);
  if (outside || narrow || capped || m_evaluations >= m_options.evaluations ||
      m_step == trial.step) {
    return Outcome::best;
  }
  return Outcome::evaluate;
}

}  // namespace moho::optimize
