// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything of moho::gravity but MPI (moho/gravity/mpi.hpp).

#include <moho/gravity/forward.hpp>
#include <moho/gravity/ranks.hpp>
#include <moho/gravity/synthetic.hpp>
