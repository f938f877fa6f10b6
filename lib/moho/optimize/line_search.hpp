// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Line search by values and directional derivatives, with reverse communication.

namespace moho::optimize {

/// Options of a LineSearch.
struct LineSearchOptions {
  double decrease = 1e-4;  ///< required: f(a) <= f(0) + decrease a f'(0)
  double curvature = 0.9;  ///< required: |f'(a)| <= curvature |f'(0)|
  double interval = 0.1;   ///< narrowest interval, as a part of its upper end
  /// Relative difference from f(0) below which values are computed from the derivatives. Rounding
  /// affects derivatives less.
  double noise = 1e-6;
  int evaluations = 20;  ///< largest number
};

/// \brief The line search of Moré and Thuente (1994), as a state machine on scalars.
///
/// It finds a step with sufficient decrease and a small directional derivative. If f hardly differs
/// from f(0), it is replaced by f(0) + a (f'(0) + f'(a)) / 2. Sufficient decrease is then the
/// approximate condition of Hager and Zhang (2005), f'(a) <= (2 decrease - 1) f'(0). Rounding of f
/// therefore does not stall a search.
class LineSearch {
 public:
  /// Result of a trial step.
  enum class Outcome {
    evaluate,  ///< step() must be evaluated
    accepted,  ///< the last step satisfies the conditions
    best       ///< no better step can be found: best() is the best one, 0 if no step improves f
  };

  /// Creates a search that has ended.
  LineSearch() = default;
  /// \param options tolerances
  /// \param f,slope value and directional derivative at 0; the derivative is negative
  /// \param first first trial step, positive
  /// \param max largest allowed step, at least `first`
  LineSearch(const LineSearchOptions& options, double f, double slope, double first, double max);
  /// Returns the step to be evaluated, or the accepted one.
  double step() const { return m_step; }
  /// Returns the best step so far, initially 0.
  double best() const { return m_x.step; }
  /// Returns the value at best().
  double best_value() const { return m_x.given; }
  /// Takes value and derivative at step(). Values that are not finite reduce the step.
  Outcome tell(double f, double slope);
  /// Returns the number of trial steps.
  int evaluations() const { return m_evaluations; }

 private:
  struct Trial {
    double step, f, derivative;
    double given;  // f as passed to tell()
  };
  void update(Trial& x, Trial& y, Trial trial);

  LineSearchOptions m_options;
  double m_f0 = 0.0, m_slope0 = 0.0;
  double m_step = 0.0, m_min = 0.0, m_max = 0.0;  // bounds of the next step
  double m_limit = 0.0;                           // upper limit of all steps
  double m_width = 0.0, m_width_before = 0.0;
  Trial m_x{}, m_y{};  // the best step, and the other end of the interval
  bool m_bracketed = false, m_second_stage = false;
  int m_evaluations = 0;
};

}  // namespace moho::optimize
