// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options, states and reasons of Lbfgs: what programs see, without kernels.

#include <moho/optimize/line_search.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::optimize {

/// What a search wants of its caller.
enum class Want {
  evaluation,  ///< value and gradient at a point
  nothing      ///< it has stopped
};

/// Why a search has stopped.
enum class Stop {
  none,         ///< it has not
  gradient,     ///< the gradient is as small as was asked for
  ratio,        ///< f is the part of the first one that was asked for
  decrease,     ///< an iteration has lowered f by less than was asked for
  iterations,   ///< as many as were allowed
  evaluations,  ///< as many as were allowed
  direction,    ///< f does not fall along the gradient: it is not the gradient of f
  noise,        ///< slopes have led to higher values of f ten times: it is noisy
  search        ///< no step down the gradient lowers f: rounding, or not the gradient of f
};

/// "gradient", "iterations", ...
const char* to_string(Stop stop);

/// Options of an Lbfgs.
struct LbfgsOptions {
  int memory = 5;               ///< pairs of differences that are kept, 1 to 64
  double first_change = 0.0;    ///< the largest change of an unknown in the first step; 0: the step
                                ///< has length 1
  double largest_change = 0.0;  ///< of an unknown in any step; 0: whatever comes
  double gradient = 1e-5;       ///< stop where |g| <= gradient max(1, |x|); 0: where it is zero
  double ratio = 0.0;           ///< stop where f is at most this part of the first f; 0: never
  double decrease = 0.0;        ///< stop when an iteration lowers f by at most this part; 0: never
  std::int64_t iterations = 0;  ///< most of them; 0: any number
  std::int64_t evaluations = 0;   ///< most of them; 0: any number
  LineSearchOptions search = {};  ///< of steps
};

/// Throws InputError for options out of range.
void check_options(const LbfgsOptions& options);

namespace detail {

/// Where a search is.
enum class Phase : int { start, search, stopped };

/// All that a search knows but for its vectors.
struct LbfgsState {
  Phase phase = Phase::start;
  Stop stop = Stop::none;
  int pairs = 0;      ///< in the memory
  int used = 0;       ///< of them in the present direction
  int newest = -1;    ///< slot of the newest
  int moved = 0;      ///< an iteration was done since the start
  int has_trial = 0;  ///< the gradient of the best step of this search is kept
  std::int64_t iterations = 0, evaluations = 0, drops = 0;
  std::int64_t rises = 0;  ///< steps that slopes recommended and that raised f
  std::int64_t held = 0;   ///< unknowns that do not take part
  double f = 0.0, first = 0.0, before = 0.0;
  double gradient = 0.0;  ///< its length
  double step = 0.0, largest = 0.0, change = 0.0;

  /// The slot of the k-th newest pair.
  std::size_t slot(int k, int memory) const {
    return static_cast<std::size_t>(((newest - k) % memory + memory) % memory);
  }
};

/// Why a search has stopped, in words.
std::string stop_message(const LbfgsState& state, const LbfgsOptions& options);

}  // namespace detail

}  // namespace moho::optimize
