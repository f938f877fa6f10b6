// SPDX-License-Identifier: BSD-3-Clause
//
// Storage of the source wavefield: costs computed by hand, a table for one H200 computed
// independently, and properties. Budgets are respected, a larger budget is never slower, equal
// input gives equal choices.

#include "io/files.hpp"

#include <moho/core/error.hpp>
#include <moho/snapshot/replay.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/wave/wavelet.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace moho::snapshot;
using moho::InputError;
using moho::io::test::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t plenty = std::uint64_t(1) << 50;

CodecRate blocks(int bits, double speed) {
  CodecRate codec;
  codec.keep = StorageMethod::blocks;
  codec.bits = bits;
  // a scale of 4 bytes for 8^3 nodes and 16 bits: 1.98
  codec.ratio = bits == 16 ? 1.98 : bits == 12 ? 2.63 : 3.97;
  codec.encode = codec.decode = speed;
  codec.snr = bits == 16 ? 94.0 : bits == 12 ? 70.0 : 46.0;
  codec.bound = 1.0 / (2.0 * (std::ldexp(1.0, bits - 1) - 1.0));
  return codec;
}

CodecRate entropy(StorageMethod keep, double ratio, double speed, bool host_threads = false) {
  CodecRate codec;
  codec.keep = keep;
  codec.host_threads = host_threads;
  codec.ratio = ratio;
  codec.encode = codec.decode = speed;
  codec.snr = 55.0;
  if (keep == StorageMethod::lorenzo) codec.bound = 1e-3;
  return codec;
}

/// One H200 in single precision, order 8: measured rates.
enum class Medium { tti, isotropic };

ShotShape h200_shot(Medium medium, std::int64_t n, double part = 0.36) {
  const double points = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  ShotShape shape;
  shape.interior = {n, n, n};
  shape.steps = 4000;
  shape.snapshots = 400;  // every tenth step
  shape.step_nodes = 4000.0 * part * points;
  shape.snapshot_nodes = 400.0 * part * points;
  shape.largest_snapshot = shape.state_nodes = part * points;
  shape.state_bytes = medium == Medium::tti ? 16 : 8;
  shape.face_layers = medium == Medium::tti ? 8 : 4;
  shape.face_bytes = medium == Medium::tti ? 8 : 4;
  return shape;
}

Rates h200_rates(Medium medium, std::vector<CodecRate> codecs = {}) {
  Rates rates;
  rates.points = medium == Medium::tti ? 32.4e9 : 216e9;
  rates.memory = 4.1e12;
  rates.link = 50e9;
  rates.threads = 16;
  rates.codecs = std::move(codecs);
  return rates;
}

/// Returns the strategy of a kind within its budget, for any accuracy.
StorageChoice of_kind(StorageMethod keep, const ShotShape& shape, const Rates& rates,
                      const Budget& budget) {
  for (const StorageChoice& strategy :
       strategies(shape, rates, budget, {ErrorBound::Kind::snr, -1000.0})) {
    if (strategy.keep == keep) return strategy;
  }
  return {};
}

struct Row {
  const char* what;
  StorageMethod keep;
  std::vector<CodecRate> codecs;
  Budget budget;
  double gigabytes[2];                     // TTI 512^3, TTI 1024^3
  double relative[2];                      // TTI, isotropic
  double precision[2] = {0.0051, 0.0051};  // number of digits in the table
  bool with_imaging = true;                // the table excludes imaging from rows with one digit
};

std::vector<Row> h200_table() {
  const Budget device{plenty, 0, 0};
  // Copies in the table: bytes of a codec of blocks at the memory's rate.
  const double copy = 4.1e12;
  const double fine = 0.0051, coarse = 0.051;
  using Method = StorageMethod;
  return {
      {"raw, host", Method::raw, {}, {0, plenty, 0}, {77.3, 618.5}, {1.01, 1.77}},
      {"16 bits", Method::blocks, {blocks(16, copy / 1.5)}, device, {39.0, 312.4}, {1.01, 1.07}},
      {"12 bits", Method::blocks, {blocks(12, copy / 1.38)}, device, {29.4, 235.2}, {1.01, 1.07}},
      {"8 bits", Method::blocks, {blocks(8, copy / 1.25)}, device, {19.5, 155.8}, {1.01, 1.07}},
      {"Lorenzo",
       Method::lorenzo,
       {entropy(Method::lorenzo, 13, 200e9)},
       device,
       {5.9, 47.6},
       {1.07, 1.47}},
      {"transform",
       Method::transform,
       {entropy(Method::transform, 20, 200e9)},
       device,
       {3.9, 30.9},
       {1.07, 1.47}},
      {"at 50 GB/s",
       Method::transform,
       {entropy(Method::transform, 20, 50e9)},
       device,
       {3.9, 30.9},
       {1.27, 2.77}},
      {"host threads",
       Method::lorenzo,
       {entropy(Method::lorenzo, 13, 6e9, true)},
       {std::uint64_t(70) << 30, plenty, 0},
       {5.9, 47.6},
       {2.17, 14.0},
       {fine, 0.5},
       true},
      {"faces",
       Method::boundary_values,
       {},
       device,
       {402.7, 1610.6},
       {1.5, 1.5},
       {coarse, coarse},
       false},
      {"states",
       Method::checkpoints,
       {},
       device,
       {15.5, 123.7},
       {1.5, 1.5},
       {coarse, coarse},
       false},
  };
}

TEST(Strategies, CostWhatTheTableForOneH200Says) {
  for (Row row : h200_table()) {
    for (const Medium medium : {Medium::tti, Medium::isotropic}) {
      for (const std::int64_t n : {512, 1024}) {
        const ShotShape shape = h200_shot(medium, n);
        Budget budget = row.budget;
        if (row.keep == StorageMethod::raw) {  // only the two buffers of the link on the device
          budget.device = static_cast<std::uint64_t>(2.0 * shape.largest_snapshot * 4.0) + 2;
        }
        if (row.keep == StorageMethod::checkpoints) {
          // room for two levels with 10 states (isotropic: 14), including the second wavefield
          const double states = medium == Medium::tti ? 10.0 : 14.0;
          budget.device = 1000 + static_cast<std::uint64_t>(shape.state_nodes *
                                                            (shape.state_bytes * states +
                                                             4.0 * std::ceil(400.0 / states)));
        }
        const Rates rates = h200_rates(medium, row.codecs);
        const StorageChoice found = of_kind(row.keep, shape, rates, budget);
        ASSERT_TRUE(found.possible) << row.what << ": " << found.reason;
        const int column = medium == Medium::tti ? 0 : 1;
        const double image = shape.snapshot_nodes * 16.0 / rates.memory;
        const double seconds = found.seconds - (row.with_imaging ? 0.0 : image);
        EXPECT_NEAR(seconds / found.propagation_seconds, row.relative[column],
                    row.precision[column])
            << row.what << ' ' << n;
        EXPECT_NEAR(found.propagation_seconds,
                    (medium == Medium::tti ? 11.9 : 1.8) * (n == 512 ? 1.0 : 8.0),
                    n == 512 ? 0.051 : 0.5);
        if (medium == Medium::tti && row.keep != StorageMethod::checkpoints) {
          EXPECT_NEAR(static_cast<double>(found.bytes) * 1e-9, row.gigabytes[n == 512 ? 0 : 1],
                      0.051)
              << row.what << ' ' << n;
        }
        if (row.keep == StorageMethod::checkpoints && medium == Medium::tti) {
          EXPECT_EQ(found.states, 10);
          EXPECT_EQ(found.snapshots, 40);
          // the table counts the state at rest, which needs no memory
          const double state = shape.state_nodes * shape.state_bytes;
          EXPECT_NEAR((static_cast<double>(found.bytes) + state) * 1e-9,
                      row.gigabytes[n == 512 ? 0 : 1], 0.051);
        }
        if (row.keep == StorageMethod::checkpoints && medium == Medium::isotropic) {
          // 14 states of 8 bytes and 29 snapshots of 4 have the room of 28 states. From these every
          // snapshot is reached with 770 advances, fewer than with two levels.
          EXPECT_EQ(found.snapshots, 1);
          EXPECT_EQ(found.states, 28);
          EXPECT_DOUBLE_EQ(found.sweeps, (2.0 * 400 - 30 + 1) / 400);
        }
      }
    }
  }
}

TEST(Strategies, DecimatedFacesAndFacesOfIsotropicMedia) {
  ShotShape shape = h200_shot(Medium::isotropic, 512);
  const Budget budget{plenty, 0, 0};
  EXPECT_NEAR(static_cast<double>(of_kind(StorageMethod::boundary_values, shape,
                                          h200_rates(Medium::isotropic), budget)
                                      .bytes) *
                  1e-9,
              101, 0.51);
  shape.face_interval = 10;
  EXPECT_NEAR(static_cast<double>(of_kind(StorageMethod::boundary_values, shape,
                                          h200_rates(Medium::isotropic), budget)
                                      .bytes) *
                  1e-9,
              10, 0.51);
  shape = h200_shot(Medium::tti, 1024);
  shape.face_interval = 10;
  EXPECT_NEAR(
      static_cast<double>(
          of_kind(StorageMethod::boundary_values, shape, h200_rates(Medium::tti), budget).bytes) *
          1e-9,
      161, 0.51);
}

/// Returns all codecs of the table for the device.
std::vector<CodecRate> h200_codecs() {
  return {blocks(16, 4.1e12 / 1.5),
          blocks(12, 4.1e12 / 1.38),
          blocks(8, 4.1e12 / 1.25),
          entropy(StorageMethod::lorenzo, 13, 200e9),
          entropy(StorageMethod::transform, 20, 200e9),
          entropy(StorageMethod::lorenzo, 13, 6e9, true)};
}

Budget gigabytes(double device, double host, double disk = 0.0) {
  const auto bytes = [](double value) { return static_cast<std::uint64_t>(value * 1e9); };
  return {bytes(device), bytes(host), bytes(disk)};
}

TEST(ChooseStrategy, WhatThePageSaysOfOneH200) {
  // TTI 512^3: 141 GB remain on the device, transfers of raw snapshots overlap the steps
  const Rates tti = h200_rates(Medium::tti, h200_codecs());
  StorageChoice best = choose_strategy(h200_shot(Medium::tti, 512), tti, gigabytes(141, 256));
  EXPECT_EQ(best.keep, StorageMethod::raw);
  EXPECT_EQ(best.device_bytes,  // buffers of the link
            2 * static_cast<std::uint64_t>(std::ceil(0.36 * 512 * 512 * 512 * 4)));
  EXPECT_EQ(best.host_bytes, best.bytes);
  // without that host memory, still raw: the snapshots fit the device
  best = choose_strategy(h200_shot(Medium::tti, 512), tti, gigabytes(141, 16));
  EXPECT_EQ(best.keep, StorageMethod::raw);
  // without boxes 215 GB do not fit; blocks of 16 bits do
  best = choose_strategy(h200_shot(Medium::tti, 512, 1.0), tti, gigabytes(141, 16));
  EXPECT_EQ(best.keep, StorageMethod::blocks);
  EXPECT_LE(best.relative(), 1.03);
  // 1024^3: 81 GB remain: a codec with entropy coding, on the device; the smaller of two equally
  // fast ones
  best = choose_strategy(h200_shot(Medium::tti, 1024), tti, gigabytes(81, 16));
  EXPECT_EQ(best.keep, StorageMethod::transform);
  EXPECT_EQ(best.host_bytes, 0u);
  EXPECT_NEAR(best.relative(), 1.07, 0.0051);
  // without boxes 86 GB of transformed blocks: the rest goes to the host over the link
  best = choose_strategy(h200_shot(Medium::tti, 1024, 1.0), tti, gigabytes(81, 64));
  EXPECT_EQ(best.keep, StorageMethod::transform);
  EXPECT_GT(best.host_bytes, 0u);
  EXPECT_NEAR(best.relative(), 1.07, 0.0051);
  // isotropic: blocks of as few bits as 55 dB allow; entropy coding and the link are too slow
  const ShotShape shape = h200_shot(Medium::isotropic, 512);
  const Rates rates = h200_rates(Medium::isotropic, h200_codecs());
  best = choose_strategy(shape, rates, gigabytes(30, 16));
  EXPECT_EQ(best.keep, StorageMethod::blocks);
  EXPECT_EQ(best.codec, 1);
  EXPECT_NEAR(best.relative(), 1.07, 0.0051);
  EXPECT_THAT(best.name, StartsWith("blocks of 12 bits on the device"));
  EXPECT_THAT(best.reason, AllOf(HasSubstr("the quickest of those that fit"), HasSubstr("12 bits"),
                                 HasSubstr("; then blocks of 16 bits")));
  // With more of both, the snapshots that the link can move in a propagation go to the host
  // uncompressed, and the rest stays.
  best = choose_strategy(shape, rates, gigabytes(60, 256));
  EXPECT_EQ(best.keep, StorageMethod::raw);
  const double propagation = shape.step_nodes / rates.points, sent = 50e9 * propagation;
  EXPECT_NEAR(static_cast<double>(best.host_bytes), sent, 2.0);
  EXPECT_NEAR(best.seconds,
              2.0 * propagation + shape.snapshot_nodes * 16.0 / 4.1e12 +
                  2.0 * (shape.snapshot_nodes * 4.0 - sent) / 4.1e12,
              1e-9);
}

TEST(ChooseStrategy, KeepsTheAccuracyAskedFor) {
  const ShotShape shape = h200_shot(Medium::isotropic, 512);
  const Rates rates = h200_rates(Medium::isotropic, h200_codecs());
  const Budget budget = gigabytes(30, 256);
  const auto chosen = [&](ErrorBound::Kind kind, double value) {
    return choose_strategy(shape, rates, budget, {kind, value});
  };
  EXPECT_EQ(chosen(ErrorBound::Kind::snr, 40.0).codec, 2);    // 8 bits
  EXPECT_EQ(chosen(ErrorBound::Kind::bound, 3e-4).codec, 1);  // 12 bits: 2.4e-4
  EXPECT_EQ(chosen(ErrorBound::Kind::bits, 16).codec, 0);
  EXPECT_TRUE(chosen(ErrorBound::Kind::lossless, 0).lossless);
  EXPECT_TRUE(chosen(ErrorBound::Kind::snr, 200.0).lossless);
  for (const StorageChoice& strategy :
       strategies(shape, rates, budget, {ErrorBound::Kind::lossless, 0.0})) {
    EXPECT_EQ(strategy.possible,
              strategy.keep == StorageMethod::raw || strategy.keep == StorageMethod::checkpoints);
    if (strategy.keep == StorageMethod::transform) {
      EXPECT_EQ(strategy.reason, "it is not lossless");
    }
  }
}

TEST(ChooseStrategy, DoesNotStepBackThroughLayersThatTakeEnergy) {
  ShotShape shape = h200_shot(Medium::isotropic, 256);
  shape.reversible = false;
  for (const StorageChoice& strategy :
       strategies(shape, h200_rates(Medium::isotropic), {plenty, plenty, plenty})) {
    if (strategy.keep != StorageMethod::boundary_values) continue;
    EXPECT_FALSE(strategy.possible);
    EXPECT_THAT(strategy.reason, HasSubstr("take energy that stepping back cannot return"));
  }
}

TEST(ChooseStrategy, OnAHostHasOneMemory) {
  // two cores: 0.1 Gpoints/s, 20 GB/s, and a disk
  ShotShape shape = h200_shot(Medium::isotropic, 128);
  Rates rates;
  rates.points = 0.1e9;
  rates.memory = 20e9;
  rates.disk_write = 0.5e9;
  rates.disk_read = 1e9;
  rates.threads = 2;
  rates.codecs = {entropy(StorageMethod::lorenzo, 13, 0.6e9, true)};
  const auto raw = static_cast<std::uint64_t>(shape.snapshot_nodes * 4.0);
  const auto snapshot = static_cast<std::uint64_t>(shape.largest_snapshot * 4.0);
  StorageChoice best = choose_strategy(shape, rates, {raw + 8, 0, 0});
  EXPECT_EQ(best.keep, StorageMethod::lorenzo);  // no copies by the kernels
  EXPECT_EQ(best.host_bytes, 0u);
  EXPECT_LE(best.device_bytes, raw);
  best = choose_strategy(shape, rates, {raw + 8, 0, 0}, {ErrorBound::Kind::lossless, 0.0});
  EXPECT_EQ(best.keep, StorageMethod::raw);
  EXPECT_THAT(best.name, HasSubstr("raw snapshots in memory"));
  // a propagation lasts 30 s, in which 1.2 GB go to the disk without any wait
  best =
      choose_strategy(shape, rates, {8 * snapshot, 0, plenty}, {ErrorBound::Kind::lossless, 0.0});
  EXPECT_EQ(best.keep, StorageMethod::raw);
  EXPECT_GT(best.disk_bytes, raw - 8 * snapshot);
  EXPECT_THAT(best.name, HasSubstr("on the disk"));
  EXPECT_LT(best.relative(), 1.02);
}

TEST(ChooseStrategy, BelowTwoLevelsStatesAreReplayedMoreOften) {
  const ShotShape shape = h200_shot(Medium::tti, 512);
  const Rates rates = h200_rates(Medium::tti);
  const double state = shape.state_nodes * shape.state_bytes;
  double before = 0.0;
  for (const double states : {60.0, 12.0, 6.0, 3.0, 1.0}) {
    const StorageChoice found =
        choose_strategy(shape, rates, {static_cast<std::uint64_t>(state * states) + 1, 0, 0});
    EXPECT_EQ(found.keep, StorageMethod::checkpoints);
    EXPECT_GT(found.seconds, before);
    before = found.seconds;
    // the reported sweeps are those of its schedule
    const std::int64_t segments = (400 + found.snapshots - 1) / found.snapshots;
    const double advances = static_cast<double>(replay_advances(segments, found.states) + 1) *
                                static_cast<double>(found.snapshots) +
                            static_cast<double>(segments * (found.snapshots - 1));
    EXPECT_NEAR(found.sweeps, advances / 400.0, 1e-12);
    EXPECT_GE(found.seconds, shape.step_nodes / rates.points * (found.sweeps + 1.0));
  }
}

/// Random shot, machine and budgets, over many orders of magnitude.
struct Task {
  ShotShape shape;
  Rates rates;
  Budget budget;
  ErrorBound accuracy;
};

Task random_task(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto between = [&](double low, double high) {
    const double u = static_cast<double>(random()) / 4294967296.0;
    return low * std::pow(high / low, u);
  };
  const auto below = [&](std::uint32_t n) { return static_cast<int>(random() % n); };
  Task s;
  s.shape.dims = 2 + below(2);
  double nodes = 1.0;
  for (int d = 0; d < s.shape.dims; ++d) {
    s.shape.interior[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(between(20, 800));
    nodes *= static_cast<double>(s.shape.interior[static_cast<std::size_t>(d)]);
  }
  s.shape.snapshots = 1 + below(300);
  s.shape.steps = s.shape.snapshots * (1 + below(12));
  const double part = between(0.2, 1.0);
  s.shape.largest_snapshot = std::ceil(nodes * between(part, 1.0));
  s.shape.snapshot_nodes = part * nodes * static_cast<double>(s.shape.snapshots);
  s.shape.state_nodes = 1.2 * s.shape.largest_snapshot;
  s.shape.step_nodes = part * nodes * static_cast<double>(s.shape.steps);
  s.shape.state_bytes = below(2) == 0 ? 8 : 16;
  s.shape.face_interval = 1 + 9 * below(2);
  s.shape.reversible = below(2) == 0;
  s.rates.points = between(1e8, 3e11);
  s.rates.memory = s.rates.points * between(5, 100);
  s.rates.link = below(3) == 0 ? 0.0 : between(5e9, 60e9);
  if (below(2) == 0) {
    s.rates.disk_write = between(1e8, 5e9);
    s.rates.disk_read = between(1e8, 5e9);
  }
  s.rates.threads = 1 + below(16);
  if (below(4) > 0) s.rates.codecs = h200_codecs();
  for (CodecRate& codec : s.rates.codecs) codec.encode *= between(0.01, 1.0);
  const double raw = s.shape.snapshot_nodes * 4.0;
  s.budget = {static_cast<std::uint64_t>(raw * between(0.001, 3.0)),
              static_cast<std::uint64_t>(raw * between(0.001, 3.0)),
              static_cast<std::uint64_t>(raw * between(0.001, 3.0))};
  const ErrorBound choices[] = {{ErrorBound::Kind::lossless, 0.0},
                                {ErrorBound::Kind::bound, 1e-3},
                                {ErrorBound::Kind::snr, 55.0},
                                {ErrorBound::Kind::bits, 12.0}};
  s.accuracy = choices[below(4)];
  return s;
}

TEST(ChooseStrategy, NeverExceedsABudgetAndIsDeterministic) {
  int chosen[6] = {};
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const Task s = random_task(seed);
    const auto all = strategies(s.shape, s.rates, s.budget, s.accuracy);
    EXPECT_EQ(all.size(), 3 + s.rates.codecs.size());
    for (const StorageChoice& strategy : all) {
      if (!strategy.possible) {
        EXPECT_FALSE(strategy.reason.empty()) << strategy.name;
        continue;
      }
      EXPECT_LE(strategy.device_bytes, s.budget.device) << seed << ' ' << strategy.name;
      EXPECT_LE(strategy.host_bytes, s.rates.link > 0.0 ? s.budget.host : 0) << seed;
      EXPECT_LE(strategy.disk_bytes, s.rates.disk_write > 0.0 ? s.budget.disk : 0) << seed;
      // all stored bytes have a location
      EXPECT_GE(strategy.device_bytes + strategy.host_bytes + strategy.disk_bytes, strategy.bytes);
      EXPECT_GE(strategy.seconds, strategy.propagation_seconds * (1.0 - 1e-12));
      EXPECT_LE(strategy.min_device_bytes, s.budget.device);
    }
    if (!all.front().possible) continue;
    const StorageChoice a = choose_strategy(s.shape, s.rates, s.budget, s.accuracy);
    const StorageChoice b = choose_strategy(s.shape, s.rates, s.budget, s.accuracy);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.reason, b.reason);
    EXPECT_EQ(a.seconds, b.seconds);
    for (const StorageChoice& other : all) {
      EXPECT_TRUE(!other.possible || a.seconds <= other.seconds);
    }
    ++chosen[static_cast<int>(a.keep)];
  }
  for (const StorageMethod keep : {StorageMethod::raw, StorageMethod::blocks,
                                   StorageMethod::lorenzo, StorageMethod::checkpoints}) {
    EXPECT_GT(chosen[static_cast<int>(keep)], 10) << to_string(keep);  // the choices differ
  }
}

TEST(ChooseStrategy, LargerBudgetsAreNeverSlower) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const Task s = random_task(seed);
    const auto seconds = [&](const Budget& budget) {
      const StorageChoice best = strategies(s.shape, s.rates, budget, s.accuracy).front();
      return best.possible ? best.seconds : std::numeric_limits<double>::infinity();
    };
    for (std::uint64_t Budget::*which : {&Budget::device, &Budget::host, &Budget::disk}) {
      Budget budget = s.budget;
      double before = std::numeric_limits<double>::infinity();
      budget.*which /= 64;
      for (int k = 0; k < 14; ++k) {
        const double now = seconds(budget);
        // bytes are integers: a split may differ by one byte from the optimum
        EXPECT_LE(now, before * (1.0 + 1e-6)) << seed << ", doubled " << k << " times";
        before = now;
        budget.*which += budget.*which + 1;
      }
    }
  }
}

TEST(ChooseStrategy, SaysTheLeastBudgetThatWouldDo) {
  int failed = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Task s = random_task(seed);
    s.budget.device = 0;
    s.budget.host /= 50;
    s.budget.disk /= 50;
    std::string message;
    try {
      choose_strategy(s.shape, s.rates, s.budget, s.accuracy);
      continue;
    } catch (const InputError& error) {
      message = error.what();
    }
    ++failed;
    const std::size_t at = message.find("allowed: ");
    ASSERT_NE(at, std::string::npos) << message;
    const std::uint64_t min = std::stoull(message.substr(at + 9));
    s.budget.device = min - 1;
    EXPECT_THAT(
        message_of<InputError>([&] { choose_strategy(s.shape, s.rates, s.budget, s.accuracy); }),
        HasSubstr(moho::concat("allowed: ", min, " bytes or more")))
        << seed;
    s.budget.device = min;
    EXPECT_EQ(choose_strategy(s.shape, s.rates, s.budget, s.accuracy).device_bytes, min) << seed;
  }
  EXPECT_GT(failed, 100);
}

TEST(StrategyInput, IsChecked) {
  const ShotShape shape = h200_shot(Medium::tti, 64);
  const Rates rates = h200_rates(Medium::tti, {blocks(12, 1e12)});
  const auto with_shape = [&](auto change) {
    ShotShape changed = shape;
    change(changed);
    return message_of<InputError>([&] { choose_strategy(changed, rates, {plenty, 0, 0}); });
  };
  const auto with_rates = [&](auto change) {
    Rates changed = rates;
    change(changed);
    return message_of<InputError>([&] { choose_strategy(shape, changed, {plenty, 0, 0}); });
  };
  EXPECT_THAT(with_shape([](ShotShape& s) { s.dims = 4; }), HasSubstr("dims is 4"));
  EXPECT_THAT(with_shape([](ShotShape& s) { s.interior[1] = 0; }), HasSubstr("interior is 0"));
  EXPECT_THAT(with_shape([](ShotShape& s) { s.step_nodes = std::nan(""); }),
              HasSubstr("step_nodes is nan (allowed: positive)"));
  EXPECT_THAT(with_shape([](ShotShape& s) { s.snapshots = 0; }), HasSubstr("snapshots is 0"));
  EXPECT_THAT(with_shape([](ShotShape& s) { s.steps = 3; }), HasSubstr("steps is 3"));
  EXPECT_THAT(with_shape([](ShotShape& s) { s.face_layers = 0; }), HasSubstr("face_layers is 0"));
  EXPECT_THAT(with_rates([](Rates& r) { r.points = 0.0; }), HasSubstr("points is 0"));
  EXPECT_THAT(with_rates([](Rates& r) { r.link = -1.0; }), HasSubstr("link is -1"));
  EXPECT_THAT(with_rates([](Rates& r) { r.threads = 0; }), HasSubstr("threads is 0"));
  EXPECT_THAT(with_rates([](Rates& r) { r.codecs[0].ratio = 0.0; }), HasSubstr("ratio of a codec"));
  EXPECT_THAT(with_rates([](Rates& r) { r.codecs[0].keep = StorageMethod::raw; }),
              HasSubstr("keep of a codec is raw (allowed: blocks, lorenzo, transform)"));
  EXPECT_THAT(message_of<InputError>([&] {
                choose_strategy(shape, rates, {plenty, 0, 0}, {ErrorBound::Kind::bound, 0.0});
              }),
              HasSubstr("the bound is 0"));
}

TEST(SnapshotInterval, OfARickerWaveletIsThatOfThreeTimesItsFrequency) {
  for (const double f : {5.0, 12.0, 30.0}) {
    for (const double part : {0.031, 0.0172, 0.0097}) {
      const double dt = part / f;
      // y exp(1 - y) = 0.003 with y = (highest / f)^2, by fixed-point iteration
      double y = 9.0;
      for (int i = 0; i < 200; ++i) y = 1.0 + std::log(y) - std::log(0.003);
      EXPECT_NEAR(std::sqrt(y), 3.0, 0.01);
      EXPECT_EQ(snapshot_interval(moho::wave::ricker(f, dt), dt),
                static_cast<std::int64_t>(std::floor(1.0 / (2.0 * std::sqrt(y) * f * dt))))
          << f << ' ' << dt;
    }
  }
}

TEST(SnapshotInterval, IsOneWhereTheWaveletFillsTheBand) {
  EXPECT_EQ(snapshot_interval({1.0}, 0.004), 1);
  EXPECT_EQ(snapshot_interval({1.0, -1.0}, 0.001), 1);
  EXPECT_THAT(message_of<InputError>([] { snapshot_interval({}, 0.004); }),
              HasSubstr("there is no sample"));
  EXPECT_THAT(message_of<InputError>([] { snapshot_interval({1.0}, 0.0); }),
              HasSubstr("dt is 0 s"));
}

TEST(SnapshotInterval, KeepsWhatTheSpectrumHolds) {
  // A tone at 40 Hz under an envelope whose spectrum exp(-(pi f 0.2 s)^2) is 0.003 at 3.84 Hz: two
  // samples in a period of 43.84 Hz, for any dt.
  for (const double dt : {0.0005, 0.001, 0.002}) {
    std::vector<double> tone;
    for (double t = 0.0; t <= 2.0; t += dt) {
      tone.push_back(std::cos(2.0 * 3.14159265358979 * 40.0 * (t - 1.0)) *
                     std::exp(-std::pow((t - 1.0) / 0.2, 2)));
    }
    const double interval = static_cast<double>(snapshot_interval(tone, dt)) * dt;
    EXPECT_LE(interval, 1.0 / (2.0 * 43.5));
    EXPECT_GT(interval, 1.0 / (2.0 * 44.0) - dt);
  }
}

}  // namespace
