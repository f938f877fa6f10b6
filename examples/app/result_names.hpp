// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names of the files that each program writes into the folder of its results.

#include <string>
#include <string_view>

namespace moho::examples {

/// True for the plain name of a file, without any path.
bool is_plain_name(const std::string& name);

/// True if a program writes files of this name. Files of other names are never removed.
/// Numbers of shots, snapshots, bands and evaluations are free.
bool is_result_name(std::string_view program, const std::string& name);

}  // namespace moho::examples
