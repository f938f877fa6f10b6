// SPDX-License-Identifier: BSD-3-Clause
#include "invert_gravity/output.hpp"

#include <moho/core/error.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <cmath>
#include <string>

namespace moho::examples::invert_gravity {

using gravity_inversion::InversionState;
using gravity_inversion::InversionStep;

void write_densities(const std::filesystem::path& path, const gravity_inversion::Cells& cells,
                     const std::vector<double>& values) {
  if (!cells.regular()) {
    io::write_npy(path, values.data(), {cells.size()});
    return;
  }
  const auto& n = cells.mesh.cells;
  io::write_npy(path, cells.on_mesh(values, std::nan("")).data(), {n[2], n[1], n[0]});
}

void write_predicted(const std::filesystem::path& path,
                     const gravity_inversion::InversionProblem& problem,
                     const gravity_inversion::Fit& fit) {
  io::AtomicFile file(path);
  std::string text = "x,y,z";
  for (const gravity::Component component : problem.components) {
    const std::string name = gravity::to_string(component);
    text += "," + name + "," + name + "_field," + name + "_trend," + name + "_residual";
  }
  text += '\n';
  const std::size_t stations = problem.stations.size() / 3;
  for (std::size_t s = 0; s < stations; ++s) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (d > 0) text += ',';
      io::append_number(text, problem.stations[3 * s + d]);
    }
    for (std::size_t c = 0; c < problem.components.size(); ++c) {
      const std::size_t at = c * stations + s;
      for (const double value :
           {problem.data[at], fit.field[at], fit.trend[at], fit.residuals[at]}) {
        text += ',';
        io::append_number(text, value);
      }
    }
    text += '\n';
    if (text.size() > (std::size_t(1) << 20)) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

void write_history(const std::filesystem::path& path, const std::vector<InversionStep>& history) {
  io::AtomicFile file(path);
  std::string text = "minimisation,stage,beta,chi2,regularisation,iterations,products\n";
  std::int64_t number = 0;
  for (const InversionStep& step : history) {
    text += std::to_string(++number) + ',' + step.stage;
    for (const double value : {step.beta, step.chi2, step.regularisation}) {
      text += ',';
      io::append_number(text, value);
    }
    text += ',' + std::to_string(step.iterations) + ',' + std::to_string(step.products) + '\n';
  }
  file.write(text);
  file.commit();
}

Json state_json(const InversionState& state) {
  Json history = Json::array();
  for (const InversionStep& step : state.history) {
    history.push_back(Json::object({{"stage", step.stage},
                                    {"beta", step.beta},
                                    {"chi2", step.chi2},
                                    {"regularisation", step.regularisation},
                                    {"iterations", step.iterations},
                                    {"products", step.products}}));
  }
  return Json::object({{"beta", state.beta},
                       {"above", state.above},
                       {"above_chi2", state.above_chi2},
                       {"below", state.below},
                       {"below_chi2", state.below_chi2},
                       {"round", state.round},
                       {"done", state.done ? 1 : 0},
                       {"reason", state.reason},
                       {"history", history}});
}

InversionState read_state(const Json& json, const std::filesystem::path& path, std::int64_t cells) {
  const auto member = [&](const Json& of, const char* name) -> const Json& {
    const Json* const found = of.find(name);
    if (found != nullptr) return *found;
    throw InputError(concat("--resume: the state does not say its ", name,
                            " (allowed: runs that were ended between minimisations): leave "
                            "--resume out to begin again"));
  };
  const auto number = [&](const Json& of, const char* name) {
    return member(of, name).number(0.0);
  };
  InversionState state;
  state.beta = number(json, "beta");
  state.above = number(json, "above");
  state.above_chi2 = number(json, "above_chi2");
  state.below = number(json, "below");
  state.below_chi2 = number(json, "below_chi2");
  state.round = static_cast<int>(number(json, "round"));
  state.done = number(json, "done") != 0.0;
  state.reason = member(json, "reason").text();
  const Json& history = member(json, "history");
  for (std::size_t k = 0; k < history.size(); ++k) {
    const Json& row = history.at(k);
    state.history.push_back({member(row, "stage").text(), number(row, "beta"), number(row, "chi2"),
                             number(row, "regularisation"),
                             static_cast<std::int64_t>(number(row, "iterations")),
                             static_cast<std::int64_t>(number(row, "products"))});
  }
  const io::Array<double> models = io::read_npy<double>(path);
  if (models.shape != std::vector<std::int64_t>{state.round < 0 ? 1 : 2, cells}) {
    throw InputError(concat("--resume: ", path.string(), " is of another mesh (allowed: ", cells,
                            " cells): leave --resume out to begin again"));
  }
  const auto begin = models.data.begin();
  state.model.assign(begin, begin + cells);
  if (state.round >= 0) state.smooth_model.assign(begin + cells, begin + 2 * cells);
  return state;
}

void write_state(const std::filesystem::path& path, const InversionState& state) {
  std::vector<double> models = state.model;
  models.insert(models.end(), state.smooth_model.begin(), state.smooth_model.end());
  io::write_npy(
      path, models.data(),
      {state.smooth_model.empty() ? 1 : 2, static_cast<std::int64_t>(state.model.size())});
}

}  // namespace moho::examples::invert_gravity
