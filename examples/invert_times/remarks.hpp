// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_times in messages of the library.

#include "invert_times/options.hpp"

#include <moho/core/argument_names.hpp>
#include <moho/tomography/tomography.hpp>

namespace moho::examples::invert_times {

/// Returns the options that stand for arguments of the library.
ArgumentNames names_of(const Options& o);

}  // namespace moho::examples::invert_times
