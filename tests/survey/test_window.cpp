// SPDX-License-Identifier: BSD-3-Clause
//
// Windows of shots: nodes, weights, copies from the model and sums to the model.

#include "io/files.hpp"

#include <moho/survey/window.hpp>

#include <cmath>
#include <numeric>

namespace {

using namespace moho;
using namespace moho::survey;
using io::test::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Grid<2> grid_2d() { return Grid<2>{Index<2>{101, 11}, Point<2>{10.0, 5.0}, Point<2>{-200.0, 0.0}}; }

Grid<3> grid_3d() {
  return Grid<3>{Index<3>{21, 31, 4}, Point<3>{25.0, 20.0, 5.0}, Point<3>{0.0, 100.0, -5.0}};
}

wave::Shot<2> shot_2d() { return {7, {{100.0, 5.0}}, {{0.0, 10.0}, {55.0, 10.0}}}; }

TEST(ShotWindow, ReachesTheApertureBeyondSourcesAndReceivers) {
  const Grid<2> grid = grid_2d();
  // from 0 - 33 to 100 + 33 m: nodes at -40 to 140 m, numbers 16 to 34
  const ShotWindow<2> window = shot_window(grid, shot_2d(), {{33.0}, 0.0});
  EXPECT_EQ(window.box, (Box<2>{{16, 0}, {35, 11}}));
  EXPECT_EQ(window.grid.origin[0], -40.0);
  EXPECT_EQ(window.grid.upper(0), 140.0);
  EXPECT_EQ(window.grid.extents[1], 11);
  EXPECT_EQ(window.grid.spacing[1], 5.0);
  EXPECT_TRUE(window.truncated_lower[0] && window.truncated_upper[0]);
  EXPECT_FALSE(window.truncated_lower[1] || window.truncated_upper[1]);
  EXPECT_FALSE(window.whole());
  // apertures that end at a node, or a rounding error away from it, add no node
  EXPECT_EQ(shot_window(grid, shot_2d(), {{30.0}, 0.0}).box, (Box<2>{{17, 0}, {34, 11}}));
  EXPECT_EQ(shot_window(grid, shot_2d(), {{30.0 + 1e-9}, 0.0}).box, (Box<2>{{17, 0}, {34, 11}}));
  EXPECT_EQ(shot_window(grid, shot_2d(), {{0.0}, 0.0}).box, (Box<2>{{20, 0}, {31, 11}}));
}

TEST(ShotWindow, EndsWhereTheModelDoes) {
  const Grid<2> grid = grid_2d();
  const ShotWindow<2> window = shot_window(grid, shot_2d(), {{250.0}, 0.0});
  EXPECT_EQ(window.box, (Box<2>{{0, 0}, {56, 11}}));
  EXPECT_FALSE(window.truncated_lower[0]);
  EXPECT_TRUE(window.truncated_upper[0]);
  EXPECT_TRUE(shot_window(grid, shot_2d(), {{1e30}, 0.0}).whole());
  EXPECT_TRUE(shot_window(grid, shot_2d(), {{}, 0.0}).whole());
  EXPECT_EQ(shot_window(grid, shot_2d(), {}).box, whole_box(grid));
}

TEST(ShotWindow, HasAnApertureForEachAxis) {
  const Grid<3> grid = grid_3d();
  const wave::Shot<3> shot{1, {{250.0, 400.0, 0.0}}, {{300.0, 380.0, 0.0}, {200.0, 420.0, 0.0}}};
  EXPECT_EQ(shot_window(grid, shot, {{50.0, 20.0}, 0.0}).box, (Box<3>{{6, 13, 0}, {15, 18, 4}}));
  EXPECT_EQ(shot_window(grid, shot, {{50.0}, 0.0}).box, (Box<3>{{6, 11, 0}, {15, 20, 4}}));
  EXPECT_TRUE(shot_window(grid, shot, {}).whole());
}

TEST(ShotWindow, KeepsThePlacesOfNodes) {
  const Grid<3> grid = grid_3d();
  const ShotWindow<3> window = window_of(grid, Box<3>{{3, 5, 1}, {9, 6, 4}});
  for (std::int64_t i = 0; i < window.grid.size(); ++i) {
    Index<3> node = window.grid.node(i);
    const Point<3> here = window.grid.position(node);
    for (int d = 0; d < 3; ++d) node[d] += window.box.lower[d];
    const Point<3> there = grid.position(node);
    for (int d = 0; d < 3; ++d) EXPECT_DOUBLE_EQ(here[d], there[d]);
  }
}

TEST(ShotWindow, WeightsFallToZeroAtCutSidesOnly) {
  const Grid<2> grid = grid_2d();
  const ShotWindow<2> window = window_of(grid, Box<2>{{0, 0}, {21, 11}});
  const WindowWeights<2> weights = window_weights(window, 40.0);
  EXPECT_EQ(weights[0].size(), 21U);
  EXPECT_EQ(weights[1], std::vector<double>(11, 1.0));
  for (std::size_t k = 0; k <= 16; ++k) EXPECT_EQ(weights[0][k], 1.0);
  // half a period of a cosine: 1/2 in its middle, where it is point-symmetric
  EXPECT_NEAR(weights[0][18], 0.5, 1e-15);
  EXPECT_NEAR(weights[0][17] + weights[0][19], 1.0, 1e-15);
  EXPECT_NEAR(weights[0][19], 0.5 - 0.5 * std::sqrt(0.5), 1e-15);
  EXPECT_EQ(weights[0][20], 0.0);
  EXPECT_EQ(window_weights(window, 0.0)[0], std::vector<double>(21, 1.0));
  EXPECT_EQ(window_weights(window_of(grid, whole_box(grid)), 40.0)[0],
            std::vector<double>(101, 1.0));
}

template <int Dim>
void check_round_trip(const Grid<Dim>& grid, const Box<Dim>& box) {
  const ShotWindow<Dim> window = window_of(grid, box);
  std::vector<float> model(static_cast<std::size_t>(grid.size()));
  std::iota(model.begin(), model.end(), 1.0F);
  std::vector<float> part(static_cast<std::size_t>(window.grid.size()));
  copy_window(grid, window, model.data(), part.data());
  for (std::int64_t i = 0; i < window.grid.size(); ++i) {
    EXPECT_EQ(part[static_cast<std::size_t>(i)], 1.0F + static_cast<float>(grid.flat(box.node(i))));
  }
  // sum to the model, in double precision and with weights
  const WindowWeights<Dim> weights = window_weights(window, 3.0 * grid.spacing[0]);
  std::vector<double> sum(model.size(), 0.25);
  add_window(grid, window, weights, part.data(), sum.data());
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const Index<Dim> node = grid.node(i);
    double expected = 0.25;
    if (box.contains(node)) {
      double weight = 1.0;
      for (int d = 0; d < Dim; ++d) {
        weight *=
            weights[static_cast<std::size_t>(d)][static_cast<std::size_t>(node[d] - box.lower[d])];
      }
      expected += weight * static_cast<double>(model[static_cast<std::size_t>(i)]);
    }
    EXPECT_NEAR(sum[static_cast<std::size_t>(i)], expected, 1e-12 * expected);
  }
}

TEST(ShotWindow, PartsOfTheModelAndBack) {
  check_round_trip<2>(grid_2d(), Box<2>{{13, 0}, {40, 11}});
  check_round_trip<2>(grid_2d(), Box<2>{{0, 2}, {101, 9}});
  check_round_trip<3>(grid_3d(), Box<3>{{4, 7, 0}, {9, 20, 4}});
}

TEST(ShotWindow, PartsOfFields) {
  const Grid<3> grid = grid_3d();
  const ShotWindow<3> window = window_of(grid, Box<3>{{4, 7, 0}, {9, 20, 4}});
  const Field<double, 3, Kokkos::HostSpace> field("vp", 21, 31, 4);
  for (std::int64_t i = 0; i < grid.size(); ++i) field.data()[i] = static_cast<double>(i);
  const auto part = window_field(grid, window, field);
  ASSERT_EQ(part.extent(0), 5U);
  ASSERT_EQ(part.extent(1), 13U);
  ASSERT_EQ(part.extent(2), 4U);
  EXPECT_EQ(part(2, 3, 1), field(6, 10, 1));
  EXPECT_TRUE(part.span_is_contiguous());
  EXPECT_EQ(window_field(grid, window, Field<double, 3, Kokkos::HostSpace>()).size(), 0U);
  const Field<double, 3, Kokkos::HostSpace> other("vp", 20, 31, 4);
  EXPECT_THAT(message_of<InputError>([&] { (void)window_field(grid, window, other); }),
              HasSubstr("its shape is 20 x 31 x 4"));
}

TEST(ShotWindow, RefusesWhatIsNoWindow) {
  const Grid<2> grid = grid_2d();
  const auto refusal = [&](const std::vector<double>& aperture) {
    return message_of<InputError>([&] { (void)shot_window(grid, shot_2d(), {aperture, 0.0}); });
  };
  EXPECT_THAT(refusal({-1.0}), HasSubstr("aperture is -1 m (allowed: 0 or more)"));
  EXPECT_THAT(refusal({std::nan("")}), HasSubstr("aperture is nan"));
  EXPECT_THAT(refusal({1.0, 2.0}), HasSubstr("aperture has 2 numbers (allowed: up to 1"));
  wave::Shot<2> outside = shot_2d();
  outside.receivers.push_back({5000.0, 10.0});
  EXPECT_THAT(message_of<InputError>([&] {
                (void)shot_window(grid, outside, {{10.0}, 0.0});
              }),
              AllOf(HasSubstr("shot 7: receiver"), HasSubstr("5000")));
  wave::Shot<2> deaf = shot_2d();
  deaf.receivers.clear();
  EXPECT_THAT(message_of<InputError>([&] {
                (void)shot_window(grid, deaf, {{10.0}, 0.0});
              }),
              HasSubstr("shot 7: it has no receiver"));
  EXPECT_THAT(message_of<InputError>([&] {
                (void)window_of(grid, Box<2>{{3, 0}, {102, 11}});
              }),
              HasSubstr("[3, 102) x [0, 11)"));
  const ShotWindow<2> window = shot_window(grid, shot_2d(), {});
  EXPECT_THAT(message_of<InputError>([&] { (void)window_weights(window, -2.0); }),
              HasSubstr("taper is -2 m"));
}

TEST(ShotWindow, ReadsApertures) {
  EXPECT_TRUE(parse_aperture("all").empty());
  EXPECT_THAT(parse_aperture("2000"), ElementsAre(2000.0));
  EXPECT_THAT(parse_aperture(" 2000, 1500.5"), ElementsAre(2000.0, 1500.5));
  for (const char* text : {"", "a", "-1", "1,2,3", "1,", "nan"}) {
    EXPECT_THAT(message_of<InputError>([&] { (void)parse_aperture(text); }),
                HasSubstr("\"2000,1500\""))
        << text;
  }
}

}  // namespace
