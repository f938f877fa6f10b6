// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Schedules that visit the positions of a run in reverse order, from a few checkpoints.
///
/// After Griewank, A., and Walther, A., 2000, Algorithm 799: revolve: ACM Transactions on
/// Mathematical Software, 26, 19-45.

#include <cstdint>
#include <vector>

namespace moho::snapshot {

/// One action of a schedule.
struct CheckpointAction {
  /// Kind of an action.
  enum class Kind {
    advance,  ///< step forward to the position
    store,    ///< store the current state, that of the position, in the slot
    restore,  ///< restore the state of the position from the slot
    visit     ///< use the current state, which is that of the position
  };
  Kind kind = Kind::visit;    ///< kind of the action
  std::int64_t position = 0;  ///< position of the state after the action
  std::int64_t slot = 0;      ///< slot of store and restore
  /// Returns true for equal actions.
  friend bool operator==(const CheckpointAction&, const CheckpointAction&) = default;
};

/// \brief Returns the largest number of positions for `states` states and at most `sweeps` sweeps.
///
/// No position is advanced over more than `sweeps` times. The number is (states + sweeps)! /
/// (states! sweeps!), at most 2^62.
std::int64_t replay_reach(std::int64_t states, std::int64_t sweeps);

/// \brief Returns the smallest number of advances that visit positions count - 1, ..., 1, 0.
///
/// An advance leads from one position to the next. The number is r count - C(states + r, r - 1),
/// where r is the smallest number with replay_reach(states, r) >= count.
/// \param count positions, 1 or more
/// \param states largest number of stored states, including that of position 0, 1 or more
/// \throws InputError for other values
std::int64_t replay_advances(std::int64_t count, std::int64_t states);

/// \brief Returns the schedule with replay_advances() advances.
///
/// Initially the state of position 0 is current and stored in slot 0. Slots 1 to states - 1 are
/// stored before they are restored. Each is restored at most once before another state replaces it.
/// The schedule stores at most count - 1 states in total.
/// \throws InputError as replay_advances()
std::vector<CheckpointAction> replay_schedule(std::int64_t count, std::int64_t states);

}  // namespace moho::snapshot
