// SPDX-License-Identifier: BSD-3-Clause
//
// What a distributor does with jobs that it has submitted.
#include <moho/cluster/detail/run.hpp>
#include <moho/cluster/partition.hpp>
#include <moho/cluster/text.hpp>

#include <algorithm>
#include <cmath>

namespace moho::cluster::detail {

void Run::serve(SiteState& state) {
  try {
    find_unsure(state);
    if (!state.live.empty()) {
      if (m_now >= state.next_look) look(state);
      if (m_now >= state.next_check) collect(state);
      settle(state);
    }
  } catch (const NoAnswer& error) {
    const auto [shortest, longest] = state.site->system().pauses();
    state.pause = std::clamp(2.0 * state.pause, std::min(shortest, 5.0), std::max(longest, 5.0));
    state.next_look = state.next_check = m_now + state.pause;
    for (Unsure& unsure : state.unsure) {
      unsure.find_at = std::max(unsure.find_at, m_now + std::max(state.pause, 1.0));
    }
    silent(state, error.what());
  }
}

void Run::find_unsure(SiteState& state) {
  for (auto at = state.unsure.begin(); at != state.unsure.end();) {
    Unsure& unsure = *at;
    if (m_now < unsure.find_at) {
      ++at;
      continue;
    }
    const std::vector<std::string> ids = state.site->system().find(unsure.batch);
    answered(state);
    if (ids.size() == unsure.batch.jobs.size()) {
      m_campaign.journal.add({sent_event(unsure.batch, ids)});
      for (std::size_t k = 0; k < ids.size(); ++k) {
        Live live;
        live.job = unsure.batch.jobs[k];
        live.id = ids[k];
        live.since = m_now;
        for (const Task& task : live.job.tasks) {
          const auto known = m_index.find(task.shot);
          if (known != m_index.end()) live.shots.push_back(known->second);
        }
        state.live.push_back(live);
      }
      state.next_look = m_now;
      at = state.unsure.erase(at);
      continue;
    }
    // What took its time to be accepted is looked for once more.
    const double settles = state.site->system().settles();
    if (++unsure.tries < 2 && settles > 0.0) {
      unsure.find_at = m_now + settles;
      ++at;
      continue;
    }
    // Its results count if there are any all the same: it lived longer than its system remembers.
    Live ghost;
    for (const Job& job : unsure.batch.jobs) {
      ghost.job = job;
      ghost.shots.clear();
      for (const Task& task : job.tasks) {
        const auto known = m_index.find(task.shot);
        if (known != m_index.end()) ghost.shots.push_back(known->second);
      }
      take(state, ghost, missing_of(ghost));
    }
    const Batch batch = unsure.batch;
    at = state.unsure.erase(at);
    void_batch(state, batch, "it was never accepted");
    if (++state.never % 3 == 0) pause(state, "what is submitted is never accepted", false);
  }
}

void Run::look(SiteState& state) {
  std::vector<std::string> ids;
  std::map<std::string, Live*> by_id;
  for (Live& live : state.live) {
    if (live.ended_at >= 0.0) continue;
    ids.push_back(live.id);
    by_id[live.id] = &live;
  }
  JobSystem& system = state.site->system();
  const auto [shortest, longest] = system.pauses();
  bool changed = false;
  if (!ids.empty()) {
    const std::vector<JobStatus> all = system.look(ids);
    answered(state);
    for (const JobStatus& status : all) {
      const auto at = by_id.find(status.id);
      if (at == by_id.end() || at->second->ended_at >= 0.0) continue;
      Live& live = *at->second;
      changed = changed || status.state != live.status.state;
      if (status.state == JobState::unknown) {
        if (live.unknown_since < 0.0) live.unknown_since = m_now;
        if (m_now - live.unknown_since < system.forgets()) continue;
        live.status.state = JobState::unknown;
        live.ended_at = m_now;
        continue;
      }
      live.unknown_since = -1.0;
      live.status = status;
      if (has_ended(status.state)) live.ended_at = m_now;
    }
  }
  state.pause = changed ? shortest : std::clamp(1.5 * state.pause, shortest, longest);
  state.next_look = m_now + state.pause;
}

// Takes results of a job that are there. Returns whether there were any.
bool Run::take(SiteState& state, Live& live, const std::vector<std::int64_t>& shots) {
  if (shots.empty()) return false;
  const Arrivals arrivals = state.site->arrived(m_campaign.work, live.job, shots);
  for (const auto& [shot, why] : arrivals.damaged) {
    if (live.damaged.insert(shot).second) {
      m_report.notes.push_back(concat("shot ", shot, ": ", why));
      m_shots[index_of(shot)].why = why;
    }
  }
  if (arrivals.whole.empty()) return false;
  Journal& journal = m_campaign.journal;
  journal.record(arrivals.whole);
  std::int64_t fresh = 0;
  for (const ShotResult& result : arrivals.whole) {
    Shot& shot = m_shots[index_of(result.shot)];
    if (shot.stage == Stage::done) {
      const auto counted = journal.result(result.shot);
      if (counted && counted->file != result.file) {
        ++m_report.twice;
        state.site->drop(result);
      }
      continue;
    }
    if (shot.stage == Stage::handed) {
      --m_handed;
    } else if (shot.stage == Stage::given_up) {
      --m_given_up;
    } else {
      --m_left;
      for (auto& queue : m_waiting) {
        queue.erase(std::remove(queue.begin(), queue.end(), index_of(result.shot)), queue.end());
      }
    }
    shot.stage = Stage::done;
    shot.holder.clear();
    ++m_done;
    ++fresh;
    ++live.own;
    m_stacker.add(result.shot, journal.folder() / result.file);
  }
  state.report.shots += fresh;
  if (fresh > 0) {
    state.last = m_now;
    state.quick.clear();
    state.trial = false;
    state.pauses = 0;
    count_rate(state, fresh);
  }
  return fresh > 0;
}

void Run::collect(SiteState& state) {
  // Many files are looked for less often: their file system has other users.
  state.next_check =
      m_now + std::max(state.site->options().check, 0.002 * static_cast<double>(state.live.size()));
  bool any = false;
  for (Live& live : state.live) {
    any = take(state, live, missing_of(live)) || any;
  }
  if (any) state.next_look = std::min(state.next_look, m_now + state.site->system().pauses().first);
  // Jobs that compute what others have computed meanwhile are ended.
  std::vector<std::string> ids;
  for (Live& live : state.live) {
    if (live.cancelled || live.late || live.ended_at >= 0.0 || live.own == live.shots.size())
      continue;
    if (!missing_of(live).empty()) continue;
    live.cancelled = true;
    ids.push_back(live.id);
  }
  if (!ids.empty()) state.site->system().cancel(ids);
}

void Run::count_rate(SiteState& state, std::int64_t shots) {
  if (state.window < 0.0) return;
  state.in_window += shots;
  const double seconds = m_now - state.window;
  const std::int64_t enough = std::max<std::int64_t>(4, 2 * state.active());
  if (state.in_window < enough || !(seconds > 0.0)) return;
  state.rate = smoothed_rate(state.rate, static_cast<double>(state.in_window), seconds, 0.3);
  state.window = m_now;
  state.in_window = 0;
}

void Run::settle(SiteState& state) {
  for (auto at = state.live.begin(); at != state.live.end();) {
    if (at->late ? !missing_of(*at).empty() : at->ended_at < 0.0) {
      ++at;
      continue;
    }
    if (!at->late) {
      const End end = conclude(state, *at);
      if (end != End::over) {
        at->late = at->given_back = end == End::late;
        ++at;
        continue;
      }
    }
    if (!m_options.keep_job_files && missing_of(*at).empty()) state.site->forget(at->job);
    at = state.live.erase(at);
  }
  if (state.active() == 0) state.window = -1.0;
}

// What becomes of the shots of a job that has ended.
Run::End Run::conclude(SiteState& state, Live& live) {
  const auto close = [&] {
    m_events.push_back({"over", live.job.token, to_string(live.status.state), live.status.node,
                        number_text(m_now)});
    return End::over;
  };
  if (live.cancelled) return close();
  // Those that other jobs have computed, too: are they the same?
  std::vector<std::int64_t> asked;
  for (const std::size_t k : live.shots) {
    const std::int64_t shot = m_shots[k].task.shot;
    const auto counted = m_campaign.journal.result(shot);
    const auto has = [&](char end) {
      return counted->file.find(live.job.token + end) != std::string::npos;
    };
    const bool mine = counted && (has('.') || has('/'));
    if (!mine) asked.push_back(shot);
  }
  take(state, live, asked);
  const std::vector<std::int64_t> left = missing_of(live);
  const JobReport report = state.site->report(live.job);
  const std::string node = live.status.node.empty() ? report.host : live.status.node;
  if (left.empty()) {
    state.report.worked += report.seconds;
    state.nodes.add(node, false);
    return close();
  }
  // Files may come later than the end of their job, unless its worker has told of all shots.
  const bool told = std::all_of(left.begin(), left.end(), [&](std::int64_t shot) {
    return std::any_of(report.failures.begin(), report.failures.end(),
                       [&](const ShotFailure& failure) { return failure.shot == shot; });
  });
  if (!told && m_now < live.ended_at + state.site->options().settle) return End::not_yet;

  state.report.worked += report.seconds;
  const bool quick = m_now - live.since < m_options.quick + state.site->options().settle &&
                     live.status.state != JobState::cancelled;
  bool lost = false, own = false, may_come = false;
  std::string words;
  const bool progress = report.done.size() + report.failures.size() > 0 || report.current;
  for (const std::int64_t shot : left) {
    if (m_shots[index_of(shot)].holder != live.job.token) continue;
    Verdict verdict = verdict_on(shot, live.status, report);
    // Something has to count where nothing went forward, or this would never end.
    if (verdict.cause == Cause::not_begun && !progress) verdict.cause = Cause::vanished;
    if (verdict.cause == Cause::not_begun) {
      give_back(index_of(shot), true);
      continue;
    }
    if (verdict.cause == Cause::input) {
      throw InputError(
          concat("shot ", shot, node.empty() ? "" : " on ", node, ": ", verdict.words));
    }
    words = concat(to_string(verdict.cause), verdict.words.empty() ? "" : ": ", verdict.words);
    lost = lost || !counts(verdict.cause);
    own = own || verdict.cause == Cause::program;
    may_come = may_come || verdict.cause == Cause::node || verdict.cause == Cause::vanished ||
               verdict.cause == Cause::missing;
    if (quick && (verdict.cause == Cause::program || verdict.cause == Cause::node)) {
      state.quick.insert(shot);
    }
    Verdict named = verdict;
    live.status.node = node;
    judge(state, live, index_of(shot), named);
    if (verdict.cause == Cause::cancelled) pause(state, "a person ended the job " + live.id, true);
    if (verdict.cause == Cause::disk) pause(state, verdict.words, false);
  }
  if (lost) ++state.report.lost;
  state.nodes.add(node, lost);
  // A place that fails everything at once must not drain the queue.
  if (!own && !lost) state.quick.clear();
  if (state.quick.size() >= 3 || (state.trial && (own || lost))) pause(state, words, false);
  close();
  return may_come ? End::late : End::over;
}

void Run::judge(SiteState& state, Live& live, std::size_t k, const Verdict& verdict) {
  Shot& shot = m_shots[k];
  const std::string& node = live.status.node;
  ++state.report.failures;
  shot.why =
      concat(to_string(verdict.cause), node.empty() ? "" : " on ", node, " (site ",
             state.site->options().name, ")", verdict.words.empty() ? "" : ": ", verdict.words);
  m_events.push_back({"fail", std::to_string(shot.task.shot),
                      std::to_string(static_cast<int>(verdict.cause)), node, verdict.words});
  say(concat("shot ", shot.task.shot, ": ", shot.why));
  if (!counts(verdict.cause)) {
    if (++shot.lost >= m_options.max_lost) return give_up(k);
    return give_back(k, true);
  }
  ++shot.attempts;
  if (verdict.cause == Cause::program) {
    shot.nodes.insert(node.empty() ? live.job.token : node);
    if (shot.attempts >= 2 && shot.nodes.size() >= 2) return give_up(k);  // it is the shot
  }
  if (shot.attempts >= m_options.max_attempts) return give_up(k);
  if (verdict.cause == Cause::time) shot.stretch *= 1.5;
  if (verdict.cause == Cause::memory) {
    const double before = std::max(live.job.memory, m_options.memory);
    if (!(before > 0.0) || 2.0 * before > m_options.most_memory) {
      shot.why += before > 0.0 ? concat(" (", format_bytes(before), " were given, more than ",
                                        format_bytes(m_options.most_memory), " are not allowed)")
                               : std::string(" (give jobs more memory, or a thriftier program)");
      return give_up(k);
    }
    shot.memory = 2.0 * before;
  }
  give_back(k, false);
}

}  // namespace moho::cluster::detail
