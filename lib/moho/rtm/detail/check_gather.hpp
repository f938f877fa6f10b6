// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Comparison of a gather with the shot of a survey.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/survey/gathers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace moho::rtm::detail {

/// Returns true for positions that differ by rounding at most.
template <int Dim>
bool is_same_point(const Point<Dim>& a, const Point<Dim>& b) {
  for (int d = 0; d < Dim; ++d) {
    if (!(std::fabs(a[d] - b[d]) <= 1e-6 * (1.0 + std::fabs(a[d])))) return false;
  }
  return true;
}

/// Returns the position of the first point that is not among others; the number of points if all
/// are.
template <int Dim>
std::size_t find_other_point(const Points<Dim>& points, const Points<Dim>& others) {
  std::size_t next = 0;  // points are usually in the order of the others
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto is_same = [&](const Point<Dim>& other) {
      return is_same_point<Dim>(points[k], other);
    };
    const auto from = others.begin() + static_cast<std::ptrdiff_t>(next);
    auto found = std::find_if(from, others.end(), is_same);
    if (found == others.end()) found = std::find_if(others.begin(), others.end(), is_same);
    if (found == others.end()) return k;
    next = static_cast<std::size_t>(found - others.begin()) + 1;
  }
  return points.size();
}

/// Throws InputError unless a gather has the samples of its receivers, which are some of a shot,
/// and the sources of the shot.
template <int Dim>
void check_gather(const survey::ShotGather<Dim>& gather, const wave::Shot<Dim>& shot) {
  const std::size_t receivers = gather.shot.receivers.size();
  if (receivers > shot.receivers.size() ||
      gather.samples.size() != receivers * static_cast<std::size_t>(gather.count)) {
    throw InputError(concat("gather: shot ", shot.number, " has ", gather.samples.size(),
                            " samples of ", receivers, " receivers (allowed: ", gather.count,
                            " for each receiver, of up to ", shot.receivers.size(),
                            " receivers): give the gather of this shot"));
  }
  const auto refuse = [&](const char* what, const Point<Dim>& at) {
    throw InputError(concat("gather: shot ", shot.number, " has a ", what, " at ", format_point(at),
                            " m (allowed: those of the shot in the survey): give the gather of "
                            "this shot"));
  };
  const Points<Dim>& sources = gather.shot.sources;
  if (const std::size_t k = find_other_point<Dim>(sources, shot.sources); k < sources.size()) {
    refuse("source", sources[k]);
  }
  const Points<Dim>& at = gather.shot.receivers;
  if (const std::size_t k = find_other_point<Dim>(at, shot.receivers); k < receivers) {
    refuse("receiver", at[k]);
  }
}

}  // namespace moho::rtm::detail
