// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_times in messages of the library, and its remarks.

#include "invert_times/options.hpp"

#include <moho/core/argument_names.hpp>
#include <moho/core/text.hpp>
#include <moho/tomography/tomography.hpp>

#include <string>
#include <vector>

namespace moho::examples::invert_times {

/// Returns the options that stand for arguments of the library.
ArgumentNames names_of(const Options& o);

/// Returns remarks on options without effect and on options that stand for the same unknowns.
std::vector<std::string> option_notes(const Options& o);

/// Returns lengths along the axes, "(16, 16)".
template <int Dim>
std::string lengths_text(const Point<Dim>& lengths) {
  std::string list;
  for (int d = 0; d < Dim; ++d) list += (d > 0 ? ", " : "(") + text::significant(lengths[d], 5);
  return list + ")";
}

/// \brief Cuts a start model to the bounds, with a remark if that changes it.
/// \param vmin,vmax m/s
void limit_start(std::vector<double>& start, double vmin, double vmax,
                 std::vector<std::string>& notes);

/// Returns a remark where the errors of most picks are larger than their times.
template <int Dim>
std::vector<std::string> error_notes(const tomography::InversionJob<Dim>& job) {
  std::size_t large = 0;
  for (const tomography::Pick& pick : job.picks.picks) {
    const double error = pick.error > 0.0
                             ? pick.error
                             : job.options.error_absolute + job.options.error_relative * pick.time;
    large += error > pick.time ? 1 : 0;
  }
  if (2 * large <= job.picks.picks.size()) return {};
  return {concat("errors of ", large, " of ", job.picks.picks.size(),
                 " picks are larger than their times: --error is in seconds")};
}

/// Returns remarks on a result: its start model, and rays along the faces of the grid.
template <int Dim>
std::vector<std::string> result_notes(const Options& o, const tomography::InversionJob<Dim>& job,
                                      const tomography::InversionResult<Dim>& result) {
  std::vector<std::string> notes;
  const std::string start = tomography::describe_start<Dim>(result, o.target);
  if (!start.empty()) notes.push_back(start);
  const auto edges =
      tomography::describe_edges(tomography::edge_rays<Dim>(job.grid, result.paths), names_of(o));
  notes.insert(notes.end(), edges.begin(), edges.end());
  return notes;
}

}  // namespace moho::examples::invert_times
