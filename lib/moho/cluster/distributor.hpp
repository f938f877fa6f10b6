// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots over sites: handed out, watched, computed again where they failed, and kept, until
/// each is there once or named.
///
///     Journal journal("run/journal.txt", survey);
///     std::vector<std::unique_ptr<Site>> sites = ...;
///     distribute({work, journal}, tasks, sites, {}, [&](std::int64_t shot, const path& result) {
///       add_to_the_stack(result);
///     });
///
/// docs/theory/cluster.md says why it can be ended at any moment and gone on with.

#include <moho/cluster/job.hpp>
#include <moho/cluster/journal.hpp>
#include <moho/cluster/site.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace moho::cluster {

/// Time, which tests may make pass as they like.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  /// Seconds since the epoch.
  virtual double now();
  /// Lets so many seconds pass, or a part of them.
  virtual void wait(double seconds);
};

/// How shots are divided between sites.
enum class Partition {
  pull,   ///< a site with room takes a part of what is left
  parts,  ///< Algorithm 3: all are cut once, by the rates that are known before
};

/// How shots are handed out.
struct DistributeOptions {
  std::int64_t shots_per_job = 1;         ///< shots of a job
  int max_attempts = 3;                   ///< failures of a shot that are its own
  int max_lost = 10;                      ///< times that a shot is lost through no fault of its own
  std::int64_t max_missing = 0;           ///< shots that may be missing in the end
  Partition partition = Partition::pull;  ///< between sites
  double fraction = 0.5;                  ///< of the rest that is handed out at once, with pull
  double shot_time_limit = 0.0;           ///< time limit for one; 0: that of the site
  double memory = 0.0;                    ///< bytes of a job; 0: what the site gives
  double max_memory = 0.0;                ///< bytes up to which a job that needed more is tried
  double first_pause = 60.0;              ///< seconds of a site's first pause; the next are longer
  int max_pauses = 3;  ///< of a site without a result between them, after which it is left out
  double quick_failure = 10.0;     ///< seconds within which a failure is a quick one
  double silence_timeout = 600.0;  ///< seconds without an answer after which shots go elsewhere
  bool keep_job_files = false;     ///< of jobs whose shots are all there
  std::function<bool()> stop;      ///< asked often: end now, and leave jobs running?
  std::function<void(const std::string&)>
      on_message;  ///< what the user should know, a line at a time
};

/// What became of a site's work.
struct SiteReport {
  std::string name;           ///< of the site
  std::int64_t shots = 0;     ///< whose results count, in this run
  std::int64_t jobs = 0;      ///< submitted
  std::int64_t failures = 0;  ///< of shots
  std::int64_t lost = 0;      ///< jobs that ended through no fault of a shot
  double rate = 0.0;          ///< shots a second
  double compute_time = 0.0;  ///< seconds that its workers computed
  std::string exclusion;      ///< why it is left out; empty: it is not
};

/// A shot without a result.
struct MissingShot {
  std::int64_t shot = 0;  ///< number
  std::string reason;     ///< with node and last lines
  bool given_up = false;  ///< it failed too often; else nobody was there to compute it
};

/// What became of a run.
struct Report {
  std::int64_t done = 0;             ///< shots with a result, those of earlier runs too
  std::int64_t done_earlier = 0;     ///< of earlier runs
  std::vector<MissingShot> missing;  ///< by shot
  std::vector<SiteReport> sites;     ///< in their order
  std::int64_t batches = 0;          ///< submissions
  std::int64_t resubmitted = 0;      ///< shots that were handed out once more
  std::int64_t duplicates = 0;       ///< results of shots that were there already
  double seconds = 0.0;              ///< of this run
  bool stopped = false;              ///< by DistributeOptions::stop
  std::vector<std::string> notes;    ///< what the user should know
};

/// Shots are missing in the end; what is there is kept, and a run with the same journal goes on.
class MissingShots : public Error {
 public:
  /// \param report of the run
  explicit MissingShots(const Report& report);
  /// The report of the run.
  const Report& report() const { return m_report; }

 private:
  Report m_report;
};

/// The work of an evaluation, and the journal of its results.
struct Campaign {
  Work work;         ///< what is computed
  Journal& journal;  ///< its lock keeps other distributors away
};

/// Called once for every shot's result, from one thread: that of the caller.
using OnResult = std::function<void(std::int64_t shot, const std::filesystem::path& result)>;

/// \brief Computes shots at sites until each has a result or is given up.
///
/// What earlier runs with this journal have done counts; jobs that they left are gone on with.
/// \param campaign the work and its journal
/// \param tasks the shots, each number once
/// \param sites at least one, probed
/// \param options how
/// \param on_result gets every shot's result once, those of earlier runs first
/// \param clock passes time; the system's if it is not given
/// \throws InputError for wrong arguments, and for a program that says that its input is not
/// usable; MissingShots with more than `may_miss` shots missing; FileError of the journal
Report distribute(Campaign campaign, const std::vector<Task>& tasks,
                  const std::vector<std::unique_ptr<Site>>& sites,
                  const DistributeOptions& options = {}, const OnResult& on_result = {},
                  Clock* clock = nullptr);

/// \brief Ends all jobs that a journal knows of. \return how many
/// \throws NoAnswer if a site does not answer; jobs of other sites are ended
std::int64_t cancel_jobs(Campaign campaign, const std::vector<std::unique_ptr<Site>>& sites);

}  // namespace moho::cluster
