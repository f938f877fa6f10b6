// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Schedules that visit the positions of a run backwards, from a few states that are kept.
///
/// After Griewank, A., and Walther, A., 2000, Algorithm 799: revolve: ACM Transactions on
/// Mathematical Software, 26, 19-45.

#include <cstdint>
#include <vector>

namespace moho::snapshot {

/// One action of a schedule.
struct ReplayAction {
  /// What is done.
  enum class Kind {
    advance,  ///< step forward to the position
    store,    ///< keep the present state, that of the position, in the slot
    restore,  ///< take the state of the position back out of the slot
    visit     ///< the present state is that of the position: use it
  };
  Kind kind = Kind::visit;    ///< which
  std::int64_t position = 0;  ///< that the state has afterwards
  std::int64_t slot = 0;      ///< of store and restore
  /// Are both the same?
  friend bool operator==(const ReplayAction&, const ReplayAction&) = default;
};

/// \brief The most positions that can be visited with so many states if none is advanced over more
/// than `sweeps` times: (states + sweeps)! / (states! sweeps!), or 2^62 if that is more.
std::int64_t replay_reach(std::int64_t states, std::int64_t sweeps);

/// \brief The least number of advances from one position to the next with which all positions
/// count - 1, ..., 1, 0 can be visited: r count - C(states + r, r - 1), where r is the
/// smallest number with replay_reach(states, r) >= count.
/// \param count positions, 1 or more
/// \param states that are kept at most, that of position 0 among them, 1 or more
/// \throws InputError for others
std::int64_t replay_advances(std::int64_t count, std::int64_t states);

/// \brief The schedule of so many advances.
///
/// It begins with the state of position 0 present and kept in slot 0; slots 1 to states - 1 are
/// stored before they are restored, and each at most once before the next state takes its place.
/// At most count - 1 states are stored in all.
/// \throws InputError as replay_advances()
std::vector<ReplayAction> replay_schedule(std::int64_t count, std::int64_t states);

}  // namespace moho::snapshot
