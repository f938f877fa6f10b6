// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Note on models whose delta is larger than epsilon.

#include <moho/wave/media.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief Counts nodes whose delta is larger than epsilon, which the self-adjoint equations lower.
/// \param epsilon,delta values on the nodes; empty: zeros
template <class T>
std::int64_t clamped_delta_nodes(std::span<const T> epsilon, std::span<const T> delta);

/// Returns the note on the lowered deltas of a model; empty without such nodes.
/// \param values on the nodes, by the name of the parameter
template <class T>
std::string note_of_clamped_deltas(const std::map<std::string, std::vector<T>>& values,
                                   Equations equations);
/// Returns the note on lowered deltas. \param nodes their number; 0: the note is empty
std::string note_of_clamped_deltas(std::int64_t nodes);

}  // namespace moho::wave
