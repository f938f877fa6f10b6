// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Simulated site, job system and clock, with random faults drawn from a seed.

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/site.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster::test {

/// Virtual time, which advances by waiting.
class FakeClock : public Clock {
 public:
  double now() override { return m_now; }
  void wait(double seconds) override {
    m_now += seconds;
    if (++waits > max_waits) throw Error("the distributor does not come to an end");
  }
  std::int64_t waits = 0;              ///< number of calls of wait()
  std::int64_t max_waits = 2'000'000;  ///< limit; more calls are an error

 private:
  double m_now = 1e6;
};

/// Probabilities of faults.
struct Faults {
  double submit_lost = 0.0;      ///< no answer to a submission, not accepted
  double submit_accepted = 0.0;  ///< no answer to a submission, but accepted
  double late_accepted = 0.0;    ///< such a submission becomes known to the system some seconds
                                 ///< later
  double no_room = 0.0;          ///< submission refused for now
  double query_silent = 0.0;     ///< no answer to a query
  double wrong_state = 0.0;      ///< wrong state reported, or unknown
  double fails = 0.0;            ///< the program fails once
  double crashes = 0.0;          ///< the worker is killed
  double node_lost = 0.0;        ///< the node is lost; the system may run the job a second time
  double timed_out = 0.0;        ///< the time limit is reached
  double vanishes = 0.0;         ///< the system forgets the job; its result may still arrive
  double torn = 0.0;             ///< the result file is damaged
  double late_file = 0.0;        ///< the file arrives up to 9 s after the end of the job
  double very_late_file = 0.0;   ///< the file arrives 10 to 2000 s after the end of the job
  double wrong_success = 0.0;    ///< reported as completed, without a file
  double wrong_failure = 0.0;    ///< reported as failed, with a complete file
};

/// Returns the checksum of a shot's result, equal on all nodes.
inline std::uint32_t bits_of(std::int64_t shot) {
  return static_cast<std::uint32_t>(shot) * 2654435761u;
}

/// A simulated job system with its files. It outlives simulated distributors.
class FakeWorld {
 public:
  /// A file and the time at which it appears.
  struct File {
    double at = 0.0;
    bool whole = true;
  };
  /// A submitted job and its predetermined course.
  struct Entry {
    Job job;
    std::string id;
    double known_at = 0.0, start = 0.0, end = 0.0;
    JobState state = JobState::completed;
    int exit = 0;
    bool forgotten = false;
    std::string node;
    std::map<std::int64_t, File> files;
    JobReport report;
  };

  FakeWorld(std::uint64_t seed, const Faults& faults, FakeClock& clock)
      : m_random(seed), m_faults(faults), m_clock(clock) {}

  std::set<std::int64_t> bad;           ///< shots whose program always fails
  double seconds = 100.0;               ///< mean duration of a shot in seconds
  int slots = 4;                        ///< number of concurrent jobs
  std::map<std::int64_t, int> failed;   ///< failures by shot
  std::map<std::string, int> accepted;  ///< accepted submissions by token
  bool answers = true;                  ///< false: the site does not answer
  std::int64_t submissions = 0;         ///< accepted submissions

  bool chance(double probability) {
    return std::uniform_real_distribution<>(0.0, 1.0)(m_random) < probability;
  }
  double between(double low, double high) {
    return std::uniform_real_distribution<>(low, high)(m_random);
  }
  double now() { return m_clock.now(); }
  const Faults& faults() const { return m_faults; }

  void accept(const Batch& batch, double known_at) {
    ++accepted[batch.token];
    ++submissions;
    const std::string base = std::to_string(1000 + submissions);
    for (std::size_t k = 0; k < batch.jobs.size(); ++k) run(batch.jobs[k], base, k, known_at);
  }

  std::vector<Entry*> of(const std::string& token) {
    std::vector<Entry*> found;
    const auto at = m_batches.find(token);
    if (at == m_batches.end()) return found;
    for (const std::string& id : at->second) found.push_back(&m_entries.at(id));
    return found;
  }
  Entry* by_id(const std::string& id) {
    const auto at = m_entries.find(id);
    return at == m_entries.end() ? nullptr : &at->second;
  }

 private:
  void run(const Job& job, const std::string& base, std::size_t index, double known_at) {
    Entry entry;
    entry.job = job;
    entry.id = base + '_' + std::to_string(index);
    entry.known_at = known_at;
    // the slot that becomes free first
    m_free.resize(static_cast<std::size_t>(slots), 0.0);
    auto free = std::min_element(m_free.begin(), m_free.end());
    entry.start = std::max(now(), *free) + between(0.0, 2.0);
    entry.node = "node" + std::to_string(free - m_free.begin());
    double at = entry.start;
    entry.report.host = entry.node;
    std::set<std::int64_t> later;
    for (const Task& task : job.tasks) {
      at += seconds * between(0.7, 1.3);
      const std::int64_t shot = task.shot;
      if (bad.count(shot) > 0 || chance(m_faults.fails)) {
        ++failed[shot];
        entry.report.failures.push_back({shot, 1, 0, false, "it failed"});
        entry.state = JobState::failed;
        entry.exit = 1;
        continue;
      }
      if (chance(m_faults.crashes)) {
        ++failed[shot];
        entry.report.current = shot;
        entry.state = JobState::failed;
        entry.exit = -1;
        break;
      }
      if (chance(m_faults.timed_out)) {
        ++failed[shot];
        entry.report.current = shot;
        entry.state = JobState::timed_out;
        break;
      }
      if (chance(m_faults.node_lost)) {
        entry.report.current = shot;
        entry.state = chance(0.5) ? JobState::node_lost : JobState::preempted;
        // the system runs the job a second time in spite of --no-requeue
        if (chance(0.3)) entry.files[shot] = {at + between(0.0, 500.0), true};
        break;
      }
      if (chance(m_faults.vanishes)) {
        entry.report.current = shot;
        entry.forgotten = true;
        if (chance(0.5)) entry.files[shot] = {at + between(0.0, 900.0), true};
        break;
      }
      entry.report.done.push_back(shot);
      if (chance(m_faults.wrong_success)) continue;
      File file{at, !chance(m_faults.torn)};
      if (chance(m_faults.late_file)) file.at += between(0.0, 9.0);
      if (chance(m_faults.very_late_file)) file.at += between(10.0, 2000.0);
      entry.files[shot] = file;
    }
    if (entry.state == JobState::completed && chance(m_faults.wrong_failure)) {
      entry.state = JobState::failed;
    }
    entry.end = at;
    *free = at;
    m_batches[job.token.substr(0, job.token.rfind('.'))].push_back(entry.id);
    m_entries[entry.id] = entry;
  }

  std::mt19937_64 m_random;
  Faults m_faults;
  FakeClock& m_clock;
  std::vector<double> m_free;
  std::map<std::string, Entry> m_entries;
  std::map<std::string, std::vector<std::string>> m_batches;
};

/// A distributor's view of a FakeWorld.
class FakeSite : public Site, public JobSystem {
 public:
  FakeSite(SiteOptions options, FakeWorld& world) : Site(std::move(options)), m_world(world) {}

  JobSystem& system() override { return *this; }
  std::string probe() override { return "in memory"; }
  std::string probe(const Work&) override { return "in memory"; }
  void prepare(const Work&, const Batch&) override { must_answer(); }

  std::vector<std::string> submit(const Batch& batch) override {
    must_answer();
    const Faults& faults = m_world.faults();
    if (m_world.chance(faults.no_room)) throw NoRoom("too many jobs");
    if (m_world.chance(faults.submit_lost)) throw NoAnswer("Socket timed out");
    const bool silent = m_world.chance(faults.submit_accepted);
    const bool late = silent && m_world.chance(faults.late_accepted);
    m_world.accept(batch, m_world.now() + (late ? m_world.between(0.0, 14.0) : 0.0));
    if (silent) throw NoAnswer("Socket timed out");
    return ids_of(batch);
  }

  std::vector<std::string> find(const Batch& batch) override {
    ask();
    for (const FakeWorld::Entry* entry : m_world.of(batch.token)) {
      if (entry->known_at > m_world.now()) return {};
    }
    std::vector<std::string> ids = ids_of(batch);
    // a batch submitted twice: return the ids of the first submission
    ids.resize(std::min(ids.size(), batch.jobs.size()));
    return ids;
  }

  std::vector<JobStatus> query(const std::vector<std::string>& ids) override {
    ask();
    std::vector<JobStatus> all;
    for (const std::string& id : ids) {
      const FakeWorld::Entry* entry = m_world.by_id(id);
      JobStatus status;
      status.id = id;
      if (entry != nullptr && !cancelled.count(id)) {
        const double now = m_world.now();
        status.node = entry->node;
        status.state = now < entry->start ? JobState::queued
                       : now < entry->end ? JobState::running
                                          : entry->state;
        if (entry->forgotten && now > entry->start + 10.0) status.state = JobState::unknown;
        status.exit = entry->exit;
        if (!has_ended(status.state) && m_world.chance(m_world.faults().wrong_state)) {
          const JobState odd[] = {JobState::queued, JobState::running, JobState::unknown};
          status.state = odd[static_cast<std::size_t>(m_world.between(0.0, 2.999))];
        }
      } else if (entry != nullptr) {
        status.state = JobState::cancelled;
      }
      all.push_back(status);
    }
    return all;
  }

  void cancel(const std::vector<std::string>& ids) override {
    cancelled.insert(ids.begin(), ids.end());
  }

  CollectedResults collect(const Work&, const Job& job,
                           const std::vector<std::int64_t>& shots) override {
    must_answer();
    CollectedResults collected;
    for (const FakeWorld::Entry* entry : m_world.of(job.token.substr(0, job.token.rfind('.')))) {
      if (entry->job.token != job.token) continue;
      for (const std::int64_t shot : shots) {
        const auto file = entry->files.find(shot);
        if (file == entry->files.end() || file->second.at > m_world.now()) continue;
        const std::string name = options().name + '/' + result_name(shot, job.token);
        if (removed.count(name) > 0) continue;
        if (!file->second.whole) {
          collected.damaged.emplace_back(shot, "the checksum is wrong");
        } else if (std::none_of(collected.complete.begin(), collected.complete.end(),
                                [&](const ShotResult& one) { return one.shot == shot; })) {
          collected.complete.push_back({shot, name, 8, bits_of(shot)});
        }
      }
    }
    return collected;
  }

  JobReport report(const Job& job) override {
    JobReport report;
    for (const FakeWorld::Entry* entry : m_world.of(job.token.substr(0, job.token.rfind('.')))) {
      if (entry->job.token == job.token && m_world.now() >= entry->end) report = entry->report;
    }
    return report;
  }

  void remove_duplicate(const ShotResult& result) override { removed.insert(result.file); }
  void remove_job_files(const Job&) override {}

  std::int64_t max_jobs() const override { return 20; }
  double settling_time() const override { return 15.0; }
  std::pair<double, double> query_intervals() const override { return {5.0, 60.0}; }

  std::set<std::string> cancelled;  ///< ids of cancelled jobs
  std::set<std::string> removed;    ///< paths of removed results

 private:
  void must_answer() {
    if (!m_world.answers) throw NoAnswer("Connection refused");
  }
  void ask() {
    must_answer();
    if (m_world.chance(m_world.faults().query_silent)) throw NoAnswer("Unable to contact");
  }
  std::vector<std::string> ids_of(const Batch& batch) {
    std::vector<std::string> ids;
    for (const FakeWorld::Entry* entry : m_world.of(batch.token)) ids.push_back(entry->id);
    return ids;
  }

  FakeWorld& m_world;
};

}  // namespace moho::cluster::test
