// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A distributor's run: its state, and what it does at every turn.

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/ledger.hpp>
#include <moho/cluster/policy.hpp>

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

/// Hands results to a function in a thread of its own, in their order, or at once.
class Stacker {
 public:
  /// \param function may be empty
  /// \param apart in a thread of its own
  Stacker(OnResult function, bool apart);
  Stacker(const Stacker&) = delete;
  Stacker& operator=(const Stacker&) = delete;
  ~Stacker();
  /// Takes a result. Throws what the function threw before.
  void add(std::int64_t shot, const std::filesystem::path& path);
  /// Waits until all are handed on. Throws what the function threw.
  void finish();

 private:
  void work();
  void rethrow();
  OnResult m_function;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<std::pair<std::int64_t, std::filesystem::path>> m_waiting;
  std::exception_ptr m_failure;
  bool m_busy = false, m_ends = false;
  std::thread m_thread;
};

/// The run of distribute().
class Run {
 public:
  Run(Campaign& campaign, const std::vector<Task>& tasks,
      const std::vector<std::unique_ptr<Site>>& sites, const DistributeOptions& options,
      const OnResult& on_result, Clock& clock);
  /// To the end. \throws InputError for an input that is not usable
  Report run();

 private:
  enum class Stage { waiting, handed, done, given_up };

  // A shot.
  struct Shot {
    Task task;
    Stage stage = Stage::waiting;
    int attempts = 0, lost = 0;
    double stretch = 1.0;  // of its time limit
    double memory = 0.0;   // bytes; 0: as all
    std::set<std::string> nodes;
    std::string why;
    std::string holder;     // token of the job that has it
    std::size_t queue = 0;  // 0: that of all sites; k + 1: that of site k
  };

  // A job that was submitted.
  struct Live {
    Job job;
    std::vector<std::size_t> shots;
    std::string id;
    double since = 0.0;
    JobStatus status;
    double unknown_since = -1.0, ended_at = -1.0;
    bool given_back = false;  // its shots were handed out again, and its results still count
    bool cancelled = false;
    bool late = false;               // it is done with, and a result that comes late counts
    std::size_t own = 0;             // results of it that count
    std::set<std::int64_t> damaged;  // results that were told of
  };

  // A submission of which it is not known whether it was accepted.
  struct Unsure {
    Batch batch;
    double find_at = 0.0, since = 0.0;
    int tries = 0;
  };

  struct SiteState {
    Site* site = nullptr;
    std::list<Live> live;
    std::list<Unsure> unsure;
    double next_look = 0.0, pause = 0.0, next_check = 0.0;
    double silent_since = -1.0;
    double not_before = 0.0;  // a pause
    int pauses = 0;
    int never = 0;                 // submissions that were not accepted
    std::string left_out;          // why; empty: it is used
    bool trial = false;            // after a pause: one job alone
    std::set<std::int64_t> quick;  // shots that failed within seconds, in a row
    NodeRecord nodes;
    bool avoid = true;
    double rate = 0.0, window = -1.0;
    std::int64_t in_window = 0;
    double first = -1.0, last = -1.0;  // submission, result
    SiteReport report;
    std::int64_t active() const;
  };

  // ledger and results of earlier runs
  void resume();
  void adopt(const BatchRecord& record);
  // turns
  void serve(SiteState& state);
  void find_unsure(SiteState& state);
  void look(SiteState& state);
  void collect(SiteState& state);
  bool take(SiteState& state, Live& live, const std::vector<std::int64_t>& shots);
  void settle(SiteState& state);
  enum class End { not_yet, over, late };
  End conclude(SiteState& state, Live& live);
  void judge(SiteState& state, Live& live, std::size_t shot, const Verdict& verdict);
  void count_rate(SiteState& state, std::int64_t shots);
  void plan();
  void plan_parts();
  std::int64_t room_of(const SiteState& state) const;
  std::int64_t hand_out(SiteState& state, std::int64_t shots);
  std::vector<std::size_t> take_waiting(std::size_t site, std::int64_t most);
  bool submit(SiteState& state, Batch& batch);
  void void_batch(SiteState& state, const Batch& batch, const std::string& why);
  // consequences
  void give_back(std::size_t shot, bool first);
  void give_up(std::size_t shot);
  void silent(SiteState& state, const std::string& why);
  void answered(SiteState& state);
  void pause(SiteState& state, const std::string& why, bool for_good);
  void say(const std::string& line) const;
  void beat(bool always);
  bool finished() const;
  void cancel_all();
  double next_turn() const;
  Report report();
  std::size_t index_of(std::int64_t shot) const { return m_index.at(shot); }
  // shots of a job without a result
  std::vector<std::int64_t> missing_of(const Live& live) const;
  void flush();

  Campaign& m_campaign;
  const DistributeOptions& m_options;
  Clock& m_clock;
  Stacker m_stacker;
  std::vector<Shot> m_shots;
  std::map<std::int64_t, std::size_t> m_index;
  std::vector<std::deque<std::size_t>> m_waiting;
  std::vector<SiteState> m_sites;
  std::vector<Event> m_events;  // to go to the journal at the end of the turn
  std::string m_prefix;         // of tokens
  std::int64_t m_next_batch = 0;
  std::int64_t m_done = 0, m_given_up = 0, m_handed = 0, m_left = 0;
  double m_now = 0.0, m_begin = 0.0, m_last_beat = 0.0;
  Report m_report;
};

}  // namespace moho::cluster::detail
