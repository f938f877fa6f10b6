// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain, cost 20, threads 2
//
// The dip of a dyke from gz alone, and from gz and two gradients, in 25,600 cells.

#include <moho/gravity/lattice.hpp>
#include <moho/gravity_inversion/inversion.hpp>
#include <moho/gravity_inversion/synthetic.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusals.hpp"

namespace {

using namespace moho;
using namespace moho::gravity_inversion;
using gravity::Component;

// Returns the dip of the compact result; correlation and mass are compared with the truth.
double dip_from(const gravity::Components& components, double exponent, int iterations,
                double min_correlation) {
  const Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  const DykeSurvey survey = dyke_survey();
  InversionProblem problem;
  problem.cells = mesh_cells(survey.mesh);
  problem.stations = survey.stations;
  problem.components = components;
  const auto field = gravity::make_lattice_operator(exec, survey.mesh, survey.stations, components);
  std::vector<double> errors;
  for (const Component component : components) {
    errors.push_back(component == Component::gz ? 0.02 : 0.5);
    problem.trend.push_back(component == Component::gz ? 1 : -1);
    problem.errors.insert(problem.errors.end(), survey.stations.size() / 3, errors.back());
  }
  problem.data = synthetic_data(*field, survey.densities, survey.stations, components, errors, 7);
  problem.weights = depth_weights(problem.cells, 20.0, exponent);
  problem.lower.assign(survey.densities.size(), 0.0);
  problem.upper.assign(survey.densities.size(), dyke_density);
  Inversion inversion(*field, problem, {.iterations = iterations, .compact = 20.0});
  InversionState state = inversion.begin();
  while (!state.done) inversion.advance(state);
  EXPECT_NEAR(inversion.fit(state.smooth_model).chi2_all, 1.0, 0.05);
  EXPECT_NEAR(inversion.fit(state.model).chi2_all, 1.0, 0.12);
  EXPECT_GT(correlation_of(state.model, survey.densities), min_correlation);
  double mass = 0.0, true_mass = 0.0;
  for (std::size_t k = 0; k < state.model.size(); ++k) {
    mass += state.model[k];
    true_mass += survey.densities[k];
  }
  EXPECT_NEAR(mass / true_mass, 1.0, 0.25);
  return dip_of(survey.mesh, state.model);
}

TEST(InversionDyke, HasItsDipFromGravity) {
  EXPECT_GT(dip_from({Component::gz}, 2.3, 60, 0.75), 0.8);
}

TEST(InversionDyke, HasItsDipFromGravityAndGradients) {
  EXPECT_NEAR(dip_from({Component::gz, Component::gzz, Component::gxz}, 2.0, 30, 0.8), 1.0, 0.15);
}

TEST(InversionDyke, IsMadeOfCells) {
  const DykeSurvey survey = dyke_survey(100.0);
  EXPECT_EQ(survey.mesh.size(), 20 * 20 * 8);
  EXPECT_NEAR(dip_of(survey.mesh, survey.densities), 1.0, 1e-12);
  EXPECT_EQ(dip_of(survey.mesh, std::vector<double>(3200, 0.0)), 0.0);
  EXPECT_EQ(correlation_of({1.0, 2.0}, {-2.0, -4.0}), -1.0);
  EXPECT_THAT(moho::testing::message_of([] { dyke_survey(300.0); }),
              ::testing::HasSubstr("divisors of 400"));
}

}  // namespace
