// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots and traces of a survey that are outside of a grid.

#include <moho/core/grid.hpp>
#include <moho/core/positions.hpp>
#include <moho/wave/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace moho::survey {

/// Largest distance of a position from a grid that counts as rounding, over the spacing.
inline constexpr double rounding_of_positions = 0.01;

/// \brief Returns the nearest position on the faces of a grid, if it is at most
/// rounding_of_positions away along each axis; else the position itself.
///
/// Integers of headers round positions, also those of sources and receivers on faces.
template <int Dim>
Point<Dim> onto_faces(const Grid<Dim>& grid, const Point<Dim>& position) {
  Point<Dim> nearest = position;
  for (int d = 0; d < Dim; ++d) {
    nearest[d] = std::clamp(position[d], grid.origin[d], grid.upper(d));
    const double away = std::fabs(nearest[d] - position[d]);
    if (!(away <= rounding_of_positions * grid.spacing[d])) return position;
  }
  return nearest;
}

/// Range of a survey's positions along an axis, and that of the model.
struct AxisRange {
  std::string name;    ///< "x"
  double low = 0.0,    ///< smallest coordinate of sources and receivers, m
      high = 0.0;      ///< largest coordinate of sources and receivers, m
  double lower = 0.0,  ///< smallest coordinate of the model, m
      upper = 0.0;     ///< largest coordinate of the model, m

  /// True if all positions are inside of the model.
  bool inside() const { return low >= lower && high <= upper; }
};

/// Shots and traces of a survey that are outside of the model.
struct LeftOut {
  std::size_t shots = 0,        ///< shots outside of the model
      traces = 0;               ///< traces outside of the model
  std::size_t all_shots = 0,    ///< shots of the complete survey
      all_traces = 0;           ///< traces of the complete survey
  std::vector<AxisRange> axes;  ///< the last one is z
};

/// Returns the receivers outside of a grid, the shots that cannot be used, and ranges of positions.
/// Such a shot has a source outside of the grid or no receiver inside.
template <int Dim>
LeftOut left_out_of(const Grid<Dim>& grid, const std::vector<wave::Shot<Dim>>& shots) {
  LeftOut out;
  for (int d = 0; d < Dim; ++d) {
    AxisRange axis{axis_name<Dim>(d), std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity(), grid.origin[d], grid.upper(d)};
    for (const wave::Shot<Dim>& shot : shots) {
      for (const Points<Dim>* points : {&shot.sources, &shot.receivers}) {
        for (const Point<Dim>& p : *points) {
          axis.low = std::min(axis.low, p[d]);
          axis.high = std::max(axis.high, p[d]);
        }
      }
    }
    out.axes.push_back(axis);
  }
  const auto inside = [&](const Point<Dim>& p) { return grid.contains(onto_faces<Dim>(grid, p)); };
  for (const wave::Shot<Dim>& shot : shots) {
    ++out.all_shots;
    out.all_traces += shot.receivers.size();
    const auto live = static_cast<std::size_t>(
        std::count_if(shot.receivers.begin(), shot.receivers.end(), inside));
    if (live > 0 && std::all_of(shot.sources.begin(), shot.sources.end(), inside)) {
      out.traces += shot.receivers.size() - live;
      continue;
    }
    ++out.shots;
    out.traces += shot.receivers.size();
  }
  return out;
}

/// Returns the receivers of a moving spread that are outside of a grid: numbers from 0.
/// \param offsets of the receivers from the source, with z of the receivers
template <int Dim>
std::vector<std::int64_t> spread_left_out(const Points<Dim>& offsets, const Point<Dim>& source,
                                          const Grid<Dim>& grid) {
  std::vector<std::int64_t> numbers;
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    Point<Dim> receiver = offsets[k];
    for (int d = 0; d + 1 < Dim; ++d) receiver[d] += source[d];
    if (!grid.contains(receiver)) numbers.push_back(static_cast<std::int64_t>(k));
  }
  return numbers;
}

/// Returns ranges of ascending numbers from 0 as text that counts from 1: "1 to 4, 9" for 0, 1, 2,
/// 3, 8.
inline std::string ranges_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t k = 0; k < numbers.size();) {
    std::size_t last = k;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += concat(text.empty() ? "" : ", ", numbers[k] + 1,
                   last == k ? std::string() : concat(" to ", numbers[last] + 1));
    k = last + 1;
  }
  return text;
}

/// \brief Returns what a moving spread leaves out, as text; empty if that is nothing.
/// \param offsets of the receivers from the source, with z of the receivers
/// \param shots with the receivers inside of the grid
template <int Dim>
std::string spread_note(const Points<Dim>& offsets, const std::vector<wave::Shot<Dim>>& shots,
                        const Grid<Dim>& grid) {
  constexpr std::size_t named = 4;
  std::size_t concerned = 0, out = 0;
  std::string first;
  for (const wave::Shot<Dim>& shot : shots) {
    const auto numbers = spread_left_out<Dim>(offsets, shot.sources.front(), grid);
    out += numbers.size();
    if (numbers.empty() || ++concerned > named) continue;
    first += concat(first.empty() ? "" : "; ", "shot ", shot.number, ": ", ranges_text(numbers));
  }
  if (out == 0) return {};
  return concat(out, " of ", offsets.size() * shots.size(),
                " receivers of --moving are outside of the model and left out, in ", concerned,
                concerned == 1 ? " shot (" : " shots (", first, concerned > named ? "; ..." : "",
                "; counted from 1)");
}

}  // namespace moho::survey
