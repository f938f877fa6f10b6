// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Jobs in Slurm, by its commands sbatch, squeue, sacct, scontrol and scancel.

#include <moho/cluster/job_system.hpp>
#include <moho/cluster/process.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// How jobs are submitted to Slurm.
struct SlurmOptions {
  std::filesystem::path folder;     ///< of the site, on a file system that its nodes have
  std::vector<std::string> worker;  ///< words that a job's token is added to
  std::string partition;            ///< empty: Slurm's own choice
  std::string account;              ///< the same
  std::string qos;                  ///< the same
  double time_limit = 0.0;          ///< time limit of a job; 0: the partition's
  double memory = 0.0;              ///< bytes of a job; 0: the partition's
  std::vector<std::string>
      sbatch_options;             ///< further options of sbatch, a word each: "--gres=gpu:1"
  std::int64_t max_array = 50;    ///< most jobs of an array
  double command_timeout = 60.0;  ///< seconds that a command may take
  /// Runs a command; empty: run_command(). For tests.
  std::function<CommandResult(const Command&)> run;
};

/// \brief Jobs in Slurm: a batch is an array, named by its token.
///
/// What has ended is asked of sacct where there is an accounting, and else of squeue and scontrol,
/// which know it for MinJobAge; after that the files of a job say how it ended.
class SlurmJobs : public JobSystem {
 public:
  /// Looks at nothing yet. \throws InputError for an array limit below 1
  explicit SlurmJobs(SlurmOptions options);
  /// Asks for versions and limits, and tries a submission with --test-only.
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  std::int64_t max_jobs() const override;
  double settling_time() const override { return m_message_timeout + 5.0; }
  std::pair<double, double> query_intervals() const override;

 private:
  CommandResult execute(std::vector<std::string> words);
  std::vector<std::string> sbatch(const Job& limits, const std::string& name) const;
  std::vector<JobStatus> query_squeue(const std::vector<std::string>& bases);
  std::vector<JobStatus> query_sacct(const std::vector<std::string>& bases);

  SlurmOptions m_options;
  bool m_accounting = false;
  double m_message_timeout = 10.0, m_min_job_age = 300.0;
  std::int64_t m_max_array_size = 1001;
};

/// The state that a word of Slurm means: "CANCELLED by 1000", "NODE_FAIL".
JobState parse_slurm_state(std::string_view word);
/// The indices of an array as squeue writes them: "3", "0-4,7", "[2,5-6%2]"; at most `most`.
std::vector<std::int64_t> parse_slurm_indices(std::string_view text, std::int64_t max_count);

}  // namespace moho::cluster
