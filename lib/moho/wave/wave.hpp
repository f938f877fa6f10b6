// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief All public headers of the wave module.

#include <moho/wave/adjoint.hpp>
#include <moho/wave/boundary_text.hpp>
#include <moho/wave/model_shot.hpp>
#include <moho/wave/model_values.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/propagator.hpp>
#include <moho/wave/shots.hpp>
#include <moho/wave/snapshots.hpp>
#include <moho/wave/source_region.hpp>
#include <moho/wave/sponge_width.hpp>
