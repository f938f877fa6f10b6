// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Stations and picks in messages (internal).

#include <moho/core/readable.hpp>
#include <moho/core/text.hpp>
#include <moho/tomography/types.hpp>

#include <string>

namespace moho::tomography::detail {

/// Returns "(17, 0) m".
template <int Dim>
std::string place_text(Point<Dim> p) {
  for (int d = 0; d < Dim; ++d) p[d] = readable(p[d]);
  return format_point(p) + " m";
}

/// Returns "source 3 at (17, 0) m"; sources count from 1. In picks.csv they count from 0.
template <int Dim>
std::string source_text(const PickSet<Dim>& picks, std::size_t k) {
  return concat("source ", k + 1, " at ", place_text<Dim>(picks.sources[k]));
}

/// Returns "receiver 20 at (40, 0) m"; receivers count from 1.
template <int Dim>
std::string receiver_text(const PickSet<Dim>& picks, std::size_t k) {
  return concat("receiver ", k + 1, " at ", place_text<Dim>(picks.receivers[k]));
}

/// Returns "the pick from source 3 at (17, 0) m to receiver 20 at (40, 0) m".
template <int Dim>
std::string pick_text(const PickSet<Dim>& picks, const Pick& pick) {
  return concat("the pick from ", source_text<Dim>(picks, static_cast<std::size_t>(pick.source)),
                " to ", receiver_text<Dim>(picks, static_cast<std::size_t>(pick.receiver)));
}

}  // namespace moho::tomography::detail
