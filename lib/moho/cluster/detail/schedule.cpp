// SPDX-License-Identifier: BSD-3-Clause
//
// Service of one site: state of its jobs, collection of results, consequences of failures.
#include <moho/cluster/detail/run.hpp>
#include <moho/cluster/partition.hpp>
#include <moho/cluster/text.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace moho::cluster::detail {

namespace {

// Returns the time of the last change of a file, seconds since the epoch; 0 if it is missing.
// Results keep it when they are transferred: it is the end of their shot.
double time_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return 0.0;
  return static_cast<double>(status.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

}  // namespace

void Run::update_site(SiteState& state) {
  try {
    confirm_batches(state);
    if (!state.live.empty()) {
      if (m_now >= state.next_query) query_jobs(state);
      if (m_now >= state.next_collection) collect_results(state);
      conclude_jobs(state);
    }
  } catch (const NoAnswer& error) {
    const auto [shortest, longest] = state.site->system().query_intervals();
    state.query_interval =
        std::clamp(2.0 * state.query_interval, std::min(shortest, 5.0), std::max(longest, 5.0));
    state.next_query = state.next_collection = m_now + state.query_interval;
    for (UnconfirmedBatch& entry : state.unconfirmed) {
      entry.next_find = std::max(entry.next_find, m_now + std::max(state.query_interval, 1.0));
    }
    handle_no_answer(state, error.what());
  }
}

void Run::confirm_batches(SiteState& state) {
  for (auto at = state.unconfirmed.begin(); at != state.unconfirmed.end();) {
    UnconfirmedBatch& entry = *at;
    if (m_now < entry.next_find) {
      ++at;
      continue;
    }
    const std::vector<std::string> ids = state.site->system().find(entry.batch);
    handle_answer(state);
    if (ids.size() == entry.batch.jobs.size()) {
      m_campaign.journal.add_events({sent_event(entry.batch, ids)});
      for (std::size_t k = 0; k < ids.size(); ++k) {
        LiveJob live;
        live.job = entry.batch.jobs[k];
        live.id = ids[k];
        live.submitted_at = m_now;
        for (const Task& task : live.job.tasks) {
          const auto known = m_index.find(task.shot);
          if (known != m_index.end()) live.shots.push_back(known->second);
        }
        state.live.push_back(live);
      }
      state.next_query = m_now;
      at = state.unconfirmed.erase(at);
      continue;
    }
    // Systems with a settling time are searched a second time.
    const double settling_time = state.site->system().settling_time();
    if (++entry.attempts < 2 && settling_time > 0.0) {
      entry.next_find = m_now + settling_time;
      ++at;
      continue;
    }
    // Results still count: the batch may have run and left the system's memory.
    LiveJob late_job;
    for (const Job& job : entry.batch.jobs) {
      late_job.job = job;
      late_job.shots.clear();
      for (const Task& task : job.tasks) {
        const auto known = m_index.find(task.shot);
        if (known != m_index.end()) late_job.shots.push_back(known->second);
      }
      accept_results(state, late_job, missing_shots(late_job));
    }
    const Batch batch = entry.batch;
    at = state.unconfirmed.erase(at);
    void_batch(state, batch, "it was never accepted");
    if (++state.unconfirmed_count % 3 == 0)
      pause_site(state, "submissions are never accepted", false);
  }
}

void Run::query_jobs(SiteState& state) {
  std::vector<std::string> ids;
  std::map<std::string, LiveJob*> by_id;
  for (LiveJob& live : state.live) {
    if (live.ended_at >= 0.0) continue;
    ids.push_back(live.id);
    by_id[live.id] = &live;
  }
  JobSystem& system = state.site->system();
  const auto [shortest, longest] = system.query_intervals();
  bool changed = false;
  if (!ids.empty()) {
    const std::vector<JobStatus> all = system.query(ids);
    handle_answer(state);
    for (const JobStatus& status : all) {
      const auto at = by_id.find(status.id);
      if (at == by_id.end() || at->second->ended_at >= 0.0) continue;
      LiveJob& live = *at->second;
      changed = changed || status.state != live.status.state;
      if (status.state == JobState::unknown) {
        if (live.unknown_since < 0.0) live.unknown_since = m_now;
        if (m_now - live.unknown_since < system.unknown_timeout()) continue;
        live.status.state = JobState::unknown;
        live.ended_at = m_now;
        continue;
      }
      live.unknown_since = -1.0;
      live.status = status;
      if (has_ended(status.state)) live.ended_at = m_now;
    }
  }
  state.query_interval =
      changed ? shortest : std::clamp(1.5 * state.query_interval, shortest, longest);
  state.next_query = m_now + state.query_interval;
}

// Records results of a job that have arrived. Returns true if any shot was completed.
bool Run::accept_results(SiteState& state, LiveJob& live, const std::vector<std::int64_t>& shots) {
  if (shots.empty()) return false;
  const CollectedResults collected = state.site->collect(m_campaign.work, live.job, shots);
  for (const auto& [shot, reason] : collected.damaged) {
    if (live.damaged.insert(shot).second) {
      m_report.notes.push_back(concat("shot ", shot, ": ", reason));
      m_shots[index_of(shot)].reason = reason;
    }
  }
  if (collected.complete.empty()) return false;
  Journal& journal = m_campaign.journal;
  journal.record(collected.complete);
  std::int64_t fresh = 0;
  for (const ShotResult& result : collected.complete) {
    Shot& shot = m_shots[index_of(result.shot)];
    if (shot.stage == Stage::done) {
      const auto counted = journal.result(result.shot);
      if (counted && counted->file != result.file) {
        ++m_report.duplicates;
        state.site->remove_duplicate(result);
      }
      continue;
    }
    if (shot.stage == Stage::submitted) {
      --m_submitted;
    } else if (shot.stage == Stage::given_up) {
      --m_given_up;
    } else {
      --m_waiting_count;
      for (auto& queue : m_waiting) {
        queue.erase(std::remove(queue.begin(), queue.end(), index_of(result.shot)), queue.end());
      }
    }
    shot.stage = Stage::done;
    shot.job_token.clear();
    ++m_done;
    ++fresh;
    ++live.result_count;
    state.report.bytes += static_cast<double>(result.bytes);
    m_report.last_shot = std::max(m_report.last_shot, time_of(journal.folder() / result.file));
    m_dispatcher.add(result.shot, journal.folder() / result.file);
  }
  state.report.shots += fresh;
  if (fresh > 0) {
    state.last_result = m_now;
    state.quick_failures.clear();
    state.trial = false;
    state.pause_count = 0;
    update_rate(state, fresh);
  }
  return fresh > 0;
}

void Run::collect_results(SiteState& state) {
  // The interval grows with the number of jobs, which limits the load on the file system.
  std::size_t shots = 0;
  for (const LiveJob& live : state.live) shots += live.shots.size();
  state.next_collection = m_now + std::max({state.site->options().collect_interval,
                                            0.002 * static_cast<double>(state.live.size()),
                                            2e-6 * static_cast<double>(shots)});
  bool any = false;
  for (LiveJob& live : state.live) {
    any = accept_results(state, live, missing_shots(live)) || any;
  }
  if (any)
    state.next_query =
        std::min(state.next_query, m_now + state.site->system().query_intervals().first);
  // Cancel jobs whose shots all have results from other jobs.
  std::vector<std::string> ids;
  for (LiveJob& live : state.live) {
    if (live.cancelled || live.accepts_late || live.ended_at >= 0.0 ||
        live.result_count == live.shots.size())
      continue;
    if (!missing_shots(live).empty()) continue;
    live.cancelled = true;
    ids.push_back(live.id);
  }
  if (!ids.empty()) state.site->system().cancel(ids);
}

void Run::update_rate(SiteState& state, std::int64_t shots) {
  if (state.window_begin < 0.0) return;
  state.window_shots += shots;
  const double seconds = m_now - state.window_begin;
  const std::int64_t enough = std::max<std::int64_t>(4, 2 * state.active_jobs());
  if (state.window_shots < enough || !(seconds > 0.0)) return;
  state.rate = smooth_rate(state.rate, static_cast<double>(state.window_shots), seconds, 0.3);
  state.window_begin = m_now;
  state.window_shots = 0;
}

void Run::conclude_jobs(SiteState& state) {
  for (auto at = state.live.begin(); at != state.live.end();) {
    if (at->accepts_late ? !missing_shots(*at).empty() : at->ended_at < 0.0) {
      ++at;
      continue;
    }
    if (!at->accepts_late) {
      const Conclusion end = conclude_job(state, *at);
      if (end != Conclusion::ended) {
        at->accepts_late = at->requeued = end == Conclusion::late;
        ++at;
        continue;
      }
    }
    if (!m_options.keep_job_files && missing_shots(*at).empty())
      state.site->remove_job_files(at->job);
    at = state.live.erase(at);
  }
  if (state.active_jobs() == 0) state.window_begin = -1.0;
}

// Decides what happens to the shots of a job that has ended.
Run::Conclusion Run::conclude_job(SiteState& state, LiveJob& live) {
  const auto close_job = [&] {
    m_events.push_back({"over", live.job.token, to_string(live.status.state), live.status.node,
                        format_number(m_now)});
    return Conclusion::ended;
  };
  if (live.cancelled) return close_job();
  // Also collect results of shots that other jobs completed, to compare their bytes.
  std::vector<std::int64_t> other_shots;
  for (const std::size_t k : live.shots) {
    const std::int64_t shot = m_shots[k].task.shot;
    const auto counted = m_campaign.journal.result(shot);
    const auto has = [&](char end) {
      return counted->file.find(live.job.token + end) != std::string::npos;
    };
    const bool is_own = counted && (has('.') || has('/'));
    if (!is_own) other_shots.push_back(shot);
  }
  accept_results(state, live, other_shots);
  const std::vector<std::int64_t> missing = missing_shots(live);
  const JobReport report = state.site->report(live.job);
  const std::string node = live.status.node.empty() ? report.host : live.status.node;
  if (missing.empty()) {
    state.report.compute_time += report.seconds;
    state.nodes.add(node, false);
    return close_job();
  }
  // Result files may arrive after the end of their job, unless the report names every failure.
  const bool all_reported = std::all_of(missing.begin(), missing.end(), [&](std::int64_t shot) {
    return std::any_of(report.failures.begin(), report.failures.end(),
                       [&](const ShotFailure& failure) { return failure.shot == shot; });
  });
  if (!all_reported && m_now < live.ended_at + state.site->options().file_delay)
    return Conclusion::pending;

  state.report.compute_time += report.seconds;
  const bool quick =
      m_now - live.submitted_at < m_options.quick_failure + state.site->options().file_delay &&
      live.status.state != JobState::cancelled;
  bool lost = false, node_lost = false, program_failed = false, may_be_late = false;
  std::string text;
  const bool progress = report.done.size() + report.failures.size() > 0 || report.current;
  for (const std::int64_t shot : missing) {
    if (m_shots[index_of(shot)].job_token != live.job.token) continue;
    FailureAnalysis analysis = analyse_failure(shot, live.status, report);
    // Without progress count this as a failure; otherwise the shot would be retried for ever.
    if (analysis.cause == Cause::not_begun && !progress) analysis.cause = Cause::vanished;
    if (analysis.cause == Cause::not_begun) {
      requeue(index_of(shot), true);
      continue;
    }
    if (analysis.cause == Cause::input) {
      throw InputError(
          concat("shot ", shot, node.empty() ? "" : " on ", node, ": ", analysis.message));
    }
    text =
        concat(to_string(analysis.cause), analysis.message.empty() ? "" : ": ", analysis.message);
    lost = lost || !counts_as_attempt(analysis.cause);
    program_failed = program_failed || analysis.cause == Cause::program;
    may_be_late = may_be_late || analysis.cause == Cause::node ||
                  analysis.cause == Cause::vanished || analysis.cause == Cause::missing;
    // the loss of a job counts once, whatever the number of its shots
    const bool first_loss = analysis.cause == Cause::node && !std::exchange(node_lost, true);
    if (quick && (analysis.cause == Cause::program || first_loss))
      state.quick_failures.insert(shot);
    live.status.node = node;
    handle_failure(state, live, index_of(shot), analysis);
    if (analysis.cause == Cause::cancelled)
      pause_site(state, "a user cancelled the job " + live.id, true);
    if (analysis.cause == Cause::disk) pause_site(state, analysis.message, false);
  }
  if (lost) ++state.report.lost;
  state.nodes.add(node, lost);
  // A site that fails every job quickly is paused, so that it does not consume all attempts.
  if (!program_failed && !lost) state.quick_failures.clear();
  if (state.quick_failures.size() >= 3 || (state.trial && (program_failed || lost)))
    pause_site(state, text, false);
  close_job();
  return may_be_late ? Conclusion::late : Conclusion::ended;
}

void Run::handle_failure(SiteState& state, LiveJob& live, std::size_t k,
                         const FailureAnalysis& analysis) {
  Shot& shot = m_shots[k];
  const std::string& node = live.status.node;
  ++state.report.failures;
  shot.reason = concat(to_string(analysis.cause), node.empty() ? "" : " on ", node, " (site ",
                       state.site->options().name, ")", analysis.message.empty() ? "" : ": ",
                       analysis.message);
  m_events.push_back({"fail", std::to_string(shot.task.shot),
                      std::to_string(static_cast<int>(analysis.cause)), node, analysis.message});
  notify(concat("shot ", shot.task.shot, ": ", shot.reason));
  if (!counts_as_attempt(analysis.cause)) {
    if (++shot.lost >= m_options.max_lost) return give_up(k);
    return requeue(k, true);
  }
  ++shot.attempts;
  if (analysis.cause == Cause::program) {
    shot.nodes.insert(node.empty() ? live.job.token : node);
    if (shot.attempts >= 2 && shot.nodes.size() >= 2) return give_up(k);  // failed on two nodes
  }
  if (shot.attempts >= m_options.max_attempts) return give_up(k);
  if (analysis.cause == Cause::time) shot.time_factor *= 1.5;
  if (analysis.cause == Cause::memory) {
    const double given = std::max(live.job.memory, m_options.memory);
    if (!(given > 0.0) || 2.0 * given > m_options.max_memory) {
      shot.reason += given > 0.0 ? concat(" (", format_bytes(given), " were requested; at most ",
                                          format_bytes(m_options.max_memory), " are allowed)")
                                 : std::string(" (request more memory for jobs)");
      return give_up(k);
    }
    shot.memory = 2.0 * given;
  }
  requeue(k, false);
}

}  // namespace moho::cluster::detail
