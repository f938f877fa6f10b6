// SPDX-License-Identifier: BSD-3-Clause
//
// Remote sites, local side: requests by ssh, files by rsync.
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/relay.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>

#include <algorithm>
#include <cmath>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;
using detail::seconds_now;

// Accepts name and user@name without characters that ssh or a shell expands.
bool is_safe_host(std::string_view host) {
  const std::size_t at = host.find('@');
  if (at != std::string_view::npos) {
    return is_safe_name(host.substr(0, at)) && is_safe_name(host.substr(at + 1), 255);
  }
  return is_safe_name(host, 255);
}

bool is_safe_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./=+:,@").find(c) != std::string_view::npos;
  });
}

}  // namespace

// Stringification, because nvcc's wrapper removes quotes from definitions.
#define MOHO_TEXT_OF(word) #word
#define MOHO_TEXT(word) MOHO_TEXT_OF(word)

const char* version() {
#ifdef MOHO_CLUSTER_VERSION
  return MOHO_TEXT(MOHO_CLUSTER_VERSION);
#else
  return "unknown";
#endif
}

RelaySite::RelaySite(SiteOptions options, const fs::path& campaign, RelayOptions relay)
    : Site([&] {
        options.one_job_per_chunk = true;
        options.max_jobs = 2;
        options.file_delay = 0.0;
        options.collect_interval = std::min(options.collect_interval, 0.25);  // of local processes
        return options;
      }()),
      m_campaign(campaign),
      m_relay(std::move(relay)) {
  const std::string& name = m_options.name;
  if (!is_safe_host(m_relay.host)) {
    throw InputError(concat("site ", name, ": the host '", m_relay.host,
                            "' (allowed: name or user@name of letters, digits and . _ -): put "
                            "everything else into ssh's configuration, under such a name"));
  }
  for (const auto& [what, path] :
       {std::pair{"folder", m_relay.folder}, std::pair{"programs", m_relay.programs}}) {
    if (!is_safe_path(path)) {
      throw InputError(concat("site ", name, ": ", what, " is '", path,
                              "' (allowed: a path from the root of letters, digits and "
                              "/ . _ - + =): give another folder, or a link to it"));
    }
  }
  for (const std::string& word : m_relay.ssh) {
    if (!is_safe_word(word)) {
      throw InputError(concat("site ", name, ": ssh_option is '", word,
                              "' (allowed: one word of letters, digits and - _ . / = + : , @): "
                              "put everything else into ssh's configuration"));
    }
  }
  if (!m_relay.run) m_relay.run = run_command;
}

// Sends a request to the relay. Returns the lines of its answer.
std::vector<std::vector<std::string>> RelaySite::request(
    const std::vector<std::vector<std::string>>& lines) {
  Command command;
  command.words = m_relay.ssh;
  command.words.insert(command.words.end(),
                       {"--", m_relay.host, m_relay.programs + "/distribute_shots --relay"});
  command.timeout = m_relay.command_timeout;
  command.input = add_checksum(join_words({"moho", version()})) +
                  add_checksum(join_words({"folder", m_relay.folder}));
  for (const auto& line : lines) command.input += add_checksum(join_words(line));
  command.input += add_checksum("end");
  const CommandResult result = m_relay.run(command);
  if (!result.succeeded()) throw NoAnswer(concat("ssh ", m_relay.host, ": ", result.message()));
  std::vector<std::vector<std::string>> answer;
  bool complete = false;
  for (const std::string_view line : split_lines(result.out)) {
    const auto content = remove_checksum(line);  // output of a login shell has no checksum
    if (!content) continue;
    if (*content == "end") {
      complete = true;
      continue;
    }
    const auto words = parse_line(*content);
    if (!words || words->empty()) continue;
    if ((*words)[0] == "error" && words->size() == 2) {
      throw Refused(concat("the relay at ", m_relay.host, ": ", (*words)[1]));
    }
    answer.push_back(*words);
  }
  if (!complete) throw NoAnswer(concat("ssh ", m_relay.host, ": the answer is truncated"));
  return answer;
}

void RelaySite::transfer(const std::vector<std::string>& words, const std::string& input) {
  Command command;
  std::string shell;
  for (const std::string& word : m_relay.ssh) shell += (shell.empty() ? "" : " ") + word;
  // -s: file names are not interpreted by the remote shell
  command.words = {m_relay.rsync, "-s", "-t", "-e", shell};
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.input = input;
  command.timeout = m_relay.transfer_timeout;
  const CommandResult result = m_relay.run(command);
  if (!result.succeeded())
    throw NoAnswer(concat("rsync with ", m_relay.host, ": ", result.message()));
}

std::string RelaySite::probe() { return "ssh " + m_relay.host; }

std::string RelaySite::probe(const Work&) {
  std::vector<std::vector<std::string>> lines{{"do", "probe"}};
  for (const auto& [key, value] : m_relay.system_settings) lines.push_back({"setting", key, value});
  try {
    std::string text = "ssh " + m_relay.host;
    for (const auto& words : request(lines)) {
      if (words[0] == "version" && words.size() == 2 && words[1] != version()) {
        throw InputError(concat("site ", m_options.name, ": the programs in ", m_relay.programs,
                                " are of version ", words[1], ", these of ", version(),
                                ": install the same version there"));
      }
      if (words[0] == "site" && words.size() == 2) text += ", " + words[1];
      if (words[0] == "free" && words.size() == 2) {
        double bytes = 0.0;
        if (read_number(words[1], bytes)) text += ", " + format_bytes(bytes) + " free";
      }
    }
    return text;
  } catch (const NoAnswer& error) {
    throw InputError(concat("site ", m_options.name, " does not answer: ", error.what(),
                            ": try ssh ", m_relay.host, " manually, or remove the site"));
  } catch (const Refused& error) {
    throw InputError(concat("site ", m_options.name, ": ", error.what()));
  }
}

std::string RelaySite::send_input(const std::string& name, const std::string& path) {
  const auto known = m_sent.find(path);
  if (known != m_sent.end()) return known->second;
  const bool folder = fs::is_directory(path);
  io::Checksum sum;
  std::vector<fs::path> files;
  if (folder) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  } else {
    files.emplace_back(path);
  }
  for (const fs::path& file : files) {
    const std::string text = concat(fs::relative(file, path).string(), ' ',
                                    io::checksum_text(io::identify_file(file).checksum), '\n');
    sum.add(text.data(), text.size());
  }
  // Keep the extension: programs recognise formats by it.
  const std::string end = fs::path(path).extension().string();
  const std::string remote =
      concat(m_relay.folder, "/inputs/", io::checksum_text(sum.value()), '_', name,
             end.size() > 1 && is_safe_name(end.substr(1)) ? end : std::string());
  transfer({"-r", "--checksum", "--mkpath", fs::absolute(path).string() + (folder ? "/" : ""),
            concat(m_relay.host, ':', remote, folder ? "/" : "")});
  m_sent[path] = remote;
  return remote;
}

void RelaySite::prepare(const Work& work, const Batch& batch) {
  m_keeps_files = work.sums;
  Work own = work;
  for (auto& [name, path] : own.inputs) path = send_input(name, path);
  const fs::path folder = m_campaign / m_options.name / "chunks" / batch.token;
  std::error_code error;
  make_private_folders(folder);
  write_jobs(folder, own, batch);
  transfer({"-r", "--mkpath", "--perms", "--chmod=D0700,F0600", folder.string() + "/",
            concat(m_relay.host, ':', m_relay.folder, '/', batch.token, '/')});
  fs::remove_all(folder, error);
}

std::vector<std::string> RelaySite::submit(const Batch& batch) {
  // The key is sent on ssh's standard input, because command lines are public.
  std::vector<std::vector<std::string>> lines{{"do", "start"},
                                              {"key", to_text(read_key(m_campaign))}};
  std::vector<std::string> ids;
  for (const Job& job : batch.jobs) {
    lines.push_back({"job", job.token});
    ids.push_back(job.token);
    ++m_known[job.token].starts;
  }
  for (const auto& [key, value] : m_relay.system_settings) lines.push_back({"setting", key, value});
  request(lines);
  return ids;
}

// Starting a chunk twice has no further effect, so the submission is repeated.
std::vector<std::string> RelaySite::find(const Batch& batch) {
  try {
    return submit(batch);
  } catch (const Refused&) {
    return {};
  }
}

std::vector<JobStatus> RelaySite::query(const std::vector<std::string>& ids) {
  std::vector<std::vector<std::string>> lines{{"do", "look"}};
  for (const std::string& id : ids) {
    lines.push_back({"job", id});
    KnownJob& known = m_known[id];
    known.state.clear();
    known.report.failures.clear();
  }
  std::vector<std::vector<std::string>> answer;
  try {
    answer = request(lines);
  } catch (const Refused& error) {
    throw NoAnswer(error.what());
  }
  std::map<std::string, JobStatus> found;
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
    } else if (words[0] == "state" && words.size() == 4) {
      known.state = words[2];
      JobStatus& status = found[words[1]];
      status.id = words[1];
      status.node = m_relay.host;
      read_number(words[3], status.exit);
      known.report.host = m_relay.host;
    }
  }
  std::vector<JobStatus> all;
  for (const std::string& id : ids) {
    KnownJob& known = m_known[id];
    JobStatus status = found.count(id) > 0 ? found[id] : JobStatus{};
    status.id = id;
    if (known.state == "running") {
      status.state = JobState::running;
    } else if (known.state == "done") {
      // The job counts as ended when all of its results are local.
      const bool here = known.fetched.size() == known.results.size();
      status.state = !here && known.failed_transfers >= 10 ? JobState::node_lost
                     : !here                               ? JobState::running
                     : status.exit == 0                    ? JobState::completed
                                                           : JobState::failed;
      if (!here && known.failed_transfers >= 10) status.message = "its results cannot be fetched";
      known.report.done.clear();
      for (const auto& [shot, file] : known.results) known.report.done.push_back(shot);
    } else if (known.state == "dead" && known.starts < 4) {
      // A relay that was killed is restarted; it resumes from its journal.
      ++known.starts;
      std::vector<std::vector<std::string>> again{
          {"do", "start"}, {"key", to_text(read_key(m_campaign))}, {"job", id}};
      for (const auto& [key, value] : m_relay.system_settings)
        again.push_back({"setting", key, value});
      request(again);
      status.state = JobState::running;
    } else {
      status.state = JobState::node_lost;
      status.message =
          known.state == "dead" ? "its relay ends repeatedly" : "the site does not know it";
    }
    all.push_back(status);
  }
  return all;
}

void RelaySite::cancel(const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  std::vector<std::vector<std::string>> lines{{"do", "cancel"}};
  for (const std::string& id : ids) lines.push_back({"job", id});
  for (const auto& [key, value] : m_relay.system_settings) lines.push_back({"setting", key, value});
  request(lines);
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
  std::string shell;
  for (const std::string& word : m_relay.ssh) shell += (shell.empty() ? "" : " ") + word;
  StartOptions start;
  start.words = {m_relay.rsync,
                 "-s",
                 "-t",
                 "-e",
                 shell,
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
  const std::int64_t first = wanted.shots.begin()->second.front().shot;
  std::error_code error;
  if (fs::exists(m_campaign / (below + sum_name), error)) {
    try {
      return check_result(m_campaign, below + sum_name, work, first);  // of an earlier run
    } catch (const FileError&) {
      fs::remove(m_campaign / (below + sum_name), error);
    }
  }
  std::vector<std::vector<std::string>> lines{
      {"do", "sum"}, {"key", to_text(read_key(m_campaign))}, {"job", wanted.token}};
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
  std::vector<std::vector<std::string>> lines{{"do", "forget"}};
  for (const std::string& token : tokens) lines.push_back({"job", token});
  try {
    request(lines);
  } catch (const Error&) {
    // the remote files remain
  }
}

}  // namespace moho::cluster
