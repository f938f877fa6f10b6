// SPDX-License-Identifier: BSD-3-Clause
//
// Division of waiting shots among sites, and their submission.
#include <moho/cluster/detail/run.hpp>
#include <moho/cluster/partition.hpp>
#include <moho/cluster/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace moho::cluster::detail {

// Reserves shots for sites in proportion to their rates (Algorithm 3), once per run.
void Run::divide_shots() {
  std::vector<double> rates;
  for (const SiteState& state : m_sites) rates.push_back(state.site->options().rate);
  if (std::any_of(rates.begin(), rates.end(), [](double rate) { return !(rate > 0.0); })) {
    std::fill(rates.begin(), rates.end(), 1.0);
  }
  const auto parts = divide_by_rates(rates, static_cast<std::int64_t>(m_waiting[0].size()));
  for (std::size_t site = 0; site < parts.size(); ++site) {
    for (std::int64_t n = 0; n < parts[site]; ++n) {
      const std::size_t shot = m_waiting[0].front();
      m_waiting[0].pop_front();
      m_shots[shot].queue = site + 1;
      m_waiting[site + 1].push_back(shot);
    }
  }
}

// Returns the number of shots that a site can accept now.
std::int64_t Run::capacity_of(const SiteState& state) const {
  if (!state.exclusion.empty() || state.silent_since >= 0.0 || m_now < state.paused_until ||
      !state.unconfirmed.empty()) {
    return 0;
  }
  const SiteOptions& options = state.site->options();
  std::int64_t jobs = options.max_jobs - state.active_jobs();
  if (state.trial) jobs = std::min<std::int64_t>(jobs, state.active_jobs() > 0 ? 0 : 1);
  if (jobs < 1) return 0;
  if (options.one_job_per_chunk && !state.trial)
    return std::numeric_limits<std::int64_t>::max() / 4;
  return jobs * m_options.shots_per_job;
}

void Run::submit_waiting() {
  // Repeat while sites have free capacity: one round hands out a fraction of the waiting shots.
  for (int turn = 0; turn < 64 && m_waiting_count > 0; ++turn) {
    std::vector<SiteRate> rates;
    std::vector<std::size_t> indices;
    std::int64_t submitted = 0;
    for (std::size_t k = 0; k < m_sites.size(); ++k) {
      const SiteState& state = m_sites[k];
      if (!state.exclusion.empty()) continue;
      const std::int64_t capacity = capacity_of(state);
      const auto cut_out = static_cast<std::int64_t>(m_waiting[k + 1].size());
      if (capacity > 0 && cut_out > 0) {
        submitted += submit_shots(m_sites[k], std::min(capacity, cut_out));
        continue;
      }
      rates.push_back({state.rate, state.site->options().min_chunk, capacity, 0});
      indices.push_back(k);
    }
    const auto left = static_cast<std::int64_t>(m_waiting[0].size());
    if (left > 0 && !rates.empty()) {
      PartitionOptions partition;
      partition.fraction = m_options.fraction;
      if (m_sites.size() == 1) partition.fraction = 1.0;  // a single site gets all
      for (const Chunk& chunk : assign_chunks(rates, left, partition)) {
        submitted += submit_shots(m_sites[indices[chunk.site]], chunk.shots);
      }
    }
    if (submitted == 0) return;
  }
}

std::vector<std::size_t> Run::pop_waiting(std::size_t site, std::int64_t max_count) {
  std::vector<std::size_t> shots;
  for (const std::size_t queue : {site + 1, std::size_t{0}}) {
    auto& waiting = m_waiting[queue];
    while (static_cast<std::int64_t>(shots.size()) < max_count && !waiting.empty()) {
      shots.push_back(waiting.front());
      waiting.pop_front();
    }
  }
  return shots;
}

// Submits up to `count` shots to a site. Returns the number of accepted shots.
std::int64_t Run::submit_shots(SiteState& state, std::int64_t count) {
  const auto index = static_cast<std::size_t>(&state - m_sites.data());
  const SiteOptions& site = state.site->options();
  const std::vector<std::size_t> shots = pop_waiting(index, count);
  m_waiting_count -= static_cast<std::int64_t>(shots.size());
  m_submitted += static_cast<std::int64_t>(shots.size());
  const std::size_t each =
      site.one_job_per_chunk ? shots.size() : static_cast<std::size_t>(m_options.shots_per_job);
  // Group shots with equal memory into jobs, and jobs with equal limits into batches.
  std::vector<Batch> batches;
  const auto max_count =
      static_cast<std::size_t>(std::max<std::int64_t>(1, state.site->system().max_jobs()));
  for (std::size_t at = 0; at < shots.size();) {
    Job job;
    const double memory = m_shots[shots[at]].memory;
    while (at < shots.size() && job.tasks.size() < each && m_shots[shots[at]].memory == memory) {
      const Shot& shot = m_shots[shots[at]];
      job.tasks.push_back(shot.task);
      if (!site.one_job_per_chunk) job.time_limit += m_options.shot_time_limit * shot.time_factor;
      ++at;
    }
    if (site.time_limit > 0.0) job.time_limit = std::min(job.time_limit, site.time_limit);
    job.memory = memory > 0.0 ? memory : m_options.memory;
    if (site.one_job_per_chunk) {
      job.shots_per_job = m_options.shots_per_job;
      job.shot_time_limit = m_options.shot_time_limit;
      job.max_memory = m_options.max_memory;
    }
    if (state.exclude_nodes) job.excluded_nodes = state.nodes.nodes_to_exclude();
    const bool fits = !batches.empty() && batches.back().jobs.size() < max_count &&
                      batches.back().jobs[0].time_limit == job.time_limit &&
                      batches.back().jobs[0].memory == job.memory;
    if (!fits) batches.push_back({m_prefix + std::to_string(m_next_batch++), {}});
    job.token = concat(batches.back().token, '.', batches.back().jobs.size());
    for (const Task& task : job.tasks) {
      Shot& shot = m_shots[index_of(task.shot)];
      shot.stage = Stage::submitted;
      shot.job_token = job.token;
    }
    batches.back().jobs.push_back(std::move(job));
  }
  std::int64_t submitted = 0;
  bool accepted = true;
  for (Batch& batch : batches) {
    std::int64_t size = 0;
    for (const Job& job : batch.jobs) size += static_cast<std::int64_t>(job.tasks.size());
    if (accepted) {
      accepted = submit_batch(state, batch);
      if (accepted) submitted += size;
      continue;
    }
    // These batches were neither recorded nor submitted: restore the order of the queue.
    for (auto job = batch.jobs.rbegin(); job != batch.jobs.rend(); ++job) {
      for (auto task = job->tasks.rbegin(); task != job->tasks.rend(); ++task) {
        if (m_shots[index_of(task->shot)].job_token != job->token) continue;
        requeue(index_of(task->shot), true);
        --m_report.resubmitted;
      }
    }
  }
  return submitted;
}

void Run::void_batch(SiteState& state, const Batch& batch, const std::string& reason) {
  m_campaign.journal.add_events({{"void", batch.token, reason}});
  for (auto job = batch.jobs.rbegin(); job != batch.jobs.rend(); ++job) {
    for (auto task = job->tasks.rbegin(); task != job->tasks.rend(); ++task) {
      const auto known = m_index.find(task->shot);
      if (known == m_index.end() || m_shots[known->second].job_token != job->token) continue;
      requeue(known->second, true);
    }
    state.site->remove_job_files(*job);
  }
}

// Submits a batch. Returns true if it was accepted.
//
// The journal records the batch before the submission and its ids immediately afterwards.
bool Run::submit_batch(SiteState& state, Batch& batch) {
  const std::string& name = state.site->options().name;
  const auto leave_unconfirmed = [&](const std::string& reason) {
    const double settling_time = state.site->system().settling_time();
    state.unconfirmed.push_back({batch, m_now + settling_time, m_now, 0});
    notify(concat("site ", name, ": it is not known whether the batch ", batch.token,
                  " was accepted: ", reason));
    return false;
  };
  try {
    state.site->prepare(m_campaign.work, batch);
  } catch (const NoAnswer& error) {
    m_campaign.journal.add_events({batch_event(batch, name, m_now)});
    void_batch(state, batch, error.what());
    handle_no_answer(state, error.what());
    state.next_query = m_now;
    state.paused_until = m_now + 5.0;
    return false;
  } catch (const FileError& error) {
    void_batch(state, batch, error.what());
    pause_site(state, error.what(), false);
    return false;
  }
  m_campaign.journal.add_events({batch_event(batch, name, m_now)});
  std::vector<std::string> ids;
  try {
    ids = state.site->system().submit(batch);
  } catch (const NoRoom& error) {
    void_batch(state, batch, error.what());
    state.paused_until = m_now + std::max(30.0, state.site->system().query_intervals().first);
    return false;
  } catch (const Refused& error) {
    void_batch(state, batch, error.what());
    if (!batch.jobs[0].excluded_nodes.empty()) {
      state.exclude_nodes = false;  // no node may be left without them
      return false;
    }
    pause_site(state, error.what(), true);
    return false;
  } catch (const NoAnswer& error) {
    return leave_unconfirmed(error.what());
  }
  if (ids.size() != batch.jobs.size()) {
    return leave_unconfirmed(concat(ids.size(), " ids for ", batch.jobs.size(), " jobs"));
  }
  handle_answer(state);
  m_campaign.journal.add_events({sent_event(batch, ids)});
  ++m_report.batches;
  state.unconfirmed_count = 0;
  if (state.first_submission < 0.0) state.first_submission = m_now;
  if (state.window_begin < 0.0) {
    state.window_begin = m_now;
    state.window_shots = 0;
  }
  for (std::size_t k = 0; k < ids.size(); ++k) {
    LiveJob live;
    live.job = std::move(batch.jobs[k]);
    live.id = ids[k];
    live.submitted_at = m_now;
    for (const Task& task : live.job.tasks) live.shots.push_back(index_of(task.shot));
    state.live.push_back(std::move(live));
    ++state.report.jobs;
  }
  const double soon = m_now + state.site->system().query_intervals().first;
  state.query_interval = state.site->system().query_intervals().first;
  state.next_query = state.next_query > m_now ? std::min(state.next_query, soon) : soon;
  return true;
}

}  // namespace moho::cluster::detail
