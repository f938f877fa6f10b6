// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernel of injection for other modules.

#include <moho/wave/points.hpp>

namespace moho::wave::kernel {
using detail::Inject;
}  // namespace moho::wave::kernel
