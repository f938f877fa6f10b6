// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/units.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "io/files.hpp"

namespace {

using moho::InputError;
using moho::io::LoadedModel;
using moho::io::to_metres_per_second;
using moho::io::VelocityUnit;
using moho::io::test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(VelocityUnits, AreConverted) {
  std::vector<double> km{1.5, 4.5};
  EXPECT_EQ(to_metres_per_second(km, VelocityUnit::kilometres_per_second), "");
  EXPECT_THAT(km, ElementsAre(1500.0, 4500.0));
  std::vector<float> feet{5000.0f};
  to_metres_per_second(feet, VelocityUnit::feet_per_second);
  EXPECT_FLOAT_EQ(feet[0], 1524.0f);
  std::vector<double> metres{2.0, 1500.0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(to_metres_per_second(metres), "");
  EXPECT_EQ(metres[1], 1500.0);
}

TEST(VelocityUnits, ComeFromTheFile) {
  LoadedModel<float> model{{{1, 2}, {2.0f, 3.0f}}, {10, 10}, {0, 0}, "rsf"};
  model.value_unit = " KM / sec";
  EXPECT_EQ(to_metres_per_second(model, VelocityUnit::automatic, "vp.rsf"),
            "vp.rsf says that its velocities are in km/s: converted to m/s");
  EXPECT_THAT(model.values.data, ElementsAre(2000.0f, 3000.0f));
  // the caller's unit precedes that of the file
  model.value_unit = "ft/s";
  EXPECT_EQ(to_metres_per_second(model, VelocityUnit::metres_per_second), "");
  EXPECT_THAT(model.values.data, ElementsAre(2000.0f, 3000.0f));
}

TEST(VelocityUnits, RefusesAmbiguousVelocities) {
  std::vector<double> values{1.5, 4.56789};
  EXPECT_EQ(message_of<InputError>([&] {
              to_metres_per_second(values, VelocityUnit::automatic,
                                   {.name = "--vp vp.npy", .argument = "--velocity-unit"});
            }),
            "--vp vp.npy: velocities of 1.5 to 4.57: km/s? give --velocity-unit km/s (or "
            "--velocity-unit m/s if that is what they are)");
  EXPECT_THAT(values, ElementsAre(1.5, 4.56789));
  values = {2000.0, 2000.0};
  EXPECT_THAT(message_of<InputError>([&] {
                to_metres_per_second(values, VelocityUnit::automatic, {.length_unit = "ft"});
              }),
              HasSubstr("velocities of 2e+03 are: give unit ft/s or unit m/s"));
  EXPECT_THAT(message_of<InputError>(
                  [&] { to_metres_per_second(values, VelocityUnit::kilometres_per_second); }),
              HasSubstr("velocities of 2e+03 in km/s are up to 2e+06 m/s (allowed: up to 50000)"));
}

}  // namespace
