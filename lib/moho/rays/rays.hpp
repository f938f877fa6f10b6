// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shortest-path ray tracing on a grid graph: everything of the module but
/// the tomography matrix (<moho/rays/tomography.hpp>, moho::rays_tomography).

#include <moho/rays/paths.hpp>
#include <moho/rays/trace.hpp>
