// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Media, options and reports of the eikonal solvers.

#include <moho/core/field.hpp>
#include <moho/core/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::eikonal {

/// How traveltimes are found in parallel. Both end at the same times, those of fast_marching().
enum class Method {
  active_tiles,  ///< tiles that a change reaches are swept, the earliest first; the default
  sweeping       ///< fast sweeping: tiles along diagonals, in every direction in turn
};

/// Name of a method, as on the command line of programs and in reports.
inline std::string to_string(Method method) {
  return method == Method::active_tiles ? "active_tiles" : "sweeping";
}

/// Smallest velocity that the solvers take: squares of times have to be numbers.
inline constexpr double least_velocity = 1e-3;
/// Largest velocity that the solvers take.
inline constexpr double greatest_velocity = 1e9;
/// Smallest Thomsen parameter that the solvers take.
inline constexpr double least_thomsen = -0.4;
/// Largest Thomsen parameter that the solvers take.
inline constexpr double greatest_thomsen = 2.0;

/// A medium whose symmetry axis is vertical: fields of the grid's shape, those that are absent left
/// default-constructed, which counts as zero.
///
/// - velocity alone: isotropic;
/// - velocity and the same field as epsilon and as delta: elliptical, the horizontal velocity is
///   v sqrt(1 + 2 epsilon);
/// - anything else: P waves of a VTI medium in the acoustic approximation of Alkhalifah (2000).
///
/// Memory is a memory space of Kokkos.
template <class T, int Dim, class Memory>
struct Model {
  Field<T, Dim, Memory> velocity;  ///< along the vertical axis; positive
  Field<T, Dim, Memory> epsilon;   ///< Thomsen's epsilon, least_thomsen to greatest_thomsen
  Field<T, Dim, Memory> delta;     ///< Thomsen's delta, the same range, and at most
                                   ///< epsilon + (1 + 2 epsilon) / 4
};

/// Options of solve() and fast_marching().
struct Options {
  int order = 2;                         ///< of the upwind differences, 1 or 2
  bool factored = true;                  ///< divide by the analytic time around the source
  Method method = Method::active_tiles;  ///< how; fast_marching() does not look at it
  double tiles_ahead = 0.0;       ///< how many tiles ahead of the earliest a tile may be swept; 0:
                                  ///< tuned value
  std::size_t memory_budget = 0;  ///< bytes of working memory; 0: what is free
  Progress progress = {};         ///< told how far the work is
};

/// What a solver did.
struct Report {
  std::int64_t rounds = 0;       ///< lists of tiles, or sweeps
  std::int64_t tile_visits = 0;  ///< tiles swept, all sources together
  std::int64_t updates = 0;      ///< nodes whose local equation was solved
  std::int64_t batches = 1;      ///< groups of sources, more than one if memory was short
};

}  // namespace moho::eikonal
