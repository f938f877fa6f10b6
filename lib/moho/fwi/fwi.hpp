// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The complete fwi module.

#include <moho/fwi/band_check.hpp>
#include <moho/fwi/band_search.hpp>
#include <moho/fwi/extended_image.hpp>
#include <moho/fwi/extended_sum.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/fwi/gradient_memory.hpp>
#include <moho/fwi/misfit.hpp>
#include <moho/fwi/objective.hpp>
#include <moho/fwi/objective_text.hpp>
#include <moho/fwi/shared_evaluation.hpp>
#include <moho/fwi/slab_gradient.hpp>
#include <moho/fwi/stream_gradient.hpp>
#include <moho/optimize/lbfgs.hpp>
