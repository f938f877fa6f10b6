// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What runs jobs: the interface that systems have in common, and processes of this machine.

#include <moho/cluster/job.hpp>
#include <moho/cluster/worker.hpp>
#include <moho/core/error.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace moho::cluster {

/// The system gave no answer: what was asked of it may have been done or not.
class NoAnswer : public Error {
 public:
  using Error::Error;
};

/// The system refused for good, in its own words: nothing was done, and asking again is in vain.
class Refused : public Error {
 public:
  using Error::Error;
};

/// The system has no room for more jobs now: nothing was done, and asking later may help.
class NoRoom : public Error {
 public:
  using Error::Error;
};

/// What a system says about a job.
enum class JobState {
  unknown,        ///< it does not know the job
  queued,         ///< waits
  running,        ///< runs
  completed,      ///< ended with status 0
  failed,         ///< ended with another status, or by a signal
  timed_out,      ///< ended by its time limit
  out_of_memory,  ///< ended for want of memory
  node_lost,      ///< its node failed, or could not start it
  preempted,      ///< gave way to another job
  cancelled       ///< ended by a person
};

/// "running" and so on.
const char* to_string(JobState state);
/// Has a job in this state ended?
bool has_ended(JobState state);

/// A job as its system knows it.
struct JobStatus {
  std::string id;                      ///< of the system
  JobState state = JobState::unknown;  ///< how it is
  int exit = -1;                       ///< exit status, where the system says it
  int signal = 0;                      ///< that ended it, where the system says it
  std::string node;                    ///< where it runs or ran
  std::string message;                 ///< the system's own, where they say more
};

/// \brief A system that runs jobs. Calls come from one thread.
///
/// All may throw NoAnswer; what a job is to do lies in its files before it is submitted.
class JobSystem {
 public:
  JobSystem() = default;
  JobSystem(const JobSystem&) = delete;
  JobSystem& operator=(const JobSystem&) = delete;
  virtual ~JobSystem() = default;

  /// What the system is, in a line; asks it whether it can be used.
  /// \throws InputError if it cannot, in its own words
  virtual std::string probe() = 0;
  /// Submits the jobs of a batch. \return an id for each, in their order
  /// \throws NoAnswer (it may have been accepted), Refused, NoRoom
  virtual std::vector<std::string> submit(const Batch& batch) = 0;
  /// The ids of a batch that was submitted under this token; empty if the system knows none.
  virtual std::vector<std::string> find(const Batch& batch) = 0;
  /// How jobs are, one for each id, in any order.
  virtual std::vector<JobStatus> query(const std::vector<std::string>& ids) = 0;
  /// Ends jobs.
  virtual void cancel(const std::vector<std::string>& ids) = 0;

  /// Most jobs of a batch.
  virtual std::int64_t max_jobs() const { return 1; }
  /// Seconds after which a submission without an answer is known to the system, or never will be.
  virtual double settling_time() const { return 0.0; }
  /// Seconds between questions: the shortest and the longest pause.
  virtual std::pair<double, double> query_intervals() const { return {5.0, 60.0}; }
  /// Seconds after which a job that the system does not know is taken for lost.
  virtual double unknown_timeout() const { return 300.0; }
};

/// \brief Workers as processes of this machine, so many at once; the others wait.
///
/// A worker outlives this process, and is found again by the lock that it holds.
class LocalJobs : public JobSystem {
 public:
  /// \param folder of the site
  /// \param worker words that a job's token is added to: "shot_worker --folder F --job"
  /// \param slots workers at once
  LocalJobs(std::filesystem::path folder, std::vector<std::string> worker, int slots);
  /// Workers live on.
  ~LocalJobs() override;
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  std::int64_t max_jobs() const override { return 1000; }
  std::pair<double, double> query_intervals() const override { return {0.002, 0.01}; }
  double unknown_timeout() const override { return 0.0; }

 private:
  struct KnownJob {
    int process = 0;   // 0: not started
    bool own = false;  // a child of this process
    JobStatus status;
  };
  struct Watcher;  // a thread that starts the next worker when one has ended
  bool start_waiting();
  void start(const std::string& token, KnownJob& job);
  static void notice_end(KnownJob& job);

  std::filesystem::path m_folder;
  std::vector<std::string> m_worker;
  int m_slots;
  std::map<std::string, KnownJob> m_jobs;
  std::vector<std::string> m_waiting;
  std::unique_ptr<Watcher> m_watcher;
};

/// \brief Jobs as threads of this process, for work that is a function.
///
/// They end with the process: a campaign that is resumed submits theirs again.
class ThreadJobs : public JobSystem {
 public:
  /// \param options the folder of the site, and the function that computes a shot
  /// \param slots threads at once
  ThreadJobs(WorkerOptions options, int slots);
  ~ThreadJobs() override;
  std::string probe() override;
  std::vector<std::string> submit(const Batch& batch) override;
  std::vector<std::string> find(const Batch& batch) override;
  std::vector<JobStatus> query(const std::vector<std::string>& ids) override;
  void cancel(const std::vector<std::string>& ids) override;
  std::int64_t max_jobs() const override { return 1000; }
  std::pair<double, double> query_intervals() const override { return {0.002, 0.01}; }
  double unknown_timeout() const override { return 0.0; }

 private:
  struct Pool;
  std::unique_ptr<Pool> m_pool;
  int m_slots;
};

}  // namespace moho::cluster
