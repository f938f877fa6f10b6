// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reports of sites, for the user and the summary.

#include "app/json.hpp"
#include "app/program.hpp"

#include <moho/cluster/distributor.hpp>

#include <string>
#include <vector>

namespace moho::examples {

/// Returns lines for the user about a run: a table of sites, counts, notes.
std::vector<std::string> report_lines(const cluster::Report& report);
/// Adds the report of an evaluation to that of all evaluations of a run. Its times replace those of
/// the evaluation before.
void add_report(cluster::Report& total, const cluster::Report& report);
/// Returns the member "sites" of the summary.
Json sites_json(const cluster::Report& report);
/// Records the time from the last shot at a site to the present in the summary.
void record_time_after_shots(Session& session);

}  // namespace moho::examples
