// SPDX-License-Identifier: BSD-3-Clause
//
// The choice of a storage: location and name by budgets, methods that are requested, refusals.

#include <moho/core/error.hpp>
#include <moho/snapshot/storage.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace {

using namespace moho::snapshot;
using moho::InputError;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// 400 snapshots of 1e6 nodes: 1.6e9 bytes.
ShotShape cube_shot() {
  ShotShape shape;
  shape.interior = {100, 100, 100};
  shape.steps = 4000;
  shape.snapshots = 400;
  shape.step_nodes = 4000.0 * 1e6;
  shape.snapshot_nodes = 400.0 * 1e6;
  shape.largest_snapshot = shape.state_nodes = 1e6;
  return shape;
}

/// Rates of a device, with a rate for each codec of a request.
Rates device_rates(const StorageRequest& request) {
  Rates rates;
  rates.points = 1e10;
  rates.memory = 1e12;
  rates.link = 5e10;
  rates.disk_write = 5e8;
  rates.disk_read = 1e9;
  rates.threads = 8;
  for (const CodecOptions& codec : request.codecs) {
    CodecRate rate;
    const bool blocks = codec.mode == CodecMode::blocks;
    rate.keep = blocks ? StorageMethod::blocks : StorageMethod::transform;
    rate.bits = blocks ? codec.bits : 0;
    rate.ratio = blocks ? 2.0 : 20.0;
    rate.encode = rate.decode = 1e11;
    rate.snr = blocks ? 94.0 : 55.0;
    rates.codecs.push_back(rate);
  }
  return rates;
}

StorageRequest request_of(const std::string& method, const std::string& error, bool on_host) {
  StorageOptions options;
  options.method = method;
  options.error = error;
  StorageRequest request = make_storage_request(options);
  request.host_kernels = on_host;
  request.threads = 8;
  return request;
}

constexpr std::uint64_t ample = std::uint64_t(1) << 40;

StoragePlan chosen(const StorageRequest& request, const Budget& budget) {
  return choose_storage(cube_shot(), device_rates(request), budget, request);
}

TEST(Storage, GoesWhereItFits) {
  const StorageRequest raw = request_of("auto", "lossless", false);
  StoragePlan plan = chosen(raw, {ample, ample, ample});
  EXPECT_EQ(plan.strategy.name, "raw snapshots on the device");
  EXPECT_EQ(plan.location, StorageLocation::device);
  EXPECT_FALSE(plan.codec.has_value());
  EXPECT_EQ(plan.threads, 0);
  EXPECT_THAT(plan.strategy.reason, StartsWith("of "));
  EXPECT_THAT(plan.strategy.reason, HasSubstr("raw snapshots on the device ("));

  const StorageRequest memory = request_of("memory", "lossless", false);
  plan = chosen(memory, {ample, ample, ample});
  EXPECT_EQ(plan.strategy.name, "raw snapshots in memory");
  EXPECT_EQ(plan.location, StorageLocation::host);

  const StorageRequest disk = request_of("disk", "snr:55", false);
  plan = chosen(disk, {ample, ample, ample});
  EXPECT_EQ(plan.location, StorageLocation::disk);
  EXPECT_THAT(plan.strategy.name, HasSubstr("transform in files"));
  ASSERT_TRUE(plan.codec.has_value());
  EXPECT_EQ(plan.codec->mode, CodecMode::transform);

  // replay takes as many states as there is room for, below nine tenths of a budget
  for (const std::uint64_t budget : {20000000u, 40000000u, 200000000u}) {
    plan = chosen(request_of("replay", "lossless", true), {budget, 0, 0});
    EXPECT_EQ(plan.strategy.keep, StorageMethod::checkpoints);
    EXPECT_LE(static_cast<double>(plan.strategy.bytes), 0.9 * static_cast<double>(budget));
  }

  // nine tenths of a budget are taken at most
  const std::uint64_t bytes = 400ULL * 1000000ULL * 4ULL;
  const StorageRequest device_only = request_of("device", "lossless", true);
  EXPECT_EQ(chosen(device_only, {bytes * 10 / 9 + 1, 0, 0}).location, StorageLocation::device);
  EXPECT_THROW(chosen(device_only, {bytes * 10 / 9 - 8, 0, 0}), InputError);
}

TEST(Storage, BuffersHaveToFit) {
  // 400 snapshots are 80e6 bytes, and a decoded one is 4e6
  const StorageRequest request = request_of("compressed", "snr:55", true);
  Rates rates = device_rates(request);
  rates.link = 0.0;
  const auto with_memory = [&](std::uint64_t bytes) {
    return choose_storage(cube_shot(), rates, {bytes, 0, 0}, request);
  };
  EXPECT_TRUE(std::isfinite(with_memory(90000000).strategy.seconds));
  ShotShape shape = cube_shot();
  shape.largest_snapshot = 4e6;
  EXPECT_THAT(moho::testing::message_of([&] {
                choose_storage(shape, rates, {90000000, 0, 0}, request);
              }),
              AllOf(HasSubstr("the method compressed is not possible here (transform: it keeps "),
                    HasSubstr(", with its buffers ")));
}

TEST(Storage, LimitsCompressedSnapshots) {
  const StorageRequest request = request_of("compressed", "snr:55", true);
  Rates rates = device_rates(request);
  rates.link = 0.0;
  // 80e6 bytes, a decoded snapshot of 4e6 and the codec's work space
  rates.codecs.front().work_bytes = 7e6;
  const auto plan = [&](std::uint64_t bytes) {
    return choose_storage(cube_shot(), rates, {bytes, 0, 0}, request);
  };
  EXPECT_EQ(plan(100000000).limit, 89000000u);
  EXPECT_EQ(plan(100000000).strategy.device_buffers, 11000000u);
  EXPECT_THROW(plan(90500000), InputError);
  EXPECT_EQ(plan(91500000).limit, 80500000u);
  // other snapshots have no limit
  const StorageRequest raw = request_of("device", "lossless", true);
  EXPECT_EQ(chosen(raw, {ample, 0, 0}).limit, std::numeric_limits<std::uint64_t>::max());
}

TEST(Storage, NamesTheModeOfSquareRoots) {
  const StorageRequest request = request_of("compressed", "paper:1e-3", true);
  Rates rates = device_rates(request);
  rates.codecs.front().keep = StorageMethod::lorenzo;
  rates.codecs.front().bound = 1e-3;
  const StoragePlan plan = choose_storage(cube_shot(), rates, {ample, 0, 0}, request);
  EXPECT_EQ(plan.strategy.name, "quantised square roots in memory");
}

TEST(Storage, TakesTheRequestedMethod) {
  EXPECT_EQ(chosen(request_of("boundary", "snr:55", true), {ample, 0, 0}).strategy.keep,
            StorageMethod::boundary_values);
  const StoragePlan replay = chosen(request_of("replay", "lossless", true), {ample, 0, 0});
  EXPECT_EQ(replay.strategy.keep, StorageMethod::checkpoints);
  EXPECT_THAT(replay.strategy.name, StartsWith("replay from "));
  EXPECT_THAT(replay.strategy.name, HasSubstr(" states in memory"));

  StorageRequest threads = request_of("threads", "snr:55", false);
  threads.codecs.push_back(threads.codecs.front());
  threads.concurrent_shots = 3;
  Rates rates = device_rates(threads);
  rates.codecs.back().host_threads = true;
  const StoragePlan plan = choose_storage(cube_shot(), rates, {ample, ample, 0}, threads);
  EXPECT_EQ(plan.strategy.name, "transform by 8 threads of the host in memory");
  EXPECT_EQ(plan.threads, 2);
  EXPECT_EQ(plan.location, StorageLocation::host);

  const StorageRequest blocks = request_of("compressed", "bits:16", true);
  EXPECT_EQ(chosen(blocks, {ample, 0, 0}).strategy.name, "blocks of 16 bits in memory");
}

TEST(Storage, ThreadsWriteFilesOnRequestOrWithoutMemory) {
  for (const bool on_host : {true, false}) {
    StorageRequest request = request_of("threads", "snr:55", on_host);
    request.codecs.push_back(request.codecs.front());
    Rates rates = device_rates(request);
    if (on_host) rates.link = 0.0;
    rates.codecs.back().host_threads = true;
    const auto chosen_with = [&](const Budget& budget) {
      return choose_storage(cube_shot(), rates, budget, request);
    };
    EXPECT_NE(chosen_with({ample, ample, ample}).location, StorageLocation::disk) << on_host;
    EXPECT_FALSE(chosen_with({ample, ample, ample}).files.has_value());
    // room for the buffers of 8 threads, but not for 80e6 bytes of snapshots
    const std::uint64_t buffers = 16 * 4000000;
    const StoragePlan forced = chosen_with({buffers, buffers, ample});
    request.use_folder = true;
    for (const StoragePlan& plan : {forced, chosen_with({ample, ample, ample})}) {
      EXPECT_EQ(plan.location, StorageLocation::disk) << on_host;
      EXPECT_EQ(plan.threads, 8);
      EXPECT_EQ(plan.strategy.name, "transform by 8 threads of the host in files");
      ASSERT_TRUE(plan.files.has_value());
      // 80e6 bytes beside propagations of 0.4 s
      EXPECT_DOUBLE_EQ(plan.files->write_seconds, 0.16);
      EXPECT_DOUBLE_EQ(plan.files->read_seconds, 0.08);
      EXPECT_DOUBLE_EQ(plan.files->propagation_seconds, 0.4);
      EXPECT_EQ(plan.files->bytes, 80000000u);
      EXPECT_NEAR(plan.files->queue, plan.budget.device == ample ? 64 : 32, 1);
      EXPECT_EQ(plan.files->queue_bytes, (plan.files->queue + 18) * 200000u);
      EXPECT_TRUE(plan.files->hidden());
      EXPECT_THAT(plan.files->text(),
                  HasSubstr("0.16 s and 0.08 s beside propagations of 0.4 s: hidden"));
      EXPECT_LT(plan.strategy.seconds, 0.9);
    }
    // a disk that needs 1.6 s in each direction for what is propagated in 0.4 s
    rates.disk_write = rates.disk_read = 5e7;
    const StoragePlan slow = chosen_with({ample, ample, ample});
    EXPECT_FALSE(slow.files->hidden());
    EXPECT_THAT(slow.files->text(), HasSubstr("the run waits for the disk"));
    EXPECT_GE(slow.strategy.seconds, 0.8 + 2.0 * 1.2 - 1e-9);
  }
}

TEST(Storage, AutoTakesFilesOnlyWithoutMemory) {
  StorageRequest request = request_of("auto", "snr:55", false);
  Rates rates = device_rates(request);
  rates.disk_write = rates.disk_read = 1e13;
  // the transform fits on the device, although files are as fast
  StoragePlan plan = choose_storage(cube_shot(), rates, {100000000, 0, ample}, request);
  EXPECT_NE(plan.location, StorageLocation::disk);
  EXPECT_THAT(plan.strategy.reason, ::testing::Not(HasSubstr("in files")));
  // only replay fits: files are compared with it by cost
  const Budget small{60000000, 0, ample};
  request = request_of("auto", "snr:55", true);
  rates.link = 0.0;
  plan = choose_storage(cube_shot(), rates, small, request);
  EXPECT_EQ(plan.location, StorageLocation::disk);
  EXPECT_THAT(plan.strategy.reason, HasSubstr("replay"));
  rates.disk_write = rates.disk_read = 1e6;
  plan = choose_storage(cube_shot(), rates, small, request);
  EXPECT_EQ(plan.strategy.keep, StorageMethod::checkpoints);
  EXPECT_THAT(plan.strategy.reason, HasSubstr("in files"));
  // no rates: no disk
  rates.disk_write = rates.disk_read = 0.0;
  plan = choose_storage(cube_shot(), rates, small, request);
  EXPECT_THAT(plan.strategy.reason, ::testing::Not(HasSubstr("in files")));
}

TEST(Storage, SaysWhatDoesNotFit) {
  const std::string text = moho::testing::message_of<InputError>([] {
    chosen(request_of("device", "lossless", false), {1000, ample, 0});
  });
  EXPECT_THAT(text, StartsWith("storage: the method device is not possible here (raw snapshots: "));
  EXPECT_THAT(text, HasSubstr("1000 B on the device"));
  EXPECT_THAT(text, HasSubstr("): choose another method, or larger budgets"));
  EXPECT_THAT(moho::testing::message_of<InputError>([] {
                chosen(request_of("auto", "lossless", true), {10, 0, 0});
              }),
              StartsWith("storage: no method fits ("));
  EXPECT_THAT(moho::testing::message_of<InputError>([] {
                chosen(request_of("boundary", "bits:8", true), {ample, 0, 0});
              }),
              HasSubstr("): choose another method, or another error bound"));
  // the reason of a method without one is what it keeps
  ShotShape random = cube_shot();
  random.random_nodes = 1.5e6;
  random.random_bytes = 3.0 * 1024 * 1024;
  const StorageRequest layers = request_of("random", "snr:55", true);
  EXPECT_THAT(
      moho::testing::message_of<StorageError>([&] {
        choose_storage(random, device_rates(layers), {1 << 20, 0, 0}, layers);
      }),
      StartsWith("storage: the method random is not possible here (random layers: it keeps "));
  EXPECT_THAT(moho::testing::message_of<InputError>([] { request_of("tape", "snr:55", true); }),
              HasSubstr("the method 'tape' is unknown (allowed: auto, device, memory"));
  for (const std::string method : {"compressed", "threads"}) {
    EXPECT_THAT(
        moho::testing::message_of<InputError>([&] { request_of(method, "lossless", true); }),
        StartsWith("storage: the method " + method +
                   " stores compressed snapshots, which the error lossless excludes "));
  }
  EXPECT_THROW(request_of("auto", "snr", true), InputError);
  const StorageRequest request = request_of("auto", "snr:55", true);
  EXPECT_THAT(moho::testing::message_of<InputError>(
                  [&] { choose_storage(cube_shot(), Rates{}, {}, request); }),
              HasSubstr("3 codecs and rates of 0"));
}

}  // namespace
