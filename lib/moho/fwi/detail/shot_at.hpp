// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots by their positions.

#include <moho/core/error.hpp>
#include <moho/wave/geometry.hpp>

#include <cstddef>
#include <vector>

namespace moho::fwi::detail {

/// Returns a shot of a list. \throws InputError for a position beyond the list
template <int Dim>
const wave::Shot<Dim>& shot_at(const std::vector<wave::Shot<Dim>>& shots, std::size_t k) {
  if (k < shots.size()) return shots[k];
  throw InputError(concat("k is ", k, " (allowed: positions of shots whose data are loaded, of ",
                          shots.size(), ")"));
}

}  // namespace moho::fwi::detail
