// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules that visit positions in reverse order: executed on a state that only counts, against
// the formula; the formula against the optimum by dynamic programming.

#include <moho/core/error.hpp>
#include <moho/snapshot/replay.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace {

using moho::snapshot::CheckpointAction;
using moho::snapshot::replay_advances;
using moho::snapshot::replay_reach;
using moho::snapshot::replay_schedule;
using ::testing::HasSubstr;

/// Result of a schedule; an impossible schedule fails the test.
struct Done {
  std::int64_t advances = 0, stores = 0, slots = 0;
};

Done carry_out(std::int64_t count, std::int64_t states) {
  Done done;
  std::int64_t present = 0, next_visit = count - 1;
  std::vector<std::optional<std::int64_t>> slots(static_cast<std::size_t>(states));
  slots[0] = 0;
  done.slots = 1;
  for (const CheckpointAction& action : replay_schedule(count, states)) {
    const auto slot = static_cast<std::size_t>(action.slot);
    EXPECT_LT(slot, slots.size());
    if (slot >= slots.size()) return done;
    switch (action.kind) {
      case CheckpointAction::Kind::advance:
        EXPECT_GT(action.position, present);
        done.advances += action.position - present;
        present = action.position;
        break;
      case CheckpointAction::Kind::store:
        EXPECT_EQ(action.position, present);
        slots[slot] = present;
        ++done.stores;
        done.slots = std::max(done.slots, action.slot + 1);
        break;
      case CheckpointAction::Kind::restore:
        EXPECT_EQ(slots[slot], action.position);
        present = action.position;
        break;
      case CheckpointAction::Kind::visit:
        EXPECT_EQ(action.position, present);
        EXPECT_EQ(present, next_visit);  // all positions, in reverse order, each once
        --next_visit;
        break;
    }
  }
  EXPECT_EQ(next_visit, -1);
  return done;
}

/// Returns the smallest numbers of advances by dynamic programming.
///
/// Each case advances to m, stores this state, visits the positions after it with one state less,
/// then restores and visits the positions before it.
std::vector<std::vector<std::int64_t>> optimum(std::int64_t count, std::int64_t states) {
  std::vector<std::vector<std::int64_t>> min(static_cast<std::size_t>(states + 1));
  for (std::int64_t c = 1; c <= states; ++c) {
    auto& row = min[static_cast<std::size_t>(c)];
    row.assign(static_cast<std::size_t>(count + 1), 0);
    for (std::int64_t n = 2; n <= count; ++n) {
      std::int64_t best = n * (n - 1) / 2;  // from the first state alone
      for (std::int64_t m = 1; c > 1 && m < n; ++m) {
        best = std::min(best,
                        m + min[static_cast<std::size_t>(c - 1)][static_cast<std::size_t>(n - m)] +
                            row[static_cast<std::size_t>(m)]);
      }
      row[static_cast<std::size_t>(n)] = best;
    }
  }
  return min;
}

TEST(Replay, ReachIsTheBinomialCoefficient) {
  EXPECT_EQ(replay_reach(3, 2), 10);
  EXPECT_EQ(replay_reach(20, 2), 231);
  EXPECT_EQ(replay_reach(20, 3), 1771);
  EXPECT_EQ(replay_reach(7, 0), 1);
  EXPECT_EQ(replay_reach(0, 7), 1);
  EXPECT_EQ(replay_reach(1, 1000000), 1000001);
  EXPECT_EQ(replay_reach(30, 30), 118264581564861424);  // C(60, 30)
  EXPECT_EQ(replay_reach(100, 100), std::int64_t(1) << 62);
  for (std::int64_t s = 1; s < 30; ++s) {
    for (std::int64_t r = 1; r < 30; ++r) {
      EXPECT_EQ(replay_reach(s, r), replay_reach(s - 1, r) + replay_reach(s, r - 1));
    }
  }
}

TEST(Replay, AdvancesAreTheLeastPossible) {
  const std::int64_t count = 120, states = 12;
  const auto min = optimum(count, states);
  for (std::int64_t c = 1; c <= states; ++c) {
    for (std::int64_t n = 1; n <= count; ++n) {
      ASSERT_EQ(replay_advances(n, c),
                min[static_cast<std::size_t>(c)][static_cast<std::size_t>(n)])
          << n << " positions, " << c << " states";
    }
  }
}

TEST(Replay, SchedulesVisitAllBackwardsWithTheLeastAdvances) {
  for (std::int64_t c = 1; c <= 9; ++c) {
    for (std::int64_t n = 1; n <= 90; ++n) {
      const Done done = carry_out(n, c);
      ASSERT_EQ(done.advances, replay_advances(n, c)) << n << " positions, " << c << " states";
      EXPECT_LE(done.slots, c);
      EXPECT_LE(done.stores, std::max<std::int64_t>(n - 2, 0));
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(carry_out(2000, 3).advances, replay_advances(2000, 3));
  EXPECT_EQ(carry_out(2000, 5000).advances, 1999);  // as many states as positions: one sweep
  EXPECT_EQ(carry_out(300, 1).advances, 300 * 299 / 2);
}

TEST(Replay, FourHundredSnapshotsFromTwentyStates) {
  // 2.4 forward propagations instead of 2 with two levels (Griewank and Walther's formula by hand)
  EXPECT_EQ(replay_advances(400, 20), 3 * 400 - 253);
  EXPECT_NEAR(static_cast<double>(replay_advances(400, 20)) / 400.0, 2.4, 0.05);
}

TEST(Replay, MoreStatesNeverTakeMoreAdvances) {
  for (const std::int64_t n : {1, 2, 17, 400, 5000}) {
    std::int64_t before = replay_advances(n, 1);
    for (std::int64_t c = 2; c < 40; ++c) {
      const std::int64_t now = replay_advances(n, c);
      EXPECT_LE(now, before);
      EXPECT_GE(now, n - 1);
      before = now;
    }
  }
}

TEST(Replay, RefusesNothing) {
  for (const auto& [count, states] : {std::pair<int, int>{0, 3}, {3, 0}, {-1, 1}}) {
    std::string message;
    try {
      replay_schedule(count, states);
    } catch (const moho::InputError& error) {
      message = error.what();
    }
    EXPECT_THAT(message, HasSubstr(moho::concat("replay: ", count, " positions with ", states,
                                                " states (allowed: 1 or more")));
    EXPECT_THROW(replay_advances(count, states), moho::InputError);
  }
}

}  // namespace
