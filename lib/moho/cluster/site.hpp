// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Where shots are computed: a job system with the files of its jobs.

#include <moho/cluster/job.hpp>
#include <moho/cluster/job_system.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// What the distributor has to know of a site.
struct SiteOptions {
  std::string name;            ///< letters, digits and . _ -
  std::int64_t max_jobs = 2;   ///< most jobs in its system at once, waiting ones too
  double rate = 0.0;           ///< first guess of shots a second; 0: unknown
  std::int64_t min_chunk = 1;  ///< shots that hide the transfer of the next chunk
  bool one_job_per_chunk =
      false;  ///< one job takes any number of shots: the site divides them itself
  double collect_interval = 1.0;  ///< seconds between looks at its results, and more with many jobs
  double file_delay = 10.0;       ///< seconds that files may come after the end of their job
  double time_limit = 0.0;        ///< longest time limit of a job; 0: none
};

/// Results that are there, and files that are none.
struct CollectedResults {
  std::vector<ShotResult> complete;                           ///< whole and of this work
  std::vector<std::pair<std::int64_t, std::string>> damaged;  ///< shots, and what is wrong
};

/// \brief A job system with the files of its jobs. Calls come from one thread, and may throw
/// NoAnswer.
class Site {
 public:
  /// \throws InputError for a name that cannot be a folder's, or numbers out of range
  explicit Site(SiteOptions options);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  virtual ~Site() = default;

  /// What is known of it.
  const SiteOptions& options() const { return m_options; }
  /// Takes another first guess of its rate, such as that of the evaluation before. \param rate
  /// shots a second
  void set_initial_rate(double rate) { m_options.rate = rate; }
  /// Its job system.
  virtual JobSystem& system() = 0;
  /// Asks the site whether it can be used. \return a line about it \throws InputError
  virtual std::string probe(const Work& work) = 0;
  /// Puts what the jobs of a batch need where they run. To be called before submit(). Twice does
  /// no harm.
  virtual void prepare(const Work& work, const Batch& batch) = 0;
  /// Which of these shots' results of a job are there.
  virtual CollectedResults collect(const Work& work, const Job& job,
                                   const std::vector<std::int64_t>& shots) = 0;
  /// What the job's worker says.
  virtual JobReport report(const Job& job) = 0;
  /// Removes a result that is there twice.
  virtual void remove_duplicate(const ShotResult& result) = 0;
  /// Takes the files of a job away that nobody needs any more.
  virtual void remove_job_files(const Job& job) = 0;

 protected:
  SiteOptions m_options;  ///< a site may learn more when it is probed
};

/// \brief A site whose files this process sees: processes of this machine, or a cluster with a
/// shared file system. They lie in a folder of the site's name beside the journal.
class FolderSite : public Site {
 public:
  /// \param campaign folder of the journal
  /// \param system its jobs, which work in folder()
  FolderSite(SiteOptions options, const std::filesystem::path& campaign,
             std::unique_ptr<JobSystem> system);
  /// The folder of its jobs and results.
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

/// Writes the files of a batch's jobs below a site's folder. \throws FileError
void write_jobs(const std::filesystem::path& folder, const Work& work, const Batch& batch);

}  // namespace moho::cluster
