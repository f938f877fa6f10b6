// SPDX-License-Identifier: BSD-3-Clause
//
// The main function of every test program: Kokkos runs for as long as the tests do.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  Kokkos::ScopeGuard guard(argc, argv);
  return RUN_ALL_TESTS();
}
