// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What tells whether two runs compute the same, bit by bit.

#include "common/common_options.hpp"
#include "common/json.hpp"

#include <string>

namespace moho::examples {

/// \brief What the results of a run depend on: its options, the length and the CRC-32C of its input
/// files, and the program.
/// \param requested the options that have to be the same, see Description::compared()
/// \throws FileError for an input file that cannot be read
Json fingerprint_of(const std::string& program, const CommonOptions& options,
                    const Json& requested);

/// \brief Refuses to go on with a run that computed something else.
/// \param now fingerprint of this run
/// \param before fingerprint of the run to go on with; null if it has none
/// \throws InputError naming what differs
void check_same_run(const std::string& folder, const Json& now, const Json& before);

}  // namespace moho::examples
