// SPDX-License-Identifier: BSD-3-Clause
#include "model_gravity/input.hpp"

#include "app/format.hpp"
#include "app/memory.hpp"

#include <moho/gravity/ensemble.hpp>
#include <moho/gravity/fmm.hpp>
#include <moho/gravity/magnetic_job.hpp>
#include <moho/gravity/overlap.hpp>
#include <moho/gravity/synthetic.hpp>
#include <moho/io/csv.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/point_tables.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <regex>

namespace moho::examples::model_gravity {

namespace {

void load_stations(const Options& o, Input& input) {
  if (!o.stations_file.empty()) {
    input.stations = io::read_rows("--stations", o.stations_file, {"x", "y", "z"}, input.notes);
    input.stations_name = "--stations " + o.stations_file;
    return;
  }
  if (!o.grid) {
    input.stations = gravity::seven_sphere_stations();
    input.stations_name = "the paper's stations";
    const StationGrid grid{150, 100, 22000.0 / 150.0, 220.0, 11000.0 / 150.0, 110.0};
    input.grid = grid;
    return;
  }
  const StationGrid& grid = *o.grid;
  const double results = 8.0 * static_cast<double>(quantities(o).size());
  check_host_memory(concat("--grid: ", grid.nx, " x ", grid.ny, " stations and their results take"),
                    static_cast<double>(grid.nx) * static_cast<double>(grid.ny) * (24.0 + results),
                    "take fewer");
  std::vector<double> elevation{o.elevation};
  if (!o.elevation_file.empty()) {
    elevation = io::read_values("--elevation", o.elevation_file, {grid.ny, grid.nx}, "ny x nx");
    for (std::size_t k = 0; k < elevation.size(); ++k) {
      if (std::isfinite(elevation[k])) continue;
      const auto at = static_cast<std::int64_t>(k);
      throw InputError(
          concat("--elevation ", o.elevation_file, ": the elevation of station ", at + 1,
                 " (x = ", grid.x0 + grid.dx * static_cast<double>(at % grid.nx),
                 " m, y = ", grid.y0 + grid.dy * static_cast<double>(at / grid.nx), " m) is ",
                 elevation[k], " (allowed: finite numbers, in metres): mend the file"));
    }
  }
  input.stations =
      gravity::station_grid(grid.nx, grid.ny, grid.dx, grid.dy, grid.x0, grid.y0, elevation);
  input.grid = grid;
  input.stations_name = "--grid";
}

}  // namespace

InputNeed need_of_input(const Options& o) {
  InputNeed need;
  const auto table = [&](const std::string& file, double width) {
    const TableNeed found = need_of_table(file);
    // rows of text are selected from the table
    const bool text = io::is_text_table("--", file);
    need.passing =
        std::max(need.passing, need.input + found.passing + (text ? 8.0 * found.values : 0.0));
    need.input += 8.0 * found.values;
    return found.values / width;
  };
  try {
    switch (o.ensemble) {
      case Ensemble::prisms:
        need.rows = table(o.prisms_file, 7.0);
        break;
      case Ensemble::mesh:
        need.rows = static_cast<double>(o.mesh.size());
        table(o.magnetic ? o.susceptibilities_file : o.densities_file, 1.0);
        break;
      case Ensemble::spheres:
        need.rows = 700.0 * 700.0 * 50.0;
        need.input += 8.0 * need.rows;
        break;
    }
    if (!o.stations_file.empty()) {
      need.stations = table(o.stations_file, 3.0);
    } else {
      need.stations = o.grid ? static_cast<double>(o.grid->nx) * static_cast<double>(o.grid->ny)
                             : 150.0 * 100.0;
      const double heights = o.elevation_file.empty() ? 0.0 : 8.0 * need.stations;
      if (heights > 0.0) {
        need.passing =
            std::max(need.passing, need.input + heights + need_of_table(o.elevation_file).passing);
      }
      need.input += 24.0 * need.stations;
      need.passing = std::max(need.passing, need.input + heights);
    }
    if (o.magnetic) need.input += 32.0 * need.rows;  // remanence and strengths
  } catch (const Error&) {
    return {};  // the reader reports the error
  }
  need.passing = std::max(0.0, need.passing - need.input);
  return need;
}

Input load_input(const Options& o) {
  Input input;
  if (o.ensemble == Ensemble::prisms) {
    input.name = o.prisms_file;
    input.prisms = io::read_rows(
        "--prisms", o.prisms_file,
        {"x1", "x2", "y1", "y2", "z1", "z2", o.magnetic ? "susceptibility" : "density"},
        input.notes);
  } else if (o.ensemble == Ensemble::mesh) {
    const auto& cells = o.mesh.cells;
    input.name = o.magnetic ? o.susceptibilities_file : o.densities_file;
    input.regular = true;
    input.mesh = o.mesh;
    input.densities = io::read_values(o.magnetic ? "--susceptibilities" : "--densities", input.name,
                                      {cells[2], cells[1], cells[0]}, "nz x ny x nx");
  } else {
    gravity::SevenSpheres spheres = gravity::seven_spheres();
    input.name = "seven spheres";
    input.regular = true;
    input.mesh = spheres.mesh;
    input.densities = std::move(spheres.densities);
    for (double& value : input.densities) {
      if (o.magnetic && value != 0.0) value = 0.02;  // a susceptibility
    }
  }
  load_stations(o, input);
  if (!o.magnetic) return input;
  input.remanence = load_remanence(o, input);
  input.strengths = gravity::magnetisation_strengths(input.ensemble(), input.remanence, o.ambient);
  return input;
}

void call_named(const std::string& name, const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError& error) {
    std::string message = error.what();
    const std::regex counted("(row|prism) ([0-9]+) \\(counted from 0(\\)|; )");
    std::smatch found;
    if (std::regex_search(message, found, counted)) {
      // the indices i, j and k of a prism in a mesh stay those of NumPy
      message = concat(found.prefix().str(), found[1].str(), " ", std::stoll(found[2].str()) + 1,
                       found[3].str() == ")" ? "" : " (indices from 0: ", found.suffix().str());
    }
    throw InputError((name.empty() ? "" : name + ": ") + message);
  }
}

void check_input(const Options& o, const Input& input) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
  if (o.magnetic) {
    call_named(input.name, [&] {
      gravity::check_magnetic_input(input.ensemble(), input.remanence, input.stations, o.ambient);
    });
  } else if (input.regular) {
    const gravity::DensityView<Host> densities(input.densities.data(), input.densities.size());
    call_named(input.name, [&] { gravity::detail::check_mesh<Host>(host, input.mesh, densities); });
  } else {
    const gravity::PrismView<Host> prisms(input.prisms.data(), input.prisms.size() / 7);
    call_named(input.name, [&] { gravity::detail::check_prisms<Host>(host, prisms); });
  }
  const gravity::StationView<Host> stations(input.stations.data(), input.stations.size() / 3);
  call_named(input.stations_name, [&] { gravity::detail::check_stations<Host>(host, stations); });
  if (o.check_overlaps && !input.regular) {
    const auto count = static_cast<std::int64_t>(input.prisms.size() / 7);
    if (const auto pair = gravity::find_overlap(input.prisms.data(), count)) {
      throw InputError(concat(input.name, ": the prisms of rows ", pair->first + 1, " and ",
                              pair->second + 1,
                              " overlap (--check-overlaps allows "
                              "none, their densities would add up): mend the file, or leave "
                              "--check-overlaps out"));
    }
  }
}

gravity::Strategy strategy_of_all(const Options& o, const Input& input, std::int64_t prisms) {
  using Host = Kokkos::HostSpace;
  if (!o.double_precision) return gravity::Strategy::tiles;
  const auto stations = input.stations.size() / 3;
  if (input.regular) {
    const gravity::Strategy chosen = gravity::automatic_strategy<double>(
        Instance<Host>(Kokkos::DefaultHostExecutionSpace()), input.mesh,
        gravity::DensityView<Host>(input.densities.data(), input.densities.size()),
        gravity::StationView<Host>(input.stations.data(), stations));
    if (chosen != gravity::Strategy::tiles) return chosen;
  }
  return gravity::fmm_pays(prisms, static_cast<std::int64_t>(stations), o.components,
                           o.space != "cuda")
             ? gravity::Strategy::fmm
             : gravity::Strategy::tiles;
}

std::vector<std::string> notes_on_stations(const Input& input) {
  // this number of comparisons of stations with prisms needs less than a second
  constexpr double max_comparisons = 2e8;
  std::size_t below = 0, first = 0;
  for (std::size_t k = 2; k < input.stations.size(); k += 3) {
    if (input.stations[k] > 0.0 && below++ == 0) first = k / 3;
  }
  std::vector<std::string> notes;
  if (below > 0) {
    notes.push_back(concat(counted(below, "station is", "stations are"),
                           " below z = 0, the first is station ", first + 1,
                           ", z = ", input.stations[3 * first + 2],
                           " m (z points down: stations above it have a negative z)"));
  }
  const gravity::InnerStations found =
      gravity::find_inner_stations(input.ensemble(), input.stations, max_comparisons);
  if (!found.searched) {
    notes.push_back(concat(counted(found.candidates, "station is", "stations are"),
                           " between the lowest and the highest ",
                           "coordinates of prisms; whether inside of one was not looked at"));
  } else if (found.inside > 0) {
    notes.push_back(concat(counted(found.inside, "station is", "stations are"),
                           " inside of a prism or on its faces, the ", "first is station ",
                           found.first + 1, " in ", input.regular ? "prism " : "the prism of row ",
                           found.prism + 1));
  }
  return notes;
}

}  // namespace moho::examples::model_gravity
