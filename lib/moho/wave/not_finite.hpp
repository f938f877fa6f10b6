// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Error for a wavefield that overflowed, with its time and position.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// Error: a wavefield contains a NaN, an infinity, or a value beyond 3e38.
class NotFinite : public Error {
 public:
  /// \param what the message
  /// \param step step after which it was detected, counted from the beginning of its propagation
  /// \param field 0: p; 1: q
  /// \param position position of the node, m; one coordinate for each axis of the grid
  NotFinite(const std::string& what, std::int64_t step, int field, std::vector<double> position)
      : Error(what), m_step(step), m_field(field), m_position(std::move(position)) {}

  /// Returns the step after which it was detected; exact if every step was checked.
  std::int64_t step() const { return m_step; }
  /// Returns "p" or "q".
  const char* field() const { return m_field == 0 ? "p" : "q"; }
  /// Returns the position of the node, m.
  const std::vector<double>& position() const { return m_position; }
  /// Returns the context, such as "shot 3, backward propagation"; empty if unknown.
  const std::string& context() const { return m_context; }
  /// Returns a copy with the name of a propagation in front of the context.
  NotFinite with_context(const std::string& propagation) const {
    NotFinite result(concat(propagation, ", ", what()), m_step, m_field, m_position);
    result.m_context = m_context.empty() ? propagation : concat(propagation, ", ", m_context);
    return result;
  }

 private:
  std::int64_t m_step;
  int m_field;
  std::vector<double> m_position;
  std::string m_context;
};

/// \brief Returns the error for a node.
/// \param grid with layers
/// \param flat flat index of the node on the grid
/// \param step step after which it was detected
/// \param field 0: p; 1: q
template <int Dim>
NotFinite not_finite(const Grid<Dim>& grid, std::int64_t flat, std::int64_t step, int field) {
  const Index<Dim> node = grid.node(flat);
  const Point<Dim> at = grid.position(node);
  std::vector<double> position;
  for (int d = 0; d < Dim; ++d) position.push_back(at[d]);
  return NotFinite(
      concat("step ", step, ": the wavefield ", field == 0 ? "p" : "q",
             " is no longer finite at node ", format_index(node), ", ", format_point(at),
             " (it overflowed, or the source holds such a number): look at the model "
             "there, smooth its angles, or take a smaller dt"),
      step, field, std::move(position));
}

/// Runs a propagation and adds its name to the context of a NotFinite error.
template <class Propagate>
auto in_propagation(const std::string& name, const Propagate& propagate) {
  try {
    return propagate();
  } catch (const NotFinite& failure) {
    throw failure.with_context(name);
  }
}

}  // namespace moho::wave
