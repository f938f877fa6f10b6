// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Lists of the numbers of shots, as texts.

#include <moho/cluster/job.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moho::cluster {

/// Largest number of shots accepted by parse_shots().
inline constexpr std::int64_t max_listed_shots = 1000000;

/// \brief Parses a list of shots: "1-24", "3,7,9-12", with a step "1-99:2".
/// \param list numbers from 0 and ranges of them, with commas
/// \param name of the list, for messages
/// \param stop called between ranges; true ends the parse with Error
/// \returns a task of unit cost for each shot, in the order of the list
/// \throws InputError for other texts, a shot in two ranges, more than max_listed_shots
std::vector<Task> parse_shots(const std::string& list, const std::string& name = "shots",
                              const std::function<bool()>& stop = {});

}  // namespace moho::cluster
