// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of model_gravity that runs on a space, compiled once for each memory.

#include <moho/core/instance.hpp>
#include <moho/gravity/types.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho::examples::model_gravity {

/// Checked input of one rank.
struct Job {
  bool regular = false;
  gravity::RegularMesh mesh;      ///< regular
  std::vector<double> densities;  ///< regular: of all cells, 0 outside of this rank's part
  std::vector<double> prisms;     ///< irregular: rows of this rank's part
  std::vector<double> stations;   ///< rows of x, y, z
  gravity::Components components;
  gravity::Options options;
  int sharing = 1;  ///< ranks that share the memory of the space
};

/// What one rank computed.
struct Outcome {
  std::vector<double> results;  ///< a row a component, a column a station
  gravity::Report report;
  PhaseTimes phases;  ///< "transfer", "check", "prepare", "sum", "reduce"
  std::string device;
  int threads = 1;
  std::size_t budget = 0;  ///< bytes allowed in the space
};

/// The field of a rank's prisms at all stations.
/// \throws MemoryError if the space does not hold what the strategy needs
template <class T, class Memory>
Outcome compute_on(const Instance<Memory>& exec, const Job& job);

}  // namespace moho::examples::model_gravity
