// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Jobs in Slurm, controlled with sbatch, squeue, sacct, scontrol and scancel.

#include <moho/cluster/job_system.hpp>
#include <moho/cluster/process.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// Options of SlurmJobs.
struct SlurmOptions {
  std::filesystem::path folder;     ///< folder of the site, on a file system shared with the nodes
  std::vector<std::string> worker;  ///< command to which the token of a batch is added
  std::string partition;            ///< partition; empty: Slurm's default
  std::string account;              ///< account; empty: Slurm's default
  std::string qos;                  ///< quality of service; empty: Slurm's default
  double time_limit = 0.0;          ///< time limit of a job in seconds; 0: that of the partition
  double memory = 0.0;              ///< memory of a job in bytes; 0: that of the partition
  std::vector<std::string> sbatch_options;  ///< further options of sbatch, one word each, such as
                                            ///< "--gres=gpu:1"
  std::int64_t max_array = 50;              ///< largest number of jobs in an array
  double command_timeout = 60.0;            ///< time limit of a Slurm command in seconds
  /// For tests: runs a command; empty: run_command().
  std::function<CommandResult(const Command&)> run;
};

/// \brief Jobs in Slurm. A batch is a job array whose name is its token.
///
/// The state of ended jobs comes from sacct if Slurm has accounting. Otherwise squeue knows it for
/// MinJobAge; afterwards the report of the worker shows how a job ended.
class SlurmJobs : public JobSystem {
 public:
  /// Stores the options; runs no command. \throws InputError for an array limit below 1
  explicit SlurmJobs(SlurmOptions options);
  /// Reads Slurm's limits and tests a submission with --test-only.
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

/// Returns the state that a word of Slurm means, such as "NODE_FAIL" or "CANCELLED by 1000".
JobState parse_slurm_state(std::string_view word);
/// Returns up to max_count array indices written by squeue: "3", "0-4,7", "[2,5-6%2]".
std::vector<std::int64_t> parse_slurm_indices(std::string_view text, std::int64_t max_count);

}  // namespace moho::cluster
