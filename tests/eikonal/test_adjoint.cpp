// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// The derivative of first-arrival times by velocity: differences of times, and the transpose.

#include <moho/eikonal/adjoint.hpp>

#include <cmath>
#include <random>
#include <vector>

#include "eikonal/fields.hpp"
#include "refusals.hpp"

namespace {

using namespace moho::testing;
using moho::Field;
using moho::FieldPerSource;
using moho::Grid;
using moho::HostElements;
using moho::Point;
using moho::Points;
using moho::eikonal::Method;
using moho::eikonal::Model;
using moho::eikonal::Options;
using moho::eikonal::TimeDerivatives;

template <class T, class Memory, class View>
void set(const Instance<Memory>& exec, const View& view, const std::vector<double>& wide) {
  const std::vector<T> values(wide.begin(), wide.end());
  moho::copy(
      exec,
      Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(view.data(), view.size()),
      HostElements<const T>(values.data(), values.size()));
  exec.fence();
}

std::vector<double> random(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(generator);
  return values;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }

// A model, sources on a node, on an edge, in a cell and at a corner of the grid, and an option.
template <int Dim>
struct Setup {
  Grid<Dim> grid;
  Formulas<Dim> formulas;
  Points<Dim> sources;
  Options options;
  std::string name;
};

template <int Dim>
std::vector<Setup<Dim>> setups() {
  const Grid<Dim> grid = make_cube<Dim>(Dim == 2 ? 23 : 9, 1.0);
  const double h = grid.spacing[0];
  Points<Dim> sources(4);
  for (int d = 0; d < Dim; ++d) {
    sources[0][d] = 3.0 * h;
    sources[1][d] = d == 0 ? 4.3 * h : 5.0 * h;
    sources[2][d] = (5.21 + 0.17 * d) * h;
    sources[3][d] = 0.0;
  }
  // smooth, without symmetries that make neighbours equally early
  const Formula<Dim> velocity = [](const Point<Dim>& p) {
    double phase = 0.47;
    for (int d = 0; d < Dim; ++d) phase += (2.0 + 1.3 * d) * p[d];
    return 1.5 + 0.4 * std::sin(phase) + 0.7 * p[Dim - 1];
  };
  const Formula<Dim> epsilon = [](const Point<Dim>& p) { return 0.15 + 0.1 * p[0]; };
  const Formula<Dim> delta = [](const Point<Dim>& p) { return 0.05 + 0.05 * p[Dim - 1]; };
  std::vector<Setup<Dim>> result;
  const std::vector<std::pair<std::string, Formulas<Dim>>> media = {
      {"isotropic", {velocity, {}, {}}},
      {"elliptical", elliptical<Dim>(velocity, epsilon)},
      {"anelliptical", {velocity, epsilon, delta}}};
  for (const auto& [name, formulas] : media) {
    for (const int order : {1, 2}) {
      for (const bool factored : {true, false}) {
        Options options;
        options.order = order;
        options.factored = factored;
        result.push_back(
            {grid, formulas, sources, options,
             name + ", order " + std::to_string(order) + (factored ? "" : ", without factor")});
      }
    }
  }
  return result;
}

// Limits the memory until sources run in batches, and compares with the gradient of one batch.
template <class T, int Dim, class Memory, class Times>
void in_batches(const Instance<Memory>& exec, const Setup<Dim>& setup,
                const Model<T, Dim, Memory>& model, const Times& by_times,
                const std::vector<double>& transposed) {
  // first order ends within rounding of its solution, by the order of the work
  Options options = setup.options;
  options.memory_budget = std::size_t(1) << 16;
  moho::eikonal::Report report;
  const auto other = moho::make_field<T>(exec, setup.grid, "other");
  while (report.batches < 2 && options.memory_budget < (std::size_t(1) << 30)) {
    try {
      report = moho::eikonal::transpose_times(exec, setup.grid, model, setup.sources, by_times,
                                              other, options);
    } catch (const moho::MemoryError&) {
      options.memory_budget += options.memory_budget / 4;
    }
  }
  EXPECT_GT(report.batches, 1);
  const std::vector<double> sums = to_host(exec, other);
  if (moho::is_host_memory<Memory> && setup.options.order == 2) {
    EXPECT_EQ(sums, transposed);
  }
  EXPECT_LE(largest_difference(sums, transposed), sizeof(T) == 8 ? 1e-11 : 1e-2);
}

// Applies the map to random vectors, and compares with differences of times and with the transpose.
template <class T, int Dim, class Memory>
void holds(const Instance<Memory>& exec, const Setup<Dim>& setup) {
  SCOPED_TRACE(setup.name + ", " + std::to_string(Dim) + "D");
  constexpr bool wide = sizeof(T) == 8;
  const auto count = static_cast<std::int64_t>(setup.sources.size());
  const auto nodes = static_cast<std::size_t>(setup.grid.size());
  const Model<T, Dim, Memory> model = make_model<T>(exec, setup.grid, setup.formulas);
  const auto each = [&](const char* name) {
    return moho::make_field_per_source<T>(exec, count, setup.grid, name);
  };
  const auto times = each("times"), of_times = each("of_times"), by_times = each("by_times");
  const TimeDerivatives<T, Dim, Memory> derivatives(exec, setup.grid, model, setup.sources, times,
                                                    setup.options);
  const auto solved = each("solved");
  moho::eikonal::solve_each(exec, setup.grid, model, setup.sources, solved, setup.options);
  // at first order, and on devices, threads race for the last digits (docs/theory/eikonal.md)
  const bool exact = moho::is_host_memory<Memory> && setup.options.order == 2;
  const std::vector<double> found = to_host(exec, times), expected = to_host(exec, solved);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], exact ? 0.0 : (wide ? 1e-13 : 2e-6) * expected[i]) << i;
  }

  const std::vector<double> change = random(nodes, 5), weights = random(nodes * 4, 6);
  const auto velocity = moho::make_field<T>(exec, setup.grid, "velocity");
  set<T>(exec, velocity, change);
  derivatives.apply(exec, velocity, of_times);
  const std::vector<double> applied = to_host(exec, of_times);

  set<T>(exec, by_times, weights);
  const auto gradient = moho::make_field<T>(exec, setup.grid, "gradient");
  derivatives.apply_transpose(exec, by_times, gradient);
  const std::vector<double> transposed = to_host(exec, gradient);
  EXPECT_NEAR(dot(applied, weights), dot(change, transposed),
              (wide ? 1e-13 : 1e-5) * norm(applied) * norm(weights));

  // times are homogeneous in the velocity, of degree -1
  const std::vector<double> v = values_at_nodes(setup.grid, setup.formulas.velocity);
  set<T>(exec, velocity, v);
  derivatives.apply(exec, velocity, of_times);
  std::vector<double> scaled = to_host(exec, of_times);
  const std::vector<double> now = to_host(exec, times);
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] += now[i];
  EXPECT_LE(norm(scaled), (wide ? 1e-12 : 1e-4) * norm(now));

  in_batches(exec, setup, model, by_times, transposed);
  if (!wide) return;
  // central differences; choices that change within the step would show as large differences
  const auto shifted = [&](double step) {
    std::vector<double> values = v;
    for (std::size_t i = 0; i < nodes; ++i) values[i] += step * change[i];
    Model<T, Dim, Memory> moved = model;
    moved.velocity = moho::make_field<T>(exec, setup.grid, "velocity");
    set<T>(exec, moved.velocity, values);
    moho::eikonal::solve_each(exec, setup.grid, moved, setup.sources, solved, setup.options);
    return to_host(exec, solved);
  };
  const double step = 1e-6;
  const std::vector<double> later = shifted(step), earlier = shifted(-step);
  double worst = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < applied.size(); ++i) {
    worst = std::max(worst, std::abs((later[i] - earlier[i]) / (2.0 * step) - applied[i]));
    largest = std::max(largest, std::abs(applied[i]));
  }
  EXPECT_LE(worst, 1e-7 * largest);
}

template <class C>
class AdjointTest : public ::testing::Test {};
TYPED_TEST_SUITE(AdjointTest, TestCases, CaseName);

TYPED_TEST(AdjointTest, Plane) {
  for (const auto& setup : setups<2>()) holds<typename TypeParam::Scalar>(TypeParam::exec(), setup);
}
TYPED_TEST(AdjointTest, Volume) {
  for (const auto& setup : setups<3>()) holds<typename TypeParam::Scalar>(TypeParam::exec(), setup);
}

// On noise the choices are irregular; the transpose and the degree hold all the same.
TYPED_TEST(AdjointTest, Noise) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const Grid<2> grid = make_cube<2>(61, 1.0);
  for (const int order : {1, 2}) {
    Options options;
    options.order = order;
    const auto model = make_model<T>(exec, grid, Formulas<2>{noise(grid, 1.0, 4.0, 3), {}, {}});
    const Points<2> sources = {{0.31, 0.52}};
    const auto times = moho::make_field_per_source<T>(exec, 1, grid, "times");
    const auto changes = moho::make_field_per_source<T>(exec, 1, grid, "changes");
    const TimeDerivatives<T, 2, typename TypeParam::Memory> derivatives(exec, grid, model, sources,
                                                                        times, options);
    derivatives.apply(exec, model.velocity, changes);
    std::vector<double> sum = to_host(exec, changes);
    const std::vector<double> now = to_host(exec, times);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += now[i];
    EXPECT_LE(norm(sum), (sizeof(T) == 8 ? 1e-12 : 1e-4) * norm(now));
    const std::vector<double> weights = random(now.size(), 8);
    set<T>(exec, changes, weights);
    const auto gradient = moho::make_field<T>(exec, grid, "gradient");
    derivatives.apply_transpose(exec, changes, gradient);
    EXPECT_NEAR(dot(to_host(exec, gradient), to_host(exec, model.velocity)), -dot(weights, now),
                (sizeof(T) == 8 ? 1e-12 : 1e-4) * norm(weights) * norm(now));
  }
}

TEST(AdjointRefusals, ShapesAndMemory) {
  const auto exec = host();
  const Grid<2> grid = make_cube<2>(21, 1.0);
  const auto model = make_model<float>(exec, grid, Formulas<2>{constant<2>(2.0), {}, {}});
  const Points<2> sources = {{0.3, 0.4}, {0.5, 0.5}};
  using Derivatives = TimeDerivatives<float, 2, Kokkos::HostSpace>;
  const Derivatives derivatives(exec, grid, model, sources, {});
  EXPECT_EQ(derivatives.sources(), 2);
  const auto one = moho::make_field_per_source<float>(exec, 1, grid, "one");
  EXPECT_THAT(message_of([&] { derivatives.apply_transpose(exec, one, model.velocity); }),
              ::testing::HasSubstr("by_times: its shape is 1 x 21 x 21"));
  EXPECT_THAT(message_of([&] { derivatives.apply(exec, model.velocity, one); }),
              ::testing::HasSubstr("of_times: its shape is 1 x 21 x 21"));
  Options options;
  options.memory_budget = std::size_t(100) << 10;
  EXPECT_THAT(
      message_of<moho::MemoryError>([&] { Derivatives(exec, grid, model, sources, {}, options); }),
      ::testing::HasSubstr("derivatives of 1 sources fit (needed: those of 2)"));
}

}  // namespace
