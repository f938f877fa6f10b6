// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain, needs moho::io
//
// The Marmousi model, if its file exists.

#include <moho/io/npy.hpp>

#include "io/files.hpp"
#include "rays/model.hpp"

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Instance;
using moho::Points;
using moho::rays::GraphOptions;

template <class C>
class Marmousi : public ::testing::Test {};
TYPED_TEST_SUITE(Marmousi, TestCases, CaseName);

template <class T, class Memory>
void active_tiles_give_dijkstras_traveltimes(const Instance<Memory>& exec) {
  const auto file = moho::io::test::shared_data("marmousi_vp_461x151_20m.npy");
  if (!file)
    GTEST_SKIP() << "marmousi_vp_461x151_20m.npy is not here; MOHO_SHARED_DATA names its folder";
  const auto array = moho::io::read_npy<double>(*file);
  ASSERT_EQ(array.shape, (std::vector<std::int64_t>{461, 151}));
  const Model<2> model{Grid<2>{{461, 151}, {20.0, 20.0}, {}}, array.data};
  const Points<2> sources{{1000.0, 0.0}, {6010.0, 1333.0}};
  GraphOptions options;
  options.radius = 6;
  const auto expected = reference<T>(model, options, sources);
  const auto graph = make_graph<T>(exec, model, options);
  const auto found = solve(exec, graph, sources, {}, {{9000.0, 40.0}, {5000.0, 2900.0}});
  EXPECT_LE(largest_difference(found.times, expected.times), same<T>);
  for (std::size_t ray = 0; ray < found.paths.traveltime.size(); ++ray) {
    EXPECT_GT(found.paths.first[ray + 1] - found.paths.first[ray], 10);
    // between the straight traveltimes of the model's lowest and highest velocity
    const auto [low, high] = std::minmax_element(model.velocity.begin(), model.velocity.end());
    const auto& from = found.paths.points[static_cast<std::size_t>(found.paths.first[ray])];
    const auto& to = found.paths.points[static_cast<std::size_t>(found.paths.first[ray + 1] - 1)];
    const double length = std::hypot(to[0] - from[0], to[1] - from[1]);
    EXPECT_GT(found.paths.traveltime[ray], length / *high);
    EXPECT_LT(found.paths.traveltime[ray], 1.01 * length / *low);
  }
}
TYPED_TEST(Marmousi, ActiveTilesGiveDijkstrasTraveltimes) {
  active_tiles_give_dijkstras_traveltimes<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
