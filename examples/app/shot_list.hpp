// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of a run: complete ones of an earlier run, those of sites, those of this
/// process.
///
/// A process computes alone or as one of several ranks.

#include "app/distribute.hpp"
#include "app/program.hpp"

#include <moho/io/numbered.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace moho::examples {

using io::numbered;

/// Decides when a process that computes parts must end.
///
/// The process ends after SIGUSR1, which Slurm and mpirun send. It also ends if its Slurm job
/// (SLURM_JOB_END_TIME) would end before the next part.
class TimeLimit {
 public:
  /// Starts to observe the signal and reads the time limit of the environment.
  TimeLimit();
  /// Returns the reason to begin no other part; empty: begin it.
  ///
  /// The next part is expected to last as long as the longest part so far.
  std::string why() const;
  /// Records the beginning of a part.
  void begin();
  /// Records the end of the part that began first.
  void done();

 private:
  using Clock = std::chrono::steady_clock;
  double m_end = 0.0;                     // seconds of the system's clock; 0: no limit
  double m_longest = 0.0;                 // seconds of a part
  std::deque<Clock::time_point> m_begun;  // begin times of unfinished parts
};

/// \brief Returns the position of the shot of --only-shot among all shots.
/// \throws InputError if it is not one of them
std::size_t find_only_shot(const std::vector<std::int64_t>& numbers, std::int64_t only);

/// The shots of a run, which its processes share.
///
/// Call open() and share() before the first shot, takes() once for each shot in order, done() after
/// each computed shot, and finish() after the last. Any process of the run may compute any shot,
/// with the same results.
class ShotList {
 public:
  /// Origin of a shot that this process did not compute.
  enum class From { earlier, folder, rank };
  /// Receives each shot that this process did not compute, with the argument of done().
  using Taken = std::function<void(std::size_t shot, const Json& more, From from)>;

  /// Creates a list without shots.
  /// \param session of the run; must outlive the list
  explicit ShotList(Session& session) : m_session(session) {}
  ShotList(const ShotList&) = delete;
  ShotList& operator=(const ShotList&) = delete;

  /// Takes over shots of an earlier run, and computes missing ones at --sites.
  /// With --only-shot it chooses that shot.
  /// \param numbers of the shots
  /// \param on_sum receives the sums of sites; empty: sites send all files
  /// \throws InputError, MissingShots
  void open(const std::vector<std::int64_t>& numbers, const ShotChoice& choice,
            const CommonOptions& options, Taken taken, const OnSiteSum& on_sum = {});
  /// Sends the complete shots to all processes, and begins to distribute the others. Collective.
  void share();
  /// Returns the number of ranks that compute shots, after share().
  int ranks() const { return m_ranks; }
  /// Returns true if the shot is complete.
  bool is_present(std::size_t shot) const { return m_present[shot]; }
  /// Returns true if any shot is complete.
  bool any() const {
    return std::find(m_present.begin(), m_present.end(), true) != m_present.end();
  }
  /// Returns true if the shot is complete or left out by --only-shot.
  bool settled(std::size_t shot) const { return m_present[shot] || m_left_out[shot]; }
  /// Returns true if this process computes the shot. Call it once for each shot, in order.
  /// Returns false for all remaining shots when the run is out of time.
  bool takes(std::size_t shot);
  /// Marks a shot as complete, for callbacks that need it before done().
  void put(std::size_t shot) { m_present[shot] = true; }
  /// \brief Records a computed shot whose files are in the folder.
  /// \param files names \param more what a resumed run needs instead of computing it
  void done(std::size_t shot, const std::vector<std::string>& files, const Json& more);
  /// Returns a callback that draws a bar on a terminal; on the root it also receives from other
  /// ranks.
  Progress progress();
  /// \brief Waits for the shots of all processes. Collective. Without --sites it then removes the
  /// folder of an earlier run's sites.
  /// \returns false if shots are missing because the run is out of time; the session has reported
  /// it
  bool finish();

 private:
  void listen(bool wait);

  Session& m_session;
  Taken m_taken;
  std::vector<std::int64_t> m_numbers;
  std::vector<bool> m_present, m_left_out;
  std::vector<std::int64_t> m_position;  // among the remaining shots; -1: not among them
  SharedCounter m_counter;
  bool m_single = false;  // --only-shot: its caller observes the time
  bool m_sites = false;   // --sites computes the shots
  TimeLimit m_time;
  std::string m_why;  // reason to begin no more shots
  int m_over = 0;     // other processes that have ended
  int m_ranks = 1;
};

}  // namespace moho::examples
