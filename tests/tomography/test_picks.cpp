// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Files of picks, checks of their values, grids, grounds, start models and robust weights.

#include "tomography/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TomographyPicks : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = fs::temp_directory_path() /
               (std::string("moho_picks_") +
                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(m_folder);
  }
  void TearDown() override { fs::remove_all(m_folder); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(m_folder / name) << text;
    return m_folder / name;
  }
  template <class Call>
  static void refuse(const Call& call, const std::string& words) {
    try {
      call();
      ADD_FAILURE() << "accepted: " << words;
    } catch (const moho::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
  fs::path m_folder;
};

constexpr const char* sgt =
    "3 # points\n#x y\n0 1\n10\t2\n20 3 # last\n3 # picks\n#s g t err valid\n"
    "1 2 0.01 0.001 1\n1 3 0.02 0.001 1\n3 1 0.021 0.001 0\n";

TEST_F(TomographyPicks, AreReadFromSgt) {
  const auto path = write("a.sgt", sgt);
  EXPECT_EQ(dimensions_of_picks(path), 2);
  const auto set = read_picks<2>(path);
  ASSERT_EQ(set.picks.size(), 2u);
  EXPECT_EQ(set.left_out, 1);
  ASSERT_EQ(set.sources.size(), 1u);
  EXPECT_EQ(set.sources[0][1], -1.0);
  EXPECT_EQ(set.receivers[1][0], 20.0);
  EXPECT_EQ(set.receivers[1][1], -3.0);
  EXPECT_EQ(set.picks[1].time, 0.02);
  EXPECT_EQ(set.picks[1].error, 0.001);
}

TEST_F(TomographyPicks, NamesOfPointColumnsHold) {
  const std::string end = "2\n1 2 0.01\n1 3 0.02\n";
  const auto read = [&](const std::string& names, const std::string& points) {
    return read_picks<2>(write("a.sgt", "3\n" + names + '\n' + points + end)).receivers[1];
  };
  for (const char* const names : {"#Z x", "# z/m x/m", "#y x"}) {
    const auto swapped = read(names, "1 0\n2 10\n3 20\n");
    EXPECT_EQ(swapped[0], 20.0) << names;
    EXPECT_EQ(swapped[1], -3.0) << names;
  }
  EXPECT_EQ(read("# positions", "0 1\n10 2\n20 3\n")[0], 20.0);
  EXPECT_FALSE(std::signbit(read("#x y", "0 0\n10 0\n20 0\n")[1]));
  const auto path = write("b.sgt", "3\n#y z x\n5 1 0\n5 2 10\n6 3 20\n" + end);
  EXPECT_EQ(dimensions_of_picks(path), 3);
  const auto last = read_picks<3>(path).receivers[1];
  EXPECT_THAT((std::vector<double>{last[0], last[1], last[2]}),
              ::testing::ElementsAre(20.0, 6.0, -3.0));
  refuse([&] { read("#x h", "1 0\n2 10\n3 20\n"); }, "the names of their columns are 'x h'");
  refuse([&] { read("#x x", "1 0\n2 10\n3 20\n"); }, "(allowed: x z, x y or x y z, in any order)");
  refuse([&] { read("#x y z", "1 0\n2 10\n3 20\n"); }, "a.sgt:3: a point has 2 numbers");
}

TEST_F(TomographyPicks, AreTheSameInATable) {
  const auto set = line_picks(4, 8, 0.002);
  write_sgt<2>(m_folder / "b.sgt", set);
  std::string table = "# first arrivals\nrx;rz;time;sx;sz;error\n";
  for (const Pick& pick : set.picks) {
    const auto& s = set.sources[static_cast<std::size_t>(pick.source)];
    const auto& r = set.receivers[static_cast<std::size_t>(pick.receiver)];
    std::ostringstream line;
    line.precision(17);
    line << r[0] << ';' << r[1] << ';' << 1e3 * pick.time << ';' << s[0] << ';' << s[1] << ';'
         << 1e3 * pick.error << '\n';
    table += line.str();
  }
  const auto one = read_picks<2>(m_folder / "b.sgt");
  const auto other = read_picks<2>(write("b.csv", table), {.time_unit = 1e-3});
  ASSERT_EQ(one.picks.size(), set.picks.size());
  ASSERT_EQ(other.picks.size(), set.picks.size());
  for (std::size_t k = 0; k < one.picks.size(); ++k) {
    const Pick &a = one.picks[k], &b = other.picks[k];
    EXPECT_EQ(one.sources[static_cast<std::size_t>(a.source)][0],
              other.sources[static_cast<std::size_t>(b.source)][0]);
    EXPECT_EQ(one.receivers[static_cast<std::size_t>(a.receiver)][0],
              other.receivers[static_cast<std::size_t>(b.receiver)][0]);
    EXPECT_NEAR(a.time, b.time, 1e-15);
    EXPECT_NEAR(a.error, b.error, 1e-15);
  }
}

TEST_F(TomographyPicks, MayNamePointsByIds) {
  PickFormat format;
  format.shots = write("s.csv", "id,x,z\n7,0,0\n9,50,1\n");
  format.receivers = write("r.csv", "id,x,y,z\n1,5,0,0\n2,10,0,2\n");
  const auto picks = write("p.csv", "shot,receiver,time,use\n7,1,0.01,1\n9,2,0.02,1\n9,1,0.03,0\n");
  EXPECT_EQ(dimensions_of_picks(picks, format), 2);
  const auto set = read_picks<2>(picks, format);
  ASSERT_EQ(set.picks.size(), 2u);
  EXPECT_EQ(set.sources[1][0], 50.0);
  EXPECT_EQ(set.receivers[1][1], 2.0);
  refuse([&] { read_picks<2>(write("q.csv", "shot,receiver,time\n8,1,0.01\n"), format); },
         "row 1 names shot 8");
  format.shots.clear();
  refuse([&] { read_picks<2>(picks, format); }, "shots is missing");
}

TEST_F(TomographyPicks, ThatCannotBeReadAreRefused) {
  const auto read = [&](const std::string& name, const std::string& text) {
    return [&, path = write(name, text)] { read_picks<2>(path); };
  };
  refuse(read("a.sgt", "2\n0 0\n1 0\n1\n1 3 0.01\n"), "a.sgt:5: point 3 of column g");
  refuse(read("a.sgt", "2\n0 0\n1 0\n1\n0 1 0.01\n"), "point 0 of column s");
  refuse(read("a.sgt", "3\n0 0\n1 0\n"), "ends after 2 points");
  refuse(read("a.sgt", "2\n0 0\n1 0\n2\n1 2 0.01\n"), "ends after 1 picks");
  refuse(read("a.sgt", "2\n0 0\n1 0\n1\n1 2 0.01\n2 1 0.01\n"), "more than 1 picks");
  refuse(read("a.sgt", "2\n0 0\n1 x\n1\n1 2 0.01\n"), "a.sgt:3: 'x'");
  refuse(read("a.sgt", "2\n0 0\n1 0\n1\n#s t\n1 2\n"), "lack g");
  refuse(read("a.csv", "sx,sz,rx,time\n0,0,1,0.1\n"), "no column rz");
  refuse(read("a.csv", "sx,sx,sz,rx,rz,time\n0,0,0,1,0,0.1\n"), "occurs twice");
  refuse(read("a.csv", "sx,sz,rx,rz,time,error\n0,0,1,0,0.1,0\n"), "has the error 0");
}

TEST_F(TomographyPicks, AreChecked) {
  const auto good = line_picks(4, 12, 0.002);
  const auto check = check_picks<2>(good, "picks");
  EXPECT_EQ(check.receiver_spacing, 25.0);
  EXPECT_GT(check.longest_offset, 200.0);
  const auto changed = [&](const auto& change) {
    auto set = good;
    change(set);
    return [set] { check_picks<2>(set, "picks"); };
  };
  refuse(changed([](auto& s) { s.picks.resize(9); }), "9 picks");
  refuse(changed([](auto& s) { s.picks[4].time = -0.1; }), "has the time -0.1 s (allowed");
  refuse(changed([](auto& s) { s.picks[4].error = -0.2; }), "has the error -0.2 s (allowed");
  refuse(changed([](auto& s) {
           for (Pick& p : s.picks) p.time *= 1000.0;
         }),
         "correct the unit of times");
  refuse(changed([](auto& s) {
           for (int k = 0; k < 5; ++k) s.picks[k].time = 1e-6;
         }),
         "outside of 50 to 12000");
  refuse(changed([](auto& s) { s.sources.resize(1); }), "same source");
}

TEST_F(TomographyPicks, ReciprocalPairsAreCompared) {
  auto set = line_picks(5, 12, 0.002);
  const Pick pick = set.picks[0];
  set.sources.push_back(set.receivers[static_cast<std::size_t>(pick.receiver)]);
  set.receivers.push_back(set.sources[static_cast<std::size_t>(pick.source)]);
  set.picks.push_back({5, 12, pick.time + 0.004, 0.002, 1.0});
  set.picks.push_back(set.picks[5]);
  set.picks.back().time += 0.001;
  const auto check = check_picks<2>(set, "picks");
  EXPECT_EQ(check.reciprocal_pairs, 1);
  EXPECT_NEAR(check.reciprocal_rms, 0.004 / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(check.repeated, 1);
  EXPECT_NEAR(check.largest_repeated, 0.001, 1e-12);
}

TEST_F(TomographyPicks, GroundHasOneDepthAtAPosition) {
  EXPECT_EQ(read_ground_table<2>(write("g.csv", "x,z\n0,1\n5,2\n0,1\n")).size(), 3U);
  refuse([&] { read_ground_table<2>(write("g.csv", "x,z\n0,1\n5,2\n0,3\n"), true); },
         "rows 1 and 3 have z = 1 and 3 at x = 0 (allowed: one value");
  EXPECT_EQ(read_ground_table<3>(write("g.csv", "x,y,z\n0,1,1\n0,2,3\n")).size(), 2U);
  refuse([&] { read_ground_table<3>(write("g.csv", "x,y,z\n0,1,1\n0,1,3\n")); }, "at x = 0, y = 1");
  const Grid<2> grid{{3, 3}, {10.0, 10.0}, {0.0, 0.0}};
  EXPECT_NO_THROW(ground_of_table<2>({{0.0, 1.0}, {0.0, 1.0}}, grid));
  refuse(
      [&] {
        ground_of_table<2>({{0.0, 1.0}, {5.0, 2.0}, {0.0, 3.0}}, grid);
      },
      "rows 1 and 3 have the depths 1 and 3 m at x = 0 (allowed: one depth at a position)");
}

TEST_F(TomographyPicks, GridsThatDoNotHoldThePointsAreRefused) {
  PickSet<2> picks;
  picks.sources = {{0.0, 0.0}, {100.0, 0.0}};
  picks.receivers = {{50.0, 0.0}};
  GridRequest<2> request{.spacing = 5.0};
  for (const double margin : {1e9, 1e300}) {
    request.margin = margin;
    refuse([&] { plan_grid<2>(picks, 100.0, 25.0, request); }, "a smaller margin or depth");
  }
  request = {.spacing = 5.0, .origin = moho::Point<2>{1000.0, 0.0}};
  refuse([&] { plan_grid<2>(picks, 100.0, 25.0, request); },
         "is outside of the grid from (1000, 0)");
}

TEST(TomographyGround, GoesThroughThePoints) {
  PickSet<2> picks;
  picks.sources = {{0.0, 5.0}, {100.0, -5.0}, {50.0, 40.0}};  // the last one in a borehole
  picks.receivers = {{50.0, 0.0}, {25.0, 2.5}};
  const auto grid = plan_grid<2>(picks, 100.0, 25.0, {.spacing = 5.0});
  EXPECT_LE(grid.origin[1], -5.0);
  EXPECT_GE(grid.upper(1), 40.0);
  const auto ground = ground_of_points(picks, grid);
  for (std::int64_t i = 0; i < grid.extents[0]; ++i) {
    const double x = std::clamp(grid.position({i, 0})[0], 0.0, 100.0);
    EXPECT_NEAR(ground.depth[static_cast<std::size_t>(i)], 5.0 - 0.1 * x, 1e-12);
  }
  EXPECT_NEAR(depth_below<2>(grid, ground, {50.0, 40.0}), 40.0, 1e-12);
  const auto mask = ground_mask<2>(grid, ground, picks);
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const auto p = grid.position(grid.node(i));
    const double depth = depth_below<2>(grid, ground, p);
    if (depth >= 0.0) {
      EXPECT_EQ(mask[static_cast<std::size_t>(i)], 1);
    }
    if (depth < -2.0 * grid.spacing[1]) {
      EXPECT_EQ(mask[static_cast<std::size_t>(i)], 0);
    }
  }
  picks.receivers.push_back({75.0, -30.0});
  EXPECT_THROW(
      ground_mask<2>(plan_grid<2>(picks, 100.0, 25.0, {.spacing = 5.0}),
                     ground_of_table<2>({{0.0, 5.0}, {100.0, -5.0}},
                                        plan_grid<2>(picks, 100.0, 25.0, {.spacing = 5.0})),
                     picks),
      moho::InputError);
}

TEST(TomographyStart, IsFittedToThePicks) {
  const auto picks = line_picks(6, 24, 0.0005);
  const Grid<2> grid = line_grid(24, 25.0, 200.0);
  const auto v = fit_linear_velocity<2>(picks, grid, {});
  EXPECT_NEAR(v.v0, line_truth.v0, 0.02 * line_truth.v0);
  EXPECT_NEAR(v.gradient, line_truth.gradient, 0.1 * line_truth.gradient);
  EXPECT_LT(v.rms, 0.002);
}

TEST(TomographyRobust, WeightsAreThoseOfTheirDefinitions) {
  EXPECT_EQ(robust_scale({0.1, -0.2, 0.1}), 1.0);
  EXPECT_NEAR(robust_scale({3.0, -4.0, 5.0}), 1.4826 * 4.0, 1e-12);
  EXPECT_EQ(robust_weights(Robust::none, {9.0}, 5.0)[0], 1.0);
  EXPECT_EQ(robust_weights(Robust::biweight, {6.0}, 5.0)[0], 0.0);
  EXPECT_NEAR(robust_weights(Robust::biweight, {2.5}, 5.0)[0], 0.5625, 1e-15);
  EXPECT_EQ(robust_weights(Robust::huber, {-10.0}, 5.0)[0], 0.5);
  EXPECT_NEAR(robust_kappa(Robust::huber, 1e9), 1.0, 1e-6);
  EXPECT_LT(robust_kappa(Robust::biweight, 5.0), 1.0);
}

}  // namespace
