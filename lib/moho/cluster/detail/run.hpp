// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief State and operations of one call of distribute().

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/policy.hpp>
#include <moho/cluster/submission_log.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace moho::cluster::detail {

/// Calls OnResult for each result in order, from a separate thread or directly.
class ResultDispatcher {
 public:
  /// \param function may be empty
  /// \param threaded true: call it from a separate thread
  ResultDispatcher(OnResult function, bool threaded);
  ResultDispatcher(const ResultDispatcher&) = delete;
  ResultDispatcher& operator=(const ResultDispatcher&) = delete;
  ~ResultDispatcher();
  /// Queues a result. \throws any exception of an earlier call of the function
  void add(std::int64_t shot, const std::filesystem::path& path);
  /// Waits until the queue is empty. \throws any exception of the function
  void finish();

 private:
  void work();
  void rethrow();
  OnResult m_function;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<std::pair<std::int64_t, std::filesystem::path>> m_waiting;
  std::exception_ptr m_failure;
  bool m_busy = false, m_stopping = false;
  std::thread m_thread;
};

/// One run of distribute().
class Run {
 public:
  Run(Campaign& campaign, const std::vector<Task>& tasks,
      const std::vector<std::unique_ptr<Site>>& sites, const DistributeOptions& options,
      const OnResult& on_result, Clock& clock);
  /// Runs until all shots are done, given up or stopped. \throws InputError for unusable input
  Report run();

 private:
  enum class Stage { waiting, submitted, done, given_up };

  // State of a shot.
  struct Shot {
    Task task;
    Stage stage = Stage::waiting;
    int attempts = 0, lost = 0;
    double time_factor = 1.0;  // factor on its time limit
    double memory = 0.0;       // bytes; 0: DistributeOptions::memory
    std::set<std::string> nodes;
    std::string reason;
    std::string job_token;  // job that holds the shot; empty: none
    std::size_t queue = 0;  // index into m_waiting
  };

  // A submitted job.
  struct LiveJob {
    Job job;
    std::vector<std::size_t> shots;
    std::string id;
    double submitted_at = 0.0;
    JobStatus status;
    double unknown_since = -1.0, ended_at = -1.0;
    bool requeued = false;  // its shots are back in the queue; its results still count
    bool cancelled = false;
    bool accepts_late = false;       // it has ended, but results that arrive late still count
    std::size_t result_count = 0;    // accepted results
    std::set<std::int64_t> damaged;  // shots whose damaged result was reported
  };

  // A submission whose acceptance is unknown.
  struct UnconfirmedBatch {
    Batch batch;
    double next_find = 0.0, submitted_at = 0.0;
    int attempts = 0;
  };

  struct SiteState {
    Site* site = nullptr;
    std::list<LiveJob> live;
    std::list<UnconfirmedBatch> unconfirmed;
    double next_query = 0.0, query_interval = 0.0, next_collection = 0.0;
    double silent_since = -1.0;
    double paused_until = 0.0;  // time at which the pause ends
    int pause_count = 0;
    int unconfirmed_count = 0;              // consecutive submissions that were never accepted
    std::string exclusion;                  // reason; empty: the site is in use
    bool trial = false;                     // after a pause: one job at a time until a result
                                            // arrives
    std::set<std::int64_t> quick_failures;  // shots that failed quickly since the last result
    NodeRecord nodes;
    bool exclude_nodes = true;
    double rate = 0.0, window_begin = -1.0;
    std::int64_t window_shots = 0;
    double first_submission = -1.0, last_result = -1.0;  // times; -1: none yet
    SiteReport report;
    std::int64_t active_jobs() const;
  };

  // earlier runs
  void resume();
  void adopt(const BatchRecord& record);
  // one site, one round
  void update_site(SiteState& state);
  void confirm_batches(SiteState& state);
  void query_jobs(SiteState& state);
  void collect_results(SiteState& state);
  bool accept_results(SiteState& state, LiveJob& live, const std::vector<std::int64_t>& shots);
  void conclude_jobs(SiteState& state);
  enum class Conclusion { pending, ended, late };
  Conclusion conclude_job(SiteState& state, LiveJob& live);
  void handle_failure(SiteState& state, LiveJob& live, std::size_t shot,
                      const FailureAnalysis& analysis);
  void update_rate(SiteState& state, std::int64_t shots);
  void submit_waiting();
  void divide_shots();
  std::int64_t capacity_of(const SiteState& state) const;
  std::int64_t submit_shots(SiteState& state, std::int64_t shots);
  std::vector<std::size_t> pop_waiting(std::size_t site, std::int64_t max_count);
  bool submit_batch(SiteState& state, Batch& batch);
  void void_batch(SiteState& state, const Batch& batch, const std::string& reason);
  // state changes and messages
  void requeue(std::size_t shot, bool first);
  void give_up(std::size_t shot);
  void handle_no_answer(SiteState& state, const std::string& reason);
  void handle_answer(SiteState& state);
  void pause_site(SiteState& state, const std::string& reason, bool for_good);
  void notify(const std::string& line) const;
  void record_heartbeat(bool always);
  bool is_finished() const;
  void cancel_all_jobs();
  double next_event_time() const;
  double time_of_last_jobs(const SiteState& state) const;
  Report report();
  std::size_t index_of(std::int64_t shot) const { return m_index.at(shot); }
  // Shots of the job that have no result.
  std::vector<std::int64_t> missing_shots(const LiveJob& live) const;
  void flush_events();

  Campaign& m_campaign;
  const DistributeOptions& m_options;
  Clock& m_clock;
  ResultDispatcher m_dispatcher;
  std::vector<Shot> m_shots;
  std::map<std::int64_t, std::size_t> m_index;
  std::vector<std::deque<std::size_t>> m_waiting;
  std::vector<SiteState> m_sites;
  std::vector<Event> m_events;  // written to the journal by flush_events()
  std::string m_prefix;         // first part of batch tokens
  std::int64_t m_next_batch = 0;
  std::int64_t m_done = 0, m_given_up = 0, m_submitted = 0, m_waiting_count = 0;
  double m_now = 0.0, m_begin = 0.0, m_last_heartbeat = 0.0;
  Report m_report;
};

}  // namespace moho::cluster::detail
