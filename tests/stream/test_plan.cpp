// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Plans of streams: chains and groups, and the cost of a volume in a file.

#include <moho/core/error.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/slab_plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using moho::InputError;
using moho::stream::forecast;
using moho::stream::plan_stream;
using moho::stream::StreamForecast;
using moho::stream::StreamPlan;
using moho::stream::StreamRates;
using moho::stream::StreamRequest;
using moho::stream::StreamRequirements;
using moho::stream::StreamShape;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// 800 planes of 1000 nodes, 960 steps of order 8, one field.
StreamRequirements some_need() {
  StreamRequirements need;
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

TEST(SlabPlan, NamesNumbersOfDevices) {
  using moho::stream::device_numbers;
  EXPECT_EQ(device_numbers({1}), "up to 1");
  EXPECT_EQ(device_numbers({1, 2, 3}), "up to 3");
  EXPECT_EQ(device_numbers({2}), "2");
  EXPECT_EQ(device_numbers({1, 2, 4}), "1, 2, 4");
  EXPECT_EQ(device_numbers({1, 2, 3, 6}), "1 to 3, 6");
  EXPECT_EQ(device_numbers({4, 5, 8, 9, 10}), "4, 5, 8 to 10");
}

TEST(SlabPlan, PrefersNumbersThatDivideTheRanks) {
  using moho::stream::dividing_numbers;
  EXPECT_EQ(dividing_numbers({2, 3, 4, 5}, 6), "2, 3");
  EXPECT_EQ(dividing_numbers({1, 2, 3, 4}, 4), "1, 2, 4");
  EXPECT_EQ(dividing_numbers({3, 5}, 4), "3, 5, which have to divide the number of ranks");
  EXPECT_EQ(dividing_numbers({3, 5}, 0), "3, 5");  // devices
}

TEST(SlabPlan, RoundsBytesUp) {
  using moho::stream::bytes_rounded_up;
  EXPECT_EQ(bytes_rounded_up(1000.0), "1000 B");
  EXPECT_EQ(bytes_rounded_up(20 * 1024.0 + 1.0), "21 KiB");
  EXPECT_EQ(bytes_rounded_up(1.25 * 1024.0 * 1024.0), "1.3 MiB");
}

TEST(Plan, CutsDevicesIntoGroups) {
  StreamRequest wishes;
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

TEST(Plan, TakesAtMostTheStepsOfTheRunAsUpdates) {
  StreamRequest wishes;
  wishes.block = 8;
  wishes.updates = 960;
  const StreamPlan all = plan_stream(some_need(), wishes, host_rates());
  wishes.updates = 1000000;
  const StreamPlan plan = plan_stream(some_need(), wishes, host_rates());
  EXPECT_EQ(plan.shape.updates, 960);
  EXPECT_EQ(plan.device_bytes, all.device_bytes);
  EXPECT_EQ(plan.forecast.seconds, all.forecast.seconds);
  wishes.device_memory = all.device_bytes;
  EXPECT_EQ(plan_stream(some_need(), wishes, host_rates()).shape.updates, 960);
}

TEST(Plan, CutsAChainThatWouldWait) {
  StreamRequest wishes;
  wishes.devices = 4;
  wishes.block = 16;
  wishes.updates = 80;  // 352 positions on each device
  wishes.shots = 8;
  const StreamPlan plan = plan_stream(some_need(), wishes, host_rates());
  EXPECT_EQ(plan.shape.devices, 2);
  EXPECT_EQ(plan.groups, 2);
  EXPECT_EQ(moho::stream::longest_chain(plan.shape), 2);
  wishes.shots = 1;
  EXPECT_EQ(plan_stream(some_need(), wishes, host_rates()).groups, 1);
}

// Measured iterations are slow on a machine with other work. One device makes more steps in a pass
// than a chain, but the gain is small.
TEST(Plan, KeepsAChainWhoseForecastIsSomewhatSlower) {
  StreamRequirements need = some_need();
  need.shape.planes = 165;
  StreamRequest wishes;
  wishes.devices = 2;
  wishes.block = 16;
  StreamRates rates = host_rates();
  for (const double seconds : {0.0, 1e-5, 1e-3, 1e-1, 10.0}) {
    rates.iteration_seconds = seconds;
    EXPECT_EQ(plan_stream(need, wishes, rates).shape.devices, 2) << seconds;
  }
  rates.iteration_seconds = 1e-3;
  wishes.shots = 9;
  EXPECT_EQ(plan_stream(need, wishes, rates).groups, 1);
}

// A chain of all devices has room for few steps in a pass, whose transfers limit the rate.
TEST(Plan, CutsAChainThatIsMuchSlower) {
  StreamRequirements need = some_need();
  need.shape.planes = 200;
  StreamRequest wishes;
  wishes.devices = 8;
  wishes.block = 8;
  wishes.shots = 8;
  StreamRates rates = host_rates();
  rates.iteration_seconds = 10.0;
  const StreamPlan plan = plan_stream(need, wishes, rates);
  EXPECT_LT(plan.shape.devices, 8);
  EXPECT_GT(plan.groups, 1);
  wishes.groups = 1;
  EXPECT_EQ(plan_stream(need, wishes, rates).groups, 1);
}

TEST(Plan, CountsParametersOfAModelOnce) {
  const StreamRequirements need = some_need();
  const std::size_t plane = 1000 * 4, planes = 800 + 2 * 4;
  EXPECT_EQ(need.host_bytes(), 3 * plane * planes);
  EXPECT_EQ(need.host_bytes(3), 7 * plane * planes);
}

// A host reads the file between steps and writes it at the end of a sweep: times add up. Devices
// step concurrently with the reading.
TEST(Plan, AddsTheSecondsOfAFile) {
  const StreamRequirements need = some_need();
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
  // a device with an infinitely fast link
  rates.in = rates.out = 1e12;
  rates.memory = 1e12;
  const double device = forecast(need, shape, false, rates).seconds;
  rates.disk_in = 2.0 * passes * 808.0 * moved / device;  // half of the time
  EXPECT_NEAR(forecast(need, shape, false, rates).seconds, device, 0.1 * device);
  rates.disk_in /= 4.0;  // twice
  EXPECT_NEAR(forecast(need, shape, false, rates).seconds, 2.0 * device, 0.2 * device);
}

// The overheads of a stage and an iteration add up on a host. They bound the rate of a device,
// which works while the next launches are submitted.
TEST(Plan, CountsLaunches) {
  const StreamRequirements need = some_need();
  StreamShape shape = need.shape;
  shape.block = 16;
  shape.updates = 40;
  StreamRates rates = host_rates();
  const StreamForecast plain = forecast(need, shape, false, rates);
  EXPECT_EQ(plain.binds, "steps");
  const double blocks = 808.0 / 16.0, passes = 960.0 / 40.0;
  rates.stage_seconds = 1e-6;
  rates.iteration_seconds = 1e-4;
  const double launches = passes * blocks * (40.0 * rates.stage_seconds + rates.iteration_seconds);
  EXPECT_NEAR(forecast(need, shape, false, rates).seconds - plain.seconds, launches,
              0.15 * launches);
  rates.in = rates.out = 1e12;
  rates.memory = 1e14;
  const StreamForecast hidden = forecast(need, shape, false, rates);
  EXPECT_NEAR(hidden.seconds, plain.seconds, 0.02 * plain.seconds);
  EXPECT_EQ(hidden.binds, "steps");
  rates.stage_seconds = 1e-3;  // a step of a stage lasts 1.6e-4 s
  const StreamForecast bound = forecast(need, shape, false, rates);
  EXPECT_EQ(bound.binds, "launches");
  EXPECT_NEAR(bound.seconds, passes * blocks * 40.0 * rates.stage_seconds, 0.15 * bound.seconds);
}

// Hosts that simulate devices do their work sequentially, and copy planes from one to the next.
TEST(Plan, HostsWorkInTurn) {
  StreamRequest wishes;
  wishes.devices = 3;
  wishes.block = 8;
  wishes.updates = 4;
  const StreamRequirements need = some_need();
  StreamRates rates = host_rates();
  const StreamPlan devices = plan_stream(need, wishes, rates);
  rates.in_turn = true;
  const StreamPlan in_turn = plan_stream(need, wishes, rates);
  EXPECT_EQ(in_turn.shape.devices, 3);
  EXPECT_NEAR(in_turn.forecast.seconds, 3.0 * devices.forecast.seconds,
              0.1 * in_turn.forecast.seconds);
  EXPECT_NEAR(in_turn.forecast.share, 1.0 / 3.0, 0.03);
  rates.memory = 1e9;
  const double copies =
      960.0 / 12.0 * 808.0 * 2.0 * (3.0 * need.plane_in(false) + need.plane_out());
  // rings repeat some planes also
  const double more =
      forecast(need, in_turn.shape, false, rates).seconds - in_turn.forecast.seconds;
  EXPECT_GT(more, copies / rates.memory);
  EXPECT_LT(more, 1.5 * copies / rates.memory);
}

// The relative rate refers to the fastest measured steps.
TEST(Plan, SharesAreAtMostOne) {
  StreamRates rates = host_rates();
  rates.slabs = {{8, 3e8}, {64, 1e8}};
  StreamRequest wishes;
  const StreamPlan plan = plan_stream(some_need(), wishes, rates);
  EXPECT_LE(plan.forecast.share, 1.0);
  EXPECT_GT(plan.forecast.share, 0.9);
  // a measured in-core rate below that of slabs: no percentage is printed
  rates.in_core = 1e8;
  const StreamPlan faster = plan_stream(some_need(), wishes, rates);
  EXPECT_GT(faster.forecast.share, 1.0);
  for (const std::string& line : moho::stream::describe(faster, some_need(), rates)) {
    EXPECT_EQ(line.find(" % of "), std::string::npos) << line;
  }
}

TEST(Plan, CountsInWords) {
  StreamRequest wishes;
  wishes.block = wishes.updates = 1;
  const StreamPlan plan = plan_stream(some_need(), wishes, host_rates());
  EXPECT_EQ(moho::stream::describe(plan, some_need(), host_rates()).front(),
            moho::concat("blocks of 1 plane, 1 step in a pass, ", plan.shape.lag,
                         " planes between stages, 1 device"));
}

TEST(Plan, SecondsOfAShotAreThoseOfAllPasses) {
  const StreamPlan plan = plan_stream(some_need(), {}, host_rates());
  const auto last = [&](double seconds) {
    return moho::stream::describe(plan, some_need(), host_rates(), seconds).back();
  };
  EXPECT_TRUE(last(1234.0).ends_with("; 1.23e+03 s a shot")) << last(1234.0);
  EXPECT_EQ(last(0.0), last(plan.forecast.seconds));
}

TEST(Plan, SolvesForTheCostsOfStagesAndIterations) {
  using moho::stream::LaunchSample;
  StreamRates rates;
  const auto sample = [](double stages, double iterations) {
    return LaunchSample{0.5 + stages * 2e-6 + iterations * 3e-5, 0.5, stages, iterations};
  };
  solve_launches(sample(1000, 1000), sample(1000, 150), rates);
  EXPECT_NEAR(rates.stage_seconds, 2e-6, 1e-9);
  EXPECT_NEAR(rates.iteration_seconds, 3e-5, 1e-8);
  // noise: neither result is negative
  solve_launches({1.0, 0.0, 1000, 1000}, {2.0, 0.0, 1000, 150}, rates);
  EXPECT_GT(rates.stage_seconds, 0.0);
  EXPECT_EQ(rates.iteration_seconds, 0.0);
  solve_launches({1.0, 0.0, 1000, 1000}, {0.01, 0.0, 1000, 150}, rates);
  EXPECT_EQ(rates.stage_seconds, 0.0);
  EXPECT_GT(rates.iteration_seconds, 0.0);
}

}  // namespace
