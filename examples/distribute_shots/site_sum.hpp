// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of shots in a relay.

#include <moho/cluster/site_sums.hpp>

#include <memory>

namespace moho::examples::distribute_shots {

/// \brief Returns a sum of no shots. Kokkos has to be initialised before.
///
/// Programs describe the arrays of a shot in its part of summary.json: a list "sums" in "more".
/// Each entry has the `name` of the sum, the `file` of the array, its number of `parts`, the
/// extents of the complete `grid`, and the nodes `lower` to `upper` of the array, without the last
/// ones; `bins` for a sum in bins, see rtm::ShotArray. In the report of a shot, "summed": true
/// replaces the list. A file <name>.sum is the rtm::ImageSum of the arrays. \param closed true: the
/// sum holds no values, without Kokkos
std::unique_ptr<cluster::ShotSum> make_site_sum(bool closed);

}  // namespace moho::examples::distribute_shots
