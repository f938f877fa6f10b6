// SPDX-License-Identifier: BSD-3-Clause
//
// Remote sites, remote side: answers to requests, and the computation of chunks.
#include <moho/cluster/detail/relay_background.hpp>
#include <moho/cluster/detail/relay_sums.hpp>
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/distributor.hpp>
#include <moho/cluster/relay.hpp>
#include <moho/cluster/sites_file.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <future>
#include <iterator>
#include <memory>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  return io::InputFile(path).text(std::uint64_t{1} << 30);
}

// Returns the lines of a small file; empty if it cannot be read.
std::vector<std::string> lines_of_file(const fs::path& path) {
  try {
    const std::string text = read_text(path);
    const auto lines = split_lines(text);
    return {lines.begin(), lines.end()};
  } catch (const FileError&) {
    return {};
  }
}

// Locks the chunk of a relay. Returns the descriptor; -1 if another process holds the lock.
int lock_chunk(const fs::path& folder) {
  const fs::path path = folder / "relay.lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) {
    throw FileError(concat("cannot open '", path.string(), "' (", std::strerror(errno), ")"));
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// Returns the folder of a job's chunk.
fs::path chunk_of(const fs::path& folder, const std::string& token) {
  if (!is_safe_name(token, 200)) {
    throw InputError(concat("'", token, "' is not the token of a job"));
  }
  // a batch has one job
  return folder / token.substr(0, token.rfind('.'));
}

struct Request {
  std::string version, action, key;
  fs::path folder;
  std::vector<std::string> jobs;
  Settings settings;
  Settings takes;     // jobs, and their shots to be added
  double wait = 0.0;  // seconds for which "look" waits for the end of a job
};

Request read_request(std::istream& in) {
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Request request;
  bool complete = false;
  for (const std::string_view line : split_lines(text)) {
    const auto content = remove_checksum(line);
    if (content && *content == "end") complete = true;
    const auto words = parse_line(content.value_or(""));
    if (!words || words->size() < 2) continue;
    const std::string& kind = (*words)[0];
    if (kind == "moho") request.version = (*words)[1];
    if (kind == "folder") request.folder = (*words)[1];
    if (kind == "do") request.action = (*words)[1];
    if (kind == "key") request.key = (*words)[1];
    if (kind == "job") request.jobs.push_back((*words)[1]);
    if (kind == "wait") read_number((*words)[1], request.wait);
    if (words->size() != 3) continue;
    if (kind == "setting") request.settings.emplace_back((*words)[1], (*words)[2]);
    if (kind == "take") request.takes.emplace_back((*words)[1], (*words)[2]);
  }
  if (!complete || !is_safe_path(request.folder.string())) {
    throw InputError(
        "the request is truncated, or not from a distributor (this option serves relays)");
  }
  return request;
}

SiteSection section_of(const Settings& settings) { return {"site", settings}; }

// Starts the relay of a chunk, or of a sum, unless it runs or has ended.
void start_relay(const Request& request, const std::string& token, const fs::path& program) {
  const fs::path chunk = chunk_of(request.folder, token);
  std::error_code error;
  if (fs::exists(chunk / "relay.end", error)) return;
  check_private_folder(request.folder);
  check_private_folder(chunk);
  if (!request.key.empty() &&
      !(write_key(chunk, parse_key(request.key)) == parse_key(request.key))) {
    throw InputError(concat("the folder '", chunk.string(), "' has the key of another journal"));
  }
  const int lock = lock_chunk(chunk);
  if (lock < 0) return;  // it is running
  std::string text = add_checksum(join_words({"token", token}));
  for (const auto& [key, value] : request.settings)
    text += add_checksum(join_words({"setting", key, value}));
  for (const auto& [job, shots] : request.takes)
    text += add_checksum(join_words({"take", job, shots}));
  write_private_text(chunk / "relay.txt", text);
  StartOptions start;
  start.words = {program.string(), "--relay-run", chunk.string()};
  start.log = chunk / "relay.log";
  start.inherited_descriptor = lock;  // inherited, so the relay is locked from its start
  start.environment = {{"MOHO_LOCK", std::to_string(lock)}};
  start.new_session = true;
  const int process = start_process(start);
  write_private_text(chunk / "relay.pid",
                     std::to_string(process) + '\n' + process_identity(process) + '\n');
  ::close(lock);
}

void start_chunk(const Request& request, const std::string& token, const fs::path& program) {
  std::error_code error;
  if (!fs::exists(files_of(chunk_of(request.folder, token), token).job, error)) {
    throw InputError(concat("no job ", token, " in ", request.folder.string()));
  }
  start_relay(request, token, program);
}

// Starts a sum, and waits for it for up to 5 s. A sum that a chunk has written is used.
void start_sum(const Request& request, const std::string& token, const fs::path& program) {
  const fs::path folder = chunk_of(request.folder, token);
  make_private_folders(folder);
  if (request.settings.empty() && detail::link_requested_sum(folder, request.takes)) return;
  start_relay(request, token, program);
  std::error_code error;
  for (int k = 0; k < 250 && !fs::exists(folder / "relay.end", error); ++k) ::usleep(20000);
}

// Returns true if the recorded process of a relay runs.
bool relay_runs(const fs::path& chunk) {
  const auto recorded = lines_of_file(chunk / "relay.pid");
  int process = 0;
  if (recorded.size() < 2 || !read_number(recorded[0], process)) return false;
  return process > 1 && process_identity(process) == recorded[1];
}

// Waits until one of the jobs has ended, for the time of the request.
void wait_for_end(const Request& request) {
  const double end = detail::seconds_now() + std::min(request.wait, 60.0);
  std::error_code error;
  for (int round = 0; detail::seconds_now() < end; ++round) {
    for (const std::string& token : request.jobs) {
      const fs::path chunk = chunk_of(request.folder, token);
      if (fs::exists(chunk / "relay.end", error)) return;
      if (round % 50 == 0 && !relay_runs(chunk)) return;
    }
    ::usleep(10000);
  }
}

void query_chunk(const Request& request, const std::string& token, std::ostream& out) {
  const auto line = [&](const std::vector<std::string>& words) {
    out << add_checksum(join_words(words));
  };
  const fs::path chunk = chunk_of(request.folder, token);
  std::error_code error;
  if (!fs::exists(chunk, error)) return line({"state", token, "none", "-1"});
  std::string state = "dead", exit = "-1";
  const int lock = lock_chunk(chunk);
  if (lock < 0) {
    state = "running";
  } else {
    ::close(lock);
  }
  // relay.end is written after the last result: reading it before the journal misses no result.
  if (fs::exists(chunk / "relay.end", error)) {
    state = "done";
    const std::string end = read_text(chunk / "relay.end");
    for (const std::string_view text : split_lines(end)) {
      const auto words = parse_line(remove_checksum(text).value_or(""));
      if (!words) continue;
      if (words->size() == 3 && (*words)[0] == "missing") {
        line({"missing", token, (*words)[1], (*words)[2]});
      }
      if (words->size() == 2 && (*words)[0] == "unusable") line({"unusable", token, (*words)[1]});
      if (words->size() == 2 && (*words)[0] == "exit") exit = (*words)[1];
      if (words->size() == 2 && (*words)[0] == "seconds") line({"seconds", token, (*words)[1]});
    }
    const auto sum = detail::describe_shots(detail::shots_of_sum(chunk));
    line({"sum", token, sum[0], sum[1]});
  }
  if (fs::exists(chunk / "journal.txt", error)) {
    const JournalContent journal = read_journal(chunk / "journal.txt");
    // with sums, the report of a shot is complete after its result
    const bool sums = fs::exists((chunk / report_name(0)).parent_path(), error);
    for (const ShotResult& result : journal.results) {
      const std::string file = sums ? report_name(result.shot) : result.file;
      if (sums && !fs::exists(chunk / file, error)) continue;
      line({"result", token, std::to_string(result.shot), file});
    }
  }
  line({"state", token, state, exit});
}

void cancel_chunk(const Request& request, const std::string& token) {
  const fs::path chunk = chunk_of(request.folder, token);
  std::error_code error;
  if (!fs::exists(chunk / "journal.txt", error) && !fs::exists(chunk / "relay.pid", error)) return;
  const auto recorded = lines_of_file(chunk / "relay.pid");
  int process = 0;
  if (recorded.size() < 2 || !read_number(recorded[0], process)) process = 0;
  for (int k = 0; k < 100; ++k) {
    const int lock = lock_chunk(chunk);
    if (lock >= 0) {
      ::close(lock);
      break;
    }
    if (process > 1 && process_identity(process) == recorded[1]) ::kill(process, SIGKILL);
    ::usleep(20000);
  }
  if (!fs::exists(chunk / "journal.txt", error)) return;
  const auto [work, job] = parse_job(read_text(files_of(chunk, token).job), token, read_key(chunk));
  Journal journal(chunk / "journal.txt", work.survey, {JournalStart::resume, false, {}});
  const auto sites = make_sites({section_of(request.settings)}, chunk,
                                fs::read_symlink("/proc/self/exe").parent_path());
  cancel_jobs({work, journal}, sites);
}

// Returns true if the folder of a chunk was removed. Its relay then ends: the next chunk waits for
// it.
bool is_lost(const fs::path& folder) {
  std::error_code error;
  return !fs::exists(folder / "relay.lock", error);
}

DistributeOptions chunk_options(const Job& job, const fs::path& folder) {
  DistributeOptions options;
  options.max_attempts = 2;  // afterwards another site may retry
  options.max_missing = static_cast<std::int64_t>(job.tasks.size());
  options.shots_per_job = std::clamp<std::int64_t>(job.shots_per_job, 1, options.max_missing);
  options.shot_time_limit = job.shot_time_limit;
  options.memory = job.memory;
  options.max_memory = job.max_memory;
  options.stop = [folder] { return is_lost(folder); };
  options.on_message = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  return options;
}

}  // namespace

int serve_relay_request(std::istream& in, std::ostream& out, const fs::path& program) {
  const auto line = [&](const std::vector<std::string>& words) {
    out << add_checksum(join_words(words));
  };
  try {
    const Request request = read_request(in);
    line({"version", version()});
    if (request.action == "probe") {
      make_private_folders(request.folder);
      check_private_folder(request.folder);
      struct statvfs disk {};
      if (::statvfs(request.folder.c_str(), &disk) != 0) {
        throw InputError(concat("cannot use the folder '", request.folder.string(), "' (",
                                std::strerror(errno), "): name one that you can write"));
      }
      const auto sites = make_sites({section_of(request.settings)}, request.folder / "probe",
                                    program.parent_path());
      make_private_folders(request.folder / "probe");
      line({"site", sites[0]->probe(Work{})});
      line({"free", format_number(static_cast<double>(disk.f_bavail) *
                                  static_cast<double>(disk.f_frsize))});
    } else if (request.version != version()) {
      throw InputError(
          concat("the request has the version ", request.version, ", this program ", version()));
    } else {
      if (request.action == "look") wait_for_end(request);
      for (const std::string& token : request.jobs) {
        if (request.action == "start") start_chunk(request, token, program);
        if (request.action == "sum") start_sum(request, token, program);
        if (request.action == "look" || request.action == "sum") query_chunk(request, token, out);
        if (request.action == "cancel") cancel_chunk(request, token);
        if (request.action == "forget") {
          std::error_code error;
          fs::remove_all(chunk_of(request.folder, token), error);
        }
      }
    }
  } catch (const std::exception& error) {
    line({"error", error.what()});
  }
  out << add_checksum("end") << std::flush;
  return out ? 0 : 1;
}

int run_relay(const fs::path& folder, const SiteFactory& make, const SumFactory& make_sum) {
  // The lock was inherited; it is taken here if the relay was started by hand.
  close_lock_on_exec();
  static_cast<void>(lock_chunk(folder));
  std::string token;
  Settings settings, takes;
  const std::string record = read_text(folder / "relay.txt");
  for (const std::string_view text : split_lines(record)) {
    const auto words = parse_line(remove_checksum(text).value_or(""));
    if (!words || words->size() < 2) continue;
    if ((*words)[0] == "token") token = (*words)[1];
    if ((*words)[0] == "setting" && words->size() == 3) {
      settings.emplace_back((*words)[1], (*words)[2]);
    }
    if ((*words)[0] == "take" && words->size() == 3) takes.emplace_back((*words)[1], (*words)[2]);
  }
  if (!takes.empty()) return detail::make_requested_sum(folder, takes, settings, make_sum);
  const fs::path file = files_of(folder, token).job;
  const std::pair<Work, Job> content = parse_job(read_text(file), file.string(), read_key(folder));
  const Work& work = content.first;  // clang 14 captures no structured binding
  const Job& job = content.second;
  std::string end;
  int exit = 0;
  const auto line = [&](const std::vector<std::string>& words) {
    end += add_checksum(join_words(words));
  };
  try {
    // On one machine, chunks of a site are computed one after the other.
    const fs::path turn = folder.parent_path() / "turn.lock";
    const int wait = ::open(turn.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool local = true;
    for (const auto& [key, value] : settings) local = local && !(key == "kind" && value != "local");
    if (local && wait >= 0) {
      while (::flock(wait, LOCK_EX) != 0 && errno == EINTR) {
      }
    }
    if (is_lost(folder)) return 1;
    std::unique_ptr<ShotSum> sum;
    std::future<std::unique_ptr<ShotSum>> earlier;  // the sum of earlier chunks, read meanwhile
    if (work.sums && make_sum) {
      make_private_folders((folder / report_name(0)).parent_path());
      earlier = std::async(std::launch::async, [&] {
        return local ? detail::resume_sum(folder, work, job, make_sum) : make_sum();
      });
    }
    Journal journal(folder / "journal.txt", work.survey);
    const auto sites = make(settings, folder);
    for (const auto& site : sites) site->probe(work);
    OnResult on_result;
    if (earlier.valid()) {
      on_result = [&](std::int64_t shot, const fs::path& result) {
        if (!sum) sum = earlier.get();
        detail::add_to_sum(*sum, folder, work, shot, result);
      };
    }
    const Report report =
        distribute({work, journal}, job.tasks, sites, chunk_options(job, folder), on_result);
    if (report.stopped) return 1;
    if (sum) detail::write_sum(*sum, folder, work);
    double seconds = 0.0;
    for (const SiteReport& site : report.sites) seconds += site.compute_time;
    line({"seconds", format_number(seconds)});
    for (const MissingShot& missing : report.missing) {
      if (missing.given_up) line({"missing", std::to_string(missing.shot), missing.reason});
    }
    exit = report.missing.empty() ? 0 : 1;
  } catch (const InputError& error) {
    line({"unusable", error.what()});
    exit = 2;
  }
  line({"exit", std::to_string(exit)});
  write_private_text(folder / "relay.end", end);
  return exit;
}

}  // namespace moho::cluster
