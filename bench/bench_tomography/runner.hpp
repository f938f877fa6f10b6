// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Inversions of synthetic picks, an interface without templates.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace moho::bench {

/// A synthetic survey over a velocity that increases with depth and has smooth changes of 10 %.
struct TomographyCase {
  std::string name;             ///< of the case
  bool three = true;            ///< 3D
  std::int64_t nx = 0, ny = 0;  ///< nodes along x and, in 3D, y
  std::int64_t nz = 0;          ///< nodes along z
  double spacing = 25.0;        ///< m
  std::int64_t sources = 0;     ///< at the surface
  std::int64_t receivers = 0;   ///< at the surface, per source
  double error = 0.003;         ///< standard deviation of times, s
  double length = 200.0;        ///< correlation length of the prior, m; half of it along z
  int iterations = 0;           ///< computed without a target; 0: to the stop of the inversion
};

/// Seconds and results of an inversion.
struct TomographyResult {
  double seconds = 0.0;            ///< of the inversion and its appraisal
  double cpu_seconds = 0.0;        ///< the same of all threads
  double iteration_seconds = 0.0;  ///< of iterations
  double appraisal_seconds = 0.0;  ///< of rays, deviation and resolution
  double picks = 0.0;              ///< number of picks
  double entries = 0.0;            ///< of the derivative
  double unknowns = 0.0;           ///< number of unknowns
  int iterations = 0;              ///< that were computed
  int evaluations = 0;             ///< of all sources
  double chi2 = 0.0;               ///< at the end
  double start_error = 0.0;        ///< rms of the relative error of the velocity where rays are
  double error = 0.0;              ///< the same at the end
};

/// Seconds of the parts of an evaluation and of products.
struct ProductResult {
  double evaluation = 0.0;  ///< times and rows of all sources, s
  double product = 0.0;     ///< G x and G^T y, s
  double krylov = 0.0;      ///< a step of a bidiagonalisation of 50 steps, s
  double entries = 0.0;     ///< of G
  double bytes = 0.0;       ///< least traffic of both products
  double difference = 0.0;  ///< of x . G^T y from y . G x, over the latter
};

/// What the picks of a line of 2256 picks are to recover.
enum class Recovery {
  gradient,       ///< a velocity that increases with depth, from a start that is 9 % too fast
  short_lengths,  ///< the same with a prior of 150 x 75 m instead of 200 m
  bad_picks,      ///< the same, with every tenth pick wrong by 30 to 120 ms
  checks,         ///< checks of 480 x 240 m and 8 %
  waves,          ///< a product of sines with wavelengths of 480 and 240 m and an amplitude of 8 %
  long_waves      ///< the same with twice these wavelengths
};

/// What an inversion has recovered. Of checks and waves, which are inverted in four placements,
/// numbers are means, those of iterations and picks the largest ones, and counts of picks sums.
struct RecoveryResult {
  double seconds = 0.0;      ///< of the inversion and its appraisal
  double cpu_seconds = 0.0;  ///< the same of all threads
  int iterations = 0;        ///< that were computed
  double chi2 = 0.0;         ///< at the end
  double start_error = 0.0;  ///< rms of the relative error of the velocity where rays are
  double error = 0.0;        ///< the same at the end
  double picks = 0.0;        ///< number of picks
  double bad = 0.0;          ///< picks that are wrong
  double missed = 0.0;       ///< wrong picks within four errors of their predictions
  double flagged = 0.0;      ///< good picks beyond four errors
  /// Of true and recovered changes in layers of 120 m, all placements together.
  std::vector<double> correlations;
  std::vector<std::vector<double>> placements;  ///< those of each placement
};

/// Returns the CPU seconds of all threads since a value of std::clock().
inline double cpu_seconds_since(std::clock_t before) {
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

/// Inverts the picks of a case on a space.
template <class Memory>
TomographyResult run_tomography(const Instance<Memory>& exec, const TomographyCase& what);

/// Inverts the picks of a line. \param seed of the noise
template <class Memory>
RecoveryResult run_recovery(const Instance<Memory>& exec, Recovery what, std::uint64_t seed);

/// Times an evaluation and the products of its rows.
template <class Memory>
ProductResult run_products(const Instance<Memory>& exec, const TomographyCase& what);

}  // namespace moho::bench
