// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Adapter from the ranks of a program to those of a stream, and their option.

#include "app/option_table.hpp"
#include "app/processes.hpp"

#include <moho/stream/rank_groups.hpp>

#include <memory>

namespace moho::examples {

/// Returns the ranks as StreamRanks whose collectively() is that of `processes`.
/// Null for a single process. `processes` must outlive the result.
std::unique_ptr<stream::StreamRanks> stream_ranks(Processes& processes);

/// Binds --ranks-per-shot (0: auto), which excludes several --devices, and --sites.
void bind_ranks_per_shot(Description& d, int& ranks_per_shot, const int& devices);
/// \brief Checks the options of devices and ranks with the ranks that there are.
/// \param devices of --devices, 0: auto \param ranks_per_shot of --ranks-per-shot, 0: auto
/// \param one_shot true with --only-shot, which several ranks compute together or not at all
/// \throws InputError
void check_ranks(const Processes& processes, int devices, int ranks_per_shot, bool one_shot);

}  // namespace moho::examples
