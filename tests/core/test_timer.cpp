// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/timer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spaces.hpp"

namespace {

TEST(PhaseTimes, AddsUpByPhaseInOrderOfAppearance) {
  moho::PhaseTimes times;
  EXPECT_EQ(times.total(), 0.0);
  times.add("weights", 1.5);
  times.add("trace", 2.0);
  times.add("weights", 0.25);
  EXPECT_DOUBLE_EQ(times.seconds("weights"), 1.75);
  EXPECT_DOUBLE_EQ(times.seconds("trace"), 2.0);
  EXPECT_EQ(times.seconds("never"), 0.0);
  EXPECT_DOUBLE_EQ(times.total(), 3.75);
  ASSERT_EQ(times.phases().size(), 2u);
  EXPECT_EQ(times.phases()[0].first, "weights");
  EXPECT_EQ(times.phases()[1].first, "trace");
}

template <class Exec>
class ScopedPhaseTest : public ::testing::Test {};
TYPED_TEST_SUITE(ScopedPhaseTest, moho::testing::TestSpaces, moho::testing::SpaceName);

TYPED_TEST(ScopedPhaseTest, MeasuresItsScope) {
  moho::PhaseTimes times;
  {
    const moho::ScopedPhase phase(typename TypeParam::Exec(), times, "sleep");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(times.seconds("sleep"), 0.02);
  EXPECT_LT(times.seconds("sleep"), 20.0);
}

TYPED_TEST(ScopedPhaseTest, CountsWhenAnExceptionLeavesTheScope) {
  moho::PhaseTimes times;
  try {
    const moho::ScopedPhase phase(typename TypeParam::Exec(), times, "broken");
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {
  }
  ASSERT_EQ(times.phases().size(), 1u);
  EXPECT_GE(times.seconds("broken"), 0.0);
}

TYPED_TEST(ScopedPhaseTest, IsARegionForKokkosTools) {
  static std::vector<std::string> regions;  // accessible to the callbacks
  regions.clear();
  Kokkos::Tools::Experimental::set_push_region_callback(
      [](const char* name) { regions.push_back(std::string("push ") + name); });
  Kokkos::Tools::Experimental::set_pop_region_callback([]() { regions.push_back("pop"); });
  moho::PhaseTimes times;
  { const moho::ScopedPhase phase(typename TypeParam::Exec(), times, "trace"); }
  Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
  Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  EXPECT_EQ(regions, (std::vector<std::string>{"push moho::trace", "pop"}));
}

}  // namespace
