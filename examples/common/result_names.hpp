// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names of the files that each program writes into the folder of its results.

#include <string>
#include <string_view>

namespace moho::examples {

/// A plain name of a file in a folder, and nothing that leads out of it.
bool is_plain_name(const std::string& name);

/// \brief Whether a program writes files of this name. Files of other names are never removed.
///
/// Numbers of shots, snapshots, bands and evaluations may be any.
bool is_result_name(std::string_view program, const std::string& name);

}  // namespace moho::examples
