// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Work of shots from several runs; receivers of moving spreads outside of a grid.

#include <moho/survey/left_out.hpp>
#include <moho/survey/shot_work.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using namespace moho;
using namespace moho::survey;
using ::testing::ElementsAre;

TEST(ShotWork, AddsShotsOfSeveralRuns) {
  struct {
    double points = 600.0, whole_points = 800.0, seconds = 6.0, domain_seconds = 1.5;
  } result;
  ShotWork work = work_of(result, 3);
  EXPECT_THAT(work.numbers(), ElementsAre(600.0, 800.0, 2.0, 0.5));
  EXPECT_EQ(work.points_per_second(), 300.0);
  work.add(work_of(result, 2).numbers());
  EXPECT_THAT(work.numbers(), ElementsAre(1200.0, 1600.0, 5.0, 1.25));
  work.add({});
  work.add({1.0, 2.0, 3.0});
  EXPECT_EQ(work.points, 1200.0);
  EXPECT_EQ(ShotWork().points_per_second(), 0.0);
}

TEST(ShotWork, DividesTheSecondsOfChains) {
  struct {
    struct {
      double points = 600.0, seconds = 6.0;
    } report;
    double whole_points = 800.0, domain_seconds = 1.0;
  } result;
  struct {
    struct {
      int groups = 3;
    } plan;
    int chains = 3;
  } report;
  // three chains of a process, whose domains it computes one after the other
  EXPECT_THAT(stream_work_of(result, report).numbers(), ElementsAre(600.0, 800.0, 2.0, 1.0));
  // one chain in each of three groups of ranks
  report.chains = 1;
  EXPECT_THAT(stream_work_of(result, report).numbers(), ElementsAre(600.0, 800.0, 2.0, 1.0 / 3.0));
}

// The root of several processes, given the sums of all.
class Root : public Communicator {
 public:
  explicit Root(std::vector<double> sums) : m_sums(std::move(sums)) {}
  void sum_to_root(std::vector<double>& values) override {
    EXPECT_EQ(values.size(), m_sums.size());
    values = m_sums;
  }

 private:
  std::vector<double> m_sums;
};

// Processes without a shot have no seconds.
TEST(ShotWork, MeansOfProcessesThatHadShots) {
  Root two_of_five({600.0, 800.0, 8.0, 3.0, 2.0});
  EXPECT_THAT(work_of_all(two_of_five, {300.0, 400.0, 4.0, 1.0}).numbers(),
              ElementsAre(600.0, 800.0, 4.0, 1.5));
  Communicator alone;
  EXPECT_THAT(work_of_all(alone, {300.0, 400.0, 4.0, 1.0}).numbers(),
              ElementsAre(300.0, 400.0, 4.0, 1.0));
  EXPECT_EQ(work_of_all(alone, {}).points_per_second(), 0.0);
}

TEST(LeftOut, ReceiversOfASpread) {
  const Grid<2> grid{{11, 6}, {10.0, 10.0}, {0.0, 0.0}};
  const Points<2> offsets{{-20.0, 5.0}, {0.0, 5.0}, {20.0, 5.0}, {40.0, 5.0}, {0.0, 60.0}};
  EXPECT_THAT((spread_left_out<2>(offsets, {10.0, 0.0}, grid)), ElementsAre(0, 4));
  EXPECT_THAT((spread_left_out<2>(offsets, {70.0, 0.0}, grid)), ElementsAre(3, 4));
  EXPECT_EQ(ranges_text({0, 1, 2, 3, 8}), "1 to 4, 9");
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({6}), "7");
  const std::vector<moho::wave::Shot<2>> shots{{1, {{10.0, 0.0}}, {}}, {2, {{70.0, 0.0}}, {}}};
  EXPECT_EQ((moho::survey::spread_note<2>(offsets, shots, grid)),
            "4 of 10 receivers of --moving are outside of the model and left out, in 2 shots "
            "(shot 1: 1, 5; shot 2: 4 to 5; counted from 1)");
}

}  // namespace
