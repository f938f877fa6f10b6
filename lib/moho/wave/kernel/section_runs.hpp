// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Several steps of a small section in a launch, for other modules.

#include <moho/wave/detail/section_launch.hpp>

namespace moho::wave::kernel {
using detail::KeepSection;
using detail::largest_section_run;
using detail::prefetch_to_cache;
using detail::SectionInjection;
using detail::several_steps;
using detail::SeveralSteps;
}  // namespace moho::wave::kernel
