// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options, state and stopping reasons of Lbfgs, without kernels.

#include <moho/optimize/line_search.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::optimize {

/// Next action that the search requires of its caller.
enum class Want {
  evaluation,  ///< value and gradient at point()
  nothing      ///< stopped
};

/// Stopping reason of a search.
enum class StopReason {
  none,         ///< not stopped
  gradient,     ///< gradient below the tolerance
  ratio,        ///< f below the requested part of its first value
  decrease,     ///< relative decrease of f in an iteration below the tolerance
  iterations,   ///< maximum number reached
  evaluations,  ///< maximum number reached
  direction,    ///< f does not decrease along -g: g is not the gradient of f
  noise,        ///< steps accepted by the derivatives raised f ten times: f is noisy
  search        ///< no step along -g decreases f: rounding, or g is not the gradient of f
};

/// Returns the name of a reason: "gradient", "iterations", ...
const char* to_string(StopReason stop);

/// Options of an Lbfgs.
struct LbfgsOptions {
  int memory = 5;  ///< number of stored pairs of differences, 1 to 64
  /// Largest change of an unknown in the first trial, from which the line search may go on to a
  /// longer step; 0: the trial has length 1.
  double first_change = 0.0;
  double largest_change = 0.0;  ///< largest change of an unknown in any step; 0: no limit
  double gradient = 1e-5;       ///< stops if |g| <= gradient max(1, |x|); 0: only if g is zero
  double ratio = 0.0;           ///< stops if f is at most this part of the first f; 0: never
  double decrease = 0.0;  ///< stops if an iteration decreases f by at most this part; 0: never
  std::int64_t iterations = 0;    ///< largest number; 0: no limit
  std::int64_t evaluations = 0;   ///< largest number; 0: no limit
  LineSearchOptions search = {};  ///< options of the line search
};

/// Checks the options. \throws InputError for values out of range
void check_options(const LbfgsOptions& options);

namespace detail {

/// Phase of a search.
enum class Phase : int { start, search, stopped };

/// Complete state of a search except for its vectors.
struct LbfgsState {
  Phase phase = Phase::start;
  StopReason stop = StopReason::none;
  int pairs = 0;      ///< number of stored pairs
  int used = 0;       ///< pairs used for the current direction
  int newest = -1;    ///< slot of the newest pair
  int moved = 0;      ///< 1 after an iteration since the start
  int has_trial = 0;  ///< 1 if the gradient of the best step of this line search is stored
  std::int64_t iterations = 0, evaluations = 0, memory_resets = 0;
  std::int64_t rises = 0;  ///< steps accepted by their derivatives that raised f
  std::int64_t held = 0;   ///< number of fixed unknowns
  double f = 0.0, first = 0.0, before = 0.0;
  double gradient = 0.0;  ///< norm of the gradient
  double step = 0.0, largest = 0.0, change = 0.0;

  /// Returns the slot of the k-th newest pair.
  std::size_t slot(int k, int memory) const {
    return static_cast<std::size_t>(((newest - k) % memory + memory) % memory);
  }
};

/// Returns the stopping reason as a text.
std::string stop_message(const LbfgsState& state, const LbfgsOptions& options);

}  // namespace detail

}  // namespace moho::optimize
