// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Texts of invert_times.

#include <moho/tomography/types.hpp>

#include <string>

namespace moho::examples::invert_times {

/// Returns the line that is printed after an iteration.
std::string iteration_text(const tomography::IterationReport& report);

}  // namespace moho::examples::invert_times
