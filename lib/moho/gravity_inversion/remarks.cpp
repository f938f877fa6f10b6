// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/remarks.hpp>

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace moho::gravity_inversion {

namespace {

// "1 station is", "all 5 stations are", "3 of 5 stations are".
std::string stations_are(std::int64_t count, std::int64_t all) {
  if (count == 1) return "1 station is";
  return concat(count == all ? "all " : "", count, count == all ? "" : concat(" of ", all),
                " stations are");
}

// Row and z of a station.
std::string first_row(const std::vector<double>& stations, std::int64_t station) {
  return concat("the first is row ", station + 1,
                ", z = ", stations[3 * static_cast<std::size_t>(station) + 2], " m");
}

}  // namespace

ArgumentNames option_names(const std::string& automatic, const std::string& further) {
  return {{"rounds", "--rounds"},
          {"compact", "--compact"},
          {"beta", "--beta"},
          {"automatic beta", automatic},
          {"errors", "--errors"},
          {"trend", "--trend"},
          {"bounds", "--bounds"},
          {"method", "--method"},
          {"iterations", "--iterations"},
          {"mesh", "--mesh"},
          {"topography", "--topography"},
          {"further rounds", further},
          {"change the sign", "change the sign, or name the column elevation"}};
}

std::vector<std::string> remarks_on_stations(const Cells& cells,
                                             const std::vector<double>& stations,
                                             const Heights& heights, bool ground,
                                             const ArgumentNames& names) {
  std::vector<std::string> remarks;
  const auto all = static_cast<std::int64_t>(stations.size() / 3);
  const StrangeStations strange = strange_stations(cells, stations);
  const std::string level = concat(" below the ", ground ? "ground" : "top of the cells");
  if (2 * std::max(strange.inside, heights.below) > all && all > 1) {
    const bool inside = 2 * strange.inside > all;
    remarks.push_back(concat(
        stations_are(inside ? strange.inside : heights.below, all),
        inside ? " inside of cells (rock)" : level, ", ",
        first_row(stations, inside ? strange.first_inside : heights.first),
        ": nearly surely z has the wrong sign. z points down, a station 100 m above z = 0 has z = "
        "-100: ",
        names("change the sign")));
  } else if (strange.inside > 0) {
    remarks.push_back(concat(
        stations_are(strange.inside, all), " inside of cells (rock), ",
        first_row(stations, strange.first_inside),
        ": their values are taken as those of a borehole, with rock above them. Unless they are, z "
        "has the wrong sign (it points down) or ",
        names("topography"), " is missing"));
  } else if (heights.below > 0) {
    remarks.push_back(concat(stations_are(heights.below, all), level, ", ",
                             first_row(stations, heights.first),
                             " (z points down: stations above z = 0 have a negative z)"));
  }
  if (strange.far == 0) return remarks;
  const double* const p = &stations[3 * static_cast<std::size_t>(strange.first_far)];
  remarks.push_back(concat(
      stations_are(strange.far, all), " farther from the cells than their width of ", strange.width,
      " m, the first is row ", strange.first_far + 1, ", x = ", p[0], ", y = ", p[1], ", z = ",
      p[2], " m: they sense the cells little. Check their coordinates and ", names("mesh")));
  return remarks;
}

std::string remark_on_unused(const std::string& name,
                             const std::map<gravity::Component, double>& values,
                             const gravity::Components& inverted) {
  std::string names;
  for (const auto& [component, value] : values) {
    if (std::find(inverted.begin(), inverted.end(), component) != inverted.end()) continue;
    names += (names.empty() ? "" : ", ") + std::string(gravity::to_string(component));
  }
  return names.empty() ? "" : concat(name, " has no effect on ", names, ", which is not inverted");
}

std::vector<std::string> remarks_on_options(const InversionProblem& problem,
                                            const InversionOptions& options) {
  std::vector<std::string> remarks;
  if (options.compact == 0.0 && options.rounds != InversionOptions().rounds) {
    remarks.push_back(
        concat(options.names("rounds"), " has no effect without ", options.names("compact")));
  }
  if (problem.lower.empty() && problem.upper.empty()) {
    if (options.compact > 0.0) {
      remarks.push_back("compact rounds without bounds: contrasts may grow without a limit");
    }
    return remarks;
  }
  double largest = 0.0;
  for (const auto* bounds : {&problem.lower, &problem.upper}) {
    for (const double density : *bounds) largest = std::max(largest, std::abs(density));
  }
  if (largest > 0.0 && largest < 10.0) {
    remarks.push_back(concat("bounds allow no density beyond ", largest,
                             " kg/m^3: are they in g/cm^3? Give kg/m^3"));
  }
  return remarks;
}

bool is_above_target(const InversionOptions& options, double chi2) {
  return chi2 > (1.0 + options.tolerance) * options.target;
}

std::string advice_on(const InversionOptions& options, const InversionState& state, double chi2) {
  if (!is_above_target(options, chi2)) return "";
  const ArgumentNames& names = options.names;
  std::string advice = concat("chi2 ", text::significant(chi2, 4), " is above the target ",
                              options.target, ": the data are not fitted to their errors. ");
  const auto& history = state.history;
  const auto smooth = std::find_if(history.rbegin(), history.rend(), [](const InversionStep& step) {
    return step.stage == "smooth";
  });
  if (options.beta > 0.0) {
    advice += concat("Give a smaller ", names("beta"), " than ", options.beta, ", or ",
                     names("automatic beta"));
  } else if (state.round > 0 && smooth != history.rend() &&
             !is_above_target(options, smooth->chi2)) {
    advice += concat("The smooth model was fitted: give ", names("further rounds"),
                     ", or a larger ", names("compact"));
  } else {
    advice += concat("Check ", names("errors"), ", ", names("trend"),
                     ", extent and size of the cells, and ", names("bounds"));
  }
  const bool limit = !history.empty() && history.back().iterations >= options.iterations;
  return advice +
         (limit ? concat("; or more ", names("iterations"), " than ", options.iterations) : "");
}

}  // namespace moho::gravity_inversion
