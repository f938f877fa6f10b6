// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fingerprints that decide whether two runs compute the same results, bit by bit.

#include "app/common_options.hpp"
#include "app/json.hpp"

#include <string>

namespace moho::examples {

/// Returns the fingerprint of a run: the program, its options, and its input files.
/// Input files count by length and CRC-32C.
/// \param requested the options that must be equal, see Description::compared()
/// \throws FileError for an unreadable input file
Json fingerprint_of(const std::string& program, const CommonOptions& options,
                    const Json& requested);

/// \brief Refuses to resume a run that computed something else.
/// \param now fingerprint of this run
/// \param before fingerprint of the run to resume; null if it has no fingerprint
/// \throws InputError naming the difference
void check_same_run(const std::string& folder, const Json& now, const Json& before);

}  // namespace moho::examples
