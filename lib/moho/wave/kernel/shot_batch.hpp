// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parts of batched shots for other modules: propagation, injection, recording, checks.

#include <moho/wave/detail/batch.hpp>
#include <moho/wave/detail/batch_run.hpp>

namespace moho::wave::kernel {
using detail::batch_stride_of;
using detail::BatchRunOptions;
using detail::check_together;
using detail::check_wavefields;
using detail::InjectionFactors;
using detail::run_batch;
using detail::seconds_of_batched_step;
using detail::series_in;
using detail::Several;
using detail::ShotsExchange;
using detail::source_factors;
using detail::wavefields_at_rest;
}  // namespace moho::wave::kernel
