// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parts of batched shots for other modules: injection, recording, checks.

#include <moho/wave/detail/batch.hpp>

namespace moho::wave::kernel {
using detail::check_together;
using detail::elements_apart;
using detail::InjectionFactors;
using detail::Several;
using detail::ShotsExchange;
using detail::source_factors;
}  // namespace moho::wave::kernel
