// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/snapshot/replay.hpp>

#include <algorithm>

namespace moho::snapshot {

namespace {

void check(std::int64_t count, std::int64_t states) {
  if (count >= 1 && states >= 1) return;
  throw InputError(concat("replay: ", count, " positions with ", states,
                          " states (allowed: 1 or more of both; the first state is one of them)"));
}

/// Returns the smallest r with replay_reach(states, r) >= count.
std::int64_t sweeps_for(std::int64_t count, std::int64_t states) {
  if (states == 1) return count - 1;  // replay_reach(1, r) = r + 1
  std::int64_t sweeps = 0;
  while (replay_reach(states, sweeps) < count) ++sweeps;
  return sweeps;
}

/// Returns the distance to the next stored state.
///
/// A split is optimal if both parts are within reach, the left one with one sweep less and the
/// right one with one state less.
std::int64_t split(std::int64_t count, std::int64_t states) {
  const std::int64_t sweeps = sweeps_for(count, states);
  const std::int64_t min_right = replay_reach(states - 1, sweeps - 1);
  return std::clamp<std::int64_t>(std::min(replay_reach(states, sweeps - 1), count - min_right), 1,
                                  count - 1);
}

class Schedule {
 public:
  explicit Schedule(std::vector<CheckpointAction>& actions) : m_actions(actions) {}

  /// Visits `count` positions from `first`, whose state is current and in the slot.
  void visit(std::int64_t first, std::int64_t count, std::int64_t states, std::int64_t slot) {
    using Kind = CheckpointAction::Kind;
    while (count > 1) {
      const std::int64_t next = states == 1 ? count - 1 : split(count, states);
      add(Kind::advance, first + next, 0);
      if (count - next == 1) {
        add(Kind::visit, first + next, 0);
      } else {
        add(Kind::store, first + next, slot + 1);
        visit(first + next, count - next, states - 1, slot + 1);
      }
      add(Kind::restore, first, slot);
      count = next;
    }
    add(Kind::visit, first, 0);
  }

 private:
  void add(CheckpointAction::Kind kind, std::int64_t position, std::int64_t slot) {
    m_actions.push_back({kind, position, slot});
  }
  std::vector<CheckpointAction>& m_actions;
};

}  // namespace

std::int64_t replay_reach(std::int64_t states, std::int64_t sweeps) {
  if (states < 0 || sweeps < 0) return 0;
  constexpr std::int64_t max = std::int64_t(1) << 62;
  const std::int64_t fewer = std::min(states, sweeps), more = std::max(states, sweeps);
  std::int64_t result = 1;
  for (std::int64_t k = 1; k <= fewer; ++k) {
    // C(more + k, k) = C(more + k - 1, k - 1) (more + k) / k, without overflow of the product
    const std::int64_t whole = result / k, rest = result % k, factor = more + k;
    if (whole >= max / factor) return max;
    result = whole * factor + rest * factor / k;
  }
  return result;
}

std::int64_t replay_advances(std::int64_t count, std::int64_t states) {
  check(count, states);
  if (count == 1) return 0;
  if (states == 1) return count * (count - 1) / 2;
  const std::int64_t sweeps = sweeps_for(count, states);
  return sweeps * count - replay_reach(states + 1, sweeps - 1);
}

std::vector<CheckpointAction> replay_schedule(std::int64_t count, std::int64_t states) {
  check(count, states);
  // More states than positions have no effect. Each level of the recursion uses one state.
  std::vector<CheckpointAction> actions;
  Schedule(actions).visit(0, count, std::min(states, count), 0);
  return actions;
}

}  // namespace moho::snapshot
