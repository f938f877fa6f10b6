// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of summary.json of every program: versions, machine, times.

#include "app/json.hpp"

#include <moho/core/phases.hpp>
#include <moho/core/timeline.hpp>

#include <string>

namespace moho::examples {

/// Returns the text of --version: the program, and its compiler and libraries.
std::string version_text(const std::string& program);

/// Flushes standard output. Throws Error if printed text was lost, as on a full disk.
void flush_output();

/// Returns versions of moho, Kokkos and the compiler, execution spaces, further members.
Json versions(const Json& more = {});

/// Returns date, the host's processor, number of processors, and unusual thread settings.
Json machine();

/// Returns the seconds of each phase and their sum.
Json seconds(const PhaseTimes& times);

/// Returns seconds, spans and bytes of each stage of a time line.
Json stages_json(const Timeline& timeline);

/// Returns the text of a large number with a prefix: "1.23 G", "45.6 M", "789 k".
std::string format_count(double count);

}  // namespace moho::examples
