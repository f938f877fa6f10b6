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

// ---- results, in a thread of their own

Stacker::Stacker(OnResult function, bool apart) : m_function(std::move(function)) {
  if (m_function && apart) m_thread = std::thread([this] { work(); });
}

Stacker::~Stacker() {
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
    m_waiting.clear();
  }
  m_changed.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void Stacker::rethrow() {
  if (m_failure) std::rethrow_exception(m_failure);
}

void Stacker::add(std::int64_t shot, const std::filesystem::path& path) {
  if (!m_function) return;
  if (!m_thread.joinable()) return m_function(shot, path);
  {
    const std::lock_guard lock(m_mutex);
    rethrow();
    m_waiting.emplace_back(shot, path);
  }
  m_changed.notify_all();
}

void Stacker::finish() {
  if (!m_thread.joinable()) return;
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return m_failure || (m_waiting.empty() && !m_busy); });
  rethrow();
}

void Stacker::work() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [&] { return m_ends || !m_waiting.empty(); });
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

// ---- the run

std::int64_t Run::SiteState::active() const {
  return std::count_if(live.begin(), live.end(),
                       [](const Live& job) { return !job.given_back && !job.cancelled; });
}

Run::Run(Campaign& campaign, const std::vector<Task>& tasks,
         const std::vector<std::unique_ptr<Site>>& sites, const DistributeOptions& options,
         const OnResult& on_result, Clock& clock)
    : m_campaign(campaign),
      m_options(options),
      m_clock(clock),
      m_stacker(on_result, typeid(clock) == typeid(Clock)) {
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

void Run::say(const std::string& line) const {
  if (m_options.say) m_options.say(line);
}

std::vector<std::int64_t> Run::missing_of(const Live& live) const {
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
    // Tokens differ from those of every other campaign of the same name.
    std::random_device device;
    constexpr const char* digits = "0123456789abcdef";
    std::string tail;
    for (int k = 0; k < 8; ++k) tail += digits[device() % 16];
    name = m_campaign.work.campaign + '-' + tail;
    journal.set("name", *name);
  }
  m_prefix = concat(*name, '.', m_campaign.work.evaluation, '.');
  const Ledger ledger = read_ledger(journal.take_events());
  m_next_batch = ledger.next_batch;
  for (const auto& [shot, record] : ledger.shots) {
    const auto at = m_index.find(shot);
    if (at == m_index.end() || record.given_up) continue;  // given up: a fresh start
    Shot& own = m_shots[at->second];
    own.attempts = record.attempts;
    own.lost = record.lost;
    own.nodes = record.nodes;
    own.why = record.why;
  }
  for (const ShotResult& result : journal.results()) {
    const auto at = m_index.find(result.shot);
    if (at == m_index.end()) continue;
    m_shots[at->second].stage = Stage::done;
    ++m_done;
    m_stacker.add(result.shot, journal.folder() / result.file);
  }
  m_report.earlier = m_done;
  std::vector<const BatchRecord*> records;  // later ones hold what is in several
  for (const auto& entry : ledger.batches) records.push_back(&entry.second);
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
  m_left = static_cast<std::int64_t>(m_shots.size()) - m_done - m_handed;
  journal.add({{"start", number_text(m_now)}});
}

// Goes on with a batch of an earlier run.
void Run::adopt(const BatchRecord& record) {
  const auto at = std::find_if(m_sites.begin(), m_sites.end(), [&](const SiteState& state) {
    return state.site->options().name == record.site;
  });
  std::vector<Event> over;
  const auto state_of = [&](const Job& job, const std::string& id) {
    Live live;
    live.job = job;
    live.id = id;
    live.since = record.time;
    for (Task& task : live.job.tasks) {
      const auto known = m_index.find(task.shot);
      if (known == m_index.end()) continue;
      task = m_shots[known->second].task;
      live.shots.push_back(known->second);
    }
    return live;
  };
  Batch unsure{record.batch.token, {}};
  for (std::size_t k = 0; k < record.batch.jobs.size(); ++k) {
    const Job& job = record.batch.jobs[k];
    if (record.over.count(job.token) > 0) continue;
    const Live live = state_of(job, record.ids.empty() ? "" : record.ids[k]);
    if (at == m_sites.end()) {
      over.push_back({"over", job.token, "its site is not used", "", number_text(m_now)});
      continue;
    }
    for (const std::size_t shot : live.shots) {
      if (m_shots[shot].stage == Stage::done) continue;
      if (m_shots[shot].stage == Stage::waiting) ++m_handed;
      m_shots[shot].stage = Stage::handed;
      m_shots[shot].holder = job.token;
    }
    if (record.ids.empty()) {
      unsure.jobs.push_back(live.job);
    } else {
      at->live.push_back(live);
    }
  }
  if (!unsure.jobs.empty()) {
    const double settled = record.time + at->site->system().settles();
    at->unsure.push_back({unsure, std::max(m_now, settled), m_now, 0});
  }
  if (!over.empty()) m_campaign.journal.add(over);
}

Report Run::run() {
  m_begin = m_now = m_last_beat = m_clock.now();
  resume();
  if (m_options.partition == Partition::parts) plan_parts();
  try {
    for (;;) {
      m_now = m_clock.now();
      if (m_options.stop && m_options.stop()) {
        m_report.stopped = true;
        break;
      }
      for (SiteState& state : m_sites) serve(state);
      flush();  // what failed is known before it is handed out again
      plan();
      beat(false);
      flush();
      if (finished()) break;
      m_clock.wait(std::max(next_turn() - m_clock.now(), 0.001));
    }
  } catch (const InputError&) {
    flush();
    cancel_all();
    throw;
  }
  beat(true);
  flush();
  m_stacker.finish();
  return report();
}

void Run::flush() {
  if (m_events.empty()) return;
  m_campaign.journal.add(m_events);
  m_events.clear();
}

void Run::beat(bool always) {
  if (!always && m_now - m_last_beat < 60.0) return;
  m_last_beat = m_now;
  m_events.push_back({"beat", number_text(m_now), std::to_string(m_done),
                      std::to_string(static_cast<std::int64_t>(m_shots.size()) - m_done)});
}

bool Run::finished() const {
  if (m_handed > 0) return false;
  if (m_left == 0) return true;
  // Shots wait, and nobody will ever take them.
  return std::all_of(m_sites.begin(), m_sites.end(),
                     [](const SiteState& state) { return !state.left_out.empty(); });
}

double Run::next_turn() const {
  double next = m_now + 60.0;
  for (const SiteState& state : m_sites) {
    if (!state.live.empty()) next = std::min(next, state.next_check);
    for (const Live& live : state.live) {
      if (live.late) continue;
      next = std::min(next, live.ended_at >= 0.0 ? live.ended_at + state.site->options().settle
                                                 : state.next_look);
    }
    for (const Unsure& unsure : state.unsure) next = std::min(next, unsure.find_at);
    if (m_left > 0 && state.left_out.empty() && state.not_before > m_now) {
      next = std::min(next, state.not_before);
    }
  }
  return next;
}

Report Run::report() {
  m_report.done = m_done;
  m_report.seconds = m_clock.now() - m_begin;
  for (SiteState& state : m_sites) {
    SiteReport& own = state.report;
    if (own.shots > 0 && state.last > state.first && state.first >= 0.0) {
      own.rate = static_cast<double>(own.shots) / (state.last - state.first);
    }
    own.paused = state.left_out;
    m_report.sites.push_back(own);
  }
  for (const Shot& shot : m_shots) {
    if (shot.stage == Stage::done) continue;
    const std::string why = shot.why.empty() ? std::string("it was not computed") : shot.why;
    m_report.missing.push_back({shot.task.shot, why, shot.stage == Stage::given_up});
  }
  std::sort(m_report.missing.begin(), m_report.missing.end(),
            [](const MissingShot& a, const MissingShot& b) { return a.shot < b.shot; });
  for (const std::string& note : m_campaign.journal.notes()) m_report.notes.push_back(note);
  return m_report;
}

// ---- consequences

void Run::give_back(std::size_t k, bool first) {
  Shot& shot = m_shots[k];
  if (shot.stage != Stage::handed) return;
  shot.stage = Stage::waiting;
  shot.holder.clear();
  --m_handed;
  ++m_left;
  ++m_report.again;
  auto& queue = m_waiting[shot.queue];
  if (first) {
    queue.push_front(k);
  } else {
    queue.push_back(k);
  }
}

void Run::give_up(std::size_t k) {
  Shot& shot = m_shots[k];
  if (shot.stage != Stage::handed) return;
  shot.stage = Stage::given_up;
  --m_handed;
  ++m_given_up;
  m_events.push_back({"give", std::to_string(shot.task.shot), shot.why});
  say(concat("shot ", shot.task.shot, " is given up: ", shot.why));
}

void Run::silent(SiteState& state, const std::string& why) {
  if (state.silent_since < 0.0) {
    state.silent_since = m_now;
    say(concat("site ", state.site->options().name, " gives no answer: ", why));
    return;
  }
  if (m_now - state.silent_since < m_options.silence) return;
  // Its shots go to others, if there are any; what it computes still counts.
  const bool others = std::any_of(m_sites.begin(), m_sites.end(), [&](const SiteState& other) {
    return &other != &state && other.left_out.empty() && other.silent_since < 0.0;
  });
  if (!others) return;
  std::int64_t count = 0;
  for (Live& live : state.live) {
    if (live.given_back) continue;
    live.given_back = true;
    for (const std::size_t shot : live.shots) {
      if (m_shots[shot].holder != live.job.token) continue;
      m_shots[shot].queue = 0;
      give_back(shot, true);
      ++count;
    }
  }
  for (Unsure& unsure : state.unsure) {
    for (const Job& job : unsure.batch.jobs) {
      for (const Task& task : job.tasks) {
        Shot& shot = m_shots[index_of(task.shot)];
        if (shot.holder != job.token) continue;
        shot.queue = 0;
        give_back(index_of(task.shot), true);
        ++count;
      }
    }
  }
  if (count > 0) {
    say(concat("site ", state.site->options().name, " has not answered for ",
               std::lround(m_now - state.silent_since), " s: ", count,
               " of its shots go to other sites"));
  }
  for (auto& queue : m_waiting) {  // what was cut out for it, too
    if (&queue != &m_waiting[static_cast<std::size_t>(&state - m_sites.data()) + 1]) continue;
    for (const std::size_t shot : queue) {
      m_shots[shot].queue = 0;
      m_waiting[0].push_back(shot);
    }
    queue.clear();
  }
}

void Run::answered(SiteState& state) {
  if (state.silent_since >= 0.0) {
    say(concat("site ", state.site->options().name, " answers again"));
  }
  state.silent_since = -1.0;
}

void Run::pause(SiteState& state, const std::string& why, bool for_good) {
  if (!state.left_out.empty() || (state.not_before > m_now && !for_good)) return;
  const std::string& name = state.site->options().name;
  // Where nothing has ever worked, waiting does not help.
  const bool hopeless = m_report.earlier == 0 && m_done == 0 &&
                        std::all_of(m_sites.begin(), m_sites.end(), [&](const SiteState& other) {
                          return &other == &state || !other.left_out.empty();
                        });
  if (for_good || hopeless || state.pauses >= m_options.most_pauses) {
    state.left_out = why;
    m_events.push_back({"pause", name, why});
    say(concat("site ", name, " is left out: ", why));
    auto& queue = m_waiting[static_cast<std::size_t>(&state - m_sites.data()) + 1];
    for (const std::size_t shot : queue) {
      m_shots[shot].queue = 0;
      m_waiting[0].push_back(shot);
    }
    queue.clear();
    return;
  }
  const double seconds = m_options.pause * std::pow(2.0, state.pauses);
  ++state.pauses;
  state.not_before = m_now + seconds;
  state.trial = true;
  state.quick.clear();
  say(concat("site ", name, " pauses for ", seconds, " s: ", why));
}

void Run::cancel_all() {
  for (SiteState& state : m_sites) {
    std::vector<std::string> ids;
    for (Live& live : state.live) {
      if (live.ended_at < 0.0) ids.push_back(live.id);
    }
    try {
      if (!ids.empty()) state.site->system().cancel(ids);
    } catch (const Error& error) {
      say(concat("site ", state.site->options().name, ": ", error.what()));
    }
  }
}

}  // namespace moho::cluster::detail
