// SPDX-License-Identifier: BSD-3-Clause
//
// The main function of every test program: it initialises Kokkos and runs the tests.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  Kokkos::ScopeGuard guard(argc, argv);
  return RUN_ALL_TESTS();
}
