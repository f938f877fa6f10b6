// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 6
//
// Models that cannot be stepped, because of contrasts of their density: trials of a search that
// fail.

#include <moho/fwi/band_search.hpp>

#include "wave/support.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::fwi::Objective;
using moho::fwi::ObjectiveData;
using moho::fwi::ObjectiveOptions;
using moho::fwi::Parameter;
using ::testing::HasSubstr;

constexpr double infinite = std::numeric_limits<double>::infinity();

template <class C>
class FailedTrials : public ::testing::Test {};
TYPED_TEST_SUITE(FailedTrials, LongTestCases, CaseName);

/// A shot over a homogeneous model, with data of a layer of another density.
template <class T, class Memory>
Objective<T, 2, Memory> make_objective(const Instance<Memory>& exec, double max_density) {
  const Grid<2> grid = cube<2>(21, 10.0);
  const auto model = [&](double layer) {
    Model<T, 2, Memory> result;
    result.vp = field_of<T, 2, Memory>(exec, grid, [](const Index<2>&) { return 2000.0; });
    result.density = field_of<T, 2, Memory>(
        exec, grid, [&](const Index<2>& node) { return node[1] == 11 ? layer : 1000.0; });
    return result;
  };
  ObjectiveData<T, 2, Memory> data;
  data.shots = {{1, {{100.0, 30.0}}, moho::wave::point_line<2>({50.0, 20.0}, {150.0, 20.0}, 6)}};
  data.model = model(3000.0);
  ObjectiveOptions<2> options;
  options.modelling.order = 8;
  options.modelling.time.time = 0.2;
  options.concurrent_shots = 1;
  options.parameters = {Parameter::vp, Parameter::density};
  options.bounds = {{1950.0, 2050.0}, {200.0, max_density}};
  return moho::fwi::make_objective(exec, grid, model(1000.0),
                                   moho::wave::all_faces<2>(FaceKind::sponge, 6),
                                   moho::wave::ricker_wavelet(14.0), data, options);
}

/// Returns variables of a constant vp, and of a density that changes at every node.
template <class T>
std::vector<T> alternating(double low, double high) {
  std::vector<T> x(2 * 21 * 21, T(0));
  for (std::size_t n = 0; n < 21 * 21; ++n) {
    const double density = (n / 21 + n % 21) % 2 == 0 ? low : high;
    x[21 * 21 + n] = static_cast<T>(std::log(density / 1000.0));
  }
  return x;
}

// The misfit of a model that cannot be stepped is infinite, and the report has the reason.
MEMORY_TEST(FailedTrials, HaveAnInfiniteMisfit) {
  auto objective = make_objective<T, Memory>(exec, 6000.0);
  const auto gradient = objective.make_gradient();
  const auto start = objective.start();
  EXPECT_GT(objective.evaluate(start, gradient), 0.0);
  EXPECT_EQ(objective.report().failure, "");
  struct Failure {
    double low, high;
    const char* text;
  };
  for (const Failure& failure :
       {Failure{300.0, 6000.0, "differ by a ratio of 20"}, Failure{500.0, 5000.0, "dt is "}}) {
    const auto x = moho::upload(exec, alternating<T>(failure.low, failure.high), "x");
    EXPECT_EQ(objective.evaluate(x, gradient), infinite);
    EXPECT_THAT(objective.report().failure, HasSubstr(failure.text));
    EXPECT_EQ(objective.report().points, 0.0);
    EXPECT_EQ(download(exec, gradient), std::vector<T>(gradient.size(), T(0)));
    EXPECT_FALSE(objective.begin_trial(x, gradient));
    EXPECT_THAT(message_of([&] { objective.begin(x); }),
                HasSubstr("bounds: the inversion has reached a model that cannot be stepped: "));
    EXPECT_THAT(message_of([&] { objective.contribution(0); }),
                HasSubstr("no evaluation was begun"));
  }
  EXPECT_TRUE(objective.begin_trial(start, gradient));
  EXPECT_EQ(objective.report().failure, "");
}

// The search shortens the step after a failed trial, and decreases the misfit.
MEMORY_TEST(FailedTrials, ShortenTheStep) {
  auto objective = make_objective<T, Memory>(exec, 15900.0);
  moho::fwi::BandSearch search(exec, objective, {.iterations = 3, .first_change = 3.0});
  const auto gradient = objective.make_gradient();
  int failed = 0;
  while (search.next_band()) {
    while (search.state().wants() == moho::optimize::Want::evaluation) {
      const double misfit = objective.evaluate(search.state().point(), gradient);
      const auto row = search.tell(misfit, gradient);
      EXPECT_EQ(misfit == infinite, !objective.report().failure.empty());
      if (misfit == infinite) {
        EXPECT_FALSE(row.taken);
        ++failed;
      }
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_EQ(search.state().iterations(), 3) << search.state().message();
  EXPECT_LT(search.state().value(), 0.9 * search.state().first_value());
}

}  // namespace
