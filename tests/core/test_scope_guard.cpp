// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// A guard in a program that has initialised Kokkos. examples/test_cpp.py has the other programs.

#include <moho/core/kokkos.hpp>
#include <moho/core/scope_guard.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {

TEST(ScopeGuard, LeavesAnInitialisedKokkosAlone) {
  ASSERT_TRUE(Kokkos::is_initialized());
  std::string name = "program", option = "--kokkos-threads=100000";
  char* argv[] = {name.data(), option.data(), nullptr};
  int argc = 2;
  {
    const moho::ScopeGuard guard(argc, argv);
    const moho::ScopeGuard other;
    EXPECT_TRUE(Kokkos::is_initialized());
  }
  EXPECT_TRUE(Kokkos::is_initialized());
  EXPECT_EQ(argc, 2);
}

TEST(ScopeGuard, HasOneOwner) {
  EXPECT_FALSE(std::is_copy_constructible_v<moho::ScopeGuard>);
  EXPECT_FALSE(std::is_move_constructible_v<moho::ScopeGuard>);
}

}  // namespace
