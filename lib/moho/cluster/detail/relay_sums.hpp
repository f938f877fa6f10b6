// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of shots in a relay.

#include <moho/cluster/relay.hpp>

#include <cstdint>
#include <filesystem>

namespace moho::cluster::detail {

/// Adds a result to the sum of a chunk, and writes the report of its shot.
/// \param folder folder of the chunk \param result complete result
void add_to_sum(ShotSum& sum, const std::filesystem::path& folder, const Work& work,
                std::int64_t shot, const std::filesystem::path& result);

/// Writes the sum of a chunk; nothing for a sum that is closed or empty.
void write_sum(const ShotSum& sum, const std::filesystem::path& folder, const Work& work);

/// \brief Adds the shots of a SumRequest and writes their sum and relay.end.
/// \param folder folder of the request
/// \param takes tokens of jobs, and their shots
/// \return exit status
int make_requested_sum(const std::filesystem::path& folder, const Settings& takes,
                       const Settings& settings, const SumFactory& make_sum);

}  // namespace moho::cluster::detail
