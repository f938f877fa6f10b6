// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Groups of ranks, each of which computes shots together.

#include <moho/core/error.hpp>
#include <moho/stream/ranks.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace moho::stream {

/// \brief Returns the number of ranks that compute a shot together.
///
/// It divides the ranks. Chosen, it is the least that leaves no rank without a shot.
/// \param requested number of ranks; 0: chosen
/// \param ranks number of all ranks
/// \param shots number of shots
/// \param name of `requested` in messages
/// \throws InputError if `requested` does not divide the ranks
inline int ranks_of_shot(int requested, int ranks, std::int64_t shots, const std::string& name) {
  if (requested > 0) {
    if (ranks % requested == 0) return requested;
    throw InputError(concat(name, " is ", requested, ", and there ",
                            ranks == 1 ? "is 1 rank" : concat("are ", ranks, " ranks"),
                            " (allowed: numbers that divide the ranks): start a multiple of it "
                            "with mpirun -n"));
  }
  for (int n = 1; n < ranks; ++n) {
    if (ranks % n == 0 && ranks / n <= shots) return n;
  }
  return ranks;
}

/// \brief Ranks in groups of consecutive ones. Each group computes one shot at a time.
///
/// All ranks create the object and call its functions in the same order, unless stated otherwise.
class RankGroups {
 public:
  /// \param world all ranks, which have to outlive the object; null: one process
  /// \param requested,shots,name as of ranks_of_shot()
  /// \throws InputError as ranks_of_shot()
  RankGroups(StreamRanks* world, int requested, std::int64_t shots, const std::string& name)
      : m_world(world), m_kept(requested > 0) {
    const int all = world != nullptr ? world->size() : 1;
    divide(ranks_of_shot(requested, all, shots, name));
    for (int n = m_size - 1; n > 0; --n) {
      if (all % n == 0) m_others.insert(m_others.begin(), n);
    }
    for (int n = all; n > m_size; --n) {
      if (all % n == 0) m_others.push_back(n);
    }
  }

  /// Returns the ranks of the group of this rank; null for groups of one. Not collective.
  StreamRanks* ranks() const { return m_ranks.get(); }
  /// Returns the number of ranks of a group. Not collective.
  int size() const { return m_size; }
  /// Returns true for the first rank of a group, which has complete results. Not collective.
  bool leads() const { return !m_ranks || m_ranks->rank() == 0; }
  /// Returns true for the group of rank 0. Not collective.
  bool has_root() const { return m_world == nullptr || m_world->rank() < m_size; }
  /// \brief Calls a function; if the size was chosen and it throws before keep(), calls it again
  /// with larger groups, whose ranks need less memory, and then with smaller ones.
  /// \throws its first error if all groups fail
  void fit(const std::function<void()>& function) {
    for (std::exception_ptr first;;) {
      try {
        return function();
      } catch (const Error&) {
        if (!first) first = std::current_exception();
        if (m_kept) throw;
        if (m_others.empty()) std::rethrow_exception(first);
        divide(m_others.back());
        m_others.pop_back();
      }
    }
  }
  /// Keeps the present groups. Not collective.
  void keep() { m_kept = true; }
  /// \brief Returns the answer of the first rank of a group, on all its ranks. Collective in the
  /// group.
  /// \param ask called on the first rank
  bool agree(const std::function<bool()>& ask) {
    char yes = leads() && ask() ? 1 : 0;
    if (m_ranks) m_ranks->broadcast(&yes, sizeof(yes));
    return yes != 0;
  }
  /// \brief Calls a function. If all ranks of the group fail, the first one reports the error. Not
  /// collective.
  ///
  /// The first rank throws immediately, and has to end the others. These throw after some time, if
  /// they still exist: then the first one did not fail.
  ///
  /// \param patience time between the error of another rank and its exception
  void leave_errors_to_first(const std::function<void()>& function,
                             std::chrono::milliseconds patience = std::chrono::seconds(5)) const {
    try {
      function();
    } catch (const Error&) {
      if (!leads()) std::this_thread::sleep_for(patience);
      throw;
    }
  }

 private:
  void divide(int size) {
    m_ranks.reset();
    m_size = size;
    if (m_world != nullptr && size > 1) m_ranks = m_world->part(m_world->rank() / size);
  }

  StreamRanks* m_world;
  bool m_kept;
  int m_size = 1;
  std::vector<int> m_others;  // sizes that fit() tries, the last one first
  std::unique_ptr<StreamRanks> m_ranks;
};

}  // namespace moho::stream
