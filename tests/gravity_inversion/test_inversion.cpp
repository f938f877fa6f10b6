// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
// ctest: sanitizers without InversionSolvers.AgreeWithDenseLeastSquares
// ctest: sanitizers without InversionStages.*
//
// Inversion of gravity data: cells, weights, trend, gradients, solvers and stages.

#include "refusals.hpp"

#include <moho/gravity/ensemble.hpp>
#include <moho/gravity_inversion/inversion.hpp>
#include <moho/gravity_inversion/state.hpp>
#include <moho/io/npy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

namespace {

using namespace moho;
using namespace moho::gravity_inversion;
using gravity::Component;
using gravity::RegularMesh;
using moho::testing::infinite;
using moho::testing::message_of;
using moho::testing::not_a_number;
using ::testing::HasSubstr;

using Memory = Kokkos::HostSpace;
using Field = gravity::DirectFieldOperator<Memory>;

Instance<Memory> host() { return Kokkos::DefaultHostExecutionSpace(); }

class Random {
 public:
  explicit Random(unsigned seed) : m_engine(seed) {}
  double uniform() { return static_cast<double>(m_engine()) / 4294967296.0; }
  double normal() {
    return std::sqrt(-2.0 * std::log(1.0 - uniform())) * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::mt19937 m_engine;
};

// A mesh of 100 m cells, stations over it, a block of 400 kg/m^3, and data with noise.
struct Survey {
  RegularMesh mesh{{10, 8, 5}, {0.0, 0.0, 0.0}, {1000.0, 800.0, 500.0}};
  gravity::Components components{Component::gz, Component::gzz};
  InversionProblem problem;
  std::vector<double> truth;
  std::unique_ptr<Field> field;

  explicit Survey(double noise = 1.0, double slope = 0.0, unsigned seed = 3) {
    problem.cells = mesh_cells(mesh);
    problem.components = components;
    problem.stations = gravity::station_grid(12, 10, 90.0, 85.0, 5.0, 10.0, {20.0});
    problem.weights = depth_weights(problem.cells, 20.0, 2.0);
    field = std::make_unique<Field>(host(), problem.cells.prisms, problem.stations, components);
    truth.assign(static_cast<std::size_t>(mesh.size()), 0.0);
    for (const std::size_t k : {2u, 3u}) {
      for (const std::size_t j : {3u, 4u}) {
        for (const std::size_t i : {4u, 5u}) truth[(k - 1) * 80 + j * 10 + i] = 400.0;
      }
    }
    field->apply(truth, problem.data);
    Random random(seed);
    for (std::size_t k = 0; k < problem.data.size(); ++k) {
      problem.errors.push_back(k < 120 ? 0.02 : 1.0);
      problem.data[k] += noise * problem.errors[k] * random.normal();
      if (k < 120) {
        const std::size_t s = 3 * k;
        problem.data[k] +=
            slope * (3.0 + 0.002 * problem.stations[s] - 0.001 * problem.stations[s + 1]);
      }
    }
  }
};

InversionState run(Inversion& inversion) {
  InversionState state = inversion.begin();
  while (!state.done) inversion.advance(state);
  return state;
}

TEST(InversionCells, AreCutByTheGround) {
  const RegularMesh mesh{{2, 2, 3}, {0.0, 0.0, -100.0}, {200.0, 200.0, 200.0}};
  const Ground ground{2, 2, 50.0, 50.0, 100.0, 100.0, {100.0, 40.0, -30.0, -199.0}};
  const Cells cells = mesh_cells(mesh, {}, &ground);
  // tops of the columns at z = -100, -40, 30 and 199
  EXPECT_THAT(cells.cell, ::testing::ElementsAre(0, 1, 4, 5, 6, 8, 9, 10));
  EXPECT_EQ(cells.prisms[4], -100.0);
  EXPECT_EQ(cells.prisms[7 + 4], -40.0);
  EXPECT_EQ(cells.prisms[7 * 4 + 4], 30.0);
  EXPECT_EQ(cells.volumes()[1], 100.0 * 100.0 * 40.0);
  EXPECT_EQ(cells.links.size(), 10u);
  const auto all = cells.on_mesh({1, 2, 3, 4, 5, 6, 7, 8}, -1.0);
  EXPECT_EQ(all[11], -1.0);
  EXPECT_EQ(all[10], 8.0);
  EXPECT_THAT(cells.from_mesh(all), ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(ground.at(100.0, 50.0), 70.0);
  EXPECT_THAT(message_of([&] { (void)ground.at(1000.0, 0.0); }), HasSubstr("does not cover x"));
  EXPECT_THAT(message_of([&] { mesh_cells(mesh, {1, 0}); }), HasSubstr("mask: it has 2 cells"));
  EXPECT_THAT(message_of([&] { mesh_cells(mesh, std::vector<unsigned char>(12, 0)); }),
              HasSubstr("no cell is left"));
}

TEST(InversionCells, OfAListAreThoseOfItsMesh) {
  const RegularMesh mesh{{4, 3, 2}, {0.0, 0.0, 0.0}, {400.0, 300.0, 200.0}};
  const Cells regular = mesh_cells(mesh), list = list_cells(regular.prisms);
  EXPECT_EQ(list.links.size(), regular.links.size());
  EXPECT_FALSE(list.regular());
  for (const Link& link : list.links) {
    EXPECT_EQ(link.second - link.first, link.axis == 0 ? 1 : link.axis == 1 ? 4 : 12);
  }
  EXPECT_THAT(message_of([] { list_cells({0, 1, 0, 1, 1, 0, 1}); }), HasSubstr("row 0"));
}

TEST(InversionCells, KnowTheStationsInsideAndFarAway) {
  const RegularMesh mesh{{4, 3, 2}, {0.0, 0.0, 0.0}, {400.0, 300.0, 200.0}};
  const std::vector<double> stations{50.0, 50.0,   -10.0, 100.0, 150.0,  0.0,   250.0, 150.0,
                                     30.0, 350.0,  250.0, 150.0, 50.0,   50.0,  201.0, 50.0,
                                     50.0, -399.0, 50.0,  50.0,  -401.0, 900.0, 50.0,  -10.0};
  std::vector<unsigned char> mask(24, 1);
  mask[6] = 0;  // around station 3
  for (const bool whole : {true, false}) {
    const Cells cells = mesh_cells(mesh, whole ? std::vector<unsigned char>() : mask);
    for (const Cells& each : {cells, list_cells(cells.prisms)}) {
      const StrangeStations found = strange_stations(each, stations);
      EXPECT_EQ(found.inside, whole ? 2 : 1);
      EXPECT_EQ(found.first_inside, whole ? 2 : 3);
      EXPECT_EQ(found.far, 2);
      EXPECT_EQ(found.first_far, 6);
      EXPECT_EQ(found.width, 400.0);
    }
  }
  EXPECT_EQ(strange_stations(list_cells(mesh_cells(mesh).prisms), stations, 1.0).inside, 0);
}

TEST(InversionWeights, DecayWithDepth) {
  const Cells cells = mesh_cells({{1, 1, 3}, {0.0, 0.0, 0.0}, {100.0, 100.0, 300.0}});
  const auto weights = depth_weights(cells, 50.0, 2.0);
  EXPECT_THAT(weights, ::testing::ElementsAre(1.0, 0.5, ::testing::DoubleNear(1.0 / 3.0, 1e-15)));
  const Ground ground{1, 1, 0.0, 0.0, 1.0, 1.0, {100.0}};
  EXPECT_DOUBLE_EQ(depth_weights(cells, 50.0, 2.0, &ground)[1], 200.0 / 300.0);
  const Heights heights = station_heights(cells, {50.0, 50.0, -30.0, 50.0, 50.0, 10.0});
  EXPECT_EQ(heights.mean, 15.0);
  EXPECT_EQ(heights.below, 1);
  EXPECT_EQ(heights.first, 1);
  EXPECT_EQ(station_heights(cells, {50.0, 50.0, -130.0}, &ground).mean, 30.0);
  EXPECT_THAT(sensitivity_weights({16.0, 1.0, 0.0}), ::testing::ElementsAre(1.0, 0.5, 1e-3));
  EXPECT_THAT(message_of([&] { depth_weights(cells, 1.0, -1.0); }), HasSubstr("exponent is -1"));
}

TEST(InversionTrend, IsProjectedOut) {
  const auto stations = gravity::station_grid(6, 5, 30.0, 20.0, 0.0, 0.0, {0.0});
  std::vector<double> inverse(60, 2.0);
  inverse[7] = 0.0;
  const Trend trend(stations, inverse, {2, -1}, {"gz", "gzz"});
  EXPECT_EQ(trend.size(), 6);
  EXPECT_EQ(trend.names()[4], "gz x^1 y^1");
  const std::vector<double> coefficients{1.0, -2.0, 0.5, 3.0, -1.0, 0.25};
  const auto values = trend.values(coefficients);
  std::vector<double> residuals(60);
  for (std::size_t k = 0; k < 60; ++k) residuals[k] = inverse[k] * values[k];
  EXPECT_EQ(values[35], 0.0);
  const auto found = trend.coefficients(residuals);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(found[k], coefficients[k], 1e-13);
  trend.project(residuals);
  for (const double residual : residuals) EXPECT_NEAR(residual, 0.0, 1e-13);
  const auto line = gravity::station_grid(6, 1, 30.0, 20.0, 0.0, 0.0, {0.0});
  EXPECT_THAT(message_of([&] { Trend(line, std::vector<double>(6, 1.0), {1}, {"gz"}); }),
              HasSubstr("do not determine its term gz x^0 y^1"));
  EXPECT_THAT(message_of([&] { Trend(line, std::vector<double>(6, 1.0), {3}, {"gz"}); }),
              HasSubstr("gz has 6 values for 10 coefficients"));
}

TEST(InversionObjective, HasItsGradient) {
  Survey survey(1.0, 1.0);
  survey.problem.trend = {1, -1};
  survey.problem.data[5] = std::nan("");
  Inversion inversion(*survey.field, survey.problem, {.compact = 50.0});
  Random random(9);
  std::vector<double> model, direction, gradient, unused;
  for (std::size_t k = 0; k < survey.truth.size(); ++k) {
    model.push_back(100.0 * random.normal());
    direction.push_back(random.normal());
  }
  const std::vector<double> before = survey.truth;
  const double f = inversion.value_and_gradient(model, 0.3, &before, gradient);
  double slope = 0.0;
  for (std::size_t k = 0; k < model.size(); ++k) slope += gradient[k] * direction[k];
  // J is quadratic for fixed v: the rest of a Taylor series falls with the square of the step
  double last = 0.0;
  for (const double h : {1.0, 0.5, 0.25}) {
    std::vector<double> there = model;
    for (std::size_t k = 0; k < model.size(); ++k) there[k] += h * direction[k];
    const double rest = inversion.value_and_gradient(there, 0.3, &before, unused) - f - h * slope;
    if (last > 0.0) {
      EXPECT_NEAR(rest / last, 0.25, 1e-6);
    }
    last = rest;
  }
  EXPECT_GT(last, 0.0);
}

TEST(InversionSolvers, AgreeWithDenseLeastSquares) {
  Survey survey;
  for (int k = 0; k < 400; ++k) {
    survey.problem.reference.push_back(5.0 * (k % 7));
    survey.problem.start.push_back(3.0 * (k % 5));
  }
  const double beta = 0.02;
  const auto solve = [&](Solver solver) {
    InversionOptions options;
    options.beta = beta;
    options.iterations = 3000;
    options.decrease = 0.0;
    options.solver = solver;
    Inversion inversion(*survey.field, survey.problem, options);
    const InversionState state = run(inversion);
    EXPECT_EQ(state.history.size(), 1u);
    // the gradient at the minimum, against that at 0
    std::vector<double> there, first;
    (void)inversion.value_and_gradient(state.model, beta, nullptr, there);
    (void)inversion.value_and_gradient(std::vector<double>(400, 0.0), beta, nullptr, first);
    double norm = 0.0, all = 0.0;
    for (std::size_t k = 0; k < 400; ++k) {
      norm += there[k] * there[k];
      all += first[k] * first[k];
    }
    EXPECT_LE(std::sqrt(norm / all), 1e-3) << static_cast<int>(solver);
    return state.model;
  };
  // normal equations, column by column, and their Cholesky factor
  Inversion inversion(*survey.field, survey.problem, {.beta = beta});
  const std::size_t n = 400;
  std::vector<double> matrix(n * n), right, unit(n, 0.0), column;
  (void)inversion.value_and_gradient(unit, beta, nullptr, right);
  for (std::size_t j = 0; j < n; ++j) {
    unit[j] = 1.0;
    (void)inversion.value_and_gradient(unit, beta, nullptr, column);
    unit[j] = 0.0;
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + j] = column[i] - right[i];
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * n + k] * matrix[j * n + k];
      matrix[i * n + j] = i == j ? std::sqrt(sum) : sum / matrix[j * n + j];
    }
  }
  std::vector<double> known(n);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = -right[i];
    for (std::size_t k = 0; k < i; ++k) sum -= matrix[i * n + k] * known[k];
    known[i] = sum / matrix[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) known[i] -= matrix[k * n + i] * known[k];
    known[i] /= matrix[i * n + i];
  }
  double largest = 0.0;
  for (const double value : known) largest = std::max(largest, std::abs(value));
  for (const Solver solver : {Solver::conjugate_gradients, Solver::lbfgs}) {
    const auto found = solve(solver);
    for (std::size_t k = 0; k < n; ++k) {
      ASSERT_NEAR(found[k], known[k], 2e-3 * largest) << static_cast<int>(solver) << ", " << k;
    }
  }
}

TEST(InversionTrend, DoesNotChangeTheModel) {
  std::vector<std::vector<double>> models;
  for (const double slope : {0.0, 1.0}) {
    Survey survey(1.0, slope);
    survey.problem.trend = {1, -1};
    Inversion inversion(*survey.field, survey.problem, {.beta = 0.02});
    const InversionState state = run(inversion);
    models.push_back(state.model);
    const Fit fit = inversion.fit(state.model);
    EXPECT_EQ(fit.values, 240);
    if (slope > 0.0) {
      EXPECT_NEAR(fit.trend[0], 3.0, 0.1);
    }
  }
  double largest = 0.0;
  for (const double value : models[0]) largest = std::max(largest, std::abs(value));
  for (std::size_t k = 0; k < models[0].size(); ++k) {
    EXPECT_NEAR(models[0][k], models[1][k], 1e-9 * largest) << k;
  }
}

TEST(InversionStages, ReachTheTargetAndCompactTheBlock) {
  Survey survey;
  survey.problem.lower.assign(400, 0.0);
  survey.problem.upper.assign(400, 400.0);
  Inversion inversion(*survey.field, survey.problem, {.compact = 20.0, .rounds = 4});
  EXPECT_FALSE(inversion.linear());
  const InversionState state = run(inversion);
  const Fit fit = inversion.fit(state.model), smooth = inversion.fit(state.smooth_model);
  EXPECT_NEAR(smooth.chi2_all, 1.0, 0.05);
  EXPECT_NEAR(fit.chi2_all, 1.0, 0.3);
  EXPECT_THAT(state.reason, HasSubstr("reached the target"));
  EXPECT_EQ(state.history.back().stage, "compact");
  EXPECT_NEAR(fit.chi2_all, state.history.back().chi2, 1e-12);
  const auto correlation = [&](const std::vector<double>& model) {
    double xy = 0.0, xx = 0.0, yy = 0.0;
    for (std::size_t k = 0; k < model.size(); ++k) {
      EXPECT_GE(model[k], 0.0);
      EXPECT_LE(model[k], 400.0);
      xy += model[k] * survey.truth[k];
      xx += model[k] * model[k];
      yy += survey.truth[k] * survey.truth[k];
    }
    return xy / std::sqrt(xx * yy);
  };
  EXPECT_GT(correlation(state.model), correlation(state.smooth_model) + 0.1);
  EXPECT_GT(correlation(state.model), 0.85);
  double mass = 0.0, true_mass = 0.0;
  for (std::size_t k = 0; k < 400; ++k) {
    mass += state.model[k];
    true_mass += survey.truth[k];
  }
  EXPECT_NEAR(mass / true_mass, 1.0, 0.1);
}

TEST(InversionStages, ResumeWithTheSameBits) {
  Survey survey;
  survey.problem.lower.assign(400, 0.0);
  survey.problem.upper.assign(400, 400.0);
  const InversionOptions options{.iterations = 8, .compact = 20.0, .rounds = 2};
  Inversion whole(*survey.field, survey.problem, options);
  const InversionState all = run(whole);
  Inversion first(*survey.field, survey.problem, options);
  InversionState state = first.begin();
  for (int k = 0; k < 3; ++k) first.advance(state);
  Inversion second(*survey.field, survey.problem, options);
  while (!state.done) second.advance(state);
  EXPECT_EQ(state.model, all.model);
  EXPECT_EQ(state.history.size(), all.history.size());
  // more rounds
  InversionOptions more = options;
  more.rounds = 3;
  Inversion third(*survey.field, survey.problem, more);
  third.extend(state);
  EXPECT_FALSE(state.done);
  third.advance(state);
  EXPECT_TRUE(state.done);
  Inversion fourth(*survey.field, survey.problem, more);
  EXPECT_EQ(state.model, run(fourth).model);
  // fewer rounds
  EXPECT_THROW(second.extend(state), InputError);
}

TEST(InversionStates, ReturnFromTheirFiles) {
  InversionState state;
  state.model = {1.0, -2.5, 1.0 / 3.0};
  state.smooth_model = {0.0, 4.0, 1e-300};
  state.beta = 0.1;
  state.above = 3.0;
  state.above_chi2 = 1.5;
  state.below = 0.3;
  state.below_chi2 = 0.9;
  state.round = 2;
  state.done = true;
  state.reason = "chi^2 is that of the target";
  state.history = {{"smooth", 0.3, 0.9, 7.0, 11, 24}, {"compact", 0.1, 1.1, 8.0, 5, 12}};
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("moho_state_" + std::to_string(::getpid()) + ".npy");
  write_state(path, state);
  const InversionState back = read_state(path, 3);
  EXPECT_EQ(back.model, state.model);
  EXPECT_EQ(back.smooth_model, state.smooth_model);
  EXPECT_EQ(back.beta, 0.1);
  EXPECT_EQ(back.above, 3.0);
  EXPECT_EQ(back.above_chi2, 1.5);
  EXPECT_EQ(back.below, 0.3);
  EXPECT_EQ(back.below_chi2, 0.9);
  EXPECT_EQ(back.round, 2);
  EXPECT_TRUE(back.done);
  EXPECT_EQ(back.reason, state.reason);
  ASSERT_EQ(back.history.size(), 2u);
  EXPECT_EQ(back.history[0].stage, "smooth");
  EXPECT_EQ(back.history[1].stage, "compact");
  EXPECT_EQ(back.history[1].chi2, 1.1);
  EXPECT_EQ(back.history[1].products, 12);
  EXPECT_THAT(message_of<FileError>([&] { (void)read_state(path, 4); }),
              HasSubstr("it has 3 cells (allowed: 4"));
  const double other[] = {1.0, 2.0, 3.0};
  io::write_npy(path, other, {3});
  EXPECT_THAT(message_of<FileError>([&] { (void)read_state(path, 3); }),
              HasSubstr("it is no state of an inversion"));
  std::filesystem::remove(path);
}

TEST(InversionInput, IsChecked) {
  const auto refused = [](const auto& change, InversionOptions options = {}) {
    Survey survey;
    change(survey.problem);
    return message_of([&] { Inversion(*survey.field, survey.problem, options); });
  };
  const auto same = [](InversionProblem&) {};
  EXPECT_THAT(refused([](InversionProblem& p) { p.data.pop_back(); }),
              HasSubstr("data: there are"));
  EXPECT_THAT(refused([](InversionProblem& p) { p.errors[130] = 0.0; }),
              HasSubstr("errors: that of gzz at station 11 is 0"));
  EXPECT_THAT(refused([](InversionProblem& p) { p.data.assign(p.data.size(), std::nan("")); }),
              HasSubstr("no value is there"));
  EXPECT_THAT(refused([](InversionProblem& p) {
                p.trend = {4, 0};
              }),
              HasSubstr("degree for gz is 4"));
  EXPECT_THAT(refused(same, {.target = -1.0}), HasSubstr("target: -1"));
  EXPECT_THAT(refused(same, {.small = 0.0, .smooth = {0.0, 0.0, 0.0}}), HasSubstr("all are 0"));
  EXPECT_THAT(refused([](InversionProblem& p) { p.lower.assign(400, 0.0); },
                      {.solver = Solver::conjugate_gradients}),
              HasSubstr("method cg and bounds"));
  EXPECT_THAT(refused([](InversionProblem& p) {
                p.lower.assign(400, 0.0);
                p.upper.assign(400, 100.0);
                p.upper[6] = -1.0;
              }),
              HasSubstr("bounds: cell 7 has 0 to -1 kg/m^3"));
  EXPECT_THAT(refused([](InversionProblem& p) {
                p.upper.assign(400, 100.0);
                p.start.assign(400, 50.0);
                p.start[3] = 101.0;
              }),
              HasSubstr("start: cell 4 has 101 kg/m^3, the bound 100"));
  EXPECT_THAT(refused([](InversionProblem& p) { p.data[7] = infinite; }),
              HasSubstr("data: gz at station 8 is inf"));
  for (const double wrong : {0.0, -1.0, not_a_number}) {
    EXPECT_THAT(refused([&](InversionProblem& p) { p.weights[9] = wrong; }),
                HasSubstr("weights: that of cell 10 is "));
  }
  EXPECT_THAT(refused([](InversionProblem& p) {
                p.reference.assign(400, 0.0);
                p.reference[2] = not_a_number;
              }),
              HasSubstr("reference: the density of cell 3 is nan"));
  EXPECT_THAT(refused([](InversionProblem& p) {
                p.start.assign(400, 0.0);
                p.start[2] = not_a_number;
              }),
              HasSubstr("start: the density of cell 3 is nan"));
  EXPECT_THAT(message_of([] { list_cells(std::vector<double>(8, 1.0)); }),
              HasSubstr("prisms: there are 8 numbers (allowed: rows of 7)"));
  Survey survey(0.0);
  survey.field->apply(std::vector<double>(400, 0.0), survey.problem.data);
  Inversion inversion(*survey.field, survey.problem);
  EXPECT_THAT(inversion.begin().reason, HasSubstr("start fits the data"));
}

}  // namespace
