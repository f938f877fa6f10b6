// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/detail/run.hpp>
#include <moho/cluster/partition.hpp>
#include <moho/cluster/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <typeinfo>

namespace moho::cluster::detail {

// ---- dispatch of results

ResultDispatcher::ResultDispatcher(OnResult function, bool threaded)
    : m_function(std::move(function)) {
  if (m_function && threaded) m_thread = std::thread([this] { work(); });
}

ResultDispatcher::~ResultDispatcher() {
  {
    const std::lock_guard lock(m_mutex);
    m_stopping = true;
    m_waiting.clear();
  }
  m_changed.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void ResultDispatcher::rethrow() {
  if (m_failure) std::rethrow_exception(m_failure);
}

void ResultDispatcher::add(std::int64_t shot, const std::filesystem::path& path) {
  if (!m_function) return;
  if (!m_thread.joinable()) return m_function(shot, path);
  {
    const std::lock_guard lock(m_mutex);
    rethrow();
    m_waiting.emplace_back(shot, path);
  }
  m_changed.notify_all();
}

void ResultDispatcher::finish() {
  if (!m_thread.joinable()) return;
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return m_failure || (m_waiting.empty() && !m_busy); });
  rethrow();
}

void ResultDispatcher::work() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [&] { return m_stopping || !m_waiting.empty(); });
    if (m_waiting.empty()) return;
    const auto next = m_waiting.front();
    m_waiting.pop_front();
    m_busy = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      m_function(next.first, next.second);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    m_busy = false;
    if (failure) {
      m_failure = failure;
      m_waiting.clear();
    }
    m_changed.notify_all();
  }
}

// ---- run

std::int64_t Run::SiteState::active_jobs() const {
  return std::count_if(live.begin(), live.end(),
                       [](const LiveJob& job) { return !job.requeued && !job.cancelled; });
}

Run::Run(Campaign& campaign, const std::vector<Task>& tasks,
         const std::vector<std::unique_ptr<Site>>& sites, const DistributeOptions& options,
         const OnResult& on_result, Clock& clock)
    : m_campaign(campaign),
      m_options(options),
      m_clock(clock),
      m_dispatcher(on_result, options.separate_thread && typeid(clock) == typeid(Clock)) {
  for (const Task& task : tasks) {
    m_index[task.shot] = m_shots.size();
    Shot shot;
    shot.task = task;
    m_shots.push_back(shot);
  }
  m_waiting.resize(sites.size() + 1);
  m_sites.resize(sites.size());
  for (std::size_t k = 0; k < sites.size(); ++k) {
    m_sites[k].site = sites[k].get();
    m_sites[k].report.name = sites[k]->options().name;
    m_sites[k].rate = sites[k]->options().rate;
  }
}

void Run::notify(const std::string& line) const {
  if (m_options.on_message) m_options.on_message(line);
}

std::vector<std::int64_t> Run::missing_shots(const LiveJob& live) const {
  std::vector<std::int64_t> shots;
  for (const std::size_t k : live.shots) {
    if (m_shots[k].stage != Stage::done) shots.push_back(m_shots[k].task.shot);
  }
  return shots;
}

void Run::resume() {
  Journal& journal = m_campaign.journal;
  auto name = journal.get("name");
  if (!name) {
    // The random suffix keeps tokens apart from those of other campaigns with this name.
    std::random_device random;
    constexpr const char* digits = "0123456789abcdef";
    std::string tail;
    for (int k = 0; k < 8; ++k) tail += digits[random() % 16];
    name = m_campaign.work.campaign + '-' + tail;
    journal.set("name", *name);
  }
  m_prefix = concat(*name, '.', m_campaign.work.evaluation, '.');
  const SubmissionLog log = read_submission_log(journal.take_events());
  m_next_batch = log.next_batch;
  for (const auto& [shot, record] : log.shots) {
    const auto at = m_index.find(shot);
    if (at == m_index.end() || record.given_up) continue;  // shots given up earlier start afresh
    Shot& own = m_shots[at->second];
    own.attempts = record.attempts;
    own.lost = record.lost;
    own.nodes = record.nodes;
    own.reason = record.reason;
  }
  for (const ShotResult& result : journal.results()) {
    const auto at = m_index.find(result.shot);
    if (at == m_index.end()) continue;
    m_shots[at->second].stage = Stage::done;
    ++m_done;
    m_dispatcher.add(result.shot, journal.folder() / result.file);
  }
  m_report.done_earlier = m_done;
  std::vector<const BatchRecord*> records;  // sorted by number: the latest batch with a shot holds
                                            // it
  for (const auto& entry : log.batches) records.push_back(&entry.second);
  const auto number = [](const BatchRecord* record) {
    std::int64_t value = 0;
    const std::string& token = record->batch.token;
    read_number(std::string_view(token).substr(token.rfind('.') + 1), value);
    return value;
  };
  std::sort(records.begin(), records.end(),
            [&](const auto* a, const auto* b) { return number(a) < number(b); });
  for (const BatchRecord* record : records) adopt(*record);
  for (std::size_t k = 0; k < m_shots.size(); ++k) {
    if (m_shots[k].stage == Stage::waiting) m_waiting[0].push_back(k);
  }
  m_waiting_count = static_cast<std::int64_t>(m_shots.size()) - m_done - m_submitted;
  journal.add_events({{"start", format_number(m_now)}});
}

// Resumes the unfinished jobs of a batch that an earlier run submitted.
void Run::adopt(const BatchRecord& record) {
  const auto at = std::find_if(m_sites.begin(), m_sites.end(), [&](const SiteState& state) {
    return state.site->options().name == record.site;
  });
  std::vector<Event> over;
  const auto make_live_job = [&](const Job& job, const std::string& id) {
    LiveJob live;
    live.job = job;
    live.id = id;
    live.submitted_at = record.time;
    for (Task& task : live.job.tasks) {
      const auto known = m_index.find(task.shot);
      if (known == m_index.end()) continue;
      task = m_shots[known->second].task;
      live.shots.push_back(known->second);
    }
    return live;
  };
  Batch unconfirmed{record.batch.token, {}};
  for (std::size_t k = 0; k < record.batch.jobs.size(); ++k) {
    const Job& job = record.batch.jobs[k];
    if (record.ended.count(job.token) > 0) continue;
    const LiveJob live = make_live_job(job, record.ids.empty() ? "" : record.ids[k]);
    if (at == m_sites.end()) {
      over.push_back({"over", job.token, "its site is not used", "", format_number(m_now)});
      continue;
    }
    for (const std::size_t shot : live.shots) {
      if (m_shots[shot].stage == Stage::done) continue;
      if (m_shots[shot].stage == Stage::waiting) ++m_submitted;
      m_shots[shot].stage = Stage::submitted;
      m_shots[shot].job_token = job.token;
    }
    if (record.ids.empty()) {
      unconfirmed.jobs.push_back(live.job);
    } else {
      at->live.push_back(live);
    }
  }
  if (!unconfirmed.jobs.empty()) {
    const double settled = record.time + at->site->system().settling_time();
    at->unconfirmed.push_back({unconfirmed, std::max(m_now, settled), m_now, 0});
  }
  if (!over.empty()) m_campaign.journal.add_events(over);
}

Report Run::run() {
  m_begin = m_now = m_last_heartbeat = m_clock.now();
  resume();
  if (m_options.partition == Partition::parts) divide_shots();
  try {
    for (;;) {
      m_now = m_clock.now();
      if (m_options.stop && m_options.stop()) {
        m_report.stopped = true;
        break;
      }
      for (SiteState& state : m_sites) update_site(state);
      flush_events();  // failures reach the journal before their shots are resubmitted
      submit_waiting();
      record_heartbeat(false);
      flush_events();
      if (is_finished()) break;
      m_clock.wait(std::max(next_event_time() - m_clock.now(), 0.001));
    }
  } catch (const InputError&) {
    flush_events();
    cancel_all_jobs();
    throw;
  }
  record_heartbeat(true);
  flush_events();
  m_dispatcher.finish();
  return report();
}

void Run::flush_events() {
  if (m_events.empty()) return;
  m_campaign.journal.add_events(m_events);
  m_events.clear();
}

void Run::record_heartbeat(bool always) {
  if (!always && m_now - m_last_heartbeat < 60.0) return;
  m_last_heartbeat = m_now;
  m_events.push_back({"beat", format_number(m_now), std::to_string(m_done),
                      std::to_string(static_cast<std::int64_t>(m_shots.size()) - m_done)});
}

bool Run::is_finished() const {
  if (m_submitted > 0) return false;
  if (m_waiting_count == 0) return true;
  // Shots are waiting, but all sites are excluded.
  return std::all_of(m_sites.begin(), m_sites.end(),
                     [](const SiteState& state) { return !state.exclusion.empty(); });
}

double Run::next_event_time() const {
  double next = m_now + 60.0;
  for (const SiteState& state : m_sites) {
    if (!state.live.empty()) next = std::min(next, state.next_collection);
    for (const LiveJob& live : state.live) {
      if (live.accepts_late) continue;
      next = std::min(next, live.ended_at >= 0.0 ? live.ended_at + state.site->options().file_delay
                                                 : state.next_query);
    }
    for (const UnconfirmedBatch& entry : state.unconfirmed) next = std::min(next, entry.next_find);
    if (m_waiting_count > 0 && state.exclusion.empty() && state.paused_until > m_now) {
      next = std::min(next, state.paused_until);
    }
  }
  return next;
}

// Returns the seconds of jobs that are complete, and whose end was not observed before that of the
// run.
double Run::time_of_last_jobs(const SiteState& state) const {
  double seconds = 0.0;
  for (const LiveJob& live : state.live) {
    if (live.cancelled || live.accepts_late || !missing_shots(live).empty()) continue;
    try {
      seconds += state.site->report(live.job).seconds;
    } catch (const NoAnswer&) {
      // the site does not know them
    }
  }
  return seconds;
}

Report Run::report() {
  m_report.done = m_done;
  m_report.begin = m_begin;
  m_report.seconds = m_clock.now() - m_begin;
  for (SiteState& state : m_sites) {
    SiteReport& own = state.report;
    if (own.shots > 0 && state.last_result > state.first_submission &&
        state.first_submission >= 0.0) {
      own.rate = static_cast<double>(own.shots) / (state.last_result - state.first_submission);
    }
    own.exclusion = state.exclusion;
    own.compute_time += time_of_last_jobs(state);
    m_report.sites.push_back(own);
  }
  for (const Shot& shot : m_shots) {
    if (shot.stage == Stage::done) continue;
    const std::string reason =
        shot.reason.empty() ? std::string("it was not computed") : shot.reason;
    m_report.missing.push_back({shot.task.shot, reason, shot.stage == Stage::given_up});
  }
  std::sort(m_report.missing.begin(), m_report.missing.end(),
            [](const MissingShot& a, const MissingShot& b) { return a.shot < b.shot; });
  for (const std::string& note : m_campaign.journal.notes()) m_report.notes.push_back(note);
  return m_report;
}

// ---- state changes and messages

void Run::requeue(std::size_t k, bool first) {
  Shot& shot = m_shots[k];
  if (shot.stage != Stage::submitted) return;
  shot.stage = Stage::waiting;
  shot.job_token.clear();
  --m_submitted;
  ++m_waiting_count;
  ++m_report.resubmitted;
  auto& queue = m_waiting[shot.queue];
  if (first) {
    queue.push_front(k);
  } else {
    queue.push_back(k);
  }
}

void Run::give_up(std::size_t k) {
  Shot& shot = m_shots[k];
  if (shot.stage != Stage::submitted) return;
  shot.stage = Stage::given_up;
  --m_submitted;
  ++m_given_up;
  m_events.push_back({"give", std::to_string(shot.task.shot), shot.reason});
  notify(concat("shot ", shot.task.shot, " is given up: ", shot.reason));
}

void Run::handle_no_answer(SiteState& state, const std::string& reason) {
  if (state.silent_since < 0.0) {
    state.silent_since = m_now;
    notify(concat("site ", state.site->options().name, " does not answer: ", reason));
    return;
  }
  if (m_now - state.silent_since < m_options.silence_timeout) return;
  // The site's shots move to other sites if any is usable. Results of its jobs still count.
  const bool others = std::any_of(m_sites.begin(), m_sites.end(), [&](const SiteState& other) {
    return &other != &state && other.exclusion.empty() && other.silent_since < 0.0;
  });
  if (!others) return;
  std::int64_t count = 0;
  for (LiveJob& live : state.live) {
    if (live.requeued) continue;
    live.requeued = true;
    for (const std::size_t shot : live.shots) {
      if (m_shots[shot].job_token != live.job.token) continue;
      m_shots[shot].queue = 0;
      requeue(shot, true);
      ++count;
    }
  }
  for (UnconfirmedBatch& entry : state.unconfirmed) {
    for (const Job& job : entry.batch.jobs) {
      for (const Task& task : job.tasks) {
        Shot& shot = m_shots[index_of(task.shot)];
        if (shot.job_token != job.token) continue;
        shot.queue = 0;
        requeue(index_of(task.shot), true);
        ++count;
      }
    }
  }
  if (count > 0) {
    notify(concat("site ", state.site->options().name, " has not answered for ",
                  std::lround(m_now - state.silent_since), " s: ", count,
                  " of its shots go to other sites"));
  }
  for (auto& queue : m_waiting) {  // shots reserved for this site by divide_shots()
    if (&queue != &m_waiting[static_cast<std::size_t>(&state - m_sites.data()) + 1]) continue;
    for (const std::size_t shot : queue) {
      m_shots[shot].queue = 0;
      m_waiting[0].push_back(shot);
    }
    queue.clear();
  }
}

void Run::handle_answer(SiteState& state) {
  if (state.silent_since >= 0.0) {
    notify(concat("site ", state.site->options().name, " answers again"));
  }
  state.silent_since = -1.0;
}

void Run::pause_site(SiteState& state, const std::string& reason, bool for_good) {
  if (!state.exclusion.empty() || (state.paused_until > m_now && !for_good)) return;
  const std::string& name = state.site->options().name;
  // Before the first result, a pause of the only usable site cannot help.
  const bool hopeless = m_report.done_earlier == 0 && m_done == 0 &&
                        std::all_of(m_sites.begin(), m_sites.end(), [&](const SiteState& other) {
                          return &other == &state || !other.exclusion.empty();
                        });
  if (for_good || hopeless || state.pause_count >= m_options.max_pauses) {
    state.exclusion = reason;
    m_events.push_back({"pause", name, reason});
    notify(concat("site ", name, " is excluded: ", reason));
    auto& queue = m_waiting[static_cast<std::size_t>(&state - m_sites.data()) + 1];
    for (const std::size_t shot : queue) {
      m_shots[shot].queue = 0;
      m_waiting[0].push_back(shot);
    }
    queue.clear();
    return;
  }
  const double seconds = m_options.first_pause * std::pow(2.0, state.pause_count);
  ++state.pause_count;
  state.paused_until = m_now + seconds;
  state.trial = true;
  state.quick_failures.clear();
  notify(concat("site ", name, " pauses for ", seconds, " s: ", reason));
}

void Run::cancel_all_jobs() {
  for (SiteState& state : m_sites) {
    std::vector<std::string> ids;
    for (LiveJob& live : state.live) {
      if (live.ended_at < 0.0) ids.push_back(live.id);
    }
    try {
      if (!ids.empty()) state.site->system().cancel(ids);
    } catch (const Error& error) {
      notify(concat("site ", state.site->options().name, ": ", error.what()));
    }
  }
}

}  // namespace moho::cluster::detail
