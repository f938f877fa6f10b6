// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What every example program writes into its summary.json: versions, machine, times.

#include <moho/core/timer.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace moho::examples {

/// Text of --version: the program, and what it was built with.
std::string version_text(const std::string& program);

/// Versions of moho, Kokkos and the compiler, and the execution spaces of this build.
nlohmann::ordered_json versions();

/// Date, host's processor and number of processors.
nlohmann::ordered_json machine();

/// Seconds of each phase and of all of them.
nlohmann::ordered_json seconds(const PhaseTimes& times);

/// A large number with a prefix: "1.23 G", "45.6 M", "789 k".
std::string format_count(double count);

}  // namespace moho::examples
