// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_times in messages of the library, and its remarks.

#include "invert_times/options.hpp"

#include <moho/core/argument_names.hpp>
#include <moho/tomography/tomography.hpp>

#include <string>
#include <vector>

namespace moho::examples::invert_times {

/// Returns the options that stand for arguments of the library.
ArgumentNames names_of(const Options& o);

/// Returns remarks on options without effect.
std::vector<std::string> option_notes(const Options& o);

}  // namespace moho::examples::invert_times
