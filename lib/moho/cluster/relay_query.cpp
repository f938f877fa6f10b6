// SPDX-License-Identifier: BSD-3-Clause
//
// Remote sites, local side: states of jobs, their results and sums.
#include <moho/cluster/detail/relay_background.hpp>
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;
using detail::seconds_now;

template <class T>
bool is_ready(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

std::vector<std::string> detail::describe_shots(const std::set<std::int64_t>& shots) {
  std::string text;
  for (const std::int64_t shot : shots) text += concat(shot, ' ');
  return {std::to_string(shots.size()), io::checksum_text(io::checksum(text))};
}

// Begins a request of the states of jobs. The relay answers when one of them has ended.
void RelaySite::begin_look(const std::vector<std::string>& ids) {
  Background& own = *m_background;
  const double now = seconds_now();
  if (own.first_look < 0.0) own.first_look = now;
  // results of a chunk in progress arrive late by a small part of the run
  double wait = std::clamp(0.005 * (now - own.first_look), 1.0, 20.0);
  if (!own.silence.empty()) wait = 0.0;
  RelayAnswer lines{{"do", "look"}, {"wait", format_number(wait)}};
  for (const std::string& id : ids) lines.push_back({"job", id});
  own.look_of = ids;
  own.next_look = now + 1.0;
  own.look = std::async(std::launch::async, [this, lines, wait] { return request(lines, wait); });
}

// Takes an answer with the states of jobs.
void RelaySite::take_look(const RelayAnswer& answer) {
  Background& own = *m_background;
  for (const std::string& id : own.look_of) {
    const auto at = m_known.find(id);  // absent: its files were removed meanwhile
    if (at == m_known.end()) continue;
    at->second.state = "none";
    at->second.report.failures.clear();
  }
  std::map<std::string, std::vector<std::string>> sums;  // by job
  for (const auto& words : answer) {
    if (words.size() < 3 || m_known.count(words[1]) == 0) continue;
    KnownJob& known = m_known[words[1]];
    std::int64_t shot = 0;
    if (words[0] == "result" && words.size() == 4 && read_number(words[2], shot)) {
      known.results[shot] = words[3];
    } else if (words[0] == "missing" && words.size() == 4 && read_number(words[2], shot)) {
      known.report.failures.push_back({shot, 1, 0, false, words[3]});
    } else if (words[0] == "unusable" && words.size() == 3) {
      known.report.message = words[2];
    } else if (words[0] == "seconds" && words.size() == 3) {
      read_number(words[2], known.report.seconds);
    } else if (words[0] == "sum" && words.size() == 4) {
      sums[words[1]] = {words[2], words[3]};
    } else if (words[0] == "state" && words.size() == 4) {
      known.state = words[2];
      read_number(words[3], known.exit);
      known.report.host = m_relay.host;
      if (known.state == "done") own.next_look = 0.0;
    }
  }
  // A sum of all shots that were submitted is the one that will be requested, unless shots fail.
  const auto all = detail::describe_shots(own.submitted);
  for (const auto& [job, shots] : sums) {
    if (m_keeps_files && shots == all) fetch_sum_ahead(job);
  }
}

// Begins the transfer of the sum of a job.
void RelaySite::fetch_sum_ahead(const std::string& job) {
  Background& own = *m_background;
  if (own.sum.valid() && !is_ready(own.sum)) return;  // that of fewer shots is not complete
  const fs::path folder = m_campaign / m_options.name / job;
  make_private_folders(folder);
  own.sum_job = job;
  own.sum_shots = own.submitted;
  own.sum = std::async(std::launch::async, [this, job, folder] {
    transfer({concat(m_relay.host, ':', m_relay.folder, '/', job.substr(0, job.rfind('.')), '/',
                     sum_name),
              folder.string() + '/'});
  });
}

std::vector<JobStatus> RelaySite::query(const std::vector<std::string>& ids) {
  Background& own = *m_background;
  if (own.uses_master) own.master.open(m_relay.ssh, m_relay.host);
  if (own.look.valid() && is_ready(own.look)) {
    try {
      take_look(own.look.get());
      own.silence.clear();
    } catch (const Refused& error) {
      own.silence = error.what();
    } catch (const NoAnswer& error) {
      own.silence = error.what();
    }
  }
  std::vector<std::string> open;
  for (const std::string& id : ids) {
    if (m_known[id].state != "done") open.push_back(id);
  }
  if (!own.look.valid() && !open.empty() && seconds_now() >= own.next_look) begin_look(open);
  if (!own.silence.empty()) throw NoAnswer(own.silence);
  std::vector<JobStatus> all;
  for (const std::string& id : ids) {
    KnownJob& known = m_known[id];
    JobStatus status;
    status.id = id;
    status.exit = known.exit;
    if (!known.state.empty()) status.node = m_relay.host;
    if (known.state.empty() || known.state == "running") {
      status.state = JobState::running;
    } else if (known.state == "done") {
      // The job counts as ended when all of its results are local.
      const bool here = known.fetched.size() == known.results.size();
      status.state = !here && known.failed_transfers >= 10 ? JobState::node_lost
                     : !here                               ? JobState::running
                     : known.exit == 0                     ? JobState::completed
                                                           : JobState::failed;
      if (!here && known.failed_transfers >= 10) status.message = "its results cannot be fetched";
      known.report.done.clear();
      for (const auto& [shot, file] : known.results) known.report.done.push_back(shot);
    } else if (known.state == "dead" && known.starts < 4) {
      // A relay that was killed is restarted; it resumes from its journal.
      ++known.starts;
      known.state = "running";
      RelayAnswer again{{"do", "start"}, {"key", to_text(read_key(m_campaign))}, {"job", id}};
      for (const auto& [key, value] : m_relay.system_settings)
        again.push_back({"setting", key, value});
      status.state = JobState::running;
      try {
        request(again);
      } catch (const Refused& error) {  // its files are lost
        known.state = "none";
        status.state = JobState::node_lost;
        status.message = error.what();
      }
    } else {
      status.state = JobState::node_lost;
      status.message =
          known.state == "dead" ? "its relay ends repeatedly" : "the site does not know it";
    }
    all.push_back(status);
  }
  return all;
}

// Results are transferred by a separate rsync process, which never blocks the distributor.
CollectedResults RelaySite::collect(const Work& work, const Job& job,
                                    const std::vector<std::int64_t>& shots) {
  CollectedResults collected;
  m_keeps_files = work.sums;
  const auto at = m_known.find(job.token);
  if (at == m_known.end()) return collected;
  KnownJob& known = at->second;
  const std::string below = m_options.name + '/' + job.token;
  if (known.transfer_process != 0) {
    const ProcessStatus ended = poll_process(known.transfer_process);
    if (ended.running) return collected;
    known.transfer_process = 0;
    if (ended.exit == 0) {
      known.fetched.insert(known.in_transfer.begin(), known.in_transfer.end());
      known.failed_transfers = 0;
    } else {
      ++known.failed_transfers;
      known.retry_at = seconds_now() + std::min(60.0, std::pow(2.0, known.failed_transfers));
    }
    known.in_transfer.clear();
  }
  for (const std::int64_t shot : shots) {
    const auto file = known.results.find(shot);
    if (file == known.results.end() || known.fetched.count(shot) == 0) continue;
    const std::string path = below + '/' + file->second;
    std::error_code error;
    if (!fs::exists(m_campaign / path, error)) continue;
    try {
      collected.complete.push_back(check_result(m_campaign, path, work, shot));
    } catch (const FileError& wrong) {
      collected.damaged.emplace_back(shot, wrong.what());
    }
  }
  if (seconds_now() < known.retry_at) return collected;
  std::string list;
  for (const auto& [shot, file] : known.results) {
    if (known.fetched.count(shot) > 0) continue;
    known.in_transfer.insert(shot);
    list += file + '\n';
  }
  if (list.empty()) return collected;
  make_private_folders(m_campaign / below);
  const fs::path names = m_campaign / below / "fetch.txt";
  write_private_text(names, list);
  StartOptions start;
  start.words = {m_relay.rsync,
                 "-s",
                 "-t",
                 "-e",
                 rsync_shell(),
                 "--timeout=120",
                 "--files-from=" + names.string(),
                 concat(m_relay.host, ':', m_relay.folder, '/',
                        job.token.substr(0, job.token.rfind('.')), '/'),
                 (m_campaign / below).string() + "/"};
  start.log = m_campaign / below / "fetch.log";
  known.transfer_process = start_process(start);
  return collected;
}

JobReport RelaySite::report(const Job& job) {
  const auto at = m_known.find(job.token);
  if (at == m_known.end()) return {};
  JobReport report = at->second.report;
  if (!report.message.empty() && !job.tasks.empty()) {
    report.failures.push_back({job.tasks[0].shot, 2, 0, false, report.message});
  }
  return report;
}

void RelaySite::remove_duplicate(const ShotResult& result) {
  std::error_code error;
  fs::remove(m_campaign / result.file, error);
}

void RelaySite::remove_job_files(const Job& job) {
  m_known.erase(job.token);
  if (!m_keeps_files) forget({job.token});
}

std::optional<ShotResult> RelaySite::sum(const Work& work, const SumRequest& wanted) {
  const std::string below = concat(m_options.name, '/', wanted.token, '/');
  std::set<std::int64_t> shots;
  for (const auto& [job, tasks] : wanted.shots) {
    for (const Task& task : tasks) shots.insert(task.shot);
  }
  const std::int64_t first = *shots.begin();
  std::error_code error;
  if (m_background->sum.valid()) {
    const std::future<void> ahead = std::move(m_background->sum);
    ahead.wait();
    const fs::path file = m_campaign / m_options.name / m_background->sum_job / sum_name;
    if (!wanted.arrays && shots == m_background->sum_shots && fs::exists(file, error)) {
      make_private_folders(m_campaign / below);
      fs::rename(file, m_campaign / (below + sum_name));
      return check_result(m_campaign, below + sum_name, work, first);
    }
  }
  if (fs::exists(m_campaign / (below + sum_name), error)) {
    try {
      return check_result(m_campaign, below + sum_name, work, first);  // of an earlier run
    } catch (const FileError&) {
      fs::remove(m_campaign / (below + sum_name), error);
    }
  }
  RelayAnswer lines{{"do", "sum"}, {"key", to_text(read_key(m_campaign))}, {"job", wanted.token}};
  if (wanted.arrays) lines.push_back({"setting", "arrays", "1"});
  for (const auto& [job, tasks] : wanted.shots) lines.push_back({"take", job, shots_text(tasks)});
  std::string state, message = "its relay ended";
  try {
    for (const auto& words : request(lines)) {
      if (words[0] == "state" && words.size() == 4) state = words[3] == "0" ? "made" : words[2];
      if (words[0] == "unusable" && words.size() == 3) message = words[2];
    }
  } catch (const Refused& refused) {
    throw FileError(refused.what());
  }
  if (state == "running") return std::nullopt;
  if (state != "made") throw FileError(message);
  make_private_folders(m_campaign / below);
  transfer({concat(m_relay.host, ':', m_relay.folder, '/',
                   wanted.token.substr(0, wanted.token.rfind('.')), '/', sum_name),
            (m_campaign / below).string()});
  return check_result(m_campaign, below + sum_name, work, first);
}

void RelaySite::forget(const std::vector<std::string>& tokens) {
  RelayAnswer lines{{"do", "forget"}};
  for (const std::string& token : tokens) lines.push_back({"job", token});
  try {
    request(lines);
  } catch (const Error&) {
    // the remote files remain
  }
}

}  // namespace moho::cluster
