// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/text.hpp>
#include <moho/cluster/worker.hpp>
#include <moho/core/error.hpp>
#include <moho/core/launcher.hpp>
#include <moho/core/memory_share.hpp>
#include <moho/io/input_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;
using detail::seconds_now;

// Report of a worker. Each line is one write().
class ReportFile {
 public:
  explicit ReportFile(const fs::path& path) : m_path(path) {
    m_descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (m_descriptor < 0) fail();
  }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile() { ::close(m_descriptor); }
  void line(const std::vector<std::string>& words) const {
    // the leading line end separates it from a line truncated by a kill
    const std::string text = '\n' + add_checksum(join_words(words));
    if (::write(m_descriptor, text.data(), text.size()) < 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw FileError(concat("cannot write '", m_path.string(), "' (", std::strerror(errno), ")"));
  }
  fs::path m_path;
  int m_descriptor = -1;
};

// Returns up to 1200 bytes at the end of a log, starting at an offset or later: mpirun adds its own
// lines, about 600 bytes, to those of a program.
std::string last_lines(const fs::path& log, std::uint64_t from) {
  constexpr std::uint64_t last_bytes = 1200;
  try {
    const io::InputFile file(log);
    const std::uint64_t size = file.size();
    from = std::max(from, size > last_bytes ? size - last_bytes : 0);
    if (from >= size) return "";
    std::string text(static_cast<std::size_t>(size - from), '\0');
    file.read(from, text.data(), text.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
  } catch (const FileError&) {
    return "";
  }
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : size;
}

// Returns an empty text if the next shot may begin. \param late it would not end in time
std::string reason_to_stop(const WorkerOptions& options, bool late) {
  const bool stop = options.stop && options.stop();
  if (late) return "the next shot would not end in time";
  return stop ? "a stop was requested" : "";
}

// Returns the program that runs the command of the work. The arguments must outlive it.
ShotProgram command_of(const Work& work, const fs::path& programs, const fs::path& log,
                       const WorkerOptions& options) {
  std::optional<MemoryShare> share = MemoryShare::from_environment();
  if (const int ranks = options.ranks_of_host; ranks > 1) {
    if (!share) share = MemoryShare::of(1);
    const int devices = std::max(options.devices, 1);
    share = share->divided(ranks, (ranks + devices - 1) / devices);
  }
  return [&, share](const Task& task, const fs::path& out) {
    StartOptions start;
    start.words = expand_command(work, task.shot, out, programs);
    start.folder = out;
    start.log = log;
    start.end_with_parent = true;
    // MOHO_WORKER marks a child of the worker: MPI variables that it inherits are meant for the
    // worker. MOHO_LAUNCH distinguishes them from those of a launcher that the child starts.
    start.environment = {{"MOHO_SHOT", std::to_string(task.shot)},
                         {"MOHO_WORKER", std::to_string(::getpid())},
                         {"MOHO_LAUNCH", launch_of_process()}};
    if (share) start.environment.push_back(share->variable());
    if (options.devices > 0) {
      start.environment.emplace_back("CUDA_VISIBLE_DEVICES",
                                     std::to_string(options.rank % options.devices));
    }
    const std::uint64_t before = size_of(log);
    int process = 0;
    try {
      process = start_process(start);
    } catch (const FileError& error) {
      return ShotOutcome{127, 0, error.what()};
    }
    const ProcessStatus ended = poll_process(process, true);
    ShotOutcome end{ended.exit, ended.signal, ""};
    if (end.exit != 0) end.message = last_lines(log, before);
    return end;
  };
}

}  // namespace

std::vector<std::string> expand_command(const Work& work, std::int64_t shot, const fs::path& out,
                                        const fs::path& programs) {
  std::vector<std::string> words;
  for (const std::string& word : work.command) {
    std::string result;
    for (std::size_t at = 0; at < word.size();) {
      const auto is = [&](std::string_view name) {
        return word.compare(at, name.size(), name) == 0;
      };
      if (is("{shot}")) {
        result += std::to_string(shot);
        at += 6;
      } else if (is("{out}")) {
        result += out.string();
        at += 5;
      } else if (is("{programs}")) {
        result += programs.string();
        at += 10;
      } else if (is("{input:")) {
        const std::size_t end = word.find('}', at);
        const std::string name = end == std::string::npos ? "" : word.substr(at + 7, end - at - 7);
        const auto found = std::find_if(work.inputs.begin(), work.inputs.end(),
                                        [&](const auto& input) { return input.first == name; });
        if (found == work.inputs.end()) {
          throw InputError(concat("command: '", word, "' names the input '", name,
                                  "' (allowed: names of inputs that were given): give --input ",
                                  name, "=FILE"));
        }
        result += found->second;
        at = end + 1;
      } else {
        result += word[at++];
      }
    }
    words.push_back(result);
  }
  return words;
}

int run_job(const std::string& token, const WorkerOptions& options) {
  const JobFiles files = files_of(options.folder, token);
  const fs::path site =
      options.folder.has_filename() ? options.folder : options.folder.parent_path();
  check_private_folder(site);
  const Key key = read_key(site.parent_path());
  const std::pair<Work, Job> content =
      parse_job(io::InputFile(files.job).text(std::uint64_t{1} << 30), files.job.string(), key);
  const Work& work = content.first;  // clang 14 captures no structured binding
  const Job& job = content.second;
  fs::path report_path = files.report, work_path = files.work;
  if (options.rank > 0) {
    report_path += concat('.', options.rank);
    work_path += concat('.', options.rank);
  }
  const ReportFile report(report_path);
  const std::string host = host_name();
  fs::path programs = options.programs;
  if (programs.empty()) programs = fs::read_symlink("/proc/self/exe").parent_path();

  const ShotProgram program =
      options.program ? options.program : command_of(work, programs, files.log, options);
  std::int64_t position = 0;
  const auto next_position =
      options.next_position ? options.next_position : [&] { return position++; };

  const double begin = seconds_now();
  double longest = 0.0;
  int status = worker_done;
  for (;;) {
    const std::int64_t at = next_position();
    if (at < 0 || at >= static_cast<std::int64_t>(job.tasks.size())) break;
    const Task& task = job.tasks[static_cast<std::size_t>(at)];
    const std::string file = result_name(task.shot, token);
    std::error_code error;
    if (fs::exists(options.folder / file, error)) continue;  // the job system has restarted the job
    const bool late =
        job.time_limit > 0.0 && seconds_now() - begin + 1.2 * longest > job.time_limit;
    if (const std::string reason = reason_to_stop(options, late); !reason.empty()) {
      report.line({"stopped", reason});
      status = status == worker_done ? worker_stopped : status;
      break;
    }
    const double start = seconds_now();
    report.line({"begin", std::to_string(task.shot), host, time_text()});
    const fs::path out = work_path / std::to_string(task.shot);
    const auto failed = [&](const char* kind, int exit, int signal, const std::string& words) {
      report.line(
          {kind, std::to_string(task.shot), std::to_string(exit), std::to_string(signal), words});
      if (status != worker_input) status = exit == 2 ? worker_input : worker_failed;
    };
    try {
      fs::remove_all(out, error);
      make_private_folders(out);
      const ShotOutcome end = program(task, out);
      if (end.exit == 0 && end.signal == 0) {
        pack_result(options.folder, file, work, task.shot, out);
        report.line({"done", std::to_string(task.shot), format_number(seconds_now() - start)});
      } else {
        failed("failed", end.exit, end.signal, end.message);
      }
    } catch (const InputError& wrong) {
      failed("failed", 2, 0, wrong.what());
    } catch (const FileError& wrong) {
      failed("disk", 1, 0, wrong.what());
    } catch (const fs::filesystem_error& wrong) {
      failed("disk", 1, 0, wrong.what());
    } catch (const std::exception& wrong) {
      failed("failed", 1, 0, wrong.what());
    }
    fs::remove_all(out, error);
    longest = std::max(longest, seconds_now() - start);
    if (status == worker_input) break;
  }
  std::error_code error;
  fs::remove(work_path, error);
  report.line({"end", std::to_string(status)});
  return status;
}

}  // namespace moho::cluster
