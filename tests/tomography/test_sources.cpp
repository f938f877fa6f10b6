// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 4
//
// Located sources, VTI media against closed forms and differences, and sources divided among
// processes.

#include "spaces.hpp"
#include "tomography/derivative.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <moho/eikonal/homogeneous.hpp>

#include <cmath>
#include <filesystem>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using moho::Instance;
using moho::Point;
using moho::Points;
using Memory = Kokkos::HostSpace;

Instance<Memory> own_host() { return Kokkos::DefaultHostExecutionSpace(); }

// Receivers along all sides of a square of 600 m, sources inside of it, exact times of a linear
// velocity that start late.
InversionJob<2> square_job(double late) {
  InversionJob<2> job;
  job.grid = {{61, 61}, {10.0, 10.0}, {0.0, 0.0}};
  for (int k = 0; k < 5; ++k) {
    const double at = 50.0 + 125.0 * k;
    for (const Point<2>& p :
         {Point<2>{at, 0.0}, Point<2>{at, 600.0}, Point<2>{0.0, at}, Point<2>{600.0, at}}) {
      job.picks.receivers.push_back(p);
    }
  }
  job.picks.sources = {{200.0, 250.0}, {420.0, 330.0}, {310.0, 180.0}};
  for (int s = 0; s < 3; ++s) {
    for (int r = 0; r < 20; ++r) {
      const auto& a = job.picks.sources[static_cast<std::size_t>(s)];
      const auto& b = job.picks.receivers[static_cast<std::size_t>(r)];
      const double t = linear_time(std::abs(a[0] - b[0]), a[1], b[1], line_truth);
      job.picks.picks.push_back({s, r, t + (s == 1 ? late : 0.0), 0.0005, 1.0});
    }
  }
  job.start = linear_model<2>(job.grid, {}, line_truth);
  job.options.prior.lengths = {200.0, 200.0};
  job.options.coarsening = 3;
  job.options.location.unknown = true;
  job.options.location.deviation = {50.0, 50.0};
  return job;
}

double distance(const Point<2>& a, const Point<2>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1]);
}

TEST(TomographySources, AreLocated) {
  auto job = square_job(0.0);
  const Points<2> truth = job.picks.sources;
  job.picks.sources[1] = {truth[1][0] + 24.0, truth[1][1] - 18.0};  // three nodes away
  const auto result = invert<float, 2, Memory>(own_host(), job);
  ASSERT_EQ(result.sources.size(), 3u);
  for (std::size_t s = 0; s < 3; ++s) EXPECT_LT(distance(result.sources[s], truth[s]), 5.0) << s;
  EXPECT_LT(result.reports.back().chi2, 1.1);
  for (const double t : result.delays.origin) EXPECT_EQ(t, 0.0);
}

TEST(TomographySources, HaveOriginTimes) {
  auto job = square_job(0.02);
  job.options.location.deviation = {0.0, 0.0};
  job.options.location.origin_deviation = 0.02;
  const auto result = invert<float, 2, Memory>(own_host(), job);
  EXPECT_NEAR(result.delays.origin[1], 0.02, 0.001);
  EXPECT_NEAR(result.delays.origin[0], 0.0, 0.001);
  EXPECT_EQ(distance(result.sources[1], job.picks.sources[1]), 0.0);
}

TEST(TomographySources, StayInTheGridAndResume) {
  auto job = square_job(0.0);
  job.picks.sources[2][1] = 3.0;  // the truth is deeper
  job.options.iterations = 4;
  std::vector<InversionState> states;
  job.each = [&](const IterationReport&, const InversionState& state) { states.push_back(state); };
  const auto whole = invert<float, 2, Memory>(own_host(), job);
  for (const Point<2>& p : whole.sources) EXPECT_TRUE(job.grid.contains(p));
  ASSERT_GE(states.size(), 3u);
  // two cells an iteration
  for (std::size_t k = 1; k < states.size(); ++k) {
    for (std::size_t i = 0; i < states[k].delays.moves.size(); ++i) {
      EXPECT_LE(std::abs(states[k].delays.moves[i] - states[k - 1].delays.moves[i]), 20.0 + 1e-9);
    }
  }
  const auto path = std::filesystem::temp_directory_path() / "moho_tomography_sources.npy";
  write_state(path, states[1]);
  job.state = read_state(path);
  std::filesystem::remove(path);
  const auto resumed = invert<float, 2, Memory>(own_host(), job);
  EXPECT_EQ(resumed.velocity, whole.velocity);
  EXPECT_EQ(resumed.delays.moves, whole.delays.moves);
}

TEST(TomographyVti, HomogeneousTimesAndRows) {
  const Grid<2> grid{{61, 61}, {10.0, 10.0}, {0.0, 0.0}};
  const auto picks = fan_picks(grid);
  const auto nodes = static_cast<std::size_t>(grid.size());
  const std::vector<double> velocity(nodes, 2000.0), epsilon(nodes, 0.2), delta(nodes, 0.08);
  const Forward<double, 2, Memory> forward(
      grid, picks, {}, {.coarsening = 2, .eikonal = true, .epsilon = epsilon, .delta = delta});
  const auto found = forward.evaluate(own_host(), velocity, true);
  const auto medium = moho::eikonal::make_constants(2000.0, 0.2, 0.08);
  for (std::size_t k = 0; k < found.times.size(); ++k) {
    const auto& a = picks.sources[static_cast<std::size_t>(picks.picks[k].source)];
    const auto& b = picks.receivers[static_cast<std::size_t>(picks.picks[k].receiver)];
    const double exact =
        moho::eikonal::homogeneous(medium, std::abs(b[0] - a[0]), b[1] - a[1]).time;
    EXPECT_NEAR(found.times[k], exact, 1e-6 * exact);
    double sum = 0.0;
    for (auto e = found.rows.first[k]; e < found.rows.first[k + 1]; ++e) {
      sum += found.rows.value[static_cast<std::size_t>(e)];
    }
    EXPECT_NEAR(sum, found.times[k], 1e-12);
    // straight rays: no point is further than a tenth of a cell from the line
    const double far = distance(a, b);
    for (auto i = found.paths.first[k]; i < found.paths.first[k + 1]; ++i) {
      const auto& p = found.paths.points[static_cast<std::size_t>(i)];
      const double off = ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / far;
      EXPECT_LT(std::abs(off), 1.0);
    }
  }
}

// The derivative of discrete times and their rows differ by errors of second order.
TEST(TomographyVti, RowsConvergeToTheDerivative) {
  double before = 0.0;
  for (const double h : {10.0, 5.0}) {
    const auto count = static_cast<std::int64_t>(600.0 / h) + 1;
    const Grid<2> grid{{count, count}, {h, h}, {0.0, 0.0}};
    const auto nodes = static_cast<std::size_t>(grid.size());
    const std::vector<double> epsilon(nodes, 0.15), delta(nodes, 0.05);
    const Forward<double, 2, Memory> forward(grid, fan_picks(grid), {},
                                             {.eikonal = true, .epsilon = epsilon, .delta = delta});
    double off = 0.0;
    for (int number = 0; number < 4; ++number) {
      const Derivatives found =
          derivatives_of(own_host(), forward, number, linear_model<2>(grid, {}, line_truth), 1e-4);
      off = std::max(off, largest_difference(found.rows, found.differences));
    }
    if (h < 6.0) {
      EXPECT_LT(off, before / 3.5);
      EXPECT_LT(off, 2.5e-3);
    }
    before = off;
  }
}

TEST(TomographyVti, DeparturesAreTheDerivative) {
  const Grid<2> grid{{61, 61}, {10.0, 10.0}, {0.0, 0.0}};
  const auto picks = fan_picks(grid);
  const auto nodes = static_cast<std::size_t>(grid.size());
  const std::vector<double> epsilon(nodes, 0.15), delta(nodes, 0.05);
  const auto velocity = linear_model<2>(grid, {}, line_truth);
  const Forward<double, 2, Memory> forward(
      grid, picks, {},
      {.coarsening = 3, .eikonal = true, .departures = true, .epsilon = epsilon, .delta = delta});
  const auto now = forward.evaluate(own_host(), velocity);
  for (int d = 0; d < 2; ++d) {
    Points<2> plus = picks.sources, minus = picks.sources;
    plus[0][d] += 0.5;
    minus[0][d] -= 0.5;
    const auto up = forward.evaluate(own_host(), velocity, false, {}, plus);
    const auto down = forward.evaluate(own_host(), velocity, false, {}, minus);
    for (std::size_t k = 0; k < 9; ++k) {
      EXPECT_NEAR(up.times[k] - down.times[k], now.departures[2 * k + static_cast<std::size_t>(d)],
                  0.1 / 1500.0);
    }
  }
}

TEST(TomographyVti, IsRefusedWithGraphTimesAndAir) {
  const auto refuse = [](InversionJob<2> job, const char* words) {
    try {
      invert<float, 2, Memory>(own_host(), job);
      ADD_FAILURE() << "accepted: " << words;
    } catch (const moho::InputError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(words));
    }
  };
  auto job = square_job(0.0);
  job.options.location.unknown = false;
  job.options.epsilon.assign(job.start.size(), 0.1);
  auto wrong = job;
  wrong.options.times = Times::graph;
  refuse(wrong, "VTI medium");
  wrong = job;
  wrong.options.epsilon.pop_back();
  refuse(wrong, "epsilon has");
  wrong = square_job(0.0);
  wrong.options.location.deviation = {0.0, 0.0};
  refuse(wrong, "location");
  wrong = square_job(0.0);
  wrong.picks.receivers[3] = wrong.picks.sources[0];
  refuse(wrong, "source and receiver at one point");
}

// Three processes, one after the other: their bytes are what the gather of each would return.
TEST(TomographyRanks, HaveTheBitsOfOneProcess) {
  const auto picks = line_picks(7, 24, 0.0);
  const Grid<2> grid = line_grid(24, 12.5, 200.0);
  const auto velocity = linear_model<2>(grid, {}, line_truth);
  std::vector<std::vector<char>> parts(3);
  const auto forward_of = [&](int rank, bool complete) {
    ForwardOptions<2> options{.coarsening = 2, .radius = 4, .departures = true};
    options.exchange.rank = rank;
    options.exchange.ranks = 3;
    options.exchange.gather = [&parts, rank,
                               complete](const std::function<std::vector<char>()>& local) {
      parts[static_cast<std::size_t>(rank)] = local();
      return complete ? parts : std::vector<std::vector<char>>();
    };
    return Forward<float, 2, Memory>(grid, picks, {}, options);
  };
  for (int rank = 0; rank < 3; ++rank) forward_of(rank, false).evaluate(own_host(), velocity, true);
  const Forward<float, 2, Memory> alone(grid, picks, {},
                                        {.coarsening = 2, .radius = 4, .departures = true});
  const auto one = alone.evaluate(own_host(), velocity, true);
  const auto all = forward_of(1, true).evaluate(own_host(), velocity, true);
  EXPECT_EQ(all.times, one.times);
  const auto rows = download_rows(own_host(), all.rows), own = download_rows(own_host(), one.rows);
  EXPECT_EQ(rows.first, own.first);
  EXPECT_EQ(rows.column, own.column);
  EXPECT_EQ(rows.value, own.value);
  EXPECT_EQ(all.departures, one.departures);
  EXPECT_EQ(all.paths.first, one.paths.first);
  EXPECT_EQ(alone.coverage(own_host(), all.paths), alone.coverage(own_host(), one.paths));
  std::vector<char> cut(parts[0].begin(), parts[0].begin() + 12);
  Prediction<2, Memory> none;
  SparseRows rows_of_none;
  EXPECT_THROW(moho::tomography::detail::append<2>(cut, none, rows_of_none), moho::Error);
}

}  // namespace
