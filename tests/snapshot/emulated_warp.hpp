// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A warp of a device on a host: 32 lanes with separate stacks, which take turns.
///
/// A lane runs until it exchanges values with the others; the next ones follow in the order of
/// their numbers, or in the reverse order, in turns. All lanes have to make the same exchanges.

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace moho::snapshot::detail::emulated {

inline constexpr int lanes = 32;

/// State of the lanes.
struct Warp {
  std::array<ucontext_t, lanes> contexts{};
  ucontext_t caller{};
  std::array<std::array<std::uint64_t, lanes>, 2> values{};  ///< of two exchanges in turn
  std::array<int, lanes> exchanges{};                        ///< of every lane
  std::array<int, lanes> kinds{};                            ///< kind of the last exchange
  std::array<bool, lanes> over{};
  std::function<void(int)> body;
  int lane = 0;  ///< that runs
};

inline Warp* warp = nullptr;  ///< the warp that runs

/// Waits until all lanes have called it; `kind` has to be the same.
inline void meet(int kind, std::uint64_t value = 0) {
  const auto own = static_cast<std::size_t>(warp->lane);
  warp->values[static_cast<std::size_t>(warp->exchanges[own] % 2)][own] = value;
  ++warp->exchanges[own];
  warp->kinds[own] = kind;
  swapcontext(&warp->contexts[own], &warp->caller);
}

/// Returns what a lane gave to the last meet().
inline std::uint64_t given(int lane) {
  const int exchanges = warp->exchanges[static_cast<std::size_t>(warp->lane)];
  return warp
      ->values[static_cast<std::size_t>((exchanges - 1) % 2)][static_cast<std::size_t>(lane)];
}

template <class V>
std::uint64_t packed(V value) {
  static_assert(sizeof(V) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(V));
  return bits;
}

template <class V>
V from_lane(V value, int lane) {
  if (lane < 0 || lane >= lanes) throw std::out_of_range("no such lane");
  meet(1, packed(value));
  V result;
  const std::uint64_t bits = given(lane);
  std::memcpy(&result, &bits, sizeof(V));
  return result;
}

template <class V>
V from_lane_across(V value, int step) {
  return from_lane(value, warp->lane ^ step);
}

inline std::uint32_t votes_of_lanes(bool value) {
  meet(2, value ? 1 : 0);
  std::uint32_t votes = 0;
  for (int l = 0; l < lanes; ++l) votes |= static_cast<std::uint32_t>(given(l)) << l;
  return votes;
}

inline void meet_lanes() { meet(3); }

inline void run_lane() {
  const auto own = static_cast<std::size_t>(warp->lane);
  warp->body(warp->lane);
  warp->over[own] = true;
  swapcontext(&warp->contexts[own], &warp->caller);
}

/// \brief Calls body(lane) for the lanes of a warp.
/// \throws std::logic_error if lanes make different exchanges
inline void run_warp(const std::function<void(int)>& body) {
  constexpr std::size_t stack = 64 * 1024;
  Warp state;
  state.body = body;
  std::vector<char> stacks(stack * lanes);
  for (int l = 0; l < lanes; ++l) {
    ucontext_t& context = state.contexts[static_cast<std::size_t>(l)];
    getcontext(&context);
    context.uc_stack.ss_sp = stacks.data() + stack * static_cast<std::size_t>(l);
    context.uc_stack.ss_size = stack;
    context.uc_link = nullptr;
    makecontext(&context, run_lane, 0);
  }
  warp = &state;
  for (int turn = 0;; ++turn) {
    for (int n = 0; n < lanes; ++n) {
      state.lane = turn % 2 == 0 ? n : lanes - 1 - n;
      swapcontext(&state.caller, &state.contexts[static_cast<std::size_t>(state.lane)]);
    }
    for (std::size_t l = 1; l < lanes; ++l) {
      if (state.over[l] != state.over[0] || state.exchanges[l] != state.exchanges[0] ||
          (!state.over[0] && state.kinds[l] != state.kinds[0])) {
        warp = nullptr;
        throw std::logic_error("the lanes of a warp differ in what they exchange");
      }
    }
    if (state.over[0]) break;
  }
  warp = nullptr;
}

}  // namespace moho::snapshot::detail::emulated
