// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/guard.hpp>
#include <moho/cluster/slurm_jobs.hpp>
#include <moho/cluster/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Returns a number in the output of "scontrol show config".
double setting(const std::string& text, const std::string& name, double default_value) {
  for (const std::string_view line : split_lines(text)) {
    if (line.substr(0, name.size()) != name) continue;
    const std::size_t equal = line.find('=');
    if (equal == std::string_view::npos) continue;
    const std::string_view rest = line.substr(equal + 1);
    const std::size_t begin = rest.find_first_of("0123456789");
    if (begin == std::string_view::npos) continue;
    const std::size_t end = rest.find_first_not_of("0123456789", begin);
    double value = 0.0;
    if (read_number(rest.substr(begin, end == std::string_view::npos ? end : end - begin), value)) {
      return value;
    }
  }
  return default_value;
}

// Returns the id of the array that contains a job.
std::string base_of(const std::string& id) { return id.substr(0, id.find('_')); }

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// Formats a time limit as hours:minutes:seconds, rounded up to minutes.
std::string limit_text(double seconds) {
  const auto all = static_cast<std::int64_t>(std::ceil(seconds / 60.0)) * 60;
  return concat(all / 3600, ':', all / 60 % 60 < 10 ? "0" : "", all / 60 % 60, ":00");
}

// Script of every job: executes its arguments.
constexpr const char* script_text = "#!/bin/sh\nexec \"$@\"\n";

}  // namespace

JobState parse_slurm_state(std::string_view word) {
  const std::string_view name = word.substr(0, word.find_first_of(" +"));
  const std::pair<const char*, JobState> states[] = {
      {"PENDING", JobState::queued},          {"REQUEUED", JobState::queued},
      {"REQUEUE_FED", JobState::queued},      {"REQUEUE_HOLD", JobState::queued},
      {"SPECIAL_EXIT", JobState::queued},     {"RESV_DEL_HOLD", JobState::queued},
      {"RUNNING", JobState::running},         {"CONFIGURING", JobState::running},
      {"COMPLETING", JobState::running},      {"SUSPENDED", JobState::running},
      {"STOPPED", JobState::running},         {"RESIZING", JobState::running},
      {"SIGNALING", JobState::running},       {"STAGE_OUT", JobState::running},
      {"COMPLETED", JobState::completed},     {"FAILED", JobState::failed},
      {"TIMEOUT", JobState::timed_out},       {"OUT_OF_MEMORY", JobState::out_of_memory},
      {"NODE_FAIL", JobState::node_lost},     {"BOOT_FAIL", JobState::node_lost},
      {"LAUNCH_FAILED", JobState::node_lost}, {"DEADLINE", JobState::preempted},
      {"PREEMPTED", JobState::preempted},     {"REVOKED", JobState::preempted},
      {"CANCELLED", JobState::cancelled}};
  for (const auto& [text, state] : states) {
    if (name == text) return state;
  }
  return JobState::unknown;
}

std::vector<std::int64_t> parse_slurm_indices(std::string_view text, std::int64_t max_count) {
  std::vector<std::int64_t> indices;
  if (!text.empty() && text.front() == '[') text.remove_prefix(1);
  text = text.substr(0, text.find_first_of("]%"));
  for (const std::string& part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    std::int64_t first = 0, last = 0;
    if (!read_number(std::string_view(part).substr(0, dash), first)) continue;
    last = first;
    if (dash != std::string::npos) {
      std::string_view rest = std::string_view(part).substr(dash + 1);
      if (!read_number(rest.substr(0, rest.find(':')), last)) continue;
    }
    for (; first <= last && static_cast<std::int64_t>(indices.size()) < max_count; ++first) {
      indices.push_back(first);
    }
  }
  return indices;
}

SlurmJobs::SlurmJobs(SlurmOptions options) : m_options(std::move(options)) {
  if (m_options.max_array < 1) {
    throw InputError(concat("array is ", m_options.max_array,
                            " (allowed: 1 and more): give the largest number of jobs in an array"));
  }
  if (!m_options.run) m_options.run = run_command;
}

CommandResult SlurmJobs::execute(std::vector<std::string> words) {
  const std::string name = words[0];
  CommandResult result =
      m_options.run({std::move(words), "", m_options.command_timeout, std::size_t{64} << 20});
  if (result.timed_out) {
    throw NoAnswer(concat(name, ": no answer within ", m_options.command_timeout, " s"));
  }
  return result;
}

std::vector<std::string> SlurmJobs::sbatch(const Job& limits, const std::string& name) const {
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 "--job-name=" + name,
                                 "--open-mode=append",
                                 "--signal=B:USR1@60"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  add("--partition=", m_options.partition);
  add("--account=", m_options.account);
  add("--qos=", m_options.qos);
  const double seconds = limits.time_limit > 0.0 ? limits.time_limit : m_options.time_limit;
  if (seconds > 0.0) add("--time=", limit_text(seconds));
  const double memory = limits.memory > 0.0 ? limits.memory : m_options.memory;
  if (memory > 0.0) add("--mem=", concat(std::ceil(memory / 1048576.0), "M"));
  add("--exclude=", joined({limits.excluded_nodes.begin(), limits.excluded_nodes.end()}));
  words.insert(words.end(), m_options.sbatch_options.begin(), m_options.sbatch_options.end());
  return words;
}

std::string SlurmJobs::probe() {
  const auto must = [&](std::vector<std::string> words) {
    const std::string name = words[0];
    CommandResult result;
    try {
      result = execute(std::move(words));
    } catch (const NoAnswer& error) {
      throw InputError(concat("Slurm does not answer (", error.what(),
                              "): try squeue manually, or remove the site"));
    } catch (const FileError& error) {
      throw InputError(concat("Slurm: ", error.what()));
    }
    if (!result.succeeded()) {
      throw InputError(concat("Slurm: ", name, " reports: ", result.message()));
    }
    return result.out;
  };
  const std::string config = must({"scontrol", "show", "config"});
  m_message_timeout = setting(config, "MessageTimeout", 10.0);
  m_min_job_age = setting(config, "MinJobAge", 300.0);
  m_max_array_size = static_cast<std::int64_t>(setting(config, "MaxArraySize", 1001.0));
  if (m_max_array_size < 1) {
    throw InputError(concat("Slurm: its MaxArraySize is ", m_max_array_size,
                            " (needed: 1 and more): jobs are submitted as arrays; ask the "
                            "administrators to allow them"));
  }
  m_accounting = execute({"sacct", "-n", "-X", "-P", "-o", "JobID", "-S", "now-1hour"}).succeeded();
  make_private_folders(m_options.folder);
  const fs::path script = m_options.folder / "job.sh";
  write_private_text(script, script_text);
  std::vector<std::string> words = sbatch({}, "moho-test");
  words.insert(words.end(), {"--test-only", script.string(), "true"});
  must(words);
  return concat("Slurm, arrays of up to ", max_jobs(), ", ", m_accounting ? "with" : "without",
                " accounting");
}

std::int64_t SlurmJobs::max_jobs() const {
  return std::max<std::int64_t>(1, std::min(m_options.max_array, m_max_array_size - 1));
}

std::pair<double, double> SlurmJobs::query_intervals() const {
  const double longest = std::max(1.0, std::min(60.0, m_min_job_age / 3.0));
  return {std::min(5.0, longest), longest};
}

std::vector<std::string> SlurmJobs::submit(const Batch& batch) {
  const fs::path script = m_options.folder / "job.sh";
  std::error_code error;
  if (!fs::exists(script, error)) write_private_text(script, script_text);
  std::vector<std::string> words = sbatch(batch.jobs[0], batch.token);
  const fs::path logs = m_options.folder / "jobs" / batch.token;
  words.push_back(concat("--array=0-", batch.jobs.size() - 1));
  words.push_back("--output=" + (logs / "%a.log").string());
  words.push_back("--chdir=" + logs.string());
  words.push_back(script.string());
  words.insert(words.end(), m_options.worker.begin(), m_options.worker.end());
  words.push_back(batch.token);  // the worker appends its array index
  CommandResult result;
  try {
    result = execute(words);
  } catch (const FileError& wrong) {
    throw NoAnswer(wrong.what());
  }
  if (result.succeeded()) {
    // "17", or "17;cluster"
    const std::string id = result.out.substr(0, result.out.find_first_of(";\n"));
    std::int64_t number = 0;
    if (!read_number(id, number)) {
      throw NoAnswer(concat("sbatch printed '", result.message(), "' instead of a job id"));
    }
    std::vector<std::string> ids;
    for (std::size_t k = 0; k < batch.jobs.size(); ++k) ids.push_back(concat(id, '_', k));
    return ids;
  }
  const std::string said = result.message();
  for (const char* later :
       {"MaxSubmit", "submission limit", "Job violates accounting/QOS policy", "AssocMaxSubmit",
        "QOSMaxSubmit", "Resource temporarily unavailable", "job queue", "rate limit"}) {
    if (has(said, later)) throw NoRoom("sbatch: " + said);
  }
  for (const char* unsure : {"timed out", "Unable to contact", "Zero Bytes", "Connection",
                             "Transport", "Communication", "Slurm temporarily", "in standby"}) {
    if (has(said, unsure)) throw NoAnswer("sbatch: " + said);
  }
  if (has(said, "error:")) throw Refused("sbatch: " + said);
  throw NoAnswer("sbatch: " + said);
}

std::vector<std::string> SlurmJobs::find(const Batch& batch) {
  const auto ids_of = [&](const std::string& out) {
    std::vector<std::string> ids;
    for (const std::string_view line : split_lines(out)) {
      const std::string base = base_of(std::string(line));
      std::int64_t number = 0;
      if (!read_number(base, number)) continue;
      for (std::size_t k = 0; k < batch.jobs.size(); ++k) ids.push_back(concat(base, '_', k));
      break;
    }
    return ids;
  };
  CommandResult result =
      execute({"squeue", "-h", "-t", "all", "--name=" + batch.token, "-o", "%F"});
  if (!result.succeeded()) throw NoAnswer("squeue: " + result.message());
  std::vector<std::string> ids = ids_of(result.out);
  if (ids.empty() && m_accounting) {
    result = execute(
        {"sacct", "-n", "-X", "-P", "--name=" + batch.token, "-S", "now-30days", "-o", "JobID"});
    if (result.succeeded()) ids = ids_of(result.out);
  }
  return ids;
}

std::vector<JobStatus> SlurmJobs::query_squeue(const std::vector<std::string>& bases) {
  const CommandResult result =
      execute({"squeue", "-h", "-t", "all", "-j", joined({bases.begin(), bases.end()}), "-o",
               "%F|%K|%T|%N|%r"});
  if (!result.succeeded()) {
    // squeue fails if it knows none of the jobs
    if (has(result.error, "Invalid job id")) return {};
    throw NoAnswer("squeue: " + result.message());
  }
  std::vector<JobStatus> all;
  for (const std::string_view line : split_lines(result.out)) {
    const auto fields = split(line, '|');
    if (fields.size() < 5) continue;
    for (const std::int64_t index : parse_slurm_indices(fields[1], std::int64_t{1} << 20)) {
      JobStatus status;
      status.id = concat(fields[0], '_', index);
      status.state = parse_slurm_state(fields[2]);
      status.node = fields[3];
      status.message = fields[2];
      all.push_back(status);
    }
  }
  return all;
}

std::vector<JobStatus> SlurmJobs::query_sacct(const std::vector<std::string>& bases) {
  const CommandResult result =
      execute({"sacct", "-n", "-X", "-P", "-S", "now-30days", "-j",
               joined({bases.begin(), bases.end()}), "-o", "JobID,State,ExitCode,NodeList"});
  if (!result.succeeded()) throw NoAnswer("sacct: " + result.message());
  std::vector<JobStatus> all;
  for (const std::string_view line : split_lines(result.out)) {
    const auto fields = split(line, '|');
    if (fields.size() < 4) continue;
    const std::size_t dash = fields[0].find('_');
    if (dash == std::string::npos) continue;
    for (const std::int64_t index :
         parse_slurm_indices(std::string_view(fields[0]).substr(dash + 1), std::int64_t{1} << 20)) {
      JobStatus status;
      status.id = concat(fields[0].substr(0, dash), '_', index);
      status.state = parse_slurm_state(fields[1]);
      status.message = fields[1];
      status.node = fields[3] == "None assigned" ? "" : fields[3];
      const auto codes = split(fields[2], ':');
      read_number(codes[0], status.exit);
      if (codes.size() > 1) read_number(codes[1], status.signal);
      all.push_back(status);
    }
  }
  return all;
}

std::vector<JobStatus> SlurmJobs::query(const std::vector<std::string>& ids) {
  std::set<std::string> remaining(ids.begin(), ids.end()), unique;
  for (const std::string& id : ids) unique.insert(base_of(id));
  const std::vector<std::string> bases(unique.begin(), unique.end());
  std::vector<JobStatus> all;
  const auto take = [&](std::vector<JobStatus> some) {
    for (JobStatus& status : some) {
      if (status.state != JobState::unknown && remaining.erase(status.id) == 1) {
        all.push_back(std::move(status));
      }
    }
  };
  // One command queries up to max_ids arrays, which limits the length of its command line.
  constexpr std::size_t max_ids = 1000;
  for (std::size_t k = 0; k < bases.size(); k += max_ids) {
    const std::vector<std::string> some(
        bases.begin() + static_cast<std::ptrdiff_t>(k),
        bases.begin() + static_cast<std::ptrdiff_t>(std::min(bases.size(), k + max_ids)));
    take(query_squeue(some));
  }
  if (!remaining.empty() && m_accounting) {
    unique.clear();
    for (const std::string& id : remaining) unique.insert(base_of(id));
    try {
      take(query_sacct({unique.begin(), unique.end()}));
    } catch (const NoAnswer&) {
      // squeue has answered: remaining jobs are reported as unknown
    }
  }
  for (const std::string& id : remaining) {
    JobStatus status;
    status.id = id;
    all.push_back(status);
  }
  return all;
}

void SlurmJobs::cancel(const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  std::vector<std::string> words{"scancel"};
  words.insert(words.end(), ids.begin(), ids.end());
  const CommandResult result = execute(words);
  if (!result.succeeded() && !has(result.error, "Invalid job id") &&
      !has(result.error, "completing")) {
    throw NoAnswer("scancel: " + result.message());
  }
}

}  // namespace moho::cluster
