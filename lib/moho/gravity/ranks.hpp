// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How an ensemble is divided among processes: moho/core/ranks.hpp under the names of this
/// module.

#include <moho/core/ranks.hpp>

namespace moho::gravity {

using mpi::device_of;
using mpi::Part;
using mpi::part_of;
using mpi::ranks_on_device_of;

}  // namespace moho::gravity
