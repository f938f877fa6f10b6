// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A wavefield that overflowed, and when and where it did.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// A wavefield holds a NaN, an infinity, or a number beyond 3e38.
class NotFinite : public Error {
 public:
  /// \param what the message
  /// \param step after which it was seen, counted from the beginning of its leg
  /// \param field 0: p; 1: q
  /// \param place of the node, m: as many numbers as the grid has axes
  NotFinite(const std::string& what, std::int64_t step, int field, std::vector<double> place)
      : Error(what), m_step(step), m_field(field), m_place(std::move(place)) {}

  /// The step after which it was seen. It is the first where every step was looked at.
  std::int64_t step() const { return m_step; }
  /// "p" or "q".
  const char* field() const { return m_field == 0 ? "p" : "q"; }
  /// Where the node is, m.
  const std::vector<double>& place() const { return m_place; }
  /// What was run, such as "shot 3, backward leg"; empty where nothing is said of it.
  const std::string& leg() const { return m_leg; }
  /// The same of a leg, or of what the leg belongs to.
  NotFinite of_leg(const std::string& leg) const {
    NotFinite result(concat(leg, ", ", what()), m_step, m_field, m_place);
    result.m_leg = m_leg.empty() ? leg : concat(leg, ", ", m_leg);
    return result;
  }

 private:
  std::int64_t m_step;
  int m_field;
  std::vector<double> m_place;
  std::string m_leg;
};

/// \brief What is thrown of a node.
/// \param grid with layers
/// \param flat the node, counted on the grid
/// \param step after which it was seen
/// \param field 0: p; 1: q
template <int Dim>
NotFinite not_finite(const Grid<Dim>& grid, std::int64_t flat, std::int64_t step, int field) {
  const Index<Dim> node = grid.node(flat);
  const Point<Dim> at = grid.position(node);
  std::vector<double> place;
  for (int d = 0; d < Dim; ++d) place.push_back(at[d]);
  return NotFinite(
      concat("step ", step, ": the wavefield ", field == 0 ? "p" : "q",
             " is no longer finite at node ", format_index(node), ", ", format_point(at),
             " (it overflowed, or the source holds such a number): look at the model "
             "there, smooth its angles, or take a smaller dt"),
      step, field, std::move(place));
}

/// Runs a leg. What it throws of wavefields that are not finite says which leg it was.
template <class Leg>
auto in_leg(const std::string& name, const Leg& leg) {
  try {
    return leg();
  } catch (const NotFinite& failure) {
    throw failure.of_leg(name);
  }
}

}  // namespace moho::wave
