// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The picks of invert_times.

#include "invert_times/options.hpp"

#include <moho/tomography/types.hpp>

namespace moho::examples::invert_times {

/// Returns 2 or 3, the dimensions of the positions of --picks. \throws FileError
int dimensions_of_picks(const Options& o);

/// Reads --picks. \throws FileError
template <int Dim>
tomography::PickSet<Dim> read_picks(const Options& o);

}  // namespace moho::examples::invert_times
