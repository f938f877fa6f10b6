// SPDX-License-Identifier: BSD-3-Clause
//
// Remote sites, local side: requests by ssh, files by rsync.
#include <moho/cluster/detail/relay_background.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

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
        options.collect_interval = std::min(options.collect_interval, 0.02);
        return options;
      }()),
      m_campaign(campaign),
      m_relay(std::move(relay)),
      m_background(std::make_unique<Background>()) {
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
  m_background->uses_master = !m_relay.run;
  if (!m_relay.run) m_relay.run = run_command;
}

RelaySite::~RelaySite() = default;

RelaySite::Background::Background() : stop_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

RelaySite::Background::~Background() {
  const std::uint64_t one = 1;
  if (stop_descriptor >= 0 && ::write(stop_descriptor, &one, sizeof(one)) < 0) {
    // commands in progress end by themselves
  }
  if (look.valid()) look.wait();
  if (sum.valid()) sum.wait();
  if (stop_descriptor >= 0) ::close(stop_descriptor);
}

std::vector<std::string> RelaySite::ssh_words() const {
  std::vector<std::string> words = m_relay.ssh;
  const std::vector<std::string> more = m_background->master.options();
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string RelaySite::rsync_shell() const {
  std::string shell;
  for (const std::string& word : ssh_words()) shell += (shell.empty() ? "" : " ") + word;
  return shell;
}

// Sends a request to the relay. Returns the lines of its answer.
// \param wait seconds for which the relay may delay the answer
RelayAnswer RelaySite::request(const RelayAnswer& lines, double wait) {
  Command command;
  command.words = ssh_words();
  command.words.insert(command.words.end(),
                       {"--", m_relay.host, m_relay.programs + "/distribute_shots --relay"});
  command.timeout = m_relay.command_timeout + wait;
  command.stop_descriptor = m_background->stop_descriptor;
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
  // -s: file names are not interpreted by the remote shell
  command.words = {m_relay.rsync, "-s", "-t", "-e", rsync_shell()};
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.input = input;
  command.timeout = m_relay.transfer_timeout;
  command.stop_descriptor = m_background->stop_descriptor;
  const CommandResult result = m_relay.run(command);
  if (!result.succeeded())
    throw NoAnswer(concat("rsync with ", m_relay.host, ": ", result.message()));
}

std::string RelaySite::probe() { return "ssh " + m_relay.host; }

bool RelaySite::limits_memory() const {
  bool slurm = false;  // without a kind the jobs are processes
  for (const auto& [key, value] : m_relay.system_settings) {
    if (key == "kind") slurm = value == "slurm";
  }
  return slurm;
}

std::string RelaySite::probe(const Work&) {
  std::vector<std::vector<std::string>> lines{{"do", "probe"}};
  for (const auto& [key, value] : m_relay.system_settings) lines.push_back({"setting", key, value});
  if (m_background->uses_master) m_background->master.open(m_relay.ssh, m_relay.host);
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
    for (const Task& task : job.tasks) m_background->submitted.insert(task.shot);
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

void RelaySite::cancel(const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  std::vector<std::vector<std::string>> lines{{"do", "cancel"}};
  for (const std::string& id : ids) lines.push_back({"job", id});
  for (const auto& [key, value] : m_relay.system_settings) lines.push_back({"setting", key, value});
  request(lines);
}

}  // namespace moho::cluster
