// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What every example program writes into its summary.json: versions, machine, times.

#include "common/json.hpp"

#include <moho/core/phases.hpp>
#include <moho/core/timeline.hpp>

#include <string>

namespace moho::examples {

/// Text of --version: the program, and what it was built with.
std::string version_text(const std::string& program);

/// Throws Error unless everything that was printed has gone where it should: to a full disk it has
/// not.
void flush_output();

/// Versions of moho, Kokkos and the compiler, the execution spaces of this build, and further
/// members.
Json versions(const Json& more = {});

/// Date, host's processor, number of processors, and what is odd about its threads.
Json machine();

/// Seconds of each phase and of all of them.
Json seconds(const PhaseTimes& times);

/// Seconds, spans and bytes of each stage of a time line.
Json stages_json(const Timeline& timeline);

/// A large number with a prefix: "1.23 G", "45.6 M", "789 k".
std::string format_count(double count);

}  // namespace moho::examples
