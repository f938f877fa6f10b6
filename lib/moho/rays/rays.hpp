// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shortest-path ray tracing on a grid graph: everything of the module.

#include <moho/rays/paths.hpp>
#include <moho/rays/tomography.hpp>
#include <moho/rays/trace.hpp>
