// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Checks of wavefields: amplitudes in boxes, and the step and position of NaN and overflow.

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;
using moho::wave::amplitude;
using moho::wave::check_finite;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Case>
class WatchTest : public ::testing::Test {};
TYPED_TEST_SUITE(WatchTest, TestCases, CaseName);

Grid<3> watched_grid() { return {{21, 18, 19}, {10.0, 20.0, 5.0}, {100.0, 0.0, -5.0}}; }

template <class T, class Memory>
Propagator<T, 3, Memory> vti(const Instance<Memory>& exec) {
  PropagatorOptions<3> options;
  options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
  return make_propagator(exec, watched_grid(),
                         random_model<T, 3, Memory>(exec, watched_grid(), Medium::vti, 2), options);
}

MEMORY_TEST(WatchTest, TheAmplitudeOfABox) {
  const auto wavefield = vti<T>(exec).make_wavefield(exec);
  set_nodes<T, 3, Memory>(exec, wavefield.layout, wavefield.now[0], [](const Index<3>& node) {
    return node[0] == 4 && node[1] == 5 && node[2] == 6 ? -7.5 : 0.001 * (node[0] + node[2]);
  });
  const auto max = [&](const Box<3>& box) {
    return amplitude<T, 3, Memory>(exec, wavefield.layout, wavefield.now[0], box);
  };
  EXPECT_EQ(max(moho::whole_box(watched_grid())).max, 7.5);
  EXPECT_EQ(max(moho::whole_box(watched_grid())).bad, -1);
  EXPECT_NEAR(max({{5, 0, 0}, {21, 18, 19}}).max, 0.038, 1e-6);
  EXPECT_NEAR(max({{0, 0, 0}, {3, 3, 3}}).max, 0.004, 1e-6);
  EXPECT_EQ(max({{4, 5, 6}, {5, 6, 7}}).max, 7.5);
  EXPECT_EQ(max({{4, 5, 6}, {4, 6, 7}}).max, 0.0);  // no node
  const auto found =
      check_finite(exec, watched_grid(), wavefield, moho::whole_box(watched_grid()), 3);
  EXPECT_EQ(found.max, 7.5);
}

MEMORY_TEST(WatchTest, NamesTheStepAndThePlace) {
  const auto propagator = vti<T>(exec);
  for (const double bad : {not_a_number, infinite, -infinite}) {
    for (const int f : {0, 1}) {
      const auto wavefield = propagator.make_wavefield(exec);
      // the first of two in memory order
      set_nodes<T, 3, Memory>(exec, wavefield.layout, wavefield.now[f], [&](const Index<3>& node) {
        return (node[0] == 11 && node[1] == 2 && node[2] == 18) ||
                       (node[0] == 12 && node[1] == 0 && node[2] == 0)
                   ? bad
                   : 1.0;
      });
      const Box<3> whole = moho::whole_box(watched_grid());
      EXPECT_THAT(message_of<moho::Error>(
                      [&] { check_finite(exec, watched_grid(), wavefield, whole, 1234); }),
                  AllOf(HasSubstr("step 1234: the wavefield " + std::string(f == 0 ? "p" : "q") +
                                  " is no longer finite at node (11, 2, 18), (210, 40, 85)"),
                        HasSubstr("(it overflowed, or the source holds such a number)"),
                        HasSubstr("smooth its angles, or take a smaller dt")));
      // only values in the box count
      const Box<3> besides{{0, 3, 0}, {21, 18, 19}};
      EXPECT_EQ(check_finite(exec, watched_grid(), wavefield, besides, 1).max, 1.0);
    }
  }
}

// With a step that is too large, overflow is reported at the next check; a wavefield at rest never
// overflows.
MEMORY_TEST(WatchTest, FindsWhatExplodes) {
  const auto propagator = vti<T>(exec);
  const auto beyond = with_longer_step(
      exec, propagator, random_model<T, 3, Memory>(exec, watched_grid(), Medium::vti, 2),
      std::sqrt(3.0));
  const Box<3> whole = moho::whole_box(watched_grid());
  auto wavefield = propagator.make_wavefield(exec);
  int last = 0;
  const auto run = [&] {
    for (last = 1; last <= 2000; ++last) {
      step(exec, beyond.scheme, beyond.medium, wavefield, whole);
      wavefield.advance();
      check_finite(exec, watched_grid(), wavefield, whole, last);
    }
  };
  EXPECT_EQ(message_of<moho::Error>([&] {
              for (int n = 0; n < 20; ++n) {
                step(exec, beyond.scheme, beyond.medium, wavefield, whole);
                wavefield.advance();
                check_finite(exec, watched_grid(), wavefield, whole, n);
              }
            }),
            "no exception");
  set_random(exec, wavefield, 4);
  const std::string message = message_of<moho::Error>(run);
  EXPECT_THAT(message, HasSubstr(moho::concat("step ", last, ": the wavefield ")));
  EXPECT_GT(last, 3);
  EXPECT_LT(last, 2000);
}

}  // namespace
