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

/// Parallel method. Both methods give the traveltimes of fast_marching().
enum class Method {
  active_tiles,  ///< sweeps the tiles that a change reaches, the earliest first; the default
  sweeping       ///< fast sweeping: tiles along diagonals, in every direction in turn
};

/// Returns the name of a method, for command lines and reports.
inline std::string to_string(Method method) {
  return method == Method::active_tiles ? "active_tiles" : "sweeping";
}

/// Smallest allowed velocity: squares of times must be finite.
inline constexpr double min_velocity = 1e-3;
/// Largest allowed velocity.
inline constexpr double max_velocity = 1e9;
/// Smallest allowed Thomsen parameter.
inline constexpr double min_thomsen = -0.4;
/// Largest allowed Thomsen parameter.
inline constexpr double max_thomsen = 2.0;

/// A medium with a vertical symmetry axis: fields of the grid's shape. An absent field is
/// default-constructed and counts as zero.
///
/// - velocity alone: isotropic;
/// - velocity, and the same field as epsilon and as delta: elliptical, with horizontal velocity v
///   sqrt(1 + 2 epsilon);
/// - anything else: P waves of a VTI medium in the acoustic approximation of Alkhalifah (2000).
///
/// Memory is a memory space of Kokkos.
template <class T, int Dim, class Memory>
struct Model {
  Field<T, Dim, Memory> velocity;  ///< along the vertical axis, grid units per second; positive
  Field<T, Dim, Memory> epsilon;   ///< Thomsen's epsilon, min_thomsen to max_thomsen
  /// Thomsen's delta, same range as epsilon, and at most epsilon + (1 + 2 epsilon) / 4.
  Field<T, Dim, Memory> delta;
};

/// Options of solve() and fast_marching().
struct Options {
  int order = 2;                         ///< order of the upwind differences, 1 or 2
  bool factored = true;                  ///< factor out the analytic time around the source
  Method method = Method::active_tiles;  ///< parallel method; no effect in fast_marching()
  /// Time window of a round, in tiles after the earliest tile; 0: tuned value.
  double tiles_ahead = 0.0;
  std::size_t memory_budget = 0;  ///< bytes of working memory; 0: the free memory
  Progress progress = {};         ///< receives the progress of the work
};

/// Statistics of a solution.
struct Report {
  std::int64_t rounds = 0;       ///< lists of tiles, or sweeps
  std::int64_t tile_visits = 0;  ///< tiles swept, all sources together
  /// Number of solutions of the local equation. A device counts all nodes of a tile in each round.
  std::int64_t updates = 0;
  std::int64_t batches = 1;  ///< groups of sources, more than one if memory was short
};

}  // namespace moho::eikonal
