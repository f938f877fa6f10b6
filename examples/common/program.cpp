// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.hpp"

#include "common/format.hpp"
#include "common/picture.hpp"
#include "common/summary.hpp"

#include <moho/core/error.hpp>
#include <moho/core/ranks.hpp>
#include <moho/core/threads.hpp>
#include <moho/io/writer.hpp>

#include <Kokkos_Core.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

// Message on standard error and exit status for the exception that is being handled.
int report_exception(const std::string& program, bool writing, bool print) {
  const auto report = [&](const char* what, int status) {
    if (print) std::fprintf(stderr, "%s: %s\n", program.c_str(), what);
    return status;
  };
  try {
    throw;
  } catch (const InputError& error) {
    return report(error.what(), exit_usage);
  } catch (const MemoryError& error) {
    return report(error.what(), exit_usage);
  } catch (const FileError& error) {
    return report(error.what(), writing ? exit_failure : exit_usage);
  } catch (const std::bad_alloc&) {
    return report("the machine is out of memory: compute less at once", exit_failure);
  } catch (const std::exception& error) {
    return report(error.what(), exit_failure);
  }
}

// Takes the options that begin with --kokkos out of the list and returns them.
std::vector<std::string> take_kokkos_options(std::vector<std::string>& arguments) {
  std::vector<std::string> taken, rest;
  for (const std::string& argument : arguments) {
    (argument.rfind("--kokkos", 0) == 0 ? taken : rest).push_back(argument);
  }
  arguments = rest;
  return taken;
}

// The value of one of Kokkos's options as a number, 0 if it is not there.
int number_of(const std::vector<std::string>& options, const std::string& name) {
  for (const std::string& option : options) {
    if (option.rfind(name + "=", 0) == 0) return std::atoi(option.c_str() + name.size() + 1);
  }
  return 0;
}

// Kokkos from construction to destruction. A process that was told nothing about binding threads
// to cores says so to Kokkos, which would print a long warning otherwise. Of several processes of a
// machine each takes the device that mpi::device_of() gives its rank, unless an option or a
// variable of Kokkos names one.
class KokkosScope {
 public:
  KokkosScope(const std::string& program, std::vector<std::string> options, int rank_on_host) {
    check_host_threads(std::max(number_of(options, "--kokkos-threads"),
                                number_of(options, "--kokkos-num-threads")));
    choose_device(options, rank_on_host);
    // The OpenMP runtime has read its variables by now; this only tells Kokkos what they amount to.
    ::setenv("OMP_PROC_BIND", "false", 0);
    options.insert(options.begin(), program);
    std::vector<char*> argv;
    for (std::string& word : options) argv.push_back(word.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(options.size());
    Kokkos::initialize(argc, argv.data());
  }
  KokkosScope(const KokkosScope&) = delete;
  KokkosScope& operator=(const KokkosScope&) = delete;
  ~KokkosScope() { Kokkos::finalize(); }

 private:
  static void choose_device(std::vector<std::string>& options, int rank_on_host) {
    const int devices = visible_devices();
    bool chosen = devices == 0 || std::getenv("KOKKOS_DEVICE_ID") != nullptr;
    for (const std::string& option : options) {
      chosen = chosen || option.rfind("--kokkos-device-id", 0) == 0;
    }
    if (!chosen) {
      // The one way to say it that Kokkos 3.4 and 5 have in common.
      options.push_back(concat("--kokkos-device-id=", mpi::device_of(rank_on_host, devices)));
    }
    // The first rank of a machine warns for all of them.
    if (rank_on_host > 0) options.emplace_back("--kokkos-disable-warnings");
  }
};

// Creates the folder and its parents where missing, and tries a file in it.
void prepare_folder(const std::string& option, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    const std::string why = error                ? error.message()
                            : fs::exists(folder) ? std::string("it is a file")
                                                 : std::string("no such folder");
    throw FileError(concat(option, " ", folder, ": the folder cannot be made (", why,
                           "): name a folder that you may write to"));
  }
  std::string probe = (fs::path(folder) / ".moho_XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0) {
    throw FileError(concat(option, " ", folder, ": the folder cannot be written to (",
                           std::strerror(errno), "): name a folder that you may write to"));
  }
  ::close(file);
  ::unlink(probe.c_str());
}

// Throws unless everything that was printed has gone where it should.
void flush_output() {
  const bool lost = std::ferror(stdout) != 0;
  if (!lost) errno = 0;
  if (std::fflush(stdout) == 0 && !lost) return;
  throw Error(concat("standard output: what was printed could not be written (",
                     errno != 0 ? std::strerror(errno) : "an earlier line was lost",
                     "): look at where it goes"));
}

}  // namespace

int visible_devices() {
#ifdef KOKKOS_ENABLE_CUDA
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#else
  return 0;
#endif
}

Session::Session(std::string program, const CommonOptions& options, Processes& processes)
    : m_program(std::move(program)),
      m_options(options),
      m_processes(processes),
      m_folder(options.out) {
  summary["program"] = m_program;
}

Session::~Session() = default;

void Session::print_line(const std::string& line) const {
  if (!m_options.quiet) std::puts(line.c_str());
}

Progress Session::progress() {
  std::fflush(stdout);
  const bool seen = m_processes.root() && !m_options.quiet && ::isatty(STDERR_FILENO) == 1;
  return seen ? m_bar.callback() : Progress();
}

void Session::computed(const PhaseTimes& times) {
  m_bar.clear();
  for (const auto& [phase, seconds] : times.phases()) phases.add(phase, seconds);
}

void Session::begin_output(const std::vector<std::string>& stale) {
  m_writing = true;
  std::error_code ignored;
  for (const std::string& name : stale) fs::remove(m_folder / name, ignored);
}

void Session::write_summary() {
  summary["files"] = files;
  summary["seconds"] = seconds(phases);
  io::write_text(m_folder / "summary.json", summary.dump() + "\n");
}

void Session::finish(const Ending& ending) {
  files.emplace_back("summary.json");
  summary["versions"] = versions(more_versions);
  summary["machine"] = machine();
  // It is there if drawing takes long, or fails.
  write_summary();
  Picture picture{false, "--no-plot was given"};
  if (m_options.plot) {
    {
      const HostPhase phase(phases, "picture");
      picture = draw_picture(ending.script, {m_folder.string()});
    }
    if (picture.drawn) files.insert(files.end(), ending.pictures.begin(), ending.pictures.end());
  }
  summary["picture"] = picture.drawn ? ending.picture_name : "not drawn: " + picture.why;
  write_summary();

  for (const std::string& line : ending.lines) print(line);
  std::string list;
  for (const auto& [phase, value] : phases.phases()) {
    list += concat(" ", phase, " ", fixed(value, 3), ",");
  }
  print("seconds  ", list, " total ", fixed(phases.total(), 3));
  print(ending.rate);
  list.clear();
  const bool all = files.size() <= ending.most_files;
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (all || k < 3 || k + 6 >= files.size()) list += " " + files[k];
    if (!all && k == 3) list += " ...";
  }
  print("written   ", m_folder.string(), ":", list);
  if (m_options.plot && !picture.drawn) print(ending.word, " not drawn: ", picture.why);
}

namespace detail {

int run_program(int argc, char** argv, const Description& description, const ProgramParts& parts) {
  const std::string& program = description.program;
  std::unique_ptr<Processes> processes;
  std::optional<Session> session;
  try {
    processes = parts.processes ? parts.processes(argc, argv) : std::make_unique<Processes>();
    std::vector<std::string> words(argv + 1, argv + argc);
    const std::vector<std::string> kokkos_options = take_kokkos_options(words);
    // The root reads options and files; others learn from it what to compute.
    bool text_only = false;
    processes->together([&] {
      if (!processes->root()) return;
      const Arguments arguments(description, words);
      text_only = arguments.version() || !arguments.help().empty();
      if (text_only) {
        const std::string text = arguments.version()
                                     ? version_text(program) + description.version_note
                                     : arguments.help();
        errno = 0;
        std::fputs(text.c_str(), stdout);
        flush_output();
        return;
      }
      prepare_folder("--out", parts.read(arguments).out);
    });
    processes->broadcast(&text_only, sizeof(text_only));
    if (text_only) return exit_done;

    std::optional<KokkosScope> kokkos;
    processes->together(
        [&] { kokkos.emplace(program, kokkos_options, processes->rank_on_host()); });
    if (processes->root() && parts.options->space == "openmp") {
      const std::string warning = host_threads_warning();
      if (!warning.empty()) std::fprintf(stderr, "%s: %s\n", program.c_str(), warning.c_str());
    }
    session.emplace(program, *parts.options, *processes);
    parts.run(*session);
    flush_output();
    return exit_done;
  } catch (...) {
    // What all processes know is said by the root; a failure that only this one knows ends the
    // others.
    const bool known = !processes || processes->agreed() || processes->finished();
    const int status = report_exception(program, session && session->writing(),
                                        !known || !processes || processes->root());
    if (!known) processes->abort(status);
    return status;
  }
}

}  // namespace detail
}  // namespace moho::examples
