// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything of moho::gravity but MPI (moho/gravity/mpi.hpp) and the problem of seven
/// spheres (moho/gravity/synthetic.hpp).

#include <moho/gravity/forward.hpp>
