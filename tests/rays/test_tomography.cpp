// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain, threads 2, needs moho::rays_tomography
//
// The tomography matrix: G times slowness is the traveltime.

#include "rays/model.hpp"

#include <gmock/gmock.h>

#include <moho/rays/rows.hpp>
#include <moho/rays/tomography.hpp>

#include <KokkosSparse_spmv.hpp>

#include <algorithm>
#include <functional>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::Instance;
using moho::Points;
using moho::rays::Basis;
using moho::rays::GraphOptions;
using moho::rays::ray_matrix;
using moho::rays::RayMatrix;
using moho::rays::RayPaths;
using moho::rays::WeightRule;

template <class S>
class Tomography : public ::testing::Test {};
TYPED_TEST_SUITE(Tomography, TestSpaces, SpaceName);

// A ray matrix on a space: its arrays on the host, and y = G x on the space.
struct Matrix {
  std::int64_t rows = 0, columns = 0, entries = 0;
  std::vector<std::int64_t> map;
  std::vector<int> column;
  std::vector<double> value;
  std::function<std::vector<double>(const std::vector<double>&)> times;
};

// Builds the matrix; only these functions are compiled for every execution space.
template <class Exec, int Dim>
Matrix make_matrix(const Grid<Dim>& grid, const RayPaths<Dim>& paths, Basis basis) {
  using Memory = moho::MemoryOf<Exec>;
  const Instance<Memory> exec = Exec();
  const RayMatrix<Exec> matrix = ray_matrix(Exec(), grid, paths, basis);
  Matrix result;
  result.rows = matrix.numRows();
  result.columns = matrix.numCols();
  result.entries = matrix.nnz();
  result.map = moho::download(exec, matrix.graph.row_map);
  result.column = moho::download(exec, matrix.graph.entries);
  result.value = moho::download(exec, matrix.values);
  result.times = [matrix, exec](const std::vector<double>& x) {
    using Vector = Kokkos::View<double*, Kokkos::LayoutRight, Memory>;
    const Vector in("x", x.size()), out("y", static_cast<std::size_t>(matrix.numRows()));
    to_space(exec, in, x);
    KokkosSparse::spmv("N", 1.0, matrix, in, 0.0, out);
    exec.fence();
    return moho::download(exec, out);
  };
  return result;
}

// Function object that calls make_matrix() for a space.
struct MakeMatrix {
  Matrix (*flat)(const Grid<2>&, const RayPaths<2>&, Basis);
  Matrix (*solid)(const Grid<3>&, const RayPaths<3>&, Basis);
  Matrix operator()(const Grid<2>& grid, const RayPaths<2>& paths, Basis basis) const {
    return flat(grid, paths, basis);
  }
  Matrix operator()(const Grid<3>& grid, const RayPaths<3>& paths, Basis basis) const {
    return solid(grid, paths, basis);
  }
};
template <class Exec>
constexpr MakeMatrix matrices_of{&make_matrix<Exec, 2>, &make_matrix<Exec, 3>};

// Returns the slowness at the nodes, rounded as in a graph of precision T.
template <class T, int Dim>
std::vector<double> node_slowness(const Model<Dim>& model) {
  std::vector<double> slowness;
  for (const double velocity : model.velocity) {
    slowness.push_back(static_cast<double>(T(1) / static_cast<T>(velocity)));
  }
  return slowness;
}

// Returns the slowness of the cells: the mean of their corners.
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

// Checks both bases, each with its weight rule.
template <class T, int Dim, class Memory>
void expect_times(const Instance<Memory>& exec, const MakeMatrix& make, const Model<Dim>& model,
                  int radius, const Points<Dim>& sources, const Points<Dim>& receivers) {
  GraphOptions options;
  options.radius = radius;
  for (const auto basis : {Basis::nodes, Basis::cells}) {
    options.rule = basis == Basis::nodes ? WeightRule::slowness : WeightRule::cells;
    const auto paths =
        solve(exec, make_graph<T>(exec, model, options), sources, {}, receivers).paths;
    const Matrix matrix = make(model.grid, paths, basis);
    ASSERT_EQ(matrix.rows, static_cast<std::int64_t>(sources.size() * receivers.size()));
    ASSERT_EQ(matrix.columns, basis == Basis::nodes ? model.grid.size() : model.grid.cells());
    const auto times =
        matrix.times(basis == Basis::nodes ? node_slowness<T>(model) : cell_slowness<T>(model));
    const auto sums =
        matrix.times(std::vector<double>(static_cast<std::size_t>(matrix.columns), 1.0));
    const auto length = lengths<Dim>(paths);
    for (std::size_t ray = 0; ray < times.size(); ++ray) {
      EXPECT_NEAR(times[ray], paths.traveltime[ray], same<T> * paths.traveltime[ray])
          << to_string(options.rule) << ", ray " << ray;
      EXPECT_NEAR(sums[ray], length[ray], 1e-12 * length[ray]);
    }
    // entries are not negative; the columns of a row are sorted and distinct
    const auto map = matrix.map;
    const auto columns = matrix.column;
    for (const double entry : matrix.value) EXPECT_GT(entry, 0.0);
    const moho::rays::RayRows rows = moho::rays::ray_rows_in_turn<Dim>(model.grid, paths, basis);
    EXPECT_EQ(rows.value, matrix.value);
    EXPECT_TRUE(std::equal(rows.column.begin(), rows.column.end(), columns.begin(), columns.end()));
    for (std::size_t row = 0; row + 1 < map.size(); ++row) {
      for (auto k = map[row] + 1; k < map[row + 1]; ++k) {
        EXPECT_LT(columns[static_cast<std::size_t>(k - 1)], columns[static_cast<std::size_t>(k)]);
      }
    }
  }
}

template <class Memory>
void matrix_times_slowness_is_the_traveltime(const Instance<Memory>& exec, const MakeMatrix& make) {
  const auto flat = rough_model<2>({40, 33}, 6.0, 1, {12.5, 8.0}, {1000.0, -40.0});
  auto sources = random_points(flat.grid, 3, 2), receivers = random_points(flat.grid, 8, 3);
  receivers.push_back(sources[0]);  // rays of length zero
  receivers.push_back(sources[1]);
  receivers.push_back({flat.grid.upper(0), flat.grid.upper(1)});
  expect_times<double>(exec, make, flat, 3, sources, receivers);
  expect_times<float>(exec, make, flat, 6, sources, receivers);
  const auto solid = rough_model<3>({9, 7, 10}, 6.0, 4, {2.0, 3.0, 1.5}, {-3.0, 0.0, 7.0});
  expect_times<double>(exec, make, solid, 2, random_points(solid.grid, 2, 5),
                       random_points(solid.grid, 6, 6));
}
TYPED_TEST(Tomography, MatrixTimesSlownessIsTheTraveltime) {
  matrix_times_slowness_is_the_traveltime(TypeParam::exec(), matrices_of<typename TypeParam::Exec>);
}

template <class Memory>
void times_in_a_constant_model(const Instance<Memory>& exec, const MakeMatrix& make) {
  const auto model = constant_model<2>({21, 30}, 5.0, {2.0, 3.0});
  expect_times<double>(exec, make, model, 4, random_points(model.grid, 2, 7),
                       random_points(model.grid, 6, 8));
}
TYPED_TEST(Tomography, ConstantModel) {
  times_in_a_constant_model(TypeParam::exec(), matrices_of<typename TypeParam::Exec>);
}

// Along grid lines and borders the cells on both sides share the length.
template <class Memory>
void rays_along_grid_lines(const Instance<Memory>& exec, const MakeMatrix& make) {
  const auto model = constant_model<2>({6, 5}, 2.0);
  const Points<2> sources{{0.0, 2.0}}, receivers{{5.0, 2.0}, {0.0, 4.0}};
  const auto paths = solve(exec, make_graph<double>(exec, model, {}), sources, {}, receivers).paths;
  const auto matrix = make(model.grid, paths, Basis::cells);
  const auto map = matrix.map;
  const auto columns = matrix.column;
  const auto values = matrix.value;
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
TYPED_TEST(Tomography, RaysAlongGridLines) {
  rays_along_grid_lines(TypeParam::exec(), matrices_of<typename TypeParam::Exec>);
}

// The derivative: a nearby slowness s + ds has the traveltimes G (s + ds), to second order.
template <class Memory>
void nodes_are_the_derivative(const Instance<Memory>& exec, const MakeMatrix& make) {
  const auto model = make_model(Grid<2>{{41, 31}, {10.0, 10.0}, {}}, [](const Index<2>& node) {
    return 1500.0 + 8.0 * static_cast<double>(node[1]) +
           60.0 * std::sin(0.3 * static_cast<double>(node[0]));
  });
  const Points<2> sources{{5.0, 3.0}}, receivers{{395.0, 10.0}, {300.0, 290.0}, {111.0, 222.0}};
  GraphOptions options;
  options.radius = 5;
  const auto before =
      solve(exec, make_graph<double>(exec, model, options), sources, {}, receivers).paths;
  const auto matrix = make(model.grid, before, Basis::nodes);
  double last = 0.0;
  for (const double step : {1e-3, 1e-4}) {
    auto other = model;
    std::mt19937 random(9);
    for (double& v : other.velocity) {
      v = 1.0 / (1.0 / v * (1.0 + step * (static_cast<double>(random()) / 4294967296.0)));
    }
    const auto after =
        solve(exec, make_graph<double>(exec, other, options), sources, {}, receivers).paths;
    const auto linear = matrix.times(node_slowness<double>(other));
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
TYPED_TEST(Tomography, NodesAreTheDerivative) {
  nodes_are_the_derivative(TypeParam::exec(), matrices_of<typename TypeParam::Exec>);
}

template <class Memory>
void an_axis_with_one_node_has_no_cells(const Instance<Memory>& exec, const MakeMatrix& make) {
  const auto model = rough_model<2>({1, 20}, 3.0, 10);
  const Points<2> sources{{0.0, 0.0}}, receivers{{0.0, 19.0}, {0.0, 4.5}};
  GraphOptions options;
  options.radius = 2;
  const auto paths =
      solve(exec, make_graph<double>(exec, model, options), sources, {}, receivers).paths;
  try {
    make(model.grid, paths, Basis::cells);
    FAIL() << "nothing was thrown";
  } catch (const moho::InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("1 x 20 nodes has no cells"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Basis::nodes"));
  }
  const auto matrix = make(model.grid, paths, Basis::nodes);
  const auto times = matrix.times(node_slowness<double>(model));
  EXPECT_NEAR(times[0], paths.traveltime[0], 1e-12 * times[0]);
  EXPECT_NEAR(times[1], paths.traveltime[1], 1e-12 * times[1]);
}
TYPED_TEST(Tomography, AnAxisWithOneNodeHasNoCells) {
  an_axis_with_one_node_has_no_cells(TypeParam::exec(), matrices_of<typename TypeParam::Exec>);
}

template <class Memory>
void no_rays_no_rows(const Instance<Memory>& exec, const MakeMatrix& make) {
  const auto model = constant_model<2>({4, 4}, 1.0);
  const auto paths = solve(exec, make_graph<double>(exec, model, {}), {{1.0, 1.0}}).paths;
  const auto matrix = make(model.grid, paths, Basis::cells);
  EXPECT_EQ(matrix.rows, 0);
  EXPECT_EQ(matrix.entries, 0);
}
TYPED_TEST(Tomography, NoRaysNoRows) {
  no_rays_no_rows(TypeParam::exec(), matrices_of<typename TypeParam::Exec>);
}

}  // namespace
