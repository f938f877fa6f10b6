// SPDX-License-Identifier: BSD-3-Clause
//
// Picks of first arrivals and their inversion for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "worker.hpp"

#include <moho/tomography/tomography.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

// Arrays of picks, sorted by source and receiver; checked for type and shape by the package.
struct PickArrays {
  Input sources, receivers;  // rows of positions
  Input source, receiver;    // int32, of each pick
  Input times, errors, weights;
};

PickArrays pick_arrays(const std::vector<Input>& arrays) {
  return {arrays.at(0), arrays.at(1), arrays.at(2), arrays.at(3),
          arrays.at(4), arrays.at(5), arrays.at(6)};
}

// Arguments of invert_times(). An empty list stands for a value that is chosen.
struct TomographyInput {
  std::vector<double> spacing, origin, bounds, lengths, error;
  std::vector<std::int64_t> shape;
  std::optional<double> margin;
  double depth = 0.0;
  std::string topography;  // "auto", "none", or "table"
  std::optional<Input> ground;
  std::optional<Input> start;      // velocity at the nodes
  std::optional<Input> reference;  // the same
  bool layers = false;             // start model of layers
  std::vector<double> linear;      // velocity and gradient of the start model
  std::optional<Input> epsilon;    // one value, or one at each node
  std::optional<Input> delta;      // the same
  bool locate = false;
  std::vector<double> location;  // deviations along the axes
  std::vector<double> checks;    // size along the axes and per cent; empty: no checkerboard test
  double origin_deviation = 0.005, buried_below = 2.0;
  int coarsening = 0, radius = 0, jackknife = 0;
  std::string times, robust, statics, rule;
  double deviation_max = 0.5, static_deviation = 0.005;
  double lambda = 0.0, target = 1.0, tolerance = 0.04;
  int iterations = 20, krylov = 100;
  std::int64_t left_out = 0;  // picks with weight 0
  std::size_t memory = 0;
  bool single = true;
};

template <class Value>
Value of(const nb::dict& options, const char* name) {
  return nb::cast<Value>(options[name]);
}

TomographyInput tomography_input(const nb::dict& o) {
  TomographyInput given;
  given.spacing = of<std::vector<double>>(o, "spacing");
  given.origin = of<std::vector<double>>(o, "origin");
  given.shape = of<std::vector<std::int64_t>>(o, "shape");
  given.bounds = of<std::vector<double>>(o, "bounds");
  given.lengths = of<std::vector<double>>(o, "lengths");
  given.error = of<std::vector<double>>(o, "error");
  given.margin = of<std::optional<double>>(o, "margin");
  given.depth = of<double>(o, "depth");
  given.topography = of<std::string>(o, "topography");
  given.ground = of<std::optional<Input>>(o, "ground");
  given.start = of<std::optional<Input>>(o, "start");
  given.reference = of<std::optional<Input>>(o, "reference");
  given.layers = of<bool>(o, "layers");
  given.linear = of<std::vector<double>>(o, "linear");
  given.epsilon = of<std::optional<Input>>(o, "epsilon");
  given.delta = of<std::optional<Input>>(o, "delta");
  given.jackknife = of<int>(o, "jackknife");
  given.checks = of<std::vector<double>>(o, "checkerboard");
  given.locate = of<bool>(o, "locate");
  given.location = of<std::vector<double>>(o, "location_deviation");
  given.origin_deviation = of<double>(o, "origin_deviation");
  given.buried_below = of<double>(o, "buried_below");
  given.coarsening = of<int>(o, "coarsening");
  given.radius = of<int>(o, "radius");
  given.times = of<std::string>(o, "times");
  given.robust = of<std::string>(o, "robust");
  given.statics = of<std::string>(o, "statics");
  given.rule = of<std::string>(o, "damping");
  given.deviation_max = of<double>(o, "deviation_max");
  given.static_deviation = of<double>(o, "static_deviation");
  given.lambda = of<double>(o, "damping_value");
  given.target = of<double>(o, "target");
  given.tolerance = of<double>(o, "tolerance");
  given.iterations = of<int>(o, "iterations");
  given.krylov = of<int>(o, "krylov");
  given.memory = of<std::size_t>(o, "memory");
  given.left_out = of<std::int64_t>(o, "left_out");
  given.single = of<bool>(o, "single");
  return given;
}

// The position of a word in the names of an enumeration, whose package checked it.
template <class Enum>
Enum named(const std::string& word, std::initializer_list<std::pair<const char*, Enum>> names) {
  for (const auto& [name, value] : names) {
    if (word == name) return value;
  }
  return names.begin()->second;
}

template <int Dim>
tomography::PickSet<Dim> picks_of(const PickArrays& arrays) {
  tomography::PickSet<Dim> set;
  set.sources = points_of<Dim>(arrays.sources);
  set.receivers = points_of<Dim>(arrays.receivers);
  const auto* const source = static_cast<const std::int32_t*>(arrays.source.data());
  const auto* const receiver = static_cast<const std::int32_t*>(arrays.receiver.data());
  const auto* const times = static_cast<const double*>(arrays.times.data());
  const auto* const errors = static_cast<const double*>(arrays.errors.data());
  const auto* const weights = static_cast<const double*>(arrays.weights.data());
  for (std::size_t k = 0; k < arrays.times.size(); ++k) {
    set.picks.push_back({source[k], receiver[k], times[k], errors[k], weights[k]});
  }
  return set;
}

// Returns a parameter of the medium at the nodes, from one value or one at each node.
std::vector<double> parameter_of(const std::optional<Input>& given, std::int64_t nodes) {
  if (!given) return {};
  const auto* const first = static_cast<const double*>(given->data());
  if (given->ndim() == 1) return std::vector<double>(static_cast<std::size_t>(nodes), *first);
  return {first, first + given->size()};
}

// Sets start model and reference of a job that has picks, grid, ground and the other options.
template <int Dim>
void set_models(const TomographyInput& given, tomography::InversionJob<Dim>& job) {
  if (given.reference) {
    const auto* const first = static_cast<const double*>(given.reference->data());
    job.options.reference.assign(first, first + given.reference->size());
  }
  if (given.start) {
    const auto* const first = static_cast<const double*>(given.start->data());
    job.start.assign(first, first + given.start->size());
  } else if (!given.linear.empty()) {
    job.start = tomography::linear_model<Dim>(job.grid, job.ground,
                                              {given.linear.at(0), given.linear.at(1), 0.0});
  } else {
    if (given.layers) {
      const Exec exec{Kokkos::DefaultHostExecutionSpace()};
      job.start =
          tomography::layered_model<Dim>(job.grid, job.ground,
                                         given.single ? tomography::fit_layers<float>(exec, job)
                                                      : tomography::fit_layers<double>(exec, job));
    } else {
      job.start = tomography::linear_model<Dim>(
          job.grid, job.ground,
          tomography::fit_linear_velocity<Dim>(job.picks, job.grid, job.ground));
    }
    tomography::to_vertical(job.start, job.options.epsilon);
    if (!given.bounds.empty()) {
      for (double& v : job.start) v = std::clamp(v, given.bounds[0], given.bounds[1]);
    }
  }
}

// The checks of a test, whose number of values the package checked.
template <int Dim>
tomography::Checkerboard<Dim> checks_of(const TomographyInput& given) {
  tomography::Checkerboard<Dim> checks;
  for (int d = 0; d < Dim; ++d) checks.size[d] = given.checks.at(static_cast<std::size_t>(d));
  checks.percent = given.checks.at(static_cast<std::size_t>(Dim));
  return checks;
}

// Arguments of the package in messages of check_picks().
const ArgumentNames pick_names{{"the unit of times", "time_unit"}};

// Arguments of the package in messages on options.
const ArgumentNames option_names{{"an empty ground", "topography=None"},
                                 {"an error of all picks", "error"},
                                 {"error_absolute", "error"},
                                 {"error_relative", "error"},
                                 {"delays of sources", "statics='source'"},
                                 {"location", "location_deviation and origin_deviation"}};

// A job of invert(), with the defaults of the program invert_times.
template <int Dim>
tomography::InversionJob<Dim> job_of(const PickArrays& arrays, const TomographyInput& given) {
  tomography::InversionJob<Dim> job;
  job.picks = picks_of<Dim>(arrays);
  job.picks.left_out = given.left_out;
  const auto check = tomography::check_picks<Dim>(job.picks, "picks", pick_names);
  tomography::GridRequest<Dim> request;
  if (!given.spacing.empty()) request.spacing = given.spacing[0];
  request.depth = given.depth;
  request.margin = given.margin;
  Point<Dim> origin{}, lengths{};
  Index<Dim> shape{};
  for (int d = 0; d < Dim; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    if (!given.origin.empty()) origin[d] = given.origin.at(axis);
    if (!given.shape.empty()) shape[d] = given.shape.at(axis);
    lengths[d] = given.lengths.empty() ? 8.0 * check.receiver_spacing : given.lengths.at(axis);
  }
  if (!given.origin.empty()) request.origin = origin;
  if (!given.shape.empty()) request.shape = shape;
  job.grid =
      tomography::plan_grid<Dim>(job.picks, check.longest_offset, check.receiver_spacing, request);
  if (given.ground) {
    job.ground = tomography::ground_of_table<Dim>(points_of<Dim>(*given.ground), job.grid);
  } else if (given.topography == "auto") {
    if constexpr (Dim == 2) {
      job.ground = tomography::ground_of_points(job.picks, job.grid, given.buried_below);
    }
  }
  tomography::Options<Dim>& options = job.options;
  options.names = option_names;
  options.prior = {lengths, given.deviation_max};
  options.coarsening = given.coarsening > 0 ? given.coarsening : Dim - 1;
  if (given.radius > 0) options.radius = given.radius;
  using tomography::DampingRule;
  using tomography::Robust;
  using tomography::Statics;
  using tomography::Times;
  options.times = named<Times>(
      given.times,
      {{"automatic", Times::automatic}, {"graph", Times::graph}, {"eikonal", Times::eikonal}});
  options.robust = named<Robust>(
      given.robust,
      {{"none", Robust::none}, {"biweight", Robust::biweight}, {"huber", Robust::huber}});
  options.statics = named<Statics>(given.statics, {{"none", Statics::none},
                                                   {"source", Statics::source},
                                                   {"receiver", Statics::receiver},
                                                   {"both", Statics::both}});
  options.rule = given.lambda > 0.0    ? DampingRule::fixed
                 : given.rule == "gcv" ? DampingRule::gcv
                                       : DampingRule::target;
  options.lambda = given.lambda;
  options.krylov = given.krylov;
  options.iterations = given.iterations;
  options.target = given.target;
  options.tolerance = given.tolerance;
  options.static_deviation = given.static_deviation;
  options.memory = given.memory;
  if (!given.error.empty()) {
    options.error_absolute = given.error.at(0);
    options.error_relative = given.error.at(1);
  }
  if (!given.bounds.empty()) {
    options.velocity_min = given.bounds.at(0);
    options.velocity_max = given.bounds.at(1);
  }
  options.location.unknown = given.locate;
  options.location.origin_deviation = given.origin_deviation;
  for (int d = 0; d < Dim; ++d) {
    options.location.deviation[d] = given.location.empty()
                                        ? 2.0 * job.grid.spacing[d]
                                        : given.location.at(static_cast<std::size_t>(d));
  }
  options.epsilon = parameter_of(given.epsilon, job.grid.size());
  options.delta = parameter_of(given.delta, job.grid.size());
  set_models(given, job);
  if (!given.checks.empty()) tomography::checkerboard<Dim>(job.grid, checks_of<Dim>(given));
  if (given.jackknife > 0) tomography::check_jackknife<Dim>(job.picks, given.jackknife);
  return job;
}

// Reports progress of all iterations that may follow, as the program does. Inversions of a
// jackknife follow the first one.
template <int Dim>
class Reporter {
 public:
  Reporter(Job& job, int iterations, int inversions)
      : m_job(job), m_each(iterations + 1.0), m_all(m_each * inversions) {}
  void report(double fraction, const std::string& what) {
    m_fraction = std::max(m_fraction, std::min((m_done + fraction) / m_all, 1.0));
    m_job.report(m_fraction, what);
  }
  void add(int iteration) { m_done = iteration + 1.0; }
  void end_inversion() { m_done = m_each * ++m_ended; }

 private:
  Job& m_job;
  double m_each, m_all, m_done = 0.0, m_fraction = 0.0;
  int m_ended = 0;
};

template <int Dim>
nb::object points_array(const Points<Dim>& points) {
  auto [data, array] = make_array<double>({points.size(), static_cast<std::size_t>(Dim)});
  for (const Point<Dim>& point : points) {
    for (int d = 0; d < Dim; ++d) *data++ = point[d];
  }
  return nb::cast(array);
}

nb::list reports_of(const std::vector<tomography::IterationReport>& reports) {
  nb::list list;
  for (const tomography::IterationReport& r : reports) {
    list.append(nb::make_tuple(r.iteration, r.chi2, r.rms, r.lambda, r.dof, r.step, r.rejected));
  }
  return list;
}

template <int Dim>
std::vector<std::size_t> shape_of(const Grid<Dim>& grid) {
  std::vector<std::size_t> shape;
  for (int d = 0; d < Dim; ++d) shape.push_back(static_cast<std::size_t>(grid.extents[d]));
  return shape;
}

template <int Dim>
nb::dict result_of(const tomography::InversionJob<Dim>& job,
                   const tomography::InversionResult<Dim>& found) {
  const std::vector<std::size_t> shape = shape_of<Dim>(job.grid);
  std::vector<double> origin, spacing;
  for (int d = 0; d < Dim; ++d) {
    origin.push_back(job.grid.origin[d]);
    spacing.push_back(job.grid.spacing[d]);
  }
  std::vector<double> predicted, residuals, sigmas, weights;
  for (const tomography::PickFit& fit : found.fits) {
    predicted.push_back(fit.predicted);
    residuals.push_back(fit.residual);
    sigmas.push_back(fit.sigma);
    weights.push_back(fit.weight);
  }
  nb::dict result;
  result["velocity"] = copy_of(found.velocity, shape);
  result["start"] = copy_of(job.start, shape);
  result["ground"] = copy_of(
      found.mask.empty() ? std::vector<unsigned char>(found.velocity.size(), 1) : found.mask,
      shape);
  result["coverage"] = copy_of(found.coverage, shape);
  result["deviation"] = copy_of(found.appraisal.deviation, shape);
  result["resolution"] = copy_of(found.appraisal.resolution, shape);
  result["spacing"] = spacing;
  result["origin"] = origin;
  result["predicted"] = copy_of(predicted);
  result["residuals"] = copy_of(residuals);
  result["sigmas"] = copy_of(sigmas);
  result["weights"] = copy_of(weights);
  result["source_delays"] = copy_of(found.delays.source);
  result["receiver_delays"] = copy_of(found.delays.receiver);
  result["sources"] = points_array<Dim>(found.sources);
  result["origin_times"] = copy_of(found.delays.origin);
  result["rays_first"] = copy_of(found.paths.first);
  result["rays_points"] = points_array<Dim>(found.paths.points);
  result["reports"] = reports_of(found.reports);
  result["reason"] = tomography::to_string(found.stop);
  return result;
}

void add_jackknife(nb::dict& result, const tomography::JackknifeResult& test,
                   const std::vector<std::size_t>& shape) {
  nb::list runs;
  for (const tomography::JackknifeRun& run : test.runs) {
    runs.append(nb::make_tuple(run.group, run.sources, run.picks, run.last.iteration, run.last.chi2,
                               run.last.rms, run.last.lambda));
  }
  result["jackknife"] =
      test.runs.empty() ? nb::object(nb::none()) : nb::cast(copy_of(test.deviation, shape));
  result["jackknife_runs"] = runs;
}

template <int Dim>
void add_checkerboard(nb::dict& result, const tomography::CheckerboardResult<Dim>& test,
                      const std::vector<std::size_t>& shape) {
  if (test.truth.empty()) {
    result["checkerboard"] = nb::none();
    return;
  }
  nb::list layers;
  for (const tomography::CheckLayer& layer : test.layers) {
    layers.append(
        nb::make_tuple(layer.depth, layer.correlation, layer.recovered, layer.covered, layer.z));
  }
  result["checkerboard"] = nb::make_tuple(copy_of(test.truth, shape), copy_of(test.found, shape),
                                          layers, reports_of(test.reports));
}

// Remarks on arguments, for warnings of the package.
template <int Dim>
std::vector<std::string> remarks_on(const TomographyInput& given,
                                    const tomography::InversionJob<Dim>& job) {
  std::vector<std::string> remarks = tomography::remarks_on_options<Dim>(job.picks, job.options);
  const auto add = [&](const std::vector<std::string>& more) {
    remarks.insert(remarks.end(), more.begin(), more.end());
  };
  add(tomography::remarks_on_bounds<Dim>(job.options));
  if (given.ground) {
    add(tomography::remarks_on_ground<Dim>(points_of<Dim>(*given.ground), job.grid, job.picks));
  }
  return remarks;
}

template <int Dim>
nb::dict invert_in(const PickArrays& arrays, const TomographyInput& given,
                   const nb::object& progress) {
  tomography::InversionJob<Dim> job;
  tomography::InversionResult<Dim> found;
  tomography::CheckerboardResult<Dim> checks;
  tomography::JackknifeResult test;
  run(progress, [&](Job& work) {
    job = job_of<Dim>(arrays, given);
    const bool checked = !given.checks.empty();
    Reporter<Dim> reporter(work, given.iterations, 1 + (checked ? 1 : 0) + given.jackknife);
    job.options.progress = [&](double fraction, const std::string& what) {
      reporter.report(fraction, what);
    };
    job.each = [&](const tomography::IterationReport& report, const tomography::InversionState&) {
      reporter.add(report.iteration);
      work.check();
    };
    const Exec exec{Kokkos::DefaultHostExecutionSpace()};
    found =
        given.single ? tomography::invert<float>(exec, job) : tomography::invert<double>(exec, job);
    reporter.end_inversion();
    if (checked) {
      const auto board = checks_of<Dim>(given);
      checks = given.single ? tomography::test_checkerboard<float>(exec, job, found, board)
                            : tomography::test_checkerboard<double>(exec, job, found, board);
      reporter.end_inversion();
    }
    if (given.jackknife == 0) return;
    const auto each = [&](const tomography::JackknifeRun&) {
      reporter.end_inversion();
      work.check();
    };
    test = given.single
               ? tomography::test_jackknife<float>(exec, job, found, given.jackknife, each)
               : tomography::test_jackknife<double>(exec, job, found, given.jackknife, each);
  });
  nb::dict result = result_of<Dim>(job, found);
  result["remarks"] = remarks_on<Dim>(given, job);
  add_checkerboard<Dim>(result, checks, shape_of<Dim>(job.grid));
  add_jackknife(result, test, shape_of<Dim>(job.grid));
  return result;
}

template <int Dim>
nb::tuple read_in(const std::string& path, const tomography::PickFormat& format) {
  const auto set = tomography::read_picks<Dim>(path, format);
  std::vector<std::int32_t> source, receiver;
  std::vector<double> times, errors, weights;
  for (const tomography::Pick& pick : set.picks) {
    source.push_back(pick.source);
    receiver.push_back(pick.receiver);
    times.push_back(pick.time);
    errors.push_back(pick.error);
    weights.push_back(pick.weight);
  }
  return nb::make_tuple(points_array<Dim>(set.sources), points_array<Dim>(set.receivers),
                        copy_of(source), copy_of(receiver), copy_of(times), copy_of(errors),
                        copy_of(weights));
}

// Writes files for other programs. fields: velocity, coverage, deviation, resolution, ground.
template <int Dim>
std::vector<std::string> export_in(const std::string& folder,
                                   const std::vector<std::string>& formats,
                                   const PickArrays& arrays, const std::vector<Input>& fields,
                                   const std::vector<double>& spacing,
                                   const std::vector<double>& origin) {
  tomography::InversionJob<Dim> job;
  tomography::InversionResult<Dim> found;
  job.picks = picks_of<Dim>(arrays);
  job.grid = grid_of<Dim>(fields.at(0), spacing, origin);
  const auto values = [&](std::size_t k) {
    const auto* const first = static_cast<const double*>(fields.at(k).data());
    return std::vector<double>(first, first + fields[k].size());
  };
  found.velocity = values(0);
  found.coverage = values(1);
  found.appraisal.deviation = values(2);
  found.appraisal.resolution = values(3);
  for (const double ground : values(4)) found.mask.push_back(ground != 0.0 ? 1 : 0);
  std::vector<std::string> paths;
  for (const std::string& format : formats) {
    tomography::write_export<Dim>(folder, format, job, found);
    paths.push_back((std::filesystem::path(folder) / tomography::export_name(format)).string());
  }
  return paths;
}

}  // namespace

void bind_tomography(nb::module_& m) {
  m.def(
      "read_picks",
      [](const std::string& path, const std::string& kind, double unit, bool elevations,
         const std::string& shots, const std::string& receivers) {
        const tomography::PickFormat format{kind, unit, elevations, shots, receivers};
        return tomography::dimensions_of_picks(path, format) == 2 ? read_in<2>(path, format)
                                                                  : read_in<3>(path, format);
      },
      nb::arg("path"), nb::arg("format"), nb::arg("time_unit"), nb::arg("elevations"),
      nb::arg("shots"), nb::arg("receivers"));
  m.def(
      "write_picks",
      [](const std::string& path, const std::vector<Input>& arrays) {
        const PickArrays given = pick_arrays(arrays);
        if (given.sources.shape(1) == 2) {
          tomography::write_sgt<2>(path, picks_of<2>(given));
        } else {
          tomography::write_sgt<3>(path, picks_of<3>(given));
        }
      },
      nb::arg("path"), nb::arg("arrays"));
  m.def(
      "export_times",
      [](const std::string& folder, const std::vector<std::string>& formats,
         const std::vector<Input>& arrays, const std::vector<Input>& fields,
         const std::vector<double>& spacing, const std::vector<double>& origin) {
        const PickArrays given = pick_arrays(arrays);
        return given.sources.shape(1) == 2
                   ? export_in<2>(folder, formats, given, fields, spacing, origin)
                   : export_in<3>(folder, formats, given, fields, spacing, origin);
      },
      nb::arg("folder"), nb::arg("formats"), nb::arg("arrays"), nb::arg("fields"),
      nb::arg("spacing"), nb::arg("origin"));
  m.def(
      "invert_times",
      [](const std::vector<Input>& arrays, const nb::dict& options, const nb::object& progress) {
        const PickArrays given = pick_arrays(arrays);
        const TomographyInput input = tomography_input(options);
        return given.sources.shape(1) == 2 ? invert_in<2>(given, input, progress)
                                           : invert_in<3>(given, input, progress);
      },
      nb::arg("arrays"), nb::arg("options"), nb::arg("progress").none());
}

}  // namespace moho::python
