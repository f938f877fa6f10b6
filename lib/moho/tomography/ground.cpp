// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/csv.hpp>
#include <moho/tomography/detail/places.hpp>
#include <moho/tomography/ground.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace moho::tomography {

namespace {

// Value of a polyline of (x, depth), constant beyond its ends.
double along(const std::vector<std::array<double, 2>>& line, double x) {
  const auto after = std::lower_bound(line.begin(), line.end(), x,
                                      [](const auto& p, double at) { return p[0] < at; });
  if (after == line.begin()) return line.front()[1];
  if (after == line.end()) return line.back()[1];
  const auto& a = *(after - 1);
  const auto& b = *after;
  return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
}

// Sorts points by x and keeps the highest of those at one place.
std::vector<std::array<double, 2>> highest(std::vector<std::array<double, 2>> points) {
  std::sort(points.begin(), points.end());
  std::vector<std::array<double, 2>> line;
  for (const auto& p : points) {
    if (line.empty() || p[0] > line.back()[0]) line.push_back(p);
  }
  return line;
}

template <int Dim>
std::int64_t columns_of(const Grid<Dim>& grid) {
  return grid.size() / grid.extents[Dim - 1];
}

// Calls function(point, text), where text() names the point in messages.
template <int Dim, class Function>
void for_each_point(const PickSet<Dim>& picks, const Function& function) {
  for (std::size_t k = 0; k < picks.sources.size(); ++k) {
    function(picks.sources[k], [&] { return detail::source_text<Dim>(picks, k); });
  }
  for (std::size_t k = 0; k < picks.receivers.size(); ++k) {
    function(picks.receivers[k], [&] { return detail::receiver_text<Dim>(picks, k); });
  }
}

template <int Dim>
void check_inside(const Grid<Dim>& grid, const PickSet<Dim>& picks) {
  for_each_point<Dim>(picks, [&](const Point<Dim>& p, const auto& text) {
    if (grid.contains(p)) return;
    Point<Dim> upper{};
    for (int d = 0; d < Dim; ++d) upper[d] = grid.upper(d);
    throw InputError(concat(text(), " is outside of the grid from ", format_point(grid.origin),
                            " to ", format_point(upper),
                            " m: enlarge the grid, or leave its shape and origin to be chosen"));
  });
}

}  // namespace

template <int Dim>
Grid<Dim> plan_grid(const PickSet<Dim>& picks, double longest_offset, double receiver_spacing,
                    const GridRequest<Dim>& request) {
  Grid<Dim> grid;
  const double h = request.spacing > 0.0 ? request.spacing : 0.5 * receiver_spacing;
  const double margin = request.margin.value_or(4.0 * h);
  const double depth = request.depth > 0.0 ? request.depth : 0.4 * longest_offset;
  Point<Dim> counts{};  // nodes along the axes
  double nodes = 1.0;
  for (int d = 0; d < Dim; ++d) {
    double low = picks.sources.front()[d], high = low;
    for_each_point<Dim>(picks, [&](const Point<Dim>& p, const auto&) {
      low = std::min(low, p[d]);
      high = std::max(high, p[d]);
    });
    const bool z = d == Dim - 1;
    grid.spacing[d] = h;
    // a node above the highest point, for the skin
    const double first =
        request.origin ? (*request.origin)[d] : h * std::floor((low - (z ? h : margin)) / h + 1e-9);
    grid.origin[d] = first;
    const double last = high + (z ? depth : margin);
    // one node or more, also with an origin beyond the points, which check_inside() refuses
    counts[d] = request.shape ? static_cast<double>((*request.shape)[d])
                              : std::max(std::ceil((last - first) / h - 1e-9) + 1.0, 1.0);
    nodes *= counts[d];
  }
  if (!request.shape && !(nodes <= static_cast<double>(request.max_nodes))) {
    throw InputError(concat("the grid would have ", nodes, " nodes at a spacing of ", h,
                            " m (allowed: ", request.max_nodes,
                            " unless a shape is given): give a larger spacing, or a smaller margin "
                            "or depth"));
  }
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = request.shape ? (*request.shape)[d] : static_cast<std::int64_t>(counts[d]);
  }
  grid.check();
  check_inside<Dim>(grid, picks);
  return grid;
}

Ground<2> ground_of_points(const PickSet<2>& picks, const Grid<2>& grid, double buried_below) {
  std::vector<std::array<double, 2>> line;
  for_each_point<2>(picks, [&](const Point<2>& p, const auto&) { line.push_back({p[0], p[1]}); });
  line = highest(std::move(line));
  while (line.size() > 1) {
    double max = 0.0;  // excess of the deepest buried point
    std::size_t deepest = line.size();
    for (std::size_t k = 0; k < line.size(); ++k) {
      std::vector<std::array<double, 2>> others(line);
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      double excess = line[k][1] - along(others, line[k][0]) - buried_below;
      // beyond the ends of the others the ground may fall as steeply as 45 degrees
      if (k == 0) excess -= line[1][0] - line[0][0];
      if (k + 1 == line.size()) excess -= line[k][0] - line[k - 1][0];
      if (excess <= max) continue;
      max = excess;
      deepest = k;
    }
    if (deepest == line.size()) break;
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(deepest));
  }
  Ground<2> ground;
  for (std::int64_t i = 0; i < grid.extents[0]; ++i) {
    ground.depth.push_back(along(line, grid.origin[0] + grid.spacing[0] * static_cast<double>(i)));
  }
  return ground;
}

namespace {

// Returns two rows of a table with different depths at one position; empty if no rows have.
template <int Dim>
std::optional<std::pair<std::size_t, std::size_t>> contradiction(const Points<Dim>& table) {
  std::map<std::array<double, Dim - 1>, std::size_t> rows;  // by position
  for (std::size_t k = 0; k < table.size(); ++k) {
    std::array<double, Dim - 1> position{};
    for (int d = 0; d < Dim - 1; ++d) position[static_cast<std::size_t>(d)] = table[k][d];
    const std::size_t first = rows.emplace(position, k).first->second;
    if (table[first][Dim - 1] != table[k][Dim - 1]) return std::pair{first, k};
  }
  return std::nullopt;
}

// Returns "x = 0, y = 1" for a point.
template <int Dim>
std::string position_text(const Point<Dim>& p) {
  return concat("x = ", p[0], Dim == 3 ? concat(", y = ", p[1]) : std::string());
}

}  // namespace

template <int Dim>
Ground<Dim> ground_of_table(const Points<Dim>& table, const Grid<Dim>& grid) {
  if (table.empty()) throw InputError("the table of the ground has no points (allowed: 1 or more)");
  if (const auto rows = contradiction<Dim>(table)) {
    const auto [first, second] = *rows;
    throw InputError(concat("the table of the ground: rows ", first + 1, " and ", second + 1,
                            " have the depths ", table[first][Dim - 1], " and ",
                            table[second][Dim - 1], " m at ", position_text<Dim>(table[second]),
                            " (allowed: one depth at a position): remove one"));
  }
  Ground<Dim> ground;
  std::vector<std::array<double, 2>> line;
  if constexpr (Dim == 2) {
    for (const Point<2>& p : table) line.push_back({p[0], p[1]});
    line = highest(std::move(line));
  }
  for (std::int64_t c = 0; c < columns_of<Dim>(grid); ++c) {
    const Point<Dim> at = grid.position(grid.node(c * grid.extents[Dim - 1]));
    if constexpr (Dim == 2) {
      ground.depth.push_back(along(line, at[0]));
    } else {
      std::vector<std::array<double, 2>> near;  // squared distance, depth
      for (const Point<Dim>& p : table) {
        const double dx = p[0] - at[0], dy = p[1] - at[1];
        near.push_back({dx * dx + dy * dy, p[2]});
      }
      const auto count = std::min<std::size_t>(4, near.size());
      std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count),
                        near.end());
      double sum = 0.0, weights = 0.0;
      for (std::size_t k = 0; k < count; ++k) {
        const double weight = 1.0 / (near[k][0] + 1e-12 * grid.spacing[0] * grid.spacing[0]);
        sum += weight * near[k][1];
        weights += weight;
      }
      ground.depth.push_back(sum / weights);
    }
  }
  return ground;
}

template <int Dim>
Points<Dim> read_ground_table(const std::filesystem::path& path, bool elevations) {
  const io::Table table = io::read_csv(path, {.columns = Dim});
  Points<Dim> points;
  for (std::int64_t k = 0; k < table.rows(); ++k) {
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) p[d] = table.at(k, d);
    if (elevations) p[Dim - 1] = -p[Dim - 1];
    points.push_back(p);
  }
  if (const auto rows = contradiction<Dim>(points)) {
    const auto [first, second] = *rows;
    throw FileError(concat(path.string(), ": rows ", first + 1, " and ", second + 1,
                           " have z = ", table.at(static_cast<std::int64_t>(first), Dim - 1),
                           " and ", table.at(static_cast<std::int64_t>(second), Dim - 1), " at ",
                           position_text<Dim>(points[second]),
                           " (allowed: one value at a position): remove one"));
  }
  return points;
}

template <int Dim>
std::vector<unsigned char> ground_mask(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                       const PickSet<Dim>& picks) {
  const auto nodes = static_cast<std::size_t>(grid.size());
  if (ground.depth.empty()) return std::vector<unsigned char>(nodes, 1);
  if (static_cast<std::int64_t>(ground.depth.size()) != columns_of<Dim>(grid)) {
    throw InputError(concat("the ground has ", ground.depth.size(), " depths (allowed: ",
                            columns_of<Dim>(grid), ", one for each column of nodes)"));
  }
  constexpr int z = Dim - 1;
  std::vector<unsigned char> below(nodes, 0), mask(nodes, 0);
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const double depth = grid.position(grid.node(i))[z];
    const auto column = static_cast<std::size_t>(i / grid.extents[z]);
    below[static_cast<std::size_t>(i)] = depth >= ground.depth[column] - 1e-6 * grid.spacing[z];
  }
  // nodes of a cell, by the node at its lower corner
  const auto fill_cell = [&](const Index<Dim>& cell) {
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      Index<Dim> node = cell;
      bool exists = true;
      for (int d = 0; d < Dim; ++d) {
        node[d] += (corner >> d) & 1;
        exists = exists && node[d] >= 0 && node[d] < grid.extents[d];
      }
      if (exists) mask[static_cast<std::size_t>(grid.flat(node))] = 1;
    }
  };
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    if (below[static_cast<std::size_t>(i)] == 0) continue;
    const Index<Dim> node = grid.node(i);
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      Index<Dim> cell = node;
      bool exists = true;
      for (int d = 0; d < Dim; ++d) {
        cell[d] -= (corner >> d) & 1;
        exists = exists && cell[d] >= 0 && cell[d] + 1 < std::max<std::int64_t>(grid.extents[d], 2);
      }
      if (exists) fill_cell(cell);
    }
  }
  for_each_point<Dim>(picks, [&](const Point<Dim>& p, const auto& text) {
    const double height = -depth_below<Dim>(grid, ground, p);
    if (height > 2.0 * grid.spacing[z]) {
      throw InputError(concat(text(), " is ", readable(height),
                              " m above the ground (allowed: up to two nodes): correct its depth, "
                              "or the topography"));
    }
    const Point<Dim> q = grid.to_index_space(p);
    Index<Dim> cell{};
    for (int d = 0; d < Dim; ++d) {
      cell[d] = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(q[d] + 1e-9)), 0,
                                         std::max<std::int64_t>(grid.extents[d] - 2, 0));
    }
    fill_cell(cell);
  });
  return mask;
}

template <int Dim>
double depth_below(const Grid<Dim>& grid, const Ground<Dim>& ground,
                   const std::type_identity_t<Point<Dim>>& point) {
  constexpr int z = Dim - 1;
  if (ground.depth.empty()) return point[z] - grid.origin[z];
  const Point<Dim> q = grid.to_index_space(point);
  double depth = 0.0;
  for (int corner = 0; corner < (1 << z); ++corner) {
    double weight = 1.0;
    std::int64_t column = 0;
    for (int d = 0; d < z; ++d) {
      const double last = static_cast<double>(grid.extents[d] - 1);
      const double at = std::clamp(q[d], 0.0, last);
      const double lower = std::min(std::floor(at), std::max(last - 1.0, 0.0));
      const bool upper = (corner >> d) & 1;
      weight *= upper ? at - lower : 1.0 - (at - lower);
      const auto node = static_cast<std::int64_t>(lower) + (upper ? 1 : 0);
      column = column * grid.extents[d] + std::min(node, grid.extents[d] - 1);
    }
    depth += weight * ground.depth[static_cast<std::size_t>(column)];
  }
  return point[z] - depth;
}

template Grid<2> plan_grid<2>(const PickSet<2>&, double, double, const GridRequest<2>&);
template Grid<3> plan_grid<3>(const PickSet<3>&, double, double, const GridRequest<3>&);
template <int Dim>
void fill_air(const Grid<Dim>& grid, const std::vector<unsigned char>& mask,
              std::vector<double>& values) {
  if (mask.empty()) return;
  const auto deep = static_cast<std::size_t>(grid.extents[Dim - 1]);
  for (std::size_t column = 0; column < values.size(); column += deep) {
    std::size_t top = 0;
    while (top < deep && mask[column + top] == 0) ++top;
    for (std::size_t i = 0; top < deep && i < top; ++i) values[column + i] = values[column + top];
  }
}

template Points<2> read_ground_table<2>(const std::filesystem::path&, bool);
template Points<3> read_ground_table<3>(const std::filesystem::path&, bool);
template Ground<2> ground_of_table<2>(const Points<2>&, const Grid<2>&);
template Ground<3> ground_of_table<3>(const Points<3>&, const Grid<3>&);
template std::vector<unsigned char> ground_mask<2>(const Grid<2>&, const Ground<2>&,
                                                   const PickSet<2>&);
template std::vector<unsigned char> ground_mask<3>(const Grid<3>&, const Ground<3>&,
                                                   const PickSet<3>&);
template void fill_air<2>(const Grid<2>&, const std::vector<unsigned char>&, std::vector<double>&);
template void fill_air<3>(const Grid<3>&, const std::vector<unsigned char>&, std::vector<double>&);
template double depth_below<2>(const Grid<2>&, const Ground<2>&, const Point<2>&);
template double depth_below<3>(const Grid<3>&, const Ground<3>&, const Point<3>&);

}  // namespace moho::tomography
