// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2

#include <moho/core/grid.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "refusals.hpp"
#include "spaces.hpp"

namespace {

using moho::Grid;
using moho::Index;
using moho::InputError;
using moho::Point;
using moho::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

Grid<2> small() { return {{4, 3}, {10.0, 5.0}, {100.0, -5.0}}; }
Grid<3> cube() { return {{4, 3, 5}, {1.0, 2.0, 3.0}, {0.0, 0.0, 0.0}}; }

TEST(Grid, CountsNodesAndCells) {
  EXPECT_EQ(small().size(), 12);
  EXPECT_EQ(small().cells(), 6);
  EXPECT_EQ(cube().size(), 60);
  EXPECT_EQ(cube().cells(), 3 * 2 * 4);
  EXPECT_EQ((Grid<2>{{7, 1}, {1.0, 1.0}, {}}).cells(), 0);
}

TEST(Grid, LastAxisIsContiguous) {
  EXPECT_EQ(small().flat({0, 0}), 0);
  EXPECT_EQ(small().flat({0, 1}), 1);
  EXPECT_EQ(small().flat({1, 0}), 3);
  EXPECT_EQ(cube().flat({0, 0, 1}), 1);
  EXPECT_EQ(cube().flat({0, 1, 0}), 5);
  EXPECT_EQ(cube().flat({1, 0, 0}), 15);
  EXPECT_EQ(small().flat_cell({1, 0}), 2);
  EXPECT_EQ(cube().flat_cell({1, 1, 1}), 8 + 4 + 1);
}

TEST(Grid, NodeInvertsFlat) {
  const auto grid = cube();
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const auto node = grid.node(i);
    EXPECT_EQ(grid.flat(node), i);
    for (int d = 0; d < 3; ++d) {
      EXPECT_GE(node[d], 0);
      EXPECT_LT(node[d], grid.extents[d]);
    }
  }
}

TEST(Grid, FlatIndicesPass32Bits) {
  const Grid<3> grid{{3000, 3000, 3000}, {1.0, 1.0, 1.0}, {}};
  grid.check();
  EXPECT_EQ(grid.size(), 27000000000);
  const Index<3> last{2999, 2999, 2999};
  EXPECT_EQ(grid.flat(last), 26999999999);
  EXPECT_EQ(grid.node(26999999999)[0], 2999);
}

TEST(Grid, PositionsAndIndexSpace) {
  const auto grid = small();
  const Point<2> p = grid.position({3, 2});
  EXPECT_DOUBLE_EQ(p[0], 130.0);
  EXPECT_DOUBLE_EQ(p[1], 5.0);
  EXPECT_DOUBLE_EQ(grid.upper(0), 130.0);
  EXPECT_DOUBLE_EQ(grid.upper(1), 5.0);
  const Point<2> q = grid.to_index_space({115.0, 0.0});
  EXPECT_DOUBLE_EQ(q[0], 1.5);
  EXPECT_DOUBLE_EQ(q[1], 1.0);
}

TEST(Grid, ContainsItsBorderButNotMore) {
  const auto grid = small();
  EXPECT_TRUE(grid.contains({100.0, -5.0}));
  EXPECT_TRUE(grid.contains({130.0, 5.0}));
  EXPECT_TRUE(grid.contains({130.0 + 1e-9, 5.0}));
  EXPECT_FALSE(grid.contains({130.001, 0.0}));
  EXPECT_FALSE(grid.contains({99.999, 0.0}));
  EXPECT_FALSE(grid.contains({110.0, 5.001}));
  EXPECT_FALSE(grid.contains({std::numeric_limits<double>::quiet_NaN(), 0.0}));
  EXPECT_FALSE(grid.contains({110.0, std::numeric_limits<double>::infinity()}));
}

TEST(Grid, NamesAxes) {
  EXPECT_STREQ(moho::axis_name<2>(0), "x");
  EXPECT_STREQ(moho::axis_name<2>(1), "z");
  EXPECT_STREQ(moho::axis_name<3>(1), "y");
  EXPECT_STREQ(moho::axis_name<3>(2), "z");
}

TEST(Grid, WritesItselfForMessages) {
  EXPECT_EQ(moho::shape_string(cube()), "4 x 3 x 5");
  EXPECT_EQ(moho::format_point<2>(Point<2>{12.5, 300.0}), "(12.5, 300)");
  EXPECT_EQ(moho::format_index<3>(Index<3>{1, 2, 3}), "(1, 2, 3)");
}

TEST(Grid, CheckAcceptsSingleNodes) { EXPECT_NO_THROW((Grid<2>{{1, 1}, {1.0, 1.0}, {}}).check()); }

TEST(Grid, CheckNamesTheBadExtent) {
  auto grid = small();
  grid.extents[1] = 0;
  EXPECT_THAT(message_of<InputError>([&] { grid.check(); }),
              AllOf(HasSubstr("extent along z is 0"), HasSubstr("allowed: 1 or more")));
}

TEST(Grid, CheckNamesTheBadSpacing) {
  for (const double bad : {0.0, -2.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    auto grid = cube();
    grid.spacing[1] = bad;
    EXPECT_THAT(message_of<InputError>([&] { grid.check(); }),
                AllOf(HasSubstr("spacing along y is"), HasSubstr("positive and finite")));
  }
}

TEST(Grid, CheckNamesTheBadOrigin) {
  auto grid = cube();
  grid.origin[2] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<InputError>([&] { grid.check(); }), HasSubstr("origin along z is inf"));
}

TEST(Grid, CheckRefusesOverflow) {
  const Grid<3> grid{{3000000, 3000000, 3000000}, {1.0, 1.0, 1.0}, {}};
  EXPECT_THAT(message_of<InputError>([&] { grid.check(); }), HasSubstr("overflows"));
}

template <class Exec>
class GridOnSpace : public ::testing::Test {};
TYPED_TEST_SUITE(GridOnSpace, moho::testing::TestSpaces, moho::testing::SpaceName);

// A free function, because nvcc accepts no extended lambda in a test body.
template <class Exec>
std::int64_t count_wrong(const Exec& exec, const Grid<3>& grid) {
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "moho::test::grid", Kokkos::RangePolicy<Exec>(exec, 0, grid.size()),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) {
        const Index<3> node = grid.node(i);
        const Point<3> q = grid.to_index_space(grid.position(node));
        bool good = grid.flat(node) == i && grid.contains(grid.position(node));
        for (int d = 0; d < 3; ++d) {
          good = good && q[d] - static_cast<double>(node[d]) < 1e-12 &&
                 static_cast<double>(node[d]) - q[d] < 1e-12;
        }
        if (!good) ++sum;
      },
      wrong);
  return wrong;
}

TYPED_TEST(GridOnSpace, IndexArithmeticRunsInKernels) {
  EXPECT_EQ(count_wrong(typename TypeParam::Exec(), cube()), 0);
}

}  // namespace
