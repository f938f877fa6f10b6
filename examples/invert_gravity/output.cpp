// SPDX-License-Identifier: BSD-3-Clause
#include "invert_gravity/output.hpp"

#include <moho/core/error.hpp>
#include <moho/io/csv.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <cmath>
#include <string>

namespace moho::examples::invert_gravity {

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
  std::vector<std::string> names{"x", "y", "z"};
  for (const gravity::Component component : problem.components) {
    for (const char* part : {"", "_field", "_trend", "_residual"}) {
      names.push_back(std::string(gravity::to_string(component)) + part);
    }
  }
  const std::size_t stations = problem.stations.size() / 3;
  const std::vector<double>* const parts[] = {&problem.data, &fit.field, &fit.trend,
                                              &fit.residuals};
  io::write_rows(path, names, stations, [&](std::size_t s, std::size_t column) {
    if (column < 3) return problem.stations[3 * s + column];
    return (*parts[(column - 3) % 4])[(column - 3) / 4 * stations + s];
  });
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

}  // namespace moho::examples::invert_gravity
