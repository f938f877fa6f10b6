// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shortest-path ray tracing on a grid graph: everything of the module that
/// needs no Kokkos Kernels, that is all but <moho/rays/tomography.hpp>.

#include <moho/rays/paths.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/trace.hpp>
