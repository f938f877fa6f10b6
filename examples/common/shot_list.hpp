// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of a run: which are there from an earlier one, which other places compute, and
/// which this process does, alone or among ranks.

#include "common/distribute_options.hpp"
#include "common/program.hpp"

#include <moho/io/numbered.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace moho::examples {

using io::numbered;

/// \brief When a process that computes parts has to end: SIGUSR1 was sent, as Slurm and mpirun do,
/// or the job of Slurm (SLURM_JOB_END_TIME) ends before the next part would.
class TimeLimit {
 public:
  /// Watches from now on.
  TimeLimit();
  /// Why no other part is to be begun that takes as long as the longest so far; empty: go on.
  std::string why() const;
  /// A part begins.
  void begin();
  /// The one that began first is done.
  void done();

 private:
  using Clock = std::chrono::steady_clock;
  double m_end = 0.0;                     // seconds of the system's clock; 0: there is none
  double m_longest = 0.0;                 // seconds of a part
  std::deque<Clock::time_point> m_begun;  // of parts that are not done
};

/// \brief The place of the shot of --only-shot among all. \throws InputError if it is none of them
std::size_t find_only_shot(const std::vector<std::int64_t>& numbers, std::int64_t only);

/// Positions of work that the processes of a run share.
class SharedCount {
 public:
  /// Begins at 0, which is the root's. Collective.
  void begin(Processes& processes);
  /// Is a position this process's? To be asked in their order, once each.
  bool takes(std::int64_t position);

 private:
  Processes* m_processes = nullptr;
  std::int64_t m_claimed = -1;  // that this process has
};

/// \brief The shots of a run.
///
/// open() and share() come before the first shot, takes() asks for each in their order, done() says
/// that one is computed, and finish() comes after the last. Any process of the run computes any
/// shot; what it leaves is the same.
class ShotList {
 public:
  /// Where a shot that was not computed by this process comes from.
  enum class From { earlier, place, rank };
  /// Told of every shot that is there without having been computed here, with what done() was
  /// given.
  using Taken = std::function<void(std::size_t shot, const Json& more, From from)>;

  /// \param session of the run, has to live as long
  explicit ShotList(Session& session) : m_session(session) {}
  ShotList(const ShotList&) = delete;
  ShotList& operator=(const ShotList&) = delete;

  /// \brief Takes shots over from an earlier run, chooses the one of --only-shot, and has those
  /// that are missing computed at the places of --sites. \param numbers of the shots
  /// \throws InputError, MissingShots
  void open(const std::vector<std::int64_t>& numbers, const ShotChoice& choice,
            const CommonOptions& options, Taken taken);
  /// Lets all processes know what is there, and begins to give the rest to them. Collective.
  void share();
  /// Is this shot there?
  bool there(std::size_t shot) const { return m_there[shot]; }
  /// Is it there, or left out by --only-shot?
  bool settled(std::size_t shot) const { return m_there[shot] || m_left_out[shot]; }
  /// \brief Is this process to compute it? To be asked in the order of the shots, once each.
  ///
  /// False, too, for all that are left when time is over.
  bool takes(std::size_t shot);
  /// Counts a shot as there, for what is said of all before done() is called.
  void put(std::size_t shot) { m_there[shot] = true; }
  /// \brief A shot is computed, and its files are in the folder.
  /// \param files names \param more what is needed to go on without computing it
  void done(std::size_t shot, const std::vector<std::string>& files, const Json& more);
  /// A callback that draws a bar, where somebody looks, and listens to other ranks on the root.
  Progress progress();
  /// \brief Waits for the shots of all processes. Collective.
  /// \returns false if some are missing because time was over; the session has said so
  bool finish();

 private:
  void listen(bool wait);

  Session& m_session;
  Taken m_taken;
  std::vector<std::int64_t> m_numbers;
  std::vector<bool> m_there, m_left_out;
  std::vector<std::int64_t> m_position;  // among those that are left; -1: not left
  SharedCount m_count;
  bool m_single = false;  // --only-shot: who asks for it looks at the time
  TimeLimit m_time;
  std::string m_why;  // no more shots are begun
  int m_over = 0;     // other processes that have ended
};

}  // namespace moho::examples
