// SPDX-License-Identifier: BSD-3-Clause
//
// invert_gravity: densities of cells below the ground from gravity and gravity gradients.

#include "app/format.hpp"
#include "app/memory.hpp"
#include "app/prism_options.hpp"
#include "app/program.hpp"
#include "app/summary.hpp"
#include "invert_gravity/input.hpp"
#include "invert_gravity/options.hpp"
#include "invert_gravity/output.hpp"
#include "ranks/ranks.hpp"

#include <moho/core/phases.hpp>
#include <moho/core/space.hpp>
#include <moho/core/statistics.hpp>
#include <moho/gravity/field_operator.hpp>
#include <moho/gravity/products.hpp>
#include <moho/gravity/shared_operator.hpp>
#include <moho/gravity_inversion/remarks.hpp>
#include <moho/gravity_inversion/state.hpp>
#include <moho/gravity_inversion/synthetic.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/numbered.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace moho::examples::invert_gravity {
namespace {

using gravity::Products;
using gravity_inversion::Fit;
using gravity_inversion::Inversion;
using gravity_inversion::InversionState;
using gravity_inversion::InversionStep;

// Operator of the cells in a space, with the name of its processor.
struct FieldIn {
  std::unique_ptr<gravity::FieldOperator> field;
  std::string device;
  std::string name = "direct";
  std::optional<double> error;  // difference from direct sums, of the largest value
  gravity::SharedOperator<Ranks>* shared = nullptr;  // with several ranks: the field
};

// The reason why the transforms of a lattice cannot be used; empty: they can.
std::string why_no_lattice(const Input& input) {
  return gravity_inversion::why_no_lattice(input.problem, input.ground.has_value());
}

// The operator that is tried first.
Products first_products(const Options& o, const Input& input) {
  return gravity_inversion::choose_products(input.problem, why_no_lattice(input).empty(),
                                            o.products, o.space != "cuda");
}

// Memory of the run with an operator, null before it is made. \throws MemoryError
MemoryEstimate estimate_memory(const Options& o, const Input& input, Products products,
                               const gravity::FieldOperator* field) {
  const auto& p = input.problem;
  const auto cells = static_cast<double>(p.cells.size());
  const auto values = static_cast<double>(p.components.size() * p.stations.size() / 3);
  MemoryEstimate estimate;
  estimate.take(
      gravity_inversion::bytes_of_problem(p) + 8.0 * static_cast<double>(input.truth.size()),
      "cells, their neighbours and data");
  const MemoryLimit limit = memory_limit(o, o.space != "cuda");
  if (o.space != "cuda") {
    const bool made = field != nullptr && field->bytes() > 0;
    const char* const name =
        products == Products::lattice ? "spectra of the layers" : "sums of prisms";
    const double held = made ? static_cast<double>(field->bytes())
                             : gravity::bytes_of_products(products, p.cells.mesh, p.cells.size(),
                                                          p.stations, p.components.size());
    if (made) estimate.pass(static_cast<double>(field->max_bytes()), name);
    estimate.take(held, name);
    if (products != Products::direct || o.weights == Weights::sensitivity) {
      estimate.pass(96.0 * cells + 64.0 * values, "direct sums");
    }
  }
  estimate.take(gravity_inversion::bytes_of_regularisation(p.cells), "the regularisation");
  estimate.pass(gravity_inversion::bytes_of_search(p, o.inversion), "the search");
  if (o.plot) estimate.picture(24.0 * cells + 40.0 * values, limit.bytes);
  check_memory("the inversion", estimate, limit,
               "take fewer cells, fewer --pairs, or --operator direct");
  return estimate;
}

FieldIn make_field(const Options& o, const std::vector<double>& stations, const Input& input,
                   Products products) {
  const auto& problem = input.problem;
  FieldIn made;
  gravity::FmmOptions options;
  if (o.space == "cuda") {
    options.memory_budget = o.memory;
  } else if (products == Products::fmm) {
    const double room = memory_limit(o).bytes - MemoryEstimate::process -
                        gravity_inversion::bytes_of_problem(problem) -
                        72.0 * static_cast<double>(problem.cells.size()) -
                        8.0 * static_cast<double>(stations.size() + problem.data.size());
    options.memory_budget = static_cast<std::size_t>(std::max(room, 1.0));
  }
  options.tolerance = o.tolerance;
  with_space(o.space, [&](const auto& exec) {
    made.field = gravity::make_products(exec, products, problem.cells.mesh, problem.cells.prisms,
                                        stations, problem.components, options);
    made.device = device_name(exec);
    if (products == Products::direct) return;
    made.name = gravity::to_string(products);
    made.error = gravity::difference_from_direct(exec, *made.field, problem.cells.prisms, stations,
                                                 problem.components);
  });
  return made;
}

// Direct sums that all ranks compute.
FieldIn share_field(const Options& o, const Input& input, Ranks& ranks) {
  const auto& problem = input.problem;
  FieldIn made;
  gravity::OperatorOptions options;
  options.all_stations = static_cast<std::int64_t>(problem.stations.size() / 3);
  if (o.space == "cuda") options.memory_budget = o.memory;
  auto shared = std::make_unique<gravity::SharedOperator<Ranks>>(
      ranks, problem.cells.prisms, problem.stations, problem.components.size(),
      [&](const std::vector<double>& prisms, const std::vector<double>& stations) {
        std::unique_ptr<gravity::FieldOperator> part;
        with_space(o.space, [&](const auto& exec) {
          part = gravity::make_field_operator(exec, prisms, stations, problem.components, options);
          made.device = device_name(exec);
        });
        return part;
      });
  made.shared = shared.get();
  made.field = std::move(shared);
  return made;
}

// The requested operator.
// \param memory receives the estimate of the run with it
FieldIn choose_field(const Options& o, const Input& input, const Session& session,
                     MemoryEstimate& memory) {
  if (o.products == Products::lattice && !why_no_lattice(input).empty()) {
    throw InputError(concat("--operator lattice: ", why_no_lattice(input),
                            " (allowed: a whole mesh, and stations at one height above it, whole "
                            "steps of its cells apart): take fmm or automatic"));
  }
  const Products products = first_products(o, input);
  if (products != Products::direct) {
    try {
      FieldIn made = make_field(o, input.problem.stations, input, products);
      memory = estimate_memory(o, input, products, made.field.get());
      session.print("operator  ", made.name, ": differs from direct sums by ",
                    significant(*made.error, 2), " of the largest value");
      return made;
    } catch (const MemoryError& error) {
      if (o.products != Products::automatic) throw with_advice(error, "--memory", "");
      session.print("          note: ", error.what(), "; direct sums are taken");
    }
  }
  return make_field(o, input.problem.stations, input, Products::direct);
}

std::vector<std::string> names_of_results(const Options& o) {
  std::vector<std::string> names{"model.npy", "predicted.csv", "history.csv", "stations.npy"};
  if (o.weights != Weights::none) names.emplace_back("weights.npy");
  if (o.inversion.compact > 0.0) names.emplace_back("model_smooth.npy");
  if (o.demo || !o.truth_file.empty()) names.emplace_back("model_true.npy");
  if (o.plot) names.insert(names.end(), {"sections.png", "fit.png", "history.png"});
  return names;
}

void print_input(const Input& input, const Session& session) {
  const auto& problem = input.problem;
  std::string names;
  for (const gravity::Component c : problem.components) {
    names += (names.empty() ? "" : ", ") + std::string(gravity::to_string(c));
  }
  const std::size_t missing = static_cast<std::size_t>(std::count_if(
      problem.data.begin(), problem.data.end(), [](double value) { return std::isnan(value); }));
  session.print("data      ", input.data_name, ": ",
                counted(problem.stations.size() / 3, "station"), ", ", names,
                missing > 0 ? concat("; ", counted(missing, "value"), " missing") : "",
                "; mean height ", significant(input.height, 4), " m");
  const auto& mesh = problem.cells.mesh;
  session.print("cells     ", input.cells_name, ": ", counted(problem.cells.size(), "cell"),
                problem.cells.regular()
                    ? concat(" of ", mesh.cells[0], " x ", mesh.cells[1], " x ", mesh.cells[2])
                    : std::string(),
                ", ", counted(problem.cells.links.size(), "common face"));
  for (const std::string& note : input.notes) session.print("          note: ", note);
}

// Seconds of both products, measured with a part of the stations.
double seconds_of_products(const Options& o, const Input& input, bool direct,
                           const Session& session, MemoryEstimate& memory) {
  const auto& problem = input.problem;
  const std::size_t stations = problem.stations.size() / 3;
  const double max = o.space == "cuda" ? 2e9 : 2e6;
  const auto part =
      !direct ? stations
              : std::clamp<std::size_t>(
                    static_cast<std::size_t>(max / static_cast<double>(problem.cells.size())), 1,
                    stations);
  const FieldIn made =
      !direct
          ? choose_field(o, input, session, memory)
          : make_field(
                o, gravity::stations_at(problem.stations, gravity::spread_stations(stations, part)),
                input, Products::direct);
  std::vector<double> model(static_cast<std::size_t>(problem.cells.size()), 1.0), values;
  made.field->apply(model, values);
  const Stopwatch timer;
  made.field->apply(model, values);
  made.field->adjoint(values, model);
  return timer.seconds() * static_cast<double>(stations) / static_cast<double>(part);
}

void print_plan(const Options& o, const Input& input, MemoryEstimate memory,
                const Session& session) {
  const auto& problem = input.problem;
  const double pairs =
      static_cast<double>(problem.cells.size()) * static_cast<double>(problem.stations.size() / 3);
  const Products products = first_products(o, input);
  const bool direct = products == Products::direct;
  const double seconds = seconds_of_products(o, input, direct, session, memory);
  session.print("plan      ", format_count(pairs), "pairs a product, by ",
                direct                          ? "direct sums"
                : products == Products::lattice ? "Fourier transforms"
                                                : "a fast multipole method",
                " on ", o.space);
  session.print("          ", significant(seconds, 3),
                " s for a product and its transpose, measured",
                direct ? " with a part of the stations" : "");
  session.print(
      "          ",
      gravity_inversion::is_linear(problem, o.inversion) ? "conjugate gradients" : "L-BFGS",
      ", at most ", counted(o.inversion.iterations, "iteration"),
      " a minimisation: ", significant(seconds * o.inversion.iterations, 3),
      " s; some 5 to 15 minimisations",
      o.inversion.compact > 0.0 ? concat(" and ", counted(o.inversion.rounds, "compact round"))
                                : std::string());
  session.print("memory    ", format_bytes(memory.max()), " on the host");
}

void print_step(const Options& o, const InversionState& state, double seconds,
                const Session& session) {
  const InversionStep& step = state.history.back();
  session.print("minimised ", state.history.size(), ": ", step.stage, ", beta ",
                significant(step.beta, 4), ": chi2 ", significant(step.chi2, 4), ", ",
                counted(step.iterations, "iteration"),
                step.iterations >= o.inversion.iterations ? " (the limit)" : "", ", ",
                significant(seconds, 3), " s");
  if (state.round == 0 && gravity_inversion::is_above_target(o.inversion, step.chi2)) {
    session.print("          note: chi2 of the smooth model is above the target ",
                  o.inversion.target, ": ", state.reason, "; compact rounds follow");
  }
}

// Takes the state of an earlier run over, or begins.
InversionState first_state(const Options& o, Inversion& inversion, Session& session) {
  if (o.resume) {
    Json more;
    const std::int64_t last = session.last_part();
    if (last >= 0 && session.take_over(last, more)) {
      InversionState state = gravity_inversion::read_state(
          session.folder() / io::numbered("state", last), inversion.problem().cells.size());
      inversion.extend(state);
      session.print("resumed   ", counted(state.history.size(), "minimisation"), " are complete");
      return state;
    }
    session.print("resumed   nothing is there, it begins anew");
  }
  return inversion.begin();
}

void keep(const InversionState& state, Session& session) {
  const auto number = static_cast<std::int64_t>(state.history.size());
  const std::string name = io::numbered("state", number);
  session.part_begins({name});
  gravity_inversion::write_state(session.folder() / name, state);
  session.files.push_back(name);
  session.part_replaces(number, {name}, {});
}

Json truth_json(const Input& input, const gravity_inversion::Cells& cells,
                const InversionState& state) {
  double mass = 0.0, true_mass = 0.0;
  const std::vector<double> volumes = cells.volumes();
  for (std::size_t k = 0; k < volumes.size(); ++k) {
    mass += state.model[k] * volumes[k];
    true_mass += input.truth[k] * volumes[k];
  }
  Json json;
  json["correlation"] = gravity_inversion::correlation_of(state.model, input.truth);
  json["mass_ratio"] = true_mass != 0.0 ? Json(mass / true_mass) : Json();
  if (!cells.regular()) return json;
  json["dip"] = gravity_inversion::dip_of(cells.mesh, cells.on_mesh(state.model, 0.0));
  json["dip_true"] = gravity_inversion::dip_of(cells.mesh, cells.on_mesh(input.truth, 0.0));
  return json;
}

Json data_json(const Input& input, const gravity_inversion::InversionProblem& problem,
               const Fit& fit) {
  Json json;
  json["name"] = input.data_name;
  json["stations"] = problem.stations.size() / 3;
  json["mean_height"] = input.height;
  Json list = Json::array();
  for (std::size_t c = 0; c < problem.components.size(); ++c) {
    list.push_back(Json::object({{"name", gravity::to_string(problem.components[c])},
                                 {"unit", gravity::unit_of(problem.components[c])},
                                 {"chi2", fit.chi2[c]},
                                 {"correlation", fit.correlation[c]}}));
  }
  json["components"] = list;
  return json;
}

void write_results(const Options& o, const Input& input, const Inversion& inversion,
                   const InversionState& state, const Fit& fit, Session& session) {
  const HostPhase phase(session.phases, "write");
  const std::filesystem::path& folder = session.folder();
  const auto& problem = inversion.problem();
  const auto densities = [&](const char* name, const std::vector<double>& values) {
    write_densities(folder / name, problem.cells, values);
    session.wrote(name);
  };
  densities("model.npy", state.model);
  if (!state.smooth_model.empty()) densities("model_smooth.npy", state.smooth_model);
  if (!input.truth.empty()) densities("model_true.npy", input.truth);
  if (o.weights != Weights::none) densities("weights.npy", problem.weights);
  io::write_npy(folder / "stations.npy", problem.stations.data(),
                {static_cast<std::int64_t>(problem.stations.size() / 3), 3});
  session.wrote("stations.npy");
  write_predicted(folder / "predicted.csv", problem, fit);
  session.wrote("predicted.csv");
  write_history(folder / "history.csv", state.history);
  session.wrote("history.csv");
}

void finish(const Options& o, const Input& input, const Inversion& inversion,
            const InversionState& state, const Fit& fit, const FieldIn& made, int ranks,
            Session& session) {
  Json& summary = session.summary;
  summary["asked"] = session.requested();
  summary["data"] = data_json(input, inversion.problem(), fit);
  const auto& cells = inversion.problem().cells;
  summary["cells"] = Json::object({{"name", input.cells_name},
                                   {"count", cells.size()},
                                   {"mesh", cells.regular() ? prism_mesh_json(cells.mesh) : Json()},
                                   {"common_faces", cells.links.size()}});
  std::int64_t iterations = 0, products = 0;
  for (const InversionStep& step : state.history) {
    iterations += step.iterations;
    products += step.products;
  }
  Json trend;
  for (std::size_t k = 0; k < fit.coefficients.size(); ++k) {
    trend[inversion.trend().names()[k]] = fit.coefficients[k];
  }
  const auto [lowest, highest] = range_of(state.model);
  Json& result = summary["result"];
  result["method"] = inversion.linear() ? "conjugate gradients" : "L-BFGS";
  result["chi2"] = fit.chi2_all;
  result["values"] = fit.values;
  result["beta"] = state.history.empty() ? Json() : Json(state.history.back().beta);
  result["reason"] = state.reason;
  result["compact_rounds"] = std::max(state.round, 0);
  result["minimisations"] = state.history.size();
  result["iterations"] = iterations;
  result["products"] = products;
  result["trend"] = trend;
  result["density_min"] = lowest;
  result["density_max"] = highest;
  summary["truth"] = input.truth.empty() ? Json() : truth_json(input, cells, state);
  summary["device"] = made.device;
  summary["ranks"] = ranks;
  summary["operator"] =
      Json::object({{"name", made.name}, {"error", made.error ? Json(*made.error) : Json()}});

  Ending ending;
  ending.script = "plot_densities.py";
  ending.pictures = {"sections.png", "fit.png", "history.png"};
  ending.picture_name = "sections.png";
  ending.lines = {
      concat("fitted    ", counted(fit.values, "value"), ", chi2 ", significant(fit.chi2_all, 4),
             "; ", state.reason,
             state.round > 0 ? "; " + counted(state.round, "compact round") : ""),
      concat("model     ", significant(lowest, 5), " to ", significant(highest, 5), " kg/m^3; ",
             counted(iterations, "iteration"), " on ", o.space, ": ", made.device)};
  for (std::size_t c = 0; c < fit.chi2.size(); ++c) {
    ending.lines.push_back(concat("          ",
                                  gravity::to_string(inversion.problem().components[c]), " chi2 ",
                                  significant(fit.chi2[c], 4)));
  }
  const std::string advice = gravity_inversion::advice_on(o.inversion, state, fit.chi2_all);
  if (!advice.empty()) ending.lines.push_back("          " + advice);
  if (!input.truth.empty()) {
    ending.lines.push_back(
        concat("          correlation with the true densities ",
               fixed(gravity_inversion::correlation_of(state.model, input.truth), 2)));
  }
  session.finish(ending);
}

void run(const Options& requested, Session& session) {
  Options o = requested;
  if (o.demo) {  // what the page's example asks for
    if (o.trend.separate.empty() && !o.trend.all) o.trend.separate[gravity::Component::gz] = 1.0;
    if (!o.bounds) o.bounds = {"0", std::to_string(gravity_inversion::dyke_density)};
    if (o.inversion.compact == 0.0) o.inversion.compact = 20.0;
  }
  PhaseTimes& phases = session.phases;
  auto& ranks = static_cast<Ranks&>(session.processes());
  Input input;
  MemoryEstimate memory;
  ranks.collectively([&] {
    if (ranks.root()) session.will_write(names_of_results(o));
    const HostPhase phase(phases, "read");
    input = load_input(o);
    const Products products = first_products(o, input);
    if (o.tolerance != Options().tolerance && products != Products::fmm) {
      input.notes.push_back(
          concat("--tolerance has no effect with --operator ", to_string(products)));
    }
    print_input(input, session);
    memory = estimate_memory(o, input, products, nullptr);
    if (!ranks.root()) return;
    session.leave_out_picture(why_no_picture(memory, memory_limit(o, o.space != "cuda")));
    if (!o.plan) session.resumable();
  });
  if (o.plan) {
    ranks.finish();
    if (ranks.root()) print_plan(o, input, memory, session);
    return;
  }

  auto& problem = input.problem;
  FieldIn made;
  const bool direct = first_products(o, input) == Products::direct;
  if (!ranks.alone() && direct) made = share_field(o, input, ranks);
  if (!ranks.root()) {  // other products run on the root alone
    if (made.shared != nullptr) made.shared->serve();
    return ranks.finish();
  }
  {
    const HostPhase phase(phases, "prepare");
    if (made.shared == nullptr) made = choose_field(o, input, session, memory);
    const std::size_t stations = problem.stations.size() / 3;
    if (!input.demo_errors.empty()) {
      problem.data = gravity_inversion::synthetic_data(*made.field, input.truth, problem.stations,
                                                       problem.components, input.demo_errors);
      for (std::size_t k = 0; k < problem.data.size(); ++k) {
        problem.errors.push_back(input.demo_errors[k / stations]);
      }
    }
    if (o.weights == Weights::sensitivity) {
      std::vector<double> inverse(problem.data.size(), 0.0), squares;
      for (std::size_t k = 0; k < inverse.size(); ++k) {
        if (!std::isnan(problem.data[k])) inverse[k] = 1.0 / problem.errors[k];
      }
      made.field->column_squares(inverse, squares);
      problem.weights = gravity_inversion::sensitivity_weights(squares);
    }
  }
  Inversion inversion(*made.field, std::move(problem), o.inversion);
  InversionState state = first_state(o, inversion, session);
  session.begin_output();
  while (!state.done) {
    const Stopwatch timer;
    inversion.advance(state, session.progress());
    PhaseTimes times;
    times.add("invert", timer.seconds());
    session.computed(times);
    print_step(o, state, timer.seconds(), session);
    keep(state, session);
  }
  const Fit fit = inversion.fit(state.model);
  if (made.shared != nullptr) made.shared->stop();
  ranks.finish();
  write_results(o, input, inversion, state, fit, session);
  session.summary["memory"] = memory_json(memory, memory_limit(o, o.space != "cuda"));
  finish(o, input, inversion, state, fit, made, made.shared ? ranks.size() : 1, session);
}

}  // namespace
}  // namespace moho::examples::invert_gravity

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<invert_gravity::Options>(
      argc, argv, invert_gravity::describe, invert_gravity::run,
      [](int& count, char**& words) { return std::make_unique<Ranks>(count, words, true); });
}
