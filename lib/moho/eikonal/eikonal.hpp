// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First-arrival traveltimes by the eikonal equation: all headers of the module.

#include <moho/eikonal/adjoint.hpp>
#include <moho/eikonal/fast_marching.hpp>
#include <moho/eikonal/homogeneous.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/eikonal/traveltimes.hpp>
#include <moho/eikonal/types.hpp>
