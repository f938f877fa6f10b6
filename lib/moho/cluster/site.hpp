// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A site: a job system together with the files of its jobs.

#include <moho/cluster/job.hpp>
#include <moho/cluster/job_system.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// Options of a site.
struct SiteOptions {
  std::string name;            ///< letters, digits and . _ -
  std::int64_t max_jobs = 2;   ///< largest number of unfinished jobs, including queued ones
  double rate = 0.0;           ///< initial rate in shots per second; 0: unknown
  std::int64_t min_chunk = 1;  ///< smallest chunk, large enough to hide the transfer of the next
                               ///< one
  bool one_job_per_chunk = false;  ///< a job has any number of shots; the site divides them
  double collect_interval = 1.0;  ///< seconds between collections of results; longer with many jobs
  double file_delay = 10.0;       ///< seconds after the end of a job in which files may still
                                  ///< arrive
  double time_limit = 0.0;        ///< longest time limit of a job in seconds; 0: none
};

/// Results collected from a site: complete ones, and shots whose file is damaged.
struct CollectedResults {
  std::vector<ShotResult> complete;                           ///< complete results of the requested
                                                              ///< work
  std::vector<std::pair<std::int64_t, std::string>> damaged;  ///< shots, and what is wrong with
                                                              ///< their files
};

/// Sum of shots that a site is to send.
struct SumRequest {
  std::string token;                               ///< token of the request: one for equal requests
  std::map<std::string, std::vector<Task>> shots;  ///< by token of the job that computed them
  bool arrays = false;                             ///< true: their arrays in place of the sum
};

/// \brief A job system together with the files of its jobs.
///
/// Calls come from one thread. Every function may throw NoAnswer.
class Site {
 public:
  /// \throws InputError for a name that is unsuitable as a folder, and for values out of range
  explicit Site(SiteOptions options);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  virtual ~Site() = default;

  /// Returns the options.
  const SiteOptions& options() const { return m_options; }
  /// Sets the initial rate. \param rate shots per second, such as that of the previous evaluation
  void set_initial_rate(double rate) { m_options.rate = rate; }
  /// Returns where a remote site has the files of jobs, "host:/folder"; empty for sites whose files
  /// are below the folder of the journal.
  virtual std::string remote_folder() const { return {}; }
  /// Returns the job system.
  virtual JobSystem& system() = 0;
  /// Checks that the site is usable. \return a one-line description \throws InputError
  virtual std::string probe(const Work& work) = 0;
  /// Makes the files of a batch's jobs available at the site. Precedes submit(); repeated calls are
  /// allowed.
  virtual void prepare(const Work& work, const Batch& batch) = 0;
  /// Returns the results of a job that have arrived, among the given shots.
  virtual CollectedResults collect(const Work& work, const Job& job,
                                   const std::vector<std::int64_t>& shots) = 0;
  /// Returns the report of the job's worker.
  virtual JobReport report(const Job& job) = 0;
  /// Removes a result whose shot already has one.
  virtual void remove_duplicate(const ShotResult& result) = 0;
  /// Removes the files of a finished job.
  virtual void remove_job_files(const Job& job) = 0;
  /// Returns true if the site sends the sum of its shots, see Work::sums.
  virtual bool sends_sums() const { return false; }
  /// \brief Requests the sum of shots that the site has computed.
  /// \returns the sum as a complete result; empty while the site adds
  /// \throws FileError if the sum cannot be made, or is damaged
  virtual std::optional<ShotResult> sum(const Work& work, const SumRequest& request);
  /// Removes the files of these jobs and sums at the site.
  virtual void forget(const std::vector<std::string>& tokens) { (void)tokens; }

 protected:
  SiteOptions m_options;  ///< probe() may adjust them
};

/// \brief A site whose files are visible to this process: this machine, or a cluster with a shared
/// file system.
///
/// Its folder lies next to the journal and has the name of the site.
class FolderSite : public Site {
 public:
  /// \param options options of the site
  /// \param campaign folder of the journal
  /// \param system job system, which works in folder()
  FolderSite(SiteOptions options, const std::filesystem::path& campaign,
             std::unique_ptr<JobSystem> system);
  /// Returns the folder of jobs and results.
  const std::filesystem::path& folder() const { return m_folder; }
  JobSystem& system() override { return *m_system; }
  std::string probe(const Work& work) override;
  void prepare(const Work& work, const Batch& batch) override;
  CollectedResults collect(const Work& work, const Job& job,
                           const std::vector<std::int64_t>& shots) override;
  JobReport report(const Job& job) override;
  void remove_duplicate(const ShotResult& result) override;
  void remove_job_files(const Job& job) override;

 private:
  std::filesystem::path m_campaign, m_folder;
  std::unique_ptr<JobSystem> m_system;
};

/// Writes the job files of a batch below the folder of a site. \throws FileError
void write_jobs(const std::filesystem::path& folder, const Work& work, const Batch& batch);

}  // namespace moho::cluster
