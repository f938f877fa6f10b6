// SPDX-License-Identifier: BSD-3-Clause
//
// How a distributor hands out what is left.
#include <moho/cluster/detail/run.hpp>
#include <moho/cluster/partition.hpp>
#include <moho/cluster/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace moho::cluster::detail {

// Algorithm 3: all shots are cut once.
void Run::plan_parts() {
  std::vector<double> rates;
  for (const SiteState& state : m_sites) rates.push_back(state.site->options().rate);
  if (std::any_of(rates.begin(), rates.end(), [](double rate) { return !(rate > 0.0); })) {
    std::fill(rates.begin(), rates.end(), 1.0);
  }
  const auto parts = parts_by_rates(rates, static_cast<std::int64_t>(m_waiting[0].size()));
  for (std::size_t site = 0; site < parts.size(); ++site) {
    for (std::int64_t n = 0; n < parts[site]; ++n) {
      const std::size_t shot = m_waiting[0].front();
      m_waiting[0].pop_front();
      m_shots[shot].queue = site + 1;
      m_waiting[site + 1].push_back(shot);
    }
  }
}

// Shots that a site can take now.
std::int64_t Run::room_of(const SiteState& state) const {
  if (!state.left_out.empty() || state.silent_since >= 0.0 || m_now < state.not_before ||
      !state.unsure.empty()) {
    return 0;
  }
  const SiteOptions& options = state.site->options();
  std::int64_t jobs = options.jobs - state.active();
  if (state.trial) jobs = std::min<std::int64_t>(jobs, state.active() > 0 ? 0 : 1);
  if (jobs < 1) return 0;
  if (options.chunks && !state.trial) return std::numeric_limits<std::int64_t>::max() / 4;
  return jobs * m_options.shots_per_job;
}

void Run::plan() {
  // Each turn may leave room that the next fills, since chunks are a part of the rest.
  for (int turn = 0; turn < 64 && m_left > 0; ++turn) {
    std::vector<SiteRate> rates;
    std::vector<std::size_t> places;
    std::int64_t own = 0;
    for (std::size_t k = 0; k < m_sites.size(); ++k) {
      const SiteState& state = m_sites[k];
      if (!state.left_out.empty()) continue;
      const std::int64_t room = room_of(state);
      const auto cut_out = static_cast<std::int64_t>(m_waiting[k + 1].size());
      if (room > 0 && cut_out > 0) {
        own += hand_out(m_sites[k], std::min(room, cut_out));
        continue;
      }
      rates.push_back({state.rate, state.site->options().least, room, 0});
      places.push_back(k);
    }
    const auto left = static_cast<std::int64_t>(m_waiting[0].size());
    std::int64_t handed = own;
    if (left > 0 && !rates.empty()) {
      PartitionOptions how;
      how.part = m_options.part;
      if (m_sites.size() == 1) how.part = 1.0;  // nobody else would take the rest
      for (const Chunk& chunk : next_chunks(rates, left, how)) {
        handed += hand_out(m_sites[places[chunk.site]], chunk.shots);
      }
    }
    if (handed == 0) return;
  }
}

std::vector<std::size_t> Run::take_waiting(std::size_t site, std::int64_t most) {
  std::vector<std::size_t> shots;
  for (const std::size_t queue : {site + 1, std::size_t{0}}) {
    auto& waiting = m_waiting[queue];
    while (static_cast<std::int64_t>(shots.size()) < most && !waiting.empty()) {
      shots.push_back(waiting.front());
      waiting.pop_front();
    }
  }
  return shots;
}

// Submits so many shots, in jobs and batches. Returns how many the site has taken.
std::int64_t Run::hand_out(SiteState& state, std::int64_t count) {
  const auto place = static_cast<std::size_t>(&state - m_sites.data());
  const SiteOptions& site = state.site->options();
  const std::vector<std::size_t> shots = take_waiting(place, count);
  m_left -= static_cast<std::int64_t>(shots.size());
  m_handed += static_cast<std::int64_t>(shots.size());
  const std::size_t each =
      site.chunks ? shots.size() : static_cast<std::size_t>(m_options.shots_per_job);
  // Jobs, and jobs of equal limits to batches.
  std::vector<Batch> batches;
  const auto most =
      static_cast<std::size_t>(std::max<std::int64_t>(1, state.site->system().most_jobs()));
  for (std::size_t at = 0; at < shots.size();) {
    Job job;
    const double memory = m_shots[shots[at]].memory;
    while (at < shots.size() && job.tasks.size() < each && m_shots[shots[at]].memory == memory) {
      const Shot& shot = m_shots[shots[at]];
      job.tasks.push_back(shot.task);
      if (!site.chunks) job.seconds += m_options.seconds_per_shot * shot.stretch;
      ++at;
    }
    if (site.seconds > 0.0) job.seconds = std::min(job.seconds, site.seconds);
    job.memory = memory > 0.0 ? memory : m_options.memory;
    if (state.avoid) job.avoid = state.nodes.to_avoid();
    const bool fits = !batches.empty() && batches.back().jobs.size() < most &&
                      batches.back().jobs[0].seconds == job.seconds &&
                      batches.back().jobs[0].memory == job.memory;
    if (!fits) batches.push_back({m_prefix + std::to_string(m_next_batch++), {}});
    job.token = concat(batches.back().token, '.', batches.back().jobs.size());
    for (const Task& task : job.tasks) {
      Shot& shot = m_shots[index_of(task.shot)];
      shot.stage = Stage::handed;
      shot.holder = job.token;
    }
    batches.back().jobs.push_back(std::move(job));
  }
  std::int64_t taken = 0;
  bool goes_on = true;
  for (Batch& batch : batches) {
    std::int64_t size = 0;
    for (const Job& job : batch.jobs) size += static_cast<std::int64_t>(job.tasks.size());
    if (goes_on) {
      goes_on = submit(state, batch);
      if (goes_on) taken += size;
      continue;
    }
    // Nothing of these was written or asked: they go back as they were.
    for (auto job = batch.jobs.rbegin(); job != batch.jobs.rend(); ++job) {
      for (auto task = job->tasks.rbegin(); task != job->tasks.rend(); ++task) {
        if (m_shots[index_of(task->shot)].holder != job->token) continue;
        give_back(index_of(task->shot), true);
        --m_report.again;
      }
    }
  }
  return taken;
}

void Run::void_batch(SiteState& state, const Batch& batch, const std::string& why) {
  m_campaign.journal.add({{"void", batch.token, why}});
  for (auto job = batch.jobs.rbegin(); job != batch.jobs.rend(); ++job) {
    for (auto task = job->tasks.rbegin(); task != job->tasks.rend(); ++task) {
      const auto known = m_index.find(task->shot);
      if (known == m_index.end() || m_shots[known->second].holder != job->token) continue;
      give_back(known->second, true);
    }
    state.site->forget(*job);
  }
}

// The journal knows of a submission before it is made, and of its ids as soon as they are there.
bool Run::submit(SiteState& state, Batch& batch) {
  const std::string& name = state.site->options().name;
  const auto unsure = [&](const std::string& why) {
    const double settles = state.site->system().settles();
    state.unsure.push_back({batch, m_now + settles, m_now, 0});
    say(concat("site ", name, ": it is not known whether the batch ", batch.token,
               " was accepted: ", why));
    return false;
  };
  try {
    state.site->prepare(m_campaign.work, batch);
  } catch (const NoAnswer& error) {
    m_campaign.journal.add({batch_event(batch, name, m_now)});
    void_batch(state, batch, error.what());
    silent(state, error.what());
    state.next_look = m_now;
    state.not_before = m_now + 5.0;
    return false;
  } catch (const FileError& error) {
    void_batch(state, batch, error.what());
    pause(state, error.what(), false);
    return false;
  }
  m_campaign.journal.add({batch_event(batch, name, m_now)});
  std::vector<std::string> ids;
  try {
    ids = state.site->system().submit(batch);
  } catch (const NoRoom& error) {
    void_batch(state, batch, error.what());
    state.not_before = m_now + std::max(30.0, state.site->system().pauses().first);
    return false;
  } catch (const Refused& error) {
    void_batch(state, batch, error.what());
    if (!batch.jobs[0].avoid.empty()) {
      state.avoid = false;  // without those nodes there may be none
      return false;
    }
    pause(state, error.what(), true);
    return false;
  } catch (const NoAnswer& error) {
    return unsure(error.what());
  }
  if (ids.size() != batch.jobs.size()) {
    return unsure(concat(ids.size(), " ids for ", batch.jobs.size(), " jobs"));
  }
  answered(state);
  m_campaign.journal.add({sent_event(batch, ids)});
  ++m_report.batches;
  state.never = 0;
  if (state.first < 0.0) state.first = m_now;
  if (state.window < 0.0) {
    state.window = m_now;
    state.in_window = 0;
  }
  for (std::size_t k = 0; k < ids.size(); ++k) {
    Live live;
    live.job = std::move(batch.jobs[k]);
    live.id = ids[k];
    live.since = m_now;
    for (const Task& task : live.job.tasks) live.shots.push_back(index_of(task.shot));
    state.live.push_back(std::move(live));
    ++state.report.jobs;
  }
  const double soon = m_now + state.site->system().pauses().first;
  state.pause = state.site->system().pauses().first;
  state.next_look = state.next_look > m_now ? std::min(state.next_look, soon) : soon;
  return true;
}

}  // namespace moho::cluster::detail
