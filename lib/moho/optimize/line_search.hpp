// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A step along a line by values and slopes, asked for one after the other.

namespace moho::optimize {

/// Options of a LineSearch.
struct LineSearchOptions {
  double decrease = 1e-4;  ///< f(a) <= f(0) + decrease a f'(0) is wanted
  double curvature = 0.9;  ///< |f'(a)| <= curvature |f'(0)| is wanted
  double interval = 0.1;   ///< search no further in an interval as wide as this part of its end
  double noise = 1e-6;     ///< values that differ from f(0) by less than this part of it are taken
                           ///< from the slopes, which rounding does not blur
  int evaluations = 20;    ///< most of them
};

/// \brief The search of Moré and Thuente (1994) for a step with sufficient decrease and a small
/// slope, as a state machine on numbers: it has no vectors and calls nothing.
///
/// Where f hardly differs from f(0), it is replaced by f(0) + a (f'(0) + f'(a)) / 2. The test of
/// sufficient decrease is then the approximate one of Hager and Zhang (2005), f'(a) <= (2 decrease
/// - 1) f'(0), and a search does not stall because f has been rounded.
class LineSearch {
 public:
  /// What comes next.
  enum class Outcome {
    evaluate,  ///< step() is to be evaluated
    accepted,  ///< the step told last has what is wanted
    best       ///< no better step will come: best() is the best one, 0 if none was better than 0
  };

  /// A search that has ended.
  LineSearch() = default;
  /// \param options tolerances
  /// \param f,slope value and derivative at 0; the slope is negative
  /// \param first step to try, positive
  /// \param greatest step allowed, at least `first`
  LineSearch(const LineSearchOptions& options, double f, double slope, double first,
             double greatest);
  /// The step to be evaluated, or the one that was accepted.
  double step() const { return m_step; }
  /// The best step so far, 0 at the beginning.
  double best() const { return m_x.step; }
  /// The value there.
  double best_value() const { return m_x.given; }
  /// Takes value and slope at step(). Values that are no numbers make steps smaller.
  Outcome tell(double f, double slope);
  /// Steps that were told.
  int evaluations() const { return m_evaluations; }

 private:
  struct Trial {
    double step, f, slope;
    double given;  // f as it was told
  };
  void update(Trial& x, Trial& y, Trial trial);

  LineSearchOptions m_options;
  double m_f0 = 0.0, m_slope0 = 0.0;
  double m_step = 0.0, m_least = 0.0, m_greatest = 0.0;  // bounds of the next step
  double m_limit = 0.0;                                  // of all steps
  double m_width = 0.0, m_width_before = 0.0;
  Trial m_x{}, m_y{};  // the best step, and the other end of the interval
  bool m_bracketed = false, m_second_stage = false;
  int m_evaluations = 0;
};

}  // namespace moho::optimize
