// SPDX-License-Identifier: BSD-3-Clause
//
// Shots at once: the bits of one after the other, the memory of all of them, how many are chosen;
// sources and receivers of a step in one call.

#include <moho/wave/shots.hpp>

#include "support.hpp"

namespace moho::testing {
namespace {

using ::testing::HasSubstr;
using wave::make_modelling;

template <class C>
class ShotsAtOnce : public ::testing::Test {};
TYPED_TEST_SUITE(ShotsAtOnce, TestCases, CaseName);

template <class T, class Memory>
auto modelling_at_once(const Instance<Memory>& exec, const Grid<2>& grid, Medium medium,
                       int at_once, std::int64_t shots, std::size_t memory = 0) {
  wave::ModellingOptions<2> options;
  options.time.time = 0.08;
  options.order = 4;
  options.receivers = 7;
  options.shots = shots;
  options.at_once = at_once;
  options.memory = memory;
  auto model = constant_model<T, 2, Memory>(exec, grid, medium, {.epsilon = 0.1, .delta = 0.1});
  return make_modelling<T, 2, Memory>(exec, grid, model, wave::absorbing_faces<2>(medium),
                                      wave::ricker_wavelet(10.0), options);
}

MEMORY_TEST(ShotsAtOnce, HaveTheBitsOfOneAfterTheOther) {
  Grid<2> grid = cube<2>(61, 10.0);
  grid.extents[1] = 45;
  const auto shots = wave::fixed_spread<2>(wave::point_line<2>({50.0, 33.0}, {550.0, 70.0}, 6),
                                           wave::point_line<2>({0.0, 20.0}, {600.0, 27.0}, 7));
  for (const Medium medium : {Medium::isotropic, Medium::tti}) {
    auto alone = modelling_at_once<T, Memory>(exec, grid, medium, 1, 6);
    std::vector<std::vector<T>> expected;
    for (const auto& shot : shots) {
      const auto result = alone.shot(exec, shot);
      expected.emplace_back(result.traces.data(), result.traces.data() + result.traces.size());
    }
    EXPECT_GT(std::fabs(static_cast<double>(expected[4].back())), 0.0);
    for (const int at_once : {2, 5, 0}) {
      auto modelling = modelling_at_once<T, Memory>(exec, grid, medium, at_once, 6);
      if (at_once > 0) {
        EXPECT_EQ(modelling.plan().at_once, at_once);
      }
      std::size_t count = 0;
      wave::model_shots<T, 2, Memory>(
          exec, modelling, shots, [&](std::size_t k, const wave::ShotResult<T, 2, Memory>& result) {
            EXPECT_EQ(k, count++);
            const std::vector<T> traces(result.traces.data(),
                                        result.traces.data() + result.traces.size());
            EXPECT_EQ(traces, expected[k]) << at_once << " at once, shot " << k;
          });
      EXPECT_EQ(count, shots.size());
    }
  }
}

MEMORY_TEST(ShotsAtOnce, TakeTheMemoryOfAll) {
  const Grid<2> grid = cube<2>(301, 10.0);
  const auto one = modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 1, 20).plan();
  const auto five = modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 5, 20).plan();
  EXPECT_EQ(five.memory.wavefield, 5 * one.memory.wavefield);
  EXPECT_EQ(five.memory.gathers, 5 * one.memory.gathers);
  EXPECT_EQ(five.memory.most - one.memory.most, 4 * (one.memory.wavefield + one.memory.gathers));
  // no more than there are
  EXPECT_EQ((modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 5, 3).plan().at_once), 3);
  const std::size_t room = one.memory.most + one.memory.wavefield / 2;
  try {
    modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 5, 20, room);
    ADD_FAILURE() << "it fits";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wavefields of 5 shots at once take"));
    EXPECT_THAT(error.what(), HasSubstr("as asked): take fewer shots at once"));
  }
  // what is chosen fits
  EXPECT_EQ(
      (modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 0, 20, room).plan().at_once), 1);
  const int few = wave::shots_at_once(exec, std::int64_t{1} << 30, 1000);
  EXPECT_EQ(few, 1);
  EXPECT_GE(wave::shots_at_once(exec, 1000, 1000), few);
}

}  // namespace
}  // namespace moho::testing
