// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cases of the eikonal benchmarks; the timed code is compiled once for each memory.

#include <moho/core/grid.hpp>
#include <moho/eikonal/types.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace moho::bench {

/// Velocity models of the benchmarks.
enum class EikonalModel { gradient, layers, noise };

/// One line of the table. The source is in the middle of the surface.
struct EikonalCase {
  std::string space;                                       ///< name of the execution space
  bool single = true;                                      ///< single precision, otherwise double
  int dim = 2;                                             ///< 2 or 3
  EikonalModel model = EikonalModel::gradient;             ///< velocity model
  int n = 1000;                                            ///< nodes along each axis
  int order = 2;                                           ///< order of the differences
  bool marching = false;                                   ///< use the sequential reference
  bool anisotropic = false;                                ///< epsilon 0.2 and delta 0.1 everywhere
  eikonal::Method method = eikonal::Method::active_tiles;  ///< solver
};

/// Returns the name of a model.
inline std::string to_string(EikonalModel model) {
  constexpr const char* names[] = {"gradient", "layers", "noise"};
  return names[static_cast<int>(model)];
}

/// Returns the velocity at a node. gradient: 1500 m/s + 3000 m/s times the relative depth. layers:
/// eight layers of 1500 to 4500 m/s, not monotonic, undulating along x. noise: the layers with
/// 10 % noise.
inline double eikonal_velocity(EikonalModel model, double x, double z, std::int64_t node) {
  constexpr double pi = 3.14159265358979323846;
  if (model == EikonalModel::gradient) return 1500.0 + 3000.0 * z;
  constexpr double speeds[] = {1500, 2600, 1900, 3200, 2400, 4200, 3000, 4500};
  int layer = static_cast<int>(8.0 * z + 0.6 * __builtin_sin(4.0 * pi * x));
  layer = layer < 0 ? 0 : layer > 7 ? 7 : layer;
  if (model == EikonalModel::layers) return speeds[layer];
  // hash the node's index to a number between 0 and 1
  std::uint64_t bits = static_cast<std::uint64_t>(node) * 0x9E3779B97F4A7C15ull;
  bits ^= bits >> 31;
  bits *= 0xD6E8FEB86659FD93ull;
  return speeds[layer] * (0.9 + 0.2 * static_cast<double>(bits >> 40) / 16777216.0);
}

/// Times solve() or fast_marching() from a model to times in the memory of the space. The times are
/// compared with those of fast_marching(), or with those of the other parallel method on grids that
/// it would take minutes for.
template <class Memory>
void time_eikonal(const Instance<Memory>& exec, benchmark::State& state, const EikonalCase& what);

}  // namespace moho::bench
