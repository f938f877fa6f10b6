// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names of the files that each program writes into the folder of its results.

#include <string>
#include <string_view>

namespace moho::examples {

/// Returns true for the plain name of a file, without any path.
bool is_plain_name(const std::string& name);

/// Returns true if a program writes files of this name. Files of other names are never removed.
/// Shots, snapshots, bands and evaluations in names may have any number.
bool is_result_name(std::string_view program, const std::string& name);

}  // namespace moho::examples
