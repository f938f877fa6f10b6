// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/eikonal/types.hpp>
#include <moho/tomography/check.hpp>
#include <moho/tomography/damping.hpp>
#include <moho/tomography/detail/places.hpp>
#include <moho/tomography/interpolation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace moho::tomography {

namespace {

// Thomsen's parameters, and what their media exclude.
template <int Dim>
void check_vti(const Grid<Dim>& grid, const std::vector<unsigned char>& mask,
               const Options<Dim>& o) {
  if (o.epsilon.empty() && o.delta.empty()) return;
  for (const auto* list : {&o.epsilon, &o.delta}) {
    if (list->empty() || static_cast<std::int64_t>(list->size()) == grid.size()) continue;
    throw InputError(concat(o.names(list == &o.epsilon ? "epsilon" : "delta"), " has ",
                            list->size(), " values (allowed: ", grid.size(),
                            ", those of the grid)"));
  }
  for (const auto* list : {&o.epsilon, &o.delta}) {
    for (const double value : *list) {
      if (value >= eikonal::min_thomsen && value <= eikonal::max_thomsen) continue;
      throw InputError(concat(o.names(list == &o.epsilon ? "epsilon" : "delta"), " is ", value,
                              " at a node (allowed: ", eikonal::min_thomsen, " to ",
                              eikonal::max_thomsen, "): correct the file or the number"));
    }
  }
  if (o.times == Times::graph) {
    throw InputError(concat(o.names("times"),
                            ": those of the graph were requested for a VTI medium (allowed: "
                            "eikonal): leave them to be chosen, or leave ",
                            o.names("epsilon"), " and ", o.names("delta"), " out"));
  }
  if (std::count(mask.begin(), mask.end(), 0) > 0) {
    throw InputError(
        concat("a VTI medium was given for a grid with air above the ground (allowed: grids "
               "without air): take ",
               o.names("an empty ground"), ", or leave ", o.names("epsilon"), " and ",
               o.names("delta"), " out"));
  }
}

// A pick without an offset has no ray; a time beyond its errors is a delay of the trigger.
template <int Dim>
void check_offsets(const PickSet<Dim>& picks, const Options<Dim>& o) {
  for (const Pick& pick : picks.picks) {
    const Point<Dim>& a = picks.sources[static_cast<std::size_t>(pick.source)];
    const Point<Dim>& b = picks.receivers[static_cast<std::size_t>(pick.receiver)];
    bool same = true;
    for (int d = 0; d < Dim; ++d) same = same && a[d] == b[d];
    if (!same) continue;
    const double sigma =
        pick.error > 0.0 ? pick.error : o.error_absolute + o.error_relative * pick.time;
    throw InputError(concat(
        detail::pick_text<Dim>(picks, pick), ", ", pick.time,
        " s, has source and receiver at one point (allowed: different points): leave it out",
        pick.time > 3.0 * sigma
            ? concat("; its time is more than 3 errors, a delay of the trigger: subtract it from "
                     "the times of its source, or take ",
                     o.names("delays of sources"), " as unknown")
            : ""));
  }
}

template <int Dim>
void check_location(const Location<Dim>& location, const ArgumentNames& names) {
  if (!location.unknown) return;
  double largest = location.origin_deviation;
  bool valid = std::isfinite(largest) && largest >= 0.0;
  for (int d = 0; d < Dim; ++d) {
    valid = valid && std::isfinite(location.deviation[d]) && location.deviation[d] >= 0.0;
    largest = std::max(largest, location.deviation[d]);
  }
  if (valid && largest > 0.0) return;
  throw InputError(concat(names("location"),
                          ": the standard deviations of positions and origin times are not "
                          "positive (allowed: 0 or more m and s, at least one above 0): give how "
                          "well the positions are known"));
}

// The inverse of the prior, which some options need, is inaccurate for lengths far beyond the grid.
template <int Dim>
void check_invertible(const Grid<Dim>& unknowns, const Options<Dim>& o, const char* option) {
  for (int d = 0; d < Dim; ++d) {
    const double max = 1e6 * unknowns.spacing[d];
    if (o.prior.lengths[d] <= max || unknowns.extents[d] < 2) continue;
    throw InputError(concat(o.names("lengths"), ": the prior's length along ", axis_name<Dim>(d),
                            " is ", o.prior.lengths[d], " m (allowed with ", o.names(option),
                            ": up to ", max, " m, 1e6 distances of unknowns): give a shorter ",
                            "length, or do without ", o.names(option)));
  }
}

// A model has the size of the grid, and its velocities are positive and within the bounds.
template <int Dim>
void check_velocity(const Grid<Dim>& grid, const std::vector<double>& velocity,
                    const std::vector<unsigned char>& mask, const Options<Dim>& o,
                    const char* name) {
  if (static_cast<std::int64_t>(velocity.size()) != grid.size()) {
    throw InputError(concat(o.names(name), ": the ", name, " model has ", velocity.size(),
                            " nodes (allowed: ", grid.size(), ", those of the grid)"));
  }
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    if (mask[i] == 0) continue;
    const double v = velocity[i];
    const bool outside = o.velocity_max > 0.0 && (v < o.velocity_min || v > o.velocity_max);
    if (v > 0.0 && std::isfinite(v) && !outside) continue;
    throw InputError(concat(o.names(name), ": the ", name, " model has ", v, " m/s at ",
                            format_point(grid.position(grid.node(static_cast<std::int64_t>(i)))),
                            " m (allowed: ", outside ? "the bounds" : "positive and finite",
                            "): correct the ", name, " model",
                            outside ? concat(" or ", o.names("bounds")) : ""));
  }
}

// Throws InputError for a number that is not above a limit, or not at it.
void check_number(const std::string& name, double value, bool zero) {
  if (std::isfinite(value) && (value > 0.0 || (zero && value == 0.0))) return;
  throw InputError(
      concat(name, " is ", value, " (allowed: ", zero ? "0 or " : "", "positive numbers)"));
}

}  // namespace

template <int Dim>
const PickSet<Dim>& check_numbers(const PickSet<Dim>& set, const Options<Dim>& o) {
  if (set.picks.empty()) throw InputError("picks: there are none (allowed: one or more)");
  for (std::size_t k = 0; k < set.picks.size(); ++k) {
    const Pick& pick = set.picks[k];
    const auto in = [](int at, std::size_t count) {
      return at >= 0 && static_cast<std::size_t>(at) < count;
    };
    const auto from_zero = [](double value) { return std::isfinite(value) && value >= 0.0; };
    if (in(pick.source, set.sources.size()) && in(pick.receiver, set.receivers.size()) &&
        from_zero(pick.time) && pick.time > 0.0 && from_zero(pick.error) &&
        from_zero(pick.weight)) {
      continue;
    }
    throw InputError(
        concat("picks: pick ", k + 1, " has source ", pick.source, ", receiver ", pick.receiver,
               ", time ", pick.time, " s, error ", pick.error, " s and weight ", pick.weight,
               " (allowed: sources from 0 to ", set.sources.size() - 1, ", receivers from 0 to ",
               set.receivers.size() - 1, ", positive times, and errors and weights of 0 or more)"));
  }
  if (o.krylov < 1 || o.iterations < 0) {
    throw InputError(concat(o.names("krylov"), " is ", o.krylov, " and ", o.names("iterations"),
                            " ", o.iterations, " (allowed: 1 or more, and 0 or more)"));
  }
  check_number(o.names("target"), o.target, false);
  check_number(o.names("tolerance"), o.tolerance, false);
  check_number(o.names("deviation_max"), o.prior.deviation_max, false);
  if (o.rule == DampingRule::fixed) check_number(o.names("lambda"), o.lambda, false);
  check_number(o.names("error_absolute"), o.error_absolute, true);
  check_number(o.names("error_relative"), o.error_relative, true);
  check_number(o.names("bounds"), o.velocity_max, true);
  if (o.statics != Statics::none) {
    check_number(o.names("static_deviation"), o.static_deviation, false);
  }
  return set;
}

template <int Dim>
void check_input(const Grid<Dim>& grid, const PickSet<Dim>& picks, const std::vector<double>& start,
                 const std::vector<unsigned char>& mask, const Options<Dim>& o) {
  const Grid<Dim> unknowns = Interpolation<Dim>(grid, o.coarsening).grid();
  if (o.times == Times::eikonal && std::count(mask.begin(), mask.end(), 0) > 0) {
    throw InputError(concat(o.names("times"),
                            ": those of the eikonal equation were requested for a grid with air "
                            "above the ground (allowed: grids without air): take times of the "
                            "graph, or ",
                            o.names("an empty ground")));
  }
  if (unknowns.size() > 2147483647) {
    throw InputError(concat("the grid of the unknowns has ", unknowns.size(),
                            " nodes (allowed: 2147483647): take a larger ", o.names("coarsening"),
                            " or ", o.names("spacing")));
  }
  check_offsets<Dim>(picks, o);
  check_vti<Dim>(grid, mask, o);
  check_location<Dim>(o.location, o.names);
  const bool errors = o.error_absolute > 0.0 || o.error_relative > 0.0;
  for (const Pick& pick : picks.picks) {
    if (pick.error > 0.0 || errors) continue;
    throw InputError(
        "the picks have no errors, and none were given: give an absolute error in "
        "seconds and a relative one, for example 0.0005 and 0.02");
  }
  for (int d = 0; d < Dim; ++d) {
    if (o.prior.lengths[d] >= unknowns.spacing[d] || unknowns.extents[d] < 2) continue;
    throw InputError(concat(o.names("lengths"), ": the prior's length along ", axis_name<Dim>(d),
                            " is ", o.prior.lengths[d], " m (allowed: ", unknowns.spacing[d],
                            " m, the distance of unknowns, or more)"));
  }
  if (o.velocity_max > 0.0) check_invertible<Dim>(unknowns, o, "bounds");
  if (o.velocity_max > 0.0 && !(o.velocity_min > 0.0 && o.velocity_min < o.velocity_max)) {
    throw InputError(concat(o.names("bounds"), ": velocities of ", o.velocity_min, " to ",
                            o.velocity_max, " m/s (allowed: 0 < lower < upper)"));
  }
  check_velocity<Dim>(grid, start, mask, o, "start");
  if (o.reference.empty()) return;
  check_invertible<Dim>(unknowns, o, "reference");
  check_velocity<Dim>(grid, o.reference, mask, o, "reference");
}

template <int Dim>
bool uses_eikonal(const Options<Dim>& options, const std::vector<unsigned char>& mask) {
  if (options.times != Times::automatic) return options.times == Times::eikonal;
  if (!options.epsilon.empty() || !options.delta.empty()) return true;
  return Dim == 3 && std::count(mask.begin(), mask.end(), 0) == 0;
}

template <int Dim>
std::pair<double, double> error_range(const PickSet<Dim>& picks, const Options<Dim>& options) {
  double min = std::numeric_limits<double>::infinity(), max = 0.0;
  for (const Pick& pick : picks.picks) {
    const double sigma =
        pick.error > 0.0 ? pick.error : options.error_absolute + options.error_relative * pick.time;
    min = std::min(min, sigma);
    max = std::max(max, sigma);
  }
  return {min, max};
}

template <int Dim>
InversionBytes estimate_bytes(const Grid<Dim>& grid, const PickSet<Dim>& picks,
                              const Options<Dim>& options, bool double_precision) {
  const auto count = static_cast<double>(picks.picks.size());
  const auto sources = static_cast<double>(picks.sources.size());
  const auto nodes = static_cast<double>(grid.size());
  double unknowns = 1.0, diagonal = 0.0;
  for (int d = 0; d < Dim; ++d) {
    const auto along = static_cast<double>(grid.extents[d]);
    unknowns *= std::ceil(along / options.coarsening) + 1.0;
    diagonal += along;
  }
  // a ray of half of the diagonal meets 2^(Dim - 1) + 1 nodes a cell
  const double entries = count * 0.5 * diagonal * (Dim == 2 ? 3.0 : 5.0);
  const int steps = max_steps(options.krylov, options.rule, static_cast<std::int64_t>(count),
                              static_cast<std::int64_t>(unknowns));
  return {nodes * 8.0 * 8.0, entries * 12.0 * 4.0, (unknowns + count) * 8.0 * (steps + 8),
          nodes * (double_precision ? 18.0 : 10.0) * std::min(sources, 64.0)};
}

template std::pair<double, double> error_range<2>(const PickSet<2>&, const Options<2>&);
template std::pair<double, double> error_range<3>(const PickSet<3>&, const Options<3>&);
template InversionBytes estimate_bytes<2>(const Grid<2>&, const PickSet<2>&, const Options<2>&,
                                          bool);
template InversionBytes estimate_bytes<3>(const Grid<3>&, const PickSet<3>&, const Options<3>&,
                                          bool);
template bool uses_eikonal<2>(const Options<2>&, const std::vector<unsigned char>&);
template bool uses_eikonal<3>(const Options<3>&, const std::vector<unsigned char>&);
template const PickSet<2>& check_numbers<2>(const PickSet<2>&, const Options<2>&);
template const PickSet<3>& check_numbers<3>(const PickSet<3>&, const Options<3>&);
template void check_input<2>(const Grid<2>&, const PickSet<2>&, const std::vector<double>&,
                             const std::vector<unsigned char>&, const Options<2>&);
template void check_input<3>(const Grid<3>&, const PickSet<3>&, const std::vector<double>&,
                             const std::vector<unsigned char>&, const Options<3>&);

}  // namespace moho::tomography
