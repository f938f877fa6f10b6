// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of shots in a relay.

#include <moho/cluster/relay.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>

namespace moho::cluster::detail {

/// Adds a result to the sum of a chunk, and writes the report of its shot.
/// \param folder folder of the chunk \param result complete result
void add_to_sum(ShotSum& sum, const std::filesystem::path& folder, const Work& work,
                std::int64_t shot, const std::filesystem::path& result);

/// \brief Creates the sum of a chunk from that of an earlier chunk of the same work.
///
/// Chunks of the site are computed in turn: the last sum has the shots of all. Sums that have a
/// shot of the job are not used.
/// \param folder folder of the chunk
std::unique_ptr<ShotSum> resume_sum(const std::filesystem::path& folder, const Work& work,
                                    const Job& job, const SumFactory& make_sum);

/// Returns the shots of the sum that a chunk has written; empty without a sum.
std::set<std::int64_t> shots_of_sum(const std::filesystem::path& chunk);

/// \brief Uses the sum of a chunk as that of a request if it has the same shots.
/// \returns true if it does, or if the request has ended earlier
bool link_requested_sum(const std::filesystem::path& folder, const Settings& takes);

/// Writes the sum of a chunk; nothing for a sum that is closed or empty.
void write_sum(const ShotSum& sum, const std::filesystem::path& folder, const Work& work);

/// \brief Adds the shots of a SumRequest and writes their sum and relay.end.
/// \param folder folder of the request
/// \param takes tokens of jobs, and their shots
/// \return exit status
int make_requested_sum(const std::filesystem::path& folder, const Settings& takes,
                       const Settings& settings, const SumFactory& make_sum);

}  // namespace moho::cluster::detail
