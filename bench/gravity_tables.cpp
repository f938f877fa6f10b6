// SPDX-License-Identifier: BSD-3-Clause
//
// Tables 1 to 4 of Couder-Castaneda et al. (2013), next to the paper's values: the RMS error (their
// equation 12) of nine components. Double and single precision are compared with a sequential sum
// of the textbook's closed forms in double precision. A further comparison with a sum in long
// double at fewer stations gives the accuracy of the double reference.
//
// Prints Markdown, writes JSON with --out, and with --problem the prisms and stations as .npy
// files.

#include "bench_gravity/problem.hpp"
#include "bench_gravity/runner.hpp"
#include "common/program.hpp"
#include "common/version.hpp"

#include <moho/core/error.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/ranks.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/core/space.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace moho;
using gravity::Component;
using gravity::component_count;

/// A row of the paper's tables; in single precision one and four GPUs have the same digits.
struct PaperRow {
  Component component;
  double double_precision;  ///< from Tables 1 and 3, one GPU
  double single_precision;  ///< from Tables 2 and 4
  double on_four;           ///< from Tables 1 and 3, four GPUs
};
constexpr PaperRow paper[] = {{Component::gz, 2.0582e-9, 1.3080, 2.0581e-9},
                              {Component::gx, 1.7107e-9, 0.8929, 1.7106e-9},
                              {Component::gy, 1.1162e-9, 0.9275, 1.1163e-9},
                              {Component::gzz, 4.6290e-11, 0.0310, 4.6373e-11},
                              {Component::gxx, 7.7994e-11, 0.0385, 7.8030e-11},
                              {Component::gyy, 8.8905e-11, 0.0392, 8.8935e-11},
                              {Component::gxy, 5.3476e-11, 0.0743, 5.3503e-11},
                              {Component::gxz, 9.2797e-10, 0.3085, 9.2792e-10},
                              {Component::gyz, 2.7225e-10, 0.3148, 2.7207e-10}};

/// Differences of one field from another, by component.
struct Errors {
  std::array<double, component_count> rms{}, largest{};
};

/// Returns the differences.
/// \param found   ten values of each station
/// \param truth   ten values of each station
template <class Found, class Truth>
Errors errors_of(const std::vector<Found>& found, const std::vector<Truth>& truth) {
  Errors errors;
  for (std::size_t c = 0; c < component_count; ++c) {
    long double squares = 0.0L;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const long double difference =
          std::abs(static_cast<long double>(found[i][c]) - static_cast<long double>(truth[i][c]));
      squares += difference * difference;
      // NaN must count, and must not be replaced
      if (!(difference <= errors.largest[c]) && !std::isnan(errors.largest[c])) {
        errors.largest[c] = static_cast<double>(difference);
      }
    }
    errors.rms[c] =
        static_cast<double>(std::sqrt(squares / static_cast<long double>(truth.size())));
  }
  return errors;
}

using Field = std::vector<std::array<double, component_count>>;

struct Timed {
  Field field;
  double seconds = 0.0;
  std::string strategy;
};

struct Settings {
  std::string space, strategy = "automatic", out, problem;
  std::int64_t every = 49, long_double_every = 980, prisms = 0;
  double constant = gravity::gravitational_constant;
};

gravity::Strategy strategy_of(const std::string& name) {
  std::string known;
  for (int k = 0; k <= static_cast<int>(gravity::Strategy::by_corners); ++k) {
    const auto strategy = static_cast<gravity::Strategy>(k);
    if (name == to_string(strategy)) return strategy;
    known += (known.empty() ? "" : ", ") + to_string(strategy);
  }
  throw InputError(concat("--strategy: '", name, "' is no strategy (there are: ", known, ")"));
}

std::vector<std::int64_t> every_kth(std::int64_t count, std::int64_t step) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; i += step) rows.push_back(i);
  return rows;
}

/// Computes the field at the selected stations, given as rows of the problem's stations.
Timed compute(const bench::GravityProblem& problem, const Settings& settings, bool single,
              double far_tolerance, const std::vector<std::int64_t>& rows) {
  std::unique_ptr<bench::GravityRunner> runner;
  with_space(settings.space, [&](const auto& exec) { runner = bench::make_runner(exec, problem); });
  bench::GravitySettings pass;
  pass.single = single;
  pass.components = gravity::all_components();
  pass.options.strategy = strategy_of(settings.strategy);
  pass.options.constant = settings.constant;
  pass.options.far_tolerance = far_tolerance;
  const bench::GravityPass done = runner->pass(pass);
  Timed timed;
  timed.seconds = done.total;
  timed.strategy = to_string(done.report.strategy);
  const std::int64_t stations = problem.station_count();
  for (const std::int64_t row : rows) {
    timed.field.emplace_back();
    for (int c = 0; c < component_count; ++c) {
      timed.field.back()[static_cast<std::size_t>(c)] = runner->results()[c * stations + row];
    }
  }
  return timed;
}

/// Computes the field as several devices do: each sums a part of the prisms (the paper's equations
/// 7 to 11), and their fields are added in double precision. The parts are computed in turn.
Timed compute_in_parts(const bench::GravityProblem& problem, const Settings& settings, bool single,
                       int devices, const std::vector<std::int64_t>& rows) {
  Timed sum;
  for (int device = 0; device < devices; ++device) {
    const mpi::Part part = mpi::part_of(problem.prism_count(), devices, device);
    bench::GravityProblem mine = problem;
    mine.prisms.assign(problem.prisms.begin() + 7 * part.first,
                       problem.prisms.begin() + 7 * part.last);
    const Timed done = compute(mine, settings, single, -1.0, rows);
    sum.seconds += done.seconds;
    sum.strategy = done.strategy;
    sum.field.resize(done.field.size());
    for (std::size_t i = 0; i < done.field.size(); ++i) {
      for (std::size_t c = 0; c < component_count; ++c) sum.field[i][c] += done.field[i][c];
    }
  }
  return sum;
}

/// Returns the stations `rows` of a field that holds every `every`-th station.
Field at(const Field& field, std::int64_t every, const std::vector<std::int64_t>& rows) {
  Field picked;
  for (const std::int64_t row : rows) {
    picked.push_back(field[static_cast<std::size_t>(row / every)]);
  }
  return picked;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3e", value);
  return text;
}

const char* unit(Component component) { return gravity::unit_of(component); }

/// Returns one of the two printed tables.
std::string table(const std::string& title, bool single, const Errors& expansion,
                  const Errors& closed, const Errors& to_long_double,
                  const std::array<double, component_count>& rms_field) {
  std::string text = "## " + title + "\n\n";
  text +=
      "| component | unit | RMS of the field | paper | far field expanded | closed forms | "
      "expanded, to long "
      "double |\n|---|---|---:|---:|---:|---:|---:|\n";
  for (const PaperRow& row : paper) {
    const std::size_t c = static_cast<std::size_t>(row.component);
    text += concat("| ", to_string(row.component), " | ", unit(row.component), " | ",
                   short_number(rms_field[c]), " | ",
                   short_number(single ? row.single_precision : row.double_precision), " | ",
                   short_number(expansion.rms[c]), " | ", short_number(closed.rms[c]), " | ",
                   short_number(to_long_double.rms[c]), " |\n");
  }
  return text + "\n";
}

nlohmann::ordered_json json_of(const Errors& errors) {
  nlohmann::ordered_json json;
  for (const PaperRow& row : paper) {
    const std::size_t c = static_cast<std::size_t>(row.component);
    json[to_string(row.component)] = {{"rms", errors.rms[c]}, {"largest", errors.largest[c]}};
  }
  json["potential"] = {{"rms", errors.rms[0]}, {"largest", errors.largest[0]}};
  return json;
}

/// Returns the errors of 2 and 4 devices: "double_2", "single_2", "double_4" and "single_4".
nlohmann::ordered_json errors_of_devices(const bench::GravityProblem& problem,
                                         const Settings& settings,
                                         const std::vector<std::int64_t>& rows,
                                         const Field& reference) {
  nlohmann::ordered_json json;
  for (const int devices : {2, 4}) {
    for (const bool single : {false, true}) {
      const Timed timed = compute_in_parts(problem, settings, single, devices, rows);
      json[concat(single ? "single_" : "double_", devices)] =
          json_of(errors_of(timed.field, reference));
    }
  }
  return json;
}

/// One computation for each of double and single precision, with the far field expanded or by
/// closed forms everywhere.
template <class Value>
struct Variants {
  Value twofold, twofold_closed, single, single_closed;
};

/// Returns a function's value for each variant.
template <class From, class Function>
auto of_each(const Variants<From>& from, const Function& function) {
  return Variants<decltype(function(from.single))>{
      function(from.twofold), function(from.twofold_closed), function(from.single),
      function(from.single_closed)};
}

/// References at some stations, and differences from them.
struct Comparison {
  std::vector<std::int64_t> rows, few;  ///< stations of the double and the long double reference
  Field reference;                      ///< the textbook in double precision
  double reference_seconds = 0.0, exact_seconds = 0.0;
  std::array<double, component_count> rms_field{};
  Variants<Errors> errors, to_exact;  ///< from the double and from the long double reference
  Errors reference_to_exact;
};

/// The stations that are computed, as a problem, and those of them that are compared.
struct Computed {
  bench::GravityProblem problem;
  std::vector<std::int64_t> rows;
};

void check(const Settings& settings) {
  if (settings.every < 1 || settings.long_double_every < settings.every ||
      settings.long_double_every % settings.every != 0) {
    throw InputError(
        concat("--every ", settings.every, " and --long-double-every ", settings.long_double_every,
               " (the first is 1 or more, the second a multiple of it): choose others"));
  }
}

void write_problem(const std::filesystem::path& folder, const bench::GravityProblem& problem) {
  std::filesystem::create_directories(folder);
  io::write_npy(folder / "prisms.npy", problem.prisms.data(), {problem.prism_count(), 7});
  io::write_npy(folder / "stations.npy", problem.stations.data(), {problem.station_count(), 3});
  std::fprintf(stderr, "wrote %s and stations.npy\n", (folder / "prisms.npy").c_str());
}

/// A device computes all stations, as in the paper; a host only those that are compared.
Computed computed_stations(const bench::GravityProblem& problem, const Settings& settings,
                           const std::vector<std::int64_t>& rows) {
  Computed computed{problem, rows};
  if (!bench::on_host(settings.space)) return computed;
  computed.problem.stations.clear();
  computed.rows.clear();
  for (const std::int64_t row : rows) {
    const auto at = problem.stations.begin() + static_cast<std::ptrdiff_t>(3 * row);
    computed.problem.stations.insert(computed.problem.stations.end(), at, at + 3);
    computed.rows.push_back(static_cast<std::int64_t>(computed.rows.size()));
  }
  return computed;
}

/// Computes the references, and compares with them.
Comparison compare(const bench::GravityProblem& problem, const Settings& settings,
                   const std::vector<std::int64_t>& rows, const Variants<Timed>& timed) {
  Comparison c;
  c.rows = rows;
  c.few = every_kth(problem.station_count(), settings.long_double_every);
  std::fprintf(stderr, "the textbook in double precision at %zu stations ...\n", c.rows.size());
  Stopwatch watch;
  c.reference = bench::textbook_field(problem, c.rows, settings.constant);
  c.reference_seconds = watch.seconds();
  std::fprintf(stderr, "the textbook in long double at %zu stations ...\n", c.few.size());
  watch = Stopwatch();
  const auto exact = bench::long_double_field(problem, c.few, settings.constant);
  c.exact_seconds = watch.seconds();
  for (std::size_t k = 0; k < component_count; ++k) {
    double squares = 0.0;
    for (const auto& station : c.reference) squares += station[k] * station[k];
    c.rms_field[k] = std::sqrt(squares / static_cast<double>(c.reference.size()));
  }
  const auto to_exact = [&](const Field& field) {
    return errors_of(at(field, settings.every, c.few), exact);
  };
  c.errors = of_each(timed, [&](const Timed& one) { return errors_of(one.field, c.reference); });
  c.to_exact = of_each(timed, [&](const Timed& one) { return to_exact(one.field); });
  c.reference_to_exact = to_exact(c.reference);
  return c;
}

/// Returns the printed page.
std::string page(const bench::GravityProblem& problem, const Settings& settings,
                 const std::string& device, const Computed& computed, const Variants<Timed>& timed,
                 const Comparison& found) {
  std::string text = "# Errors of nine components\n\n";
  text +=
      concat("Seven spheres, ", problem.prism_count(), " prisms, ", problem.station_count(),
             " stations, on ", settings.space, " (", device, "), strategy ", timed.twofold.strategy,
             ". RMS (L2) difference from a sequential sum of the textbook's closed forms in "
             "double precision at every ",
             settings.every, "th station (", found.rows.size(),
             "), and from one in long double at ", found.few.size(), " stations.\n\n");
  text += table("Tables 1 and 3: double precision", false, found.errors.twofold,
                found.errors.twofold_closed, found.to_exact.twofold, found.rms_field);
  text += table("Tables 2 and 4: single precision", true, found.errors.single,
                found.errors.single_closed, found.to_exact.single, found.rms_field);
  text +=
      "## The double reference itself\n\n| component | unit | reference to long double | double, "
      "closed forms, to long double |\n|---|---|---:|---:|\n";
  for (const PaperRow& row : paper) {
    const std::size_t c = static_cast<std::size_t>(row.component);
    text += concat("| ", to_string(row.component), " | ", unit(row.component), " | ",
                   short_number(found.reference_to_exact.rms[c]), " | ",
                   short_number(found.to_exact.twofold_closed.rms[c]), " |\n");
  }
  char line[320];
  std::snprintf(
      line, sizeof line,
      "\nSeconds for all ten components at %lld stations, first call: double %.3f (closed "
      "forms %.3f), single %.3f (closed forms %.3f).\n",
      static_cast<long long>(computed.problem.station_count()), timed.twofold.seconds,
      timed.twofold_closed.seconds, timed.single.seconds, timed.single_closed.seconds);
  return text + line;
}

nlohmann::ordered_json json_of(const Variants<Errors>& errors) {
  return {{"double", json_of(errors.twofold)},
          {"double_closed", json_of(errors.twofold_closed)},
          {"single", json_of(errors.single)},
          {"single_closed", json_of(errors.single_closed)}};
}

/// Writes the same numbers, and the errors of several devices, to a file.
void write_json(const bench::GravityProblem& problem, const Settings& settings,
                const std::string& device, const Computed& computed, const Variants<Timed>& timed,
                const Comparison& found) {
  nlohmann::ordered_json json;
  json["program"] = "gravity_tables";
  json["commit"] = bench::commit();
  json["kokkos_version"] = kokkos_version();
  json["space"] = settings.space;
  json["device"] = device;
  json["prisms"] = problem.prism_count();
  json["stations"] = problem.station_count();
  json["computed_stations"] = computed.problem.station_count();
  json["strategy"] = timed.twofold.strategy;
  json["constant"] = settings.constant;
  json["reference_stations"] = found.rows.size();
  json["long_double_stations"] = found.few.size();
  json["seconds"] = {
      {"double", timed.twofold.seconds},      {"double_closed", timed.twofold_closed.seconds},
      {"single", timed.single.seconds},       {"single_closed", timed.single_closed.seconds},
      {"reference", found.reference_seconds}, {"long_double", found.exact_seconds}};
  for (const PaperRow& row : paper) {
    json["paper"][to_string(row.component)] = {{"double", row.double_precision},
                                               {"single", row.single_precision},
                                               {"double_4", row.on_four}};
    json["rms_of_field"][to_string(row.component)] =
        found.rms_field[static_cast<std::size_t>(row.component)];
  }
  json["to_double_reference"] = json_of(found.errors);
  json["to_double_reference"].update(
      errors_of_devices(computed.problem, settings, computed.rows, found.reference));
  json["to_long_double"] = {{"reference", json_of(found.reference_to_exact)}};
  json["to_long_double"].update(json_of(found.to_exact));
  io::write_text(settings.out, json.dump(1) + "\n");
  std::fprintf(stderr, "wrote %s\n", settings.out.c_str());
}

/// Detects the paper's "numerical rugosity": returns true if an error is too large.
bool single_precision_is_off(const Errors& single) {
  for (const PaperRow& row : paper) {
    const std::size_t c = static_cast<std::size_t>(row.component);
    if (!(single.rms[c] < 1e-3)) {
      std::fprintf(stderr,
                   "gravity_tables: %s in single precision is off by %.3e (allowed: 1e-3)\n",
                   to_string(row.component), single.rms[c]);
      return true;
    }
  }
  return false;
}

int run(const Settings& settings) {
  check(settings);
  bench::ProblemSize size;
  size.prisms = settings.prisms;
  const bench::GravityProblem problem = bench::make_problem(size);
  if (!settings.problem.empty()) {
    write_problem(settings.problem, problem);
    return 0;
  }
  const std::vector<std::int64_t> rows = every_kth(problem.station_count(), settings.every);
  const Computed computed = computed_stations(problem, settings, rows);
  const auto timed_of = [&](bool single, double far_tolerance) {
    return compute(computed.problem, settings, single, far_tolerance, computed.rows);
  };
  const Variants<Timed> timed{timed_of(false, -1.0), timed_of(false, 0.0), timed_of(true, -1.0),
                              timed_of(true, 0.0)};
  const Comparison found = compare(problem, settings, rows, timed);
  std::string device;
  with_space(settings.space, [&](const auto& exec) { device = device_name(exec); });
  std::cout << page(problem, settings, device, computed, timed, found);
  if (!settings.out.empty()) write_json(problem, settings, device, computed, timed, found);
  return single_precision_is_off(found.errors.single) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  try {
    Settings settings;
    std::string space = default_space_name();
    po::options_description options(
        "gravity_tables: errors of nine components, beside the paper's");
    options.add_options()("help", "this text")("space", po::value(&space)->default_value(space),
                                               "execution space")(
        "strategy", po::value(&settings.strategy)->default_value(settings.strategy),
        "arrangement of the sums")("every",
                                   po::value(&settings.every)->default_value(settings.every),
                                   "compare every K-th station with the double reference")(
        "long-double-every",
        po::value(&settings.long_double_every)->default_value(settings.long_double_every),
        "likewise with the long double one, a multiple of --every")(
        "prisms", po::value(&settings.prisms)->default_value(0),
        "only so many prisms, evenly out of the list (0: all)")(
        "constant", po::value(&settings.constant)->default_value(settings.constant),
        "gravitational constant")("out", po::value(&settings.out), "JSON file to write")(
        "problem", po::value(&settings.problem),
        "only write prisms.npy and stations.npy to this folder");
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, options), values);
    po::notify(values);
    if (values.count("help") > 0) {
      std::cout << options;
      return 0;
    }
    settings.space = space;
    const moho::ScopeGuard guard;
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gravity_tables: %s\n", error.what());
    return 2;
  }
}
