// SPDX-License-Identifier: BSD-3-Clause
//
// The tomography matrix: G times slowness is the traveltime.

#include "rays/model.hpp"

#include <gmock/gmock.h>

#include <KokkosSparse_spmv.hpp>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::Points;
using moho::rays::Basis;
using moho::rays::GraphOptions;
using moho::rays::ray_matrix;
using moho::rays::RayMatrix;
using moho::rays::WeightRule;

template <class Exec>
class Tomography : public ::testing::Test {};
TYPED_TEST_SUITE(Tomography, TestSpaces, SpaceName);

// y = G x on the space.
template <class Exec>
std::vector<double> multiply(const RayMatrix<Exec>& matrix, const std::vector<double>& x) {
  using Vector = Kokkos::View<double*, Kokkos::LayoutRight, typename Exec::memory_space>;
  const Vector in("x", x.size()), out("y", static_cast<std::size_t>(matrix.numRows()));
  to_space(in, x);
  KokkosSparse::spmv("N", 1.0, matrix, in, 0.0, out);
  Exec().fence();
  return to_host(out);
}

// Slowness at the nodes, rounded as the graph of precision T has it.
template <class T, int Dim>
std::vector<double> node_slowness(const Model<Dim>& model) {
  std::vector<double> slowness;
  for (const double velocity : model.velocity) {
    slowness.push_back(static_cast<double>(T(1) / static_cast<T>(velocity)));
  }
  return slowness;
}

// Slowness of the cells: the mean of their corners.
template <class T, int Dim>
std::vector<double> cell_slowness(const Model<Dim>& model) {
  const auto nodes = node_slowness<T>(model);
  std::vector<double> slowness(static_cast<std::size_t>(model.grid.cells()));
  for (std::int64_t i = 0; i < model.grid.size(); ++i) {
    const Index<Dim> cell = model.grid.node(i);
    bool exists = true;
    for (int d = 0; d < Dim; ++d) exists = exists && cell[d] + 1 < model.grid.extents[d];
    if (!exists) continue;
    double sum = 0.0;
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      Index<Dim> node = cell;
      for (int d = 0; d < Dim; ++d) node[d] += (corner >> d) & 1;
      sum += nodes[static_cast<std::size_t>(model.grid.flat(node))];
    }
    slowness[static_cast<std::size_t>(model.grid.flat_cell(cell))] = sum / (1 << Dim);
  }
  return slowness;
}

template <int Dim>
std::vector<double> lengths(const moho::rays::RayPaths<Dim>& paths) {
  std::vector<double> result;
  for (std::size_t ray = 0; ray + 1 < paths.first.size(); ++ray) {
    double length = 0.0;
    for (auto i = paths.first[ray]; i + 1 < paths.first[ray + 1]; ++i) {
      double square = 0.0;
      for (int d = 0; d < Dim; ++d) {
        square += std::pow(paths.points[static_cast<std::size_t>(i) + 1][d] -
                               paths.points[static_cast<std::size_t>(i)][d],
                           2);
      }
      length += std::sqrt(square);
    }
    result.push_back(length);
  }
  return result;
}

// Both bases, with the rules that they belong to.
template <class T, class Exec, int Dim>
void expect_times(const Model<Dim>& model, int radius, const Points<Dim>& sources,
                  const Points<Dim>& receivers) {
  GraphOptions options;
  options.radius = radius;
  for (const auto basis : {Basis::nodes, Basis::cells}) {
    options.rule = basis == Basis::nodes ? WeightRule::slowness : WeightRule::cells;
    const auto paths = solve(make_graph<T, Exec>(model, options), sources, {}, receivers).paths;
    const RayMatrix<Exec> matrix = ray_matrix(Exec(), model.grid, paths, basis);
    ASSERT_EQ(matrix.numRows(), static_cast<int>(sources.size() * receivers.size()));
    ASSERT_EQ(matrix.numCols(), basis == Basis::nodes ? model.grid.size() : model.grid.cells());
    const auto times = multiply<Exec>(
        matrix, basis == Basis::nodes ? node_slowness<T>(model) : cell_slowness<T>(model));
    const auto sums = multiply<Exec>(
        matrix, std::vector<double>(static_cast<std::size_t>(matrix.numCols()), 1.0));
    const auto length = lengths<Dim>(paths);
    for (std::size_t ray = 0; ray < times.size(); ++ray) {
      EXPECT_NEAR(times[ray], paths.traveltime[ray], same<T> * paths.traveltime[ray])
          << to_string(options.rule) << ", ray " << ray;
      EXPECT_NEAR(sums[ray], length[ray], 1e-12 * length[ray]);
    }
    // no entry is negative, columns of a row are in order and each is there once
    const auto map = to_host(matrix.graph.row_map);
    const auto columns = to_host(matrix.graph.entries);
    for (const double entry : to_host(matrix.values)) EXPECT_GT(entry, 0.0);
    for (std::size_t row = 0; row + 1 < map.size(); ++row) {
      for (auto k = map[row] + 1; k < map[row + 1]; ++k) {
        EXPECT_LT(columns[static_cast<std::size_t>(k - 1)], columns[static_cast<std::size_t>(k)]);
      }
    }
  }
}

TYPED_TEST(Tomography, MatrixTimesSlownessIsTheTraveltime) {
  const auto flat = rough_model<2>({40, 33}, 6.0, 1, {12.5, 8.0}, {1000.0, -40.0});
  auto sources = random_points(flat.grid, 3, 2), receivers = random_points(flat.grid, 8, 3);
  receivers.push_back(sources[0]);  // rays of no length
  receivers.push_back(sources[1]);
  receivers.push_back({flat.grid.upper(0), flat.grid.upper(1)});
  expect_times<double, TypeParam>(flat, 3, sources, receivers);
  expect_times<float, TypeParam>(flat, 6, sources, receivers);
  const auto solid = rough_model<3>({9, 7, 10}, 6.0, 4, {2.0, 3.0, 1.5}, {-3.0, 0.0, 7.0});
  expect_times<double, TypeParam>(solid, 2, random_points(solid.grid, 2, 5),
                                  random_points(solid.grid, 6, 6));
}

TYPED_TEST(Tomography, ConstantModel) {
  const auto model = constant_model<2>({21, 30}, 5.0, {2.0, 3.0});
  expect_times<double, TypeParam>(model, 4, random_points(model.grid, 2, 7),
                                  random_points(model.grid, 6, 8));
}

// Along grid lines and borders the length is shared by the cells on both sides.
TYPED_TEST(Tomography, RaysAlongGridLines) {
  const auto model = constant_model<2>({6, 5}, 2.0);
  const Points<2> sources{{0.0, 2.0}}, receivers{{5.0, 2.0}, {0.0, 4.0}};
  const auto paths = solve(make_graph<double, TypeParam>(model, {}), sources, {}, receivers).paths;
  const auto matrix = ray_matrix(TypeParam(), model.grid, paths, Basis::cells);
  const auto map = to_host(matrix.graph.row_map);
  const auto columns = to_host(matrix.graph.entries);
  const auto values = to_host(matrix.values);
  ASSERT_EQ(map, (std::vector<std::int64_t>{0, 10, 12}));
  for (int x = 0; x < 5; ++x) {
    for (int side = 0; side < 2; ++side) {
      const std::size_t k = static_cast<std::size_t>(2 * x + side);
      EXPECT_EQ(columns[k], x * 4 + 1 + side);
      EXPECT_DOUBLE_EQ(values[k], 0.5);
    }
  }
  EXPECT_EQ(columns[10], 2);
  EXPECT_EQ(columns[11], 3);
  EXPECT_DOUBLE_EQ(values[10], 1.0);
}

// The derivative: another slowness close by has the traveltimes G (s + ds) to second order.
TYPED_TEST(Tomography, NodesAreTheDerivative) {
  const auto model = make_model(Grid<2>{{41, 31}, {10.0, 10.0}, {}}, [](const Index<2>& node) {
    return 1500.0 + 8.0 * static_cast<double>(node[1]) +
           60.0 * std::sin(0.3 * static_cast<double>(node[0]));
  });
  const Points<2> sources{{5.0, 3.0}}, receivers{{395.0, 10.0}, {300.0, 290.0}, {111.0, 222.0}};
  GraphOptions options;
  options.radius = 5;
  const auto before =
      solve(make_graph<double, TypeParam>(model, options), sources, {}, receivers).paths;
  const auto matrix = ray_matrix(TypeParam(), model.grid, before, Basis::nodes);
  double last = 0.0;
  for (const double step : {1e-3, 1e-4}) {
    auto other = model;
    std::mt19937 random(9);
    for (double& v : other.velocity) {
      v = 1.0 / (1.0 / v * (1.0 + step * (static_cast<double>(random()) / 4294967296.0)));
    }
    const auto after =
        solve(make_graph<double, TypeParam>(other, options), sources, {}, receivers).paths;
    const auto linear = multiply<TypeParam>(matrix, node_slowness<double>(other));
    double worst = 0.0;
    for (std::size_t ray = 0; ray < linear.size(); ++ray) {
      // the old ray is a path of the new model, so the new first arrival is not later
      EXPECT_LE(after.traveltime[ray], linear[ray] * (1.0 + 1e-14));
      EXPECT_GT(after.traveltime[ray], before.traveltime[ray]);
      worst = std::max(worst, linear[ray] - after.traveltime[ray]);
    }
    if (step == 1e-4) {
      EXPECT_LE(worst, 0.2 * last);
    }
    last = worst + 1e-15;
  }
}

TYPED_TEST(Tomography, AnAxisWithOneNodeHasNoCells) {
  const auto model = rough_model<2>({1, 20}, 3.0, 10);
  const Points<2> sources{{0.0, 0.0}}, receivers{{0.0, 19.0}, {0.0, 4.5}};
  GraphOptions options;
  options.radius = 2;
  const auto paths =
      solve(make_graph<double, TypeParam>(model, options), sources, {}, receivers).paths;
  try {
    ray_matrix(TypeParam(), model.grid, paths, Basis::cells);
    FAIL() << "nothing was thrown";
  } catch (const moho::InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("1 x 20 nodes has no cells"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Basis::nodes"));
  }
  const auto matrix = ray_matrix(TypeParam(), model.grid, paths, Basis::nodes);
  const auto times = multiply<TypeParam>(matrix, node_slowness<double>(model));
  EXPECT_NEAR(times[0], paths.traveltime[0], 1e-12 * times[0]);
  EXPECT_NEAR(times[1], paths.traveltime[1], 1e-12 * times[1]);
}

TYPED_TEST(Tomography, NoRaysNoRows) {
  const auto model = constant_model<2>({4, 4}, 1.0);
  const auto paths = solve(make_graph<double, TypeParam>(model, {}), {{1.0, 1.0}}).paths;
  const auto matrix = ray_matrix(TypeParam(), model.grid, paths, Basis::cells);
  EXPECT_EQ(matrix.numRows(), 0);
  EXPECT_EQ(matrix.nnz(), 0);
}

}  // namespace
