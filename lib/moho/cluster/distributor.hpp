// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Computes the shots of a survey at several sites.
///
/// The distributor submits jobs, watches them, collects results and resubmits shots that failed. It
/// ends when each shot has exactly one result or is reported as missing.
///
///     Journal journal("run/journal.txt", survey);
///     std::vector<std::unique_ptr<Site>> sites = ...;
///     distribute({work, journal}, tasks, sites, {}, [&](std::int64_t shot, const path& result) {
///       add_to_image(result);
///     });
///
/// A run may end at any moment; the next run with the same journal continues it
/// (docs/theory/cluster.md).

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

/// System clock; tests derive a virtual one.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  /// Returns the time in seconds since the epoch.
  virtual double now();
  /// Waits for at most `seconds`; may return earlier.
  virtual void wait(double seconds);
};

/// Methods of dividing shots among sites.
enum class Partition {
  pull,   ///< a site with free capacity gets a fraction of the remaining shots
  parts,  ///< Algorithm 3: all shots are divided once, in proportion to known rates
};

/// Options of distribute().
struct DistributeOptions {
  std::int64_t shots_per_job = 1;         ///< shots per job
  int max_attempts = 3;                   ///< failures of a shot's own program after which it is
                                          ///< given up
  int max_lost = 10;                      ///< losses of a shot for other reasons (node, job system)
                                          ///< after which it is given up
  std::int64_t max_missing = 0;           ///< largest accepted number of missing shots
  Partition partition = Partition::pull;  ///< method
  double fraction = 0.5;                  ///< fraction of the remaining shots that one round hands
                                          ///< out (pull); (0, 1]
  double shot_time_limit = 0.0;           ///< time limit per shot in seconds; 0: that of the site
  double memory = 0.0;                    ///< memory of a job in bytes; 0: the site's default
  double max_memory = 0.0;                ///< largest memory in bytes for jobs repeated after
                                          ///< running out of memory
  double first_pause = 60.0;              ///< first pause of a failing site in seconds; each
                                          ///< further pause is twice as long
  int max_pauses = 3;  ///< consecutive pauses without a result after which a site is excluded
  double quick_failure = 10.0;     ///< seconds; a failure within this time counts against the site
  double silence_timeout = 600.0;  ///< seconds without an answer after which a site's shots go to
                                   ///< other sites
  bool separate_thread = true;     ///< on_result is called on a separate thread; false: on that of
                                   ///< the caller of distribute()
  bool keep_job_files = false;     ///< keep the files of jobs whose shots are complete
  std::function<bool()> stop;      ///< polled; true ends the run and leaves its jobs running
  std::function<void(const std::string&)>
      on_message;  ///< receives messages for the user, one line each
};

/// Report on one site.
struct SiteReport {
  std::string name;           ///< name of the site
  std::int64_t shots = 0;     ///< results accepted from the site in this run
  std::int64_t jobs = 0;      ///< submitted jobs
  std::int64_t failures = 0;  ///< failures of shots
  std::int64_t lost = 0;      ///< jobs lost for reasons other than a shot's program
  double rate = 0.0;          ///< accepted results per second
  double compute_time = 0.0;  ///< seconds of computation, summed over its workers
  double bytes = 0.0;         ///< bytes of its accepted results
  double sum_bytes = 0.0;     ///< bytes of the sums of its shots
  std::string exclusion;      ///< reason of exclusion; empty: the site is in use
};

/// A shot without a result.
struct MissingShot {
  std::int64_t shot = 0;  ///< number of the shot
  std::string reason;     ///< last failure, with node and last lines of output
  bool given_up = false;  ///< true after too many failures; false: no site was left to compute it
};

/// Report of a run.
struct Report {
  std::int64_t done = 0;             ///< shots with a result, including those of earlier runs
  std::int64_t done_earlier = 0;     ///< shots with a result of an earlier run
  std::vector<MissingShot> missing;  ///< sorted by shot
  std::vector<SiteReport> sites;     ///< in the order of the sites given
  std::int64_t batches = 0;          ///< accepted submissions
  std::int64_t resubmitted = 0;      ///< shots that returned to the queue after they had been
                                     ///< submitted
  std::int64_t duplicates = 0;       ///< further results of shots that already had one
  double seconds = 0.0;              ///< duration of this run in seconds
  double begin = 0.0;                ///< begin of this run, seconds since the epoch
  double last_shot = 0.0;            ///< end of the last shot of this run, by the clock of its
                                     ///< site, seconds since the epoch; 0: none
  bool stopped = false;              ///< true if DistributeOptions::stop ended the run
  std::vector<std::string> notes;    ///< messages for the user
};

/// Thrown if too many shots are missing at the end of a run.
///
/// Results are kept. A run with the same journal computes the missing shots.
class MissingShots : public Error {
 public:
  /// \param report of the run
  explicit MissingShots(const Report& report);
  /// Returns the report of the run.
  const Report& report() const { return m_report; }

 private:
  Report m_report;
};

/// Work of one evaluation, and the journal of its results.
struct Campaign {
  Work work;         ///< what is computed
  Journal& journal;  ///< locked against other distributors while it is open
};

/// Receives the path of each shot's result, once per shot.
///
/// Calls do not overlap. They come from one separate thread, or from the thread that called
/// distribute() without DistributeOptions::separate_thread or if a clock is given.
using OnResult = std::function<void(std::int64_t shot, const std::filesystem::path& result)>;

/// \brief Computes shots at sites until each has a result or is given up.
///
/// Results of earlier runs with the journal count. Their unfinished jobs are adopted.
/// \param campaign the work and its journal
/// \param tasks the shots; each number once
/// \param sites at least one; Site::probe() has succeeded for each
/// \param options limits and callbacks
/// \param on_result receives each shot's result once, those of earlier runs first; may be empty
/// \param clock for tests; null: the system clock
/// \throws InputError for invalid arguments, and if a program reports unusable input (exit status
/// 2)
/// \throws MissingShots if more than `max_missing` shots have no result
/// \throws FileError if the journal cannot be written
Report distribute(Campaign campaign, const std::vector<Task>& tasks,
                  const std::vector<std::unique_ptr<Site>>& sites,
                  const DistributeOptions& options = {}, const OnResult& on_result = {},
                  Clock* clock = nullptr);

/// \brief Cancels all unfinished jobs recorded in the journal.
/// \return the number of cancelled jobs
/// \throws NoAnswer if a site does not answer; jobs at the other sites are cancelled first
std::int64_t cancel_jobs(Campaign campaign, const std::vector<std::unique_ptr<Site>>& sites);

}  // namespace moho::cluster
