// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Interface to systems that run jobs, and local processes and threads as such systems.

#include <moho/cluster/job.hpp>
#include <moho/cluster/worker.hpp>
#include <moho/core/error.hpp>
#include <moho/core/memory_share.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moho::cluster {

/// The system did not answer. The request may or may not have been carried out.
class NoAnswer : public Error {
 public:
  using Error::Error;
};

/// The system refused the request permanently; nothing was done. what() has its message.
class Refused : public Error {
 public:
  using Error::Error;
};

/// The system cannot accept more jobs now; nothing was done. A later request may succeed.
class NoRoom : public Error {
 public:
  using Error::Error;
};

/// States of a job.
enum class JobState {
  unknown,        ///< not known to the system
  queued,         ///< waiting
  running,        ///< running
  completed,      ///< ended with exit status 0
  failed,         ///< ended with another exit status or by a signal
  timed_out,      ///< ended by its time limit
  out_of_memory,  ///< ended because it exceeded its memory
  node_lost,      ///< its node failed or could not start it
  preempted,      ///< preempted by another job
  cancelled       ///< cancelled by a user
};

/// Returns the state in words, such as "running".
const char* to_string(JobState state);
/// Returns true if a job in this state has ended.
bool has_ended(JobState state);

/// Status of a job, as reported by its system.
struct JobStatus {
  std::string id;                      ///< id within the system
  JobState state = JobState::unknown;  ///< state
  int exit = -1;                       ///< exit status; -1 if not reported
  int signal = 0;                      ///< signal that ended it; 0 if not reported
  std::string node;                    ///< node on which it runs or ran
  std::string message;                 ///< message of the system
};

/// \brief A system that runs jobs. Calls come from one thread.
///
/// The files of a job are complete before it is submitted. Every function may throw NoAnswer.
class JobSystem {
 public:
  JobSystem() = default;
  JobSystem(const JobSystem&) = delete;
  JobSystem& operator=(const JobSystem&) = delete;
  virtual ~JobSystem() = default;

  /// Checks that the system is usable. \return a one-line description
  /// \throws InputError if it is not, with the message of the system
  virtual std::string probe() = 0;
  /// Submits the jobs of a batch. \return their ids, in order
  /// \throws NoAnswer (the batch may have been accepted), Refused, NoRoom
  virtual std::vector<std::string> submit(const Batch& batch) = 0;
  /// Returns the ids of the batch submitted under this token; empty if unknown to the system.
  virtual std::vector<std::string> find(const Batch& batch) = 0;
  /// Returns the status of each job, in any order.
  virtual std::vector<JobStatus> query(const std::vector<std::string>& ids) = 0;
  /// Cancels jobs.
  virtual void cancel(const std::vector<std::string>& ids) = 0;

  /// Returns true if jobs are ended that exceed their memory.
  virtual bool limits_memory() const { return true; }
  /// Returns the largest number of jobs in a batch.
  virtual std::int64_t max_jobs() const { return 1; }
  /// Returns the time in seconds after which find() reliably knows whether an unanswered submission
  /// was accepted.
  virtual double settling_time() const { return 0.0; }
  /// Returns the shortest and the longest interval between queries, in seconds.
  virtual std::pair<double, double> query_intervals() const { return {5.0, 60.0}; }
  /// Returns the time in seconds after which a job unknown to the system counts as lost.
  virtual double unknown_timeout() const { return 300.0; }
};

/// \brief Workers as processes of this machine; at most `slots` run concurrently.
///
/// A worker outlives this process. The next process identifies it by the lock that it holds.
/// Workers, with their programs, are killed at the time limits of their jobs. The memory of a job
/// is not limited; programs of moho plan with their MemoryShare.
class LocalJobs : public JobSystem {
 public:
  /// \param folder folder of the site
  /// \param worker command to which the token of a job is added: "shot_worker --folder F --job"
  /// \param slots largest number of concurrent workers
  /// \param sharing workers of this machine that share its memory, those of other sites included;
  /// 0: slots
  LocalJobs(std::filesystem::path folder, std::vector<std::string> worker, int slots,
            int sharing = 0);
  /// Leaves workers running.
  ~LocalJobs() override;
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  bool limits_memory() const override { return false; }
  std::int64_t max_jobs() const override { return 1000; }
  std::pair<double, double> query_intervals() const override { return {0.002, 0.01}; }
  double unknown_timeout() const override { return 0.0; }

 private:
  struct KnownJob {
    int process = 0;                 // 0: not started
    bool own = false;                // a child of this process
    std::optional<double> deadline;  // of the monotonic clock, s; empty: not known yet
    JobStatus status;
  };
  struct Watcher;  // thread that starts the next worker when one has ended
  bool start_waiting();
  void start(const std::string& token, KnownJob& job);
  void notice_end(const std::string& token, KnownJob& job);
  bool kill_late(const std::string& token, KnownJob& job);

  std::filesystem::path m_folder;
  std::vector<std::string> m_worker;
  int m_slots;
  MemoryShare m_share;  // of each worker
  std::map<std::string, KnownJob> m_jobs;
  std::vector<std::string> m_waiting;
  std::unique_ptr<Watcher> m_watcher;
};

/// \brief Jobs as threads of this process, for work given as a function.
///
/// Threads end with the process. A resumed run submits their jobs again. A function is not ended at
/// the time limit of its job: a shot that would not end in time is not started.
class ThreadJobs : public JobSystem {
 public:
  /// \param options folder of the site, and the function that computes a shot
  /// \param slots number of threads
  ThreadJobs(WorkerOptions options, int slots);
  ~ThreadJobs() override;
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  bool limits_memory() const override { return false; }
  std::int64_t max_jobs() const override { return 1000; }
  std::pair<double, double> query_intervals() const override { return {0.002, 0.01}; }
  double unknown_timeout() const override { return 0.0; }

 private:
  struct Pool;
  std::unique_ptr<Pool> m_pool;
  int m_slots;
};

}  // namespace moho::cluster
