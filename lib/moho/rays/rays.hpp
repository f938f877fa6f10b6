// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shortest-path ray tracing on a grid graph. All headers except <moho/rays/tomography.hpp>,
/// which needs Kokkos Kernels.

#include <moho/rays/paths.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/share_sources.hpp>
#include <moho/rays/split_graph.hpp>
#include <moho/rays/split_sources.hpp>
#include <moho/rays/trace.hpp>
#include <moho/rays/trace_job.hpp>
#include <moho/rays/trace_sources.hpp>
