// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick

#include <moho/core/launcher.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

TEST(Launcher, IsKnownByTheVariablesOfMpirun) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  const std::string first = moho::launch_of_process();
  EXPECT_EQ(moho::launch_of_process(), first);
  ::setenv("OMPI_MCA_btl", "self", 1);  // an option, which a script may set
  EXPECT_EQ(moho::launch_of_process(), first);
  ::setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  EXPECT_NE(moho::launch_of_process(), first);
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  EXPECT_NE(moho::launch_of_process(), first);
  ::unsetenv("OMPI_MCA_btl");
}

}  // namespace
