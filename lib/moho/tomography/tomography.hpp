// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First-arrival traveltime tomography: all headers of the module.

#include <moho/tomography/check.hpp>
#include <moho/tomography/checkerboard.hpp>
#include <moho/tomography/damping.hpp>
#include <moho/tomography/forecast.hpp>
#include <moho/tomography/forward.hpp>
#include <moho/tomography/ground.hpp>
#include <moho/tomography/interpolation.hpp>
#include <moho/tomography/inversion.hpp>
#include <moho/tomography/invert.hpp>
#include <moho/tomography/jackknife.hpp>
#include <moho/tomography/jacobian.hpp>
#include <moho/tomography/layers.hpp>
#include <moho/tomography/picks.hpp>
#include <moho/tomography/prior.hpp>
#include <moho/tomography/remarks.hpp>
#include <moho/tomography/results.hpp>
#include <moho/tomography/robust.hpp>
#include <moho/tomography/start.hpp>
#include <moho/tomography/state.hpp>
#include <moho/tomography/types.hpp>
