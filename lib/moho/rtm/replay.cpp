// SPDX-License-Identifier: BSD-3-Clause
#include <moho/rtm/replay.hpp>

namespace moho::rtm {

ReplaySchedule::ReplaySchedule(std::int64_t pieces, std::int64_t states)
    : m_pieces(pieces), m_states(std::min(states, pieces)) {
  if (pieces < 1 || pieces > 4096 || states < 0) {
    throw InputError(concat("replay of ", pieces, " pieces with ", states,
                            " states (allowed: 1 to 4096 pieces, 0 or more states)"));
  }
  const auto width = static_cast<std::size_t>(m_states + 1);
  m_cost.assign(static_cast<std::size_t>(pieces + 1) * width, 0);
  m_split.assign(m_cost.size(), 0);
  for (std::int64_t n = 1; n <= pieces; ++n) {
    for (std::int64_t k = 0; k <= m_states; ++k) {
      const std::size_t at = static_cast<std::size_t>(n) * width + static_cast<std::size_t>(k);
      // without another state piece j is reached by running the j before it
      m_cost[at] = n * (n + 1) / 2;
      for (std::int64_t s = 1; k > 0 && s < n; ++s) {
        const std::int64_t sum = s + cost(n - s, k - 1) + cost(s, k);
        if (sum < m_cost[at]) {
          m_cost[at] = sum;
          m_split[at] = s;
        }
      }
    }
  }
}

std::int64_t ReplaySchedule::cost(std::int64_t pieces, std::int64_t states) const {
  const std::int64_t k = std::clamp<std::int64_t>(states, 0, m_states);
  return m_cost[static_cast<std::size_t>(pieces * (m_states + 1) + k)];
}

std::int64_t ReplaySchedule::split(std::int64_t pieces, std::int64_t states) const {
  const std::int64_t k = std::clamp<std::int64_t>(states, 0, m_states);
  return m_split[static_cast<std::size_t>(pieces * (m_states + 1) + k)];
}

}  // namespace moho::rtm
