// SPDX-License-Identifier: BSD-3-Clause
#include "app/shot_list.hpp"

#include "app/distribute.hpp"
#include "app/format.hpp"

#include <moho/core/error.hpp>
#include <moho/io/owned_folder.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace moho::examples {

namespace {

std::atomic<bool> stop_requested{false};

void stop(int) { stop_requested = true; }

// Text that a process sends when it takes no more shots; a shot's text is an object.
constexpr const char* over = "over";

}  // namespace

TimeLimit::TimeLimit() {
  std::signal(SIGUSR1, stop);
  if (const char* end = std::getenv("SLURM_JOB_END_TIME")) m_end = std::atof(end);
}

std::string TimeLimit::why() const {
  constexpr double spare = 5.0;  // seconds to write finished shots
  if (stop_requested) return "it was told to stop (SIGUSR1)";
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (m_end > 0.0 && now + 1.2 * m_longest + spare > m_end) {
    return "the next would not end before its job (SLURM_JOB_END_TIME)";
  }
  return {};
}

void TimeLimit::begin() { m_begun.push_back(Clock::now()); }

void TimeLimit::done() {
  if (m_begun.empty()) return;
  const std::chrono::duration<double> seconds = Clock::now() - m_begun.front();
  m_begun.pop_front();
  m_longest = std::max(m_longest, seconds.count());
}

std::size_t find_only_shot(const std::vector<std::int64_t>& numbers, std::int64_t only) {
  const auto at = std::find(numbers.begin(), numbers.end(), only);
  if (at == numbers.end()) {
    throw InputError(concat("--only-shot is ", only, ", and there are the shots ", numbers.front(),
                            " to ", numbers.back(), ": give one of their numbers"));
  }
  return static_cast<std::size_t>(at - numbers.begin());
}

void ShotList::open(const std::vector<std::int64_t>& numbers, const ShotChoice& choice,
                    const CommonOptions& options, Taken taken, const OnSiteSum& on_sum) {
  m_taken = std::move(taken);
  m_numbers = numbers;
  m_session.resumable();
  m_present.assign(numbers.size(), false);
  std::size_t count = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    Json more;
    if (!m_session.take_over(numbers[k], more)) continue;
    m_taken(k, more, From::earlier);
    m_present[k] = true;
    ++count;
  }
  if (options.resume) {
    m_session.print("resumed   ", count, " of ", counted(numbers.size(), "shot is", "shots are"),
                    " complete");
  }
  m_left_out.assign(numbers.size(), false);
  m_single = choice.only_shot.has_value();
  if (choice.only_shot) {
    m_left_out.assign(numbers.size(), true);
    m_left_out[find_only_shot(numbers, *choice.only_shot)] = false;
  }
  m_sites = !choice.distribute.sites.empty();
  if (!m_sites || options.plan) return;
  refuse_ranks(m_session.processes());
  check_shots_per_job(choice.distribute, numbers.size());
  std::vector<std::int64_t> left;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (!m_present[k]) left.push_back(numbers[k]);
  }
  const Stopwatch watch;
  const double others = m_session.phases.total();  // those of results are phases as well
  compute_at_sites(
      choice.distribute, options, left, m_session,
      [&](std::int64_t shot, const Json& more) {
        const std::size_t k = find_only_shot(numbers, shot);
        m_taken(k, more, From::folder);
        m_present[k] = true;
      },
      on_sum);
  m_session.phases.add("sites", watch.seconds() - (m_session.phases.total() - others));
}

void ShotList::share() {
  Processes& processes = m_session.processes();
  std::vector<char> is_present(m_present.begin(), m_present.end());
  processes.broadcast(is_present.data(), is_present.size());
  m_present.assign(is_present.begin(), is_present.end());
  m_position.assign(m_present.size(), -1);
  std::int64_t count = 0;
  for (std::size_t k = 0; k < m_present.size(); ++k) {
    if (!settled(k)) m_position[k] = count++;
  }
  m_ranks = static_cast<int>(std::clamp<std::int64_t>(count, 1, processes.size()));
  m_counter.begin(processes);
  m_over = 0;
}

bool ShotList::takes(std::size_t shot) {
  const std::int64_t position = m_position[shot];
  if (position < 0 || !m_why.empty()) return false;
  if (!m_counter.claim(position)) return false;
  if (!m_single) m_why = m_time.why();
  m_time.begin();
  return m_why.empty();
}

void ShotList::done(std::size_t shot, const std::vector<std::string>& files, const Json& more) {
  m_time.done();
  if (m_session.processes().root()) {
    m_present[shot] = true;
    m_session.part_is_whole(m_numbers[shot], files, more);
    listen(false);
    return;
  }
  m_session.processes().send_to_root(m_session.describe_part(m_numbers[shot], files, more).dump());
}

Progress ShotList::progress() {
  Progress bar = m_session.progress();
  if (m_session.processes().alone() || !m_session.processes().root()) return bar;
  return [this, bar](double done, const std::string& text) {
    listen(false);
    if (bar) bar(done, text);
  };
}

void ShotList::listen(bool wait) {
  for (const std::string& text : m_session.processes().received(wait)) {
    if (text.rfind(over, 0) == 0) {
      ++m_over;
      if (m_why.empty()) m_why = text.substr(std::string(over).size());
      continue;
    }
    const Json part = Json::parse(text);
    const Json* const number = part.find("number");
    const auto at = std::find(
        m_numbers.begin(), m_numbers.end(),
        number != nullptr ? static_cast<std::int64_t>(number->number(-1.0)) : std::int64_t{-1});
    Json more;
    if (at == m_numbers.end() || !m_session.take_in(part, more)) {
      throw Error(concat("the files of a shot that another rank has computed are not in ",
                         m_session.folder().string(),
                         " as it wrote them (needed: a folder that all ranks share): ", text));
    }
    const auto k = static_cast<std::size_t>(at - m_numbers.begin());
    m_present[k] = true;
    m_taken(k, more, From::rank);
  }
}

bool ShotList::finish() {
  Processes& processes = m_session.processes();
  if (processes.root()) {
    while (m_over < processes.size() - 1) listen(true);
  } else {
    processes.send_to_root(over + m_why);
  }
  std::int64_t left = 0;
  for (std::size_t k = 0; k < m_present.size(); ++k) left += settled(k) ? 0 : 1;
  processes.broadcast(&left, sizeof(left));
  if (left == 0) {
    // that of an earlier run, whose shots are complete
    if (!m_sites && processes.root()) leave_sites(m_session, sites_folder(m_session.folder()));
    return true;
  }
  m_session.out_of_time(concat(m_present.size() - static_cast<std::size_t>(left), " of ",
                               counted(m_present.size(), "shot is", "shots are"),
                               " complete: ", m_why));
  return false;
}

}  // namespace moho::examples
