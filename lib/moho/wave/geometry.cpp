// SPDX-License-Identifier: BSD-3-Clause

#include <moho/wave/geometry.hpp>

#include <moho/core/instances.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace moho::wave {

namespace {

// Upper bound of points: more than any survey has.
constexpr std::int64_t max_points = 1'000'000'000;

template <int Dim>
bool same(const Point<Dim>& a, const Point<Dim>& b) {
  for (int d = 0; d < Dim; ++d) {
    if (a[d] != b[d]) return false;
  }
  return true;
}

// Returns coordinate i of count between two ends, both of which are exact.
double between(double first, double last, std::int64_t i, std::int64_t count) {
  if (i == 0) return first;
  if (i == count - 1) return last;
  return first + (last - first) * (static_cast<double>(i) / static_cast<double>(count - 1));
}

template <int Dim>
void check_ends(const Point<Dim>& first, const Point<Dim>& last) {
  for (int d = 0; d < Dim; ++d) {
    if (std::isfinite(first[d]) && std::isfinite(last[d])) continue;
    throw InputError(concat("points from ", format_point(first), " to ", format_point(last),
                            ": a coordinate is not finite (allowed: finite numbers)"));
  }
}

void check_point_count(double count, bool differ) {
  if (!(count >= 1.0) || count > static_cast<double>(max_points)) {
    throw InputError(
        concat("points: their number is ", count, " (allowed: 1 to ", max_points, ")"));
  }
  if (count == 1.0 && differ) {
    throw InputError(
        "points: there is one for two different ends (allowed: 2 or more, or the same end twice)");
  }
}

}  // namespace

template <int Dim>
Points<Dim> point_line(const Point<Dim>& first, const Point<Dim>& last, std::int64_t count) {
  check_ends<Dim>(first, last);
  check_point_count(static_cast<double>(count), !same<Dim>(first, last));
  Points<Dim> points(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    for (int d = 0; d < Dim; ++d) {
      points[static_cast<std::size_t>(i)][d] = between(first[d], last[d], i, count);
    }
  }
  return points;
}

template <int Dim>
Points<Dim> point_grid(const Point<Dim>& first, const Point<Dim>& last, const Index<Dim>& counts) {
  check_ends<Dim>(first, last);
  double total = 1.0;
  for (int d = 0; d < Dim; ++d) {
    check_point_count(static_cast<double>(counts[d]), first[d] != last[d]);
    total *= static_cast<double>(counts[d]);
  }
  check_point_count(total, false);
  const Box<Dim> box{{}, counts};
  Points<Dim> points(static_cast<std::size_t>(box.size()));
  for (std::int64_t i = 0; i < box.size(); ++i) {
    const Index<Dim> node = box.node(i);
    for (int d = 0; d < Dim; ++d) {
      points[static_cast<std::size_t>(i)][d] = between(first[d], last[d], node[d], counts[d]);
    }
  }
  return points;
}

template <int Dim>
std::vector<Shot<Dim>> fixed_spread(const Points<Dim>& sources, const Points<Dim>& receivers) {
  std::vector<Shot<Dim>> shots(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    shots[i].number = static_cast<std::int64_t>(i);
    shots[i].sources = {sources[i]};
    shots[i].receivers = receivers;
  }
  return shots;
}

template <int Dim>
std::vector<Shot<Dim>> moving_spread(const Points<Dim>& sources, const Points<Dim>& offsets,
                                     const Grid<Dim>& grid) {
  std::vector<Shot<Dim>> shots(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    shots[i].number = static_cast<std::int64_t>(i);
    shots[i].sources = {sources[i]};
    for (Point<Dim> receiver : offsets) {
      for (int d = 0; d < Dim - 1; ++d) receiver[d] += sources[i][d];
      if (grid.contains(receiver)) shots[i].receivers.push_back(receiver);
    }
    if (shots[i].receivers.empty()) {
      throw InputError(concat("shot ", i + 1, ": ",
                              offsets.size() == 1
                                  ? "its receiver is not"
                                  : concat("none of its ", offsets.size(), " receivers is"),
                              " inside of the model, with its source at ", format_point(sources[i]),
                              " (allowed: 1 receiver or more): move the source or change the "
                              "offsets and depths of the receivers"));
    }
  }
  return shots;
}

MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, point_line)
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, point_grid)
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, fixed_spread)
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, moving_spread)

}  // namespace moho::wave
