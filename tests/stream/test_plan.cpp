// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of streams: chains and groups, and what a volume in a file costs.

#include <moho/core/error.hpp>
#include <moho/stream/plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace {

using moho::InputError;
using moho::stream::forecast;
using moho::stream::plan_stream;
using moho::stream::StreamForecast;
using moho::stream::StreamNeed;
using moho::stream::StreamPlan;
using moho::stream::StreamRates;
using moho::stream::StreamShape;
using moho::stream::StreamWishes;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// 800 planes of 1000 nodes, 960 steps of order 8, one field.
StreamNeed some_need() {
  StreamNeed need;
  need.shape.planes = 800;
  need.shape.steps = 960;
  need.shape.halo = need.shape.reach = 4;
  need.plane_nodes = need.plane_elements = 1000;
  return need;
}

StreamRates host_rates() {
  StreamRates rates;
  rates.slabs = {{8, 1e8}, {64, 1e8}};
  return rates;
}

TEST(Plan, CutsDevicesIntoGroups) {
  StreamWishes wishes;
  wishes.devices = 5;
  wishes.block = 8;
  wishes.updates = 4;
  wishes.shots = 9;
  // the volume is long enough for all
  StreamPlan plan = plan_stream(some_need(), wishes, host_rates());
  EXPECT_EQ(plan.groups, 1);
  EXPECT_EQ(plan.shape.devices, 5);
  for (const int groups : {1, 2, 3, 5}) {
    wishes.groups = groups;
    plan = plan_stream(some_need(), wishes, host_rates());
    EXPECT_EQ(plan.groups, groups);
    EXPECT_EQ(plan.shape.devices, 5 / groups);
  }
  // no more chains than shots
  wishes.shots = 2;
  EXPECT_EQ(plan_stream(some_need(), wishes, host_rates()).groups, 2);
  wishes.groups = 6;
  EXPECT_THAT([&] { plan_stream(some_need(), wishes, host_rates()); },
              ThrowsMessage<InputError>(HasSubstr("groups is 6 (allowed: 1 to 5, the devices)")));
}

TEST(Plan, CutsAChainThatWouldWait) {
  StreamWishes wishes;
  wishes.devices = 4;
  wishes.block = 16;
  wishes.updates = 80;  // 352 positions a device
  wishes.shots = 8;
  const StreamPlan plan = plan_stream(some_need(), wishes, host_rates());
  EXPECT_EQ(plan.shape.devices, 2);
  EXPECT_EQ(plan.groups, 2);
  EXPECT_EQ(moho::stream::longest_chain(plan.shape), 2);
  wishes.shots = 1;
  EXPECT_EQ(plan_stream(some_need(), wishes, host_rates()).groups, 1);
}

TEST(Plan, CountsParametersOfAModelOnce) {
  const StreamNeed need = some_need();
  const std::size_t plane = 1000 * 4, planes = 800 + 2 * 4;
  EXPECT_EQ(need.host_bytes(), 3 * plane * planes);
  EXPECT_EQ(need.host_bytes(3), 7 * plane * planes);
}

// A host reads the file between steps and writes it at the end of a sweep: seconds add up. Devices
// step while it is read.
TEST(Plan, AddsTheSecondsOfAFile) {
  const StreamNeed need = some_need();
  StreamShape shape = need.shape;
  shape.block = 16;
  shape.updates = 40;
  StreamRates rates = host_rates();
  const double plain = forecast(need, shape, false, rates).seconds;
  EXPECT_NEAR(plain, 800.0 * 1000.0 * 960.0 / 1e8, 0.1 * plain);
  rates.disk_in = 1e6;
  rates.disk_out = 5e5;
  const double passes = 960.0 / 40.0;
  const double moved = need.plane_in(false) + need.plane_out();  // written pages are read before
  const double read = passes * 808.0 * moved / rates.disk_in;
  const double written = passes * 808.0 * need.plane_out() / rates.disk_out;
  StreamForecast file = forecast(need, shape, false, rates);
  EXPECT_NEAR(file.seconds - plain, read + written, 0.1 * (read + written));
  EXPECT_EQ(file.binds, "disk");
  rates.disk_in = rates.disk_out = 1e12;
  file = forecast(need, shape, false, rates);
  EXPECT_NEAR(file.seconds, plain, 1e-3 * plain);
  EXPECT_EQ(file.binds, "steps");
  // a device, whose link is no matter
  rates.in = rates.out = 1e12;
  rates.memory = 1e12;
  const double device = forecast(need, shape, false, rates).seconds;
  rates.disk_in = 2.0 * passes * 808.0 * moved / device;  // half of the seconds
  EXPECT_NEAR(forecast(need, shape, false, rates).seconds, device, 0.1 * device);
  rates.disk_in /= 4.0;  // twice
  EXPECT_NEAR(forecast(need, shape, false, rates).seconds, 2.0 * device, 0.2 * device);
}

}  // namespace
