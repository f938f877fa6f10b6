// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/text.hpp>
#include <moho/tomography/detail/places.hpp>
#include <moho/tomography/remarks.hpp>

#include <algorithm>
#include <cmath>

namespace moho::tomography {

namespace {

// The part of a segment that is within `width` of a face. \param a,b distances of its ends
double part_within(double a, double b, double width) {
  const double low = std::min(a, b), high = std::max(a, b);
  if (high <= width) return 1.0;
  return low >= width ? 0.0 : (width - low) / (high - low);
}

}  // namespace

template <int Dim>
EdgeRays edge_rays(const Grid<Dim>& grid, const rays::RayPaths<Dim>& paths) {
  constexpr int z = Dim - 1;
  EdgeRays result;
  double node = 0.0;
  for (int d = 0; d < Dim; ++d) node = std::max(node, grid.spacing[d]);
  for (std::size_t k = 0; k + 1 < paths.first.size(); ++k) {
    double bottom = 0.0, sides[2 * Dim] = {};
    for (auto i = paths.first[k]; i + 1 < paths.first[k + 1]; ++i) {
      const Point<Dim>& a = paths.points[static_cast<std::size_t>(i)];
      const Point<Dim>& b = paths.points[static_cast<std::size_t>(i) + 1];
      double square = 0.0;
      for (int d = 0; d < Dim; ++d) square += (b[d] - a[d]) * (b[d] - a[d]);
      const double length = std::sqrt(square);
      for (int d = 0; d < Dim; ++d) {
        if (grid.extents[d] < 3) continue;  // a plane
        const double width = 0.25 * grid.spacing[d], low = grid.origin[d], high = grid.upper(d);
        double& upper = d == z ? bottom : sides[2 * d];
        upper += length * part_within(high - a[d], high - b[d], width);
        if (d < z) sides[2 * d + 1] += length * part_within(a[d] - low, b[d] - low, width);
      }
    }
    ++result.picks;
    result.bottom += bottom > 4.0 * node;
    result.sides += *std::max_element(sides, sides + 2 * Dim) > 4.0 * node;
  }
  return result;
}

std::vector<std::string> describe_edges(const EdgeRays& rays, const ArgumentNames& names) {
  std::vector<std::string> lines;
  const auto add = [&](std::int64_t count, const char* where, const std::string& name) {
    const double share = static_cast<double>(count) / static_cast<double>(rays.picks);
    if (!(share > 0.02)) return;
    lines.push_back(concat("rays of ", count, " of ", rays.picks, " picks (",
                           text::significant(100.0 * share, 2), " %) run along the ", where,
                           " of the grid, which keeps them in: take a greater ", name));
  };
  add(rays.bottom, "bottom", names("depth"));
  add(rays.sides, "sides", names("margin"));
  return lines;
}

template <int Dim>
std::vector<std::string> remarks_on_options(const PickSet<Dim>& picks,
                                            const Options<Dim>& options) {
  std::vector<std::string> remarks;
  std::size_t large = 0;
  for (const Pick& pick : picks.picks) {
    const double sigma =
        pick.error > 0.0 ? pick.error : options.error_absolute + options.error_relative * pick.time;
    large += sigma > pick.time ? 1 : 0;
  }
  if (2 * large > picks.picks.size()) {
    remarks.push_back(concat("errors of ", large, " of ", picks.picks.size(),
                             " picks are larger than their times: ",
                             options.names("an error of all picks"), " is in seconds"));
  }
  const bool delays = options.statics == Statics::source || options.statics == Statics::both;
  if (options.location.unknown && delays && options.location.origin_deviation > 0.0) {
    remarks.push_back(concat("origin times and delays of sources are the same to the picks: do ",
                             "without ", options.names("delays of sources"), ", or give ",
                             options.names("origin_deviation"), " 0"));
  }
  return remarks;
}

template <int Dim>
std::vector<std::string> remarks_on_bounds(const Options<Dim>& options) {
  if (options.velocity_max <= 0.0 || options.velocity_max >= 20.0) return {};
  return {concat(options.names("bounds"), " allow no velocity beyond ", options.velocity_max,
                 " m/s: are they in km/s? Give m/s")};
}

template <int Dim>
std::vector<std::string> remarks_on_ground(const Points<Dim>& table, const Grid<Dim>& grid,
                                           const PickSet<Dim>& picks) {
  if (table.empty()) return {};
  Point<Dim> low = table.front(), high = low;
  for (const Point<Dim>& p : table) {
    for (int d = 0; d + 1 < Dim; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  const auto is_beyond = [&](const Point<Dim>& p) {
    bool beyond = false;
    for (int d = 0; d + 1 < Dim; ++d) {
      beyond = beyond || low[d] - p[d] > grid.spacing[d] || p[d] - high[d] > grid.spacing[d];
    }
    return beyond;
  };
  const auto receivers = std::count_if(picks.receivers.begin(), picks.receivers.end(), is_beyond);
  const auto sources = std::count_if(picks.sources.begin(), picks.sources.end(), is_beyond);
  if (receivers + sources == 0) return {};
  const auto first_of = [&](const Points<Dim>& points) {
    const auto first = std::find_if(points.begin(), points.end(), is_beyond);
    return static_cast<std::size_t>(first - points.begin());
  };
  std::string range;
  for (int d = 0; d + 1 < Dim; ++d) {
    range += concat(d == 0 ? "x = " : ", y = ", readable(low[d]), " to ", readable(high[d]));
  }
  const std::string first = sources > 0
                                ? detail::source_text<Dim>(picks, first_of(picks.sources))
                                : detail::receiver_text<Dim>(picks, first_of(picks.receivers));
  const std::string others =
      receivers + sources > 1 ? concat(" the first of ", receivers + sources, " stations") : "";
  return {concat("the table of the ground ends at ", range, " m: ", first, " is", others,
                 " beyond it, where the ground continues level")};
}

template <int Dim>
std::vector<std::string> cut_to_bounds(std::vector<double>& velocity, const Options<Dim>& options) {
  std::size_t changed = 0;
  for (double& v : velocity) {
    const double inside = std::clamp(v, options.velocity_min, options.velocity_max);
    changed += inside != v ? 1 : 0;
    v = inside;
  }
  if (changed == 0) return {};
  return {concat("the start model is cut to ", options.names("bounds"), " at ", changed, " of ",
                 velocity.size(), " nodes")};
}

template <int Dim>
std::vector<std::string> remarks_on_unused(const Options<Dim>& options,
                                           const std::set<std::string>& given) {
  std::vector<std::string> remarks;
  const std::string prior = options.names("deviation_max");
  const bool fixed = options.rule == DampingRule::fixed;
  if (fixed && given.count(prior) > 0) {
    remarks.push_back(
        concat(prior, " has no effect on the damping: ", options.names("lambda"), " fixes it"));
  }
  // where all steps leave the bounds, the search goes back to a model of the target
  const bool bounded = options.velocity_max > 0.0;
  if (!fixed && (options.rule != DampingRule::gcv || bounded)) return remarks;
  for (const char* name : {"target", "tolerance"}) {
    const std::string unused = options.names(name);
    if (given.count(unused) == 0) continue;
    remarks.push_back(
        concat(unused, " has no effect with ", fixed ? options.names("lambda") : "gcv"));
  }
  return remarks;
}

template <int Dim>
std::string describe_gcv(const IterationReport& last, std::size_t picks,
                         const Options<Dim>& options) {
  if (options.rule != DampingRule::gcv || 2.0 * last.dof < last.krylov ||
      static_cast<std::size_t>(last.krylov) >= picks) {
    return "";
  }
  return concat("a basis of ", last.krylov, " vectors limits the lambda of gcv, with ",
                text::significant(last.dof, 3), " degrees of freedom: take a greater ",
                options.names("krylov"));
}

template <int Dim>
FitSummary summarise_fits(const PickSet<Dim>& picks, const std::vector<PickFit>& fits) {
  FitSummary result;
  double all = 0.0, weights = 0.0, good = 0.0, good_weights = 0.0;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    const double weight = picks.picks[k].weight, z = fits[k].z();
    all += weight * z * z;
    weights += weight;
    ++result.picks;
    if (std::abs(z) > 4.0) {
      ++result.flagged;
      continue;
    }
    good += weight * z * z;
    good_weights += weight;
  }
  if (weights > 0.0) result.chi2 = all / weights;
  if (good_weights > 0.0) result.chi2_unflagged = good / good_weights;
  return result;
}

std::string describe_fit(const FitSummary& fit) {
  return concat("without robust weights chi^2 is ", text::significant(fit.chi2_unflagged, 4),
                " of ", fit.picks - fit.flagged, " picks that are not flagged, ",
                text::significant(fit.chi2, 4), " of all");
}

namespace {

// A station of a line, by x and z.
struct LineStation {
  double x, z;
  bool receiver;
  std::size_t number;
  bool alone;  // no other point has its x
};

// The highest station at each place, by x.
std::vector<LineStation> stations_of_line(const PickSet<2>& picks) {
  std::vector<LineStation> all;
  for (std::size_t k = 0; k < picks.sources.size(); ++k) {
    all.push_back({picks.sources[k][0], picks.sources[k][1], false, k, true});
  }
  for (std::size_t k = 0; k < picks.receivers.size(); ++k) {
    all.push_back({picks.receivers[k][0], picks.receivers[k][1], true, k, true});
  }
  std::stable_sort(all.begin(), all.end(), [](const LineStation& a, const LineStation& b) {
    return a.x != b.x ? a.x < b.x : a.z < b.z;
  });
  std::vector<LineStation> line;
  for (const LineStation& one : all) {
    if (line.empty() || one.x > line.back().x) {
      line.push_back(one);
    } else if (one.z > line.back().z) {
      line.back().alone = false;
    }
  }
  return line;
}

// z of a station below the line through its neighbours, the distance to the nearer one, and how far
// it is at least above or below both: at the edge of a cliff it is level with one.
struct HeightOffLine {
  double below, near, min;
};

HeightOffLine height_off_line(const std::vector<LineStation>& line, std::size_t k) {
  const LineStation& at = line[k];
  if (k == 0 || k + 1 == line.size()) {
    const LineStation& other = line[k == 0 ? 1 : k - 1];
    const double below = at.z - other.z;
    return {below, 2.0 * std::abs(at.x - other.x), std::abs(below)};
  }
  const LineStation &a = line[k - 1], &b = line[k + 1];
  const double z = a.z + (b.z - a.z) * (at.x - a.x) / (b.x - a.x);
  const double from_a = at.z - a.z, from_b = at.z - b.z;
  return {at.z - z, std::min(at.x - a.x, b.x - at.x),
          from_a * from_b > 0.0 ? std::min(std::abs(from_a), std::abs(from_b)) : 0.0};
}

}  // namespace

std::vector<std::string> odd_heights(const PickSet<2>& picks, std::size_t max) {
  std::vector<LineStation> line = stations_of_line(picks);
  if (line.size() < 5) return {};
  std::vector<double> sizes;
  for (std::size_t k = 0; k < line.size(); ++k) {
    sizes.push_back(std::abs(height_off_line(line, k).below));
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double usual = 8.0 * *middle;
  std::vector<std::string> high, low;
  while (line.size() >= 5) {
    double largest = 0.0;
    std::size_t found = line.size();
    for (std::size_t k = 0; k < line.size(); ++k) {
      const HeightOffLine h = height_off_line(line, k);
      const double excess = h.min - std::max(0.5 * h.near, usual);
      if (excess <= largest) continue;
      largest = excess;
      found = k;
    }
    if (found == line.size()) break;
    const LineStation one = line[found];
    const double below = height_off_line(line, found).below;
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(found));
    if (below > 0.0 && !(one.receiver && one.alone)) continue;
    const std::string name = one.receiver ? detail::receiver_text<2>(picks, one.number)
                                          : detail::source_text<2>(picks, one.number);
    (below > 0.0 ? low : high)
        .push_back(concat(name, " is ", text::significant(std::abs(below), 3), " m ",
                          below > 0.0 ? "below" : "above",
                          " the line through its neighbours: is its height right?"));
  }
  if (low.size() <= 3) high.insert(high.end(), low.begin(), low.end());
  if (high.size() > max) high.resize(max);
  return high;
}

template EdgeRays edge_rays<2>(const Grid<2>&, const rays::RayPaths<2>&);
template EdgeRays edge_rays<3>(const Grid<3>&, const rays::RayPaths<3>&);
template std::vector<std::string> remarks_on_options<2>(const PickSet<2>&, const Options<2>&);
template std::vector<std::string> remarks_on_options<3>(const PickSet<3>&, const Options<3>&);
template std::vector<std::string> remarks_on_bounds<2>(const Options<2>&);
template std::vector<std::string> remarks_on_bounds<3>(const Options<3>&);
template std::vector<std::string> remarks_on_ground<2>(const Points<2>&, const Grid<2>&,
                                                       const PickSet<2>&);
template std::vector<std::string> remarks_on_ground<3>(const Points<3>&, const Grid<3>&,
                                                       const PickSet<3>&);
template std::vector<std::string> cut_to_bounds<2>(std::vector<double>&, const Options<2>&);
template std::vector<std::string> cut_to_bounds<3>(std::vector<double>&, const Options<3>&);
template std::vector<std::string> remarks_on_unused<2>(const Options<2>&,
                                                       const std::set<std::string>&);
template std::vector<std::string> remarks_on_unused<3>(const Options<3>&,
                                                       const std::set<std::string>&);
template std::string describe_gcv<2>(const IterationReport&, std::size_t, const Options<2>&);
template std::string describe_gcv<3>(const IterationReport&, std::size_t, const Options<3>&);
template FitSummary summarise_fits<2>(const PickSet<2>&, const std::vector<PickFit>&);
template FitSummary summarise_fits<3>(const PickSet<3>&, const std::vector<PickFit>&);

}  // namespace moho::tomography
