// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_times in messages of the library, and its remarks.

#include "invert_times/options.hpp"

#include <moho/core/argument_names.hpp>
#include <moho/tomography/tomography.hpp>

#include <string>
#include <vector>

namespace moho::examples::invert_times {

/// Returns the options that stand for arguments of the library.
ArgumentNames names_of(const Options& o);

/// Returns remarks on options without effect.
std::vector<std::string> option_notes(const Options& o);

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
