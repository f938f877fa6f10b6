// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gravity of prisms: all headers except moho/gravity/mpi.hpp and synthetic.hpp.
///
/// moho/gravity/mpi.hpp needs MPI; moho/gravity/synthetic.hpp has the problem of seven spheres.

#include <moho/gravity/field.hpp>
#include <moho/gravity/fmm.hpp>
#include <moho/gravity/forward.hpp>
#include <moho/gravity/inspect.hpp>
#include <moho/gravity/magnetic_job.hpp>
#include <moho/gravity/operator.hpp>
#include <moho/gravity/products.hpp>
