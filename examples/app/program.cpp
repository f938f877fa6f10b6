// SPDX-License-Identifier: BSD-3-Clause
#include "app/program.hpp"

#include "app/command_line.hpp"
#include "app/format.hpp"
#include "app/message.hpp"
#include "app/picture.hpp"
#include "app/resume.hpp"
#include "app/signals.hpp"
#include "app/summary.hpp"
#include "app/waiting.hpp"

#include <moho/core/disk_error.hpp>
#include <moho/core/error.hpp>
#include <moho/core/freed_memory.hpp>
#include <moho/core/rank_errors.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/core/space.hpp>
#include <moho/core/start_kokkos.hpp>
#include <moho/core/take_share.hpp>
#include <moho/core/threads.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/writer.hpp>

#include <Kokkos_Core.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <set>
#include <system_error>

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

constexpr const char* out_of_memory =
    "memory: the system gives this process no more (see ulimit -v, or what other programs take): "
    "compute less at once, or raise the limit";
constexpr const char* out_of_threads =
    "memory or threads: the system starts no further thread (see ulimit -v and ulimit -u)";

// True if the text of a Kokkos exception reports that memory was refused.
bool is_lack_of_memory(const std::string& text) {
  return text.find("Kokkos failed to allocate") != std::string::npos ||
         text.find("llocation of size") != std::string::npos;
}

// Prints the exception being handled; returns the exit status.
// `arguments` and `session` are null while they do not exist.
int report_exception(const std::string& program, const Arguments* arguments, Session* session,
                     bool print) {
  const bool writing = session != nullptr && session->writing();
  const auto report = [&](const char* message, int status) {
    const std::string what = arguments != nullptr ? arguments->with_line(message) : message;
    if (session != nullptr) session->failed(what);
    if (print) print_message(program, what);
    return status;
  };
  try {
    throw;
  } catch (const InputError& error) {
    return report(error.what(), exit_usage);
  } catch (const MemoryError& error) {
    return report(error.what(), exit_usage);
  } catch (const DiskError& error) {
    return report(error.what(), exit_failure);
  } catch (const FileError& error) {
    return report(error.what(), writing ? exit_failure : exit_usage);
  } catch (const std::bad_alloc&) {
    return report(out_of_memory, exit_failure);
  } catch (const std::system_error& error) {
    const bool refused = error.code() == std::errc::resource_unavailable_try_again;
    return report(refused ? out_of_threads : error.what(), exit_failure);
  } catch (const std::exception& error) {
    return report(is_lack_of_memory(error.what()) ? out_of_memory : error.what(), exit_failure);
  }
}

// State of the run that a signal handler needs.
class Running {
 public:
  explicit Running(std::string program) : m_program(std::move(program)) {}

  void has(OutputFolder* folder, Session* session, bool tells) {
    const std::lock_guard<std::recursive_mutex> hold(m_mutex);
    m_folder = folder;
    m_session = session;
    m_tells = tells;
  }

  // Delays the end by a signal while the returned lock exists.
  std::unique_lock<std::recursive_mutex> delay_end() {
    return std::unique_lock<std::recursive_mutex>(m_mutex);
  }

  // Releases the folder. A signal ends the process after that.
  void release_folder() noexcept {
    const std::lock_guard<std::recursive_mutex> hold(m_mutex);
    m_released = m_session != nullptr;
    if (m_folder != nullptr) m_folder->release();
    m_folder = nullptr;
    m_session = nullptr;
  }

  // Ends the process. Written files stay complete, and the summary records them.
  void end(int signal) {
    m_mutex.lock();
    const std::string left = m_released             ? "the run was over before"
                             : m_session != nullptr ? m_session->interrupted()
                                                    : "no result was written";
    stop_drawing();
    io::abandon_files();
    if (m_folder != nullptr) m_folder->release(true);
    if (m_tells) {
      std::fprintf(stderr, "%s%s: ended by %s: %s\n",
                   ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", m_program.c_str(),
                   signal_name(signal), one_line(left).c_str());
    }
    ::_exit(exit_signal + signal);
  }

 private:
  std::string m_program;
  std::recursive_mutex m_mutex;
  OutputFolder* m_folder = nullptr;
  Session* m_session = nullptr;
  bool m_tells = true;
  bool m_released = false;
};

// Releases the folder of a run at its end.
class FolderRelease {
 public:
  explicit FolderRelease(Running& running) : m_running(running) {}
  FolderRelease(const FolderRelease&) = delete;
  FolderRelease& operator=(const FolderRelease&) = delete;
  ~FolderRelease() { m_running.release_folder(); }

 private:
  Running& m_running;
};

}  // namespace

Session::Session(const Description& description, const CommonOptions& options, Processes& processes,
                 OutputFolder* output)
    : m_description(description),
      m_options(options),
      m_processes(processes),
      m_folder(options.out),
      m_parts(m_folder),
      m_output(output) {
  summary["program"] = program();
  summary["state"] = "running";
}

Session::~Session() = default;

void Session::print_line(const std::string& line) const {
  if (!m_options.quiet && m_processes.root()) std::puts(line.c_str());
}

Progress Session::progress() {
  std::fflush(stdout);
  const bool seen = m_processes.root() && !m_options.quiet && ::isatty(STDERR_FILENO) == 1;
  if (!seen) return {};
  // Some work estimates its remaining time by its rates; for other work the pace so far is
  // extrapolated.
  return [bar = m_bar.callback(), begun = Stopwatch()](double done, const std::string& what) {
    const double seconds = begun.seconds();
    const bool has_time = what.find(" s left") != std::string::npos;
    bar(done, has_time || seconds < 1.0 || done < 0.01
                  ? what
                  : concat(what, ", ", std::llround(seconds * (1.0 / done - 1.0)), " s left"));
  };
}

void Session::computed(const PhaseTimes& times) {
  m_bar.clear();
  for (const auto& [phase, seconds] : times.phases()) phases.add(phase, seconds);
}

void Session::will_write(const std::vector<std::string>& names) {
  if (m_output == nullptr) return;
  std::vector<std::string> all(names);
  if (m_planned.empty()) all.emplace_back("summary.json");
  m_output->claim(all);
  const std::size_t before = m_planned.size();
  for (const std::string& name : all) {
    if (std::find(m_planned.begin(), m_planned.end(), name) == m_planned.end()) {
      m_planned.push_back(name);
    }
  }
  // A file may exist only after a summary that lists it.
  if (m_writing && m_planned.size() > before) write_summary();
}

void Session::part_begins(const std::vector<std::string>& names) {
  will_write(names);
  write_summary();
}

fs::path Session::make_scratch(const std::string& name) {
  return m_output != nullptr ? m_output->make_scratch(name) : m_folder / name;
}

void Session::begin_output() {
  m_writing = true;
  summary["versions"] = versions(more_versions);
  summary["machine"] = machine();
  if (m_output != nullptr && !m_options.resume) m_parts.remove();
  write_summary();
}

void Session::wrote(const std::string& name) {
  m_identities.erase(name);
  files.push_back(name);
  add("files", name);
  if (!m_resumable && summary_is_due()) write_summary();
}

void Session::add(const std::string& list, const Json& entry) {
  summary[list].push_back(entry);
  const std::lock_guard<std::mutex> hold(m_mutex);
  if (!m_last.null()) m_last[list].push_back(entry);
}

// Records a complete part where --resume finds it.
void Session::record(const Json& part) {
  add("parts", part);
  if (m_output == nullptr || !m_writing) return;
  const auto kept = [&] {
    const std::lock_guard<std::mutex> hold(m_mutex);
    return m_parts.add(part);
  };
  if (summary_is_due() || !kept()) write_summary();
}

void Session::wrote(const std::string& name, const io::FileIdentity& identity) {
  wrote(name);
  m_identities[name] = identity;
}

void Session::write_summary() {
  if (m_output == nullptr) return;
  const std::set<std::string> existing(files.begin(), files.end());
  const auto missing = [&](const auto& names) {
    std::vector<std::string> list;
    for (const std::string& name : names) {
      if (existing.count(name) == 0 && name != "summary.json") list.push_back(name);
    }
    return list;
  };
  // Files of the program that are not in `files`.
  const auto put = [&](const char* key, const std::vector<std::string>& names) {
    if (names.empty()) return summary.remove(key);
    summary[key] = names;
  };
  summary["files"] = files;
  put("to_write", missing(m_planned));
  put("earlier_files", missing(m_output->earlier_files()));
  summary["seconds"] = seconds(phases);
  const std::lock_guard<std::mutex> hold(m_mutex);
  m_last = summary;
  const auto begun = std::chrono::steady_clock::now();
  write_json(m_folder / "summary.json", m_last);
  m_parts.remove();
  const auto ended = std::chrono::steady_clock::now();
  m_due = ended + 20 * (ended - begun);
}

void Session::resumable() {
  m_resumable = true;
  Json made_from = fingerprint_of(program(), m_options, m_description.compared());
  const Json* const before = m_output ? m_output->earlier().find("fingerprint") : nullptr;
  if (m_options.resume && before != nullptr) m_description.adopt(made_from, *before);
  summary["fingerprint"] = made_from;
  summary["parts"] = Json::array();
  if (m_output == nullptr || m_output->earlier().null()) return;
  if (!m_options.resume) {
    const Json *state = m_output->earlier().find("state"),
               *existing = m_output->earlier().find("parts");
    if (state != nullptr && state->text() != "done" && existing != nullptr &&
        existing->size() > 0) {
      print("note      an earlier run in ", m_folder.string(), " ended with ",
            counted(existing->size(), "whole part"),
            "; this one begins again (--resume would go on)");
    }
    return;
  }
  check_same_run(m_folder.string(), made_from, before != nullptr ? *before : Json());
}

bool Session::take_over(std::int64_t number, Json& more) {
  if (!m_options.resume || m_output == nullptr) return false;
  const Json* const parts = m_output->earlier().find("parts");
  for (std::size_t k = 0; parts != nullptr && k < parts->size(); ++k) {
    const Json& part = parts->at(k);
    const Json* const at = part.find("number");
    if (at == nullptr || at->number(-1.0) != static_cast<double>(number)) continue;
    return take_in(part, more);
  }
  return false;
}

bool Session::take_in(const Json& part, Json& more) {
  const Json* const list = part.find("files");
  if (list == nullptr) return false;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json *name = list->at(i).find("name"), *bytes = list->at(i).find("bytes"),
               *crc = list->at(i).find("crc32c");
    if (name == nullptr || bytes == nullptr || crc == nullptr) return false;
    names.push_back(name->text());
    if (!is_result_name(program(), names.back())) return false;
    try {
      const io::FileIdentity sum = io::identify_file(m_folder / names.back());
      if (static_cast<double>(sum.bytes) != bytes->number(-1.0) ||
          static_cast<double>(sum.checksum) != crc->number(-1.0)) {
        return false;
      }
    } catch (const FileError&) {
      return false;  // it will be recomputed
    }
  }
  const Json* const kept = part.find("more");
  more = kept != nullptr ? *kept : Json();
  files.insert(files.end(), names.begin(), names.end());
  for (const std::string& name : names) add("files", name);
  record(part);
  return true;
}

Json Session::describe_part(std::int64_t number, const std::vector<std::string>& names,
                            const Json& more) const {
  Json list = Json::array();
  for (const std::string& name : names) {
    const auto known = m_identities.find(name);
    const io::FileIdentity sum =
        known != m_identities.end() ? known->second : io::identify_file(m_folder / name);
    list.push_back(Json::object({{"name", name}, {"bytes", sum.bytes}, {"crc32c", sum.checksum}}));
  }
  return Json::object({{"number", number}, {"files", list}, {"more", more}});
}

void Session::part_is_whole(std::int64_t number, const std::vector<std::string>& names,
                            const Json& more) {
  record(describe_part(number, names, more));
}

void Session::part_replaces(std::int64_t number, const std::vector<std::string>& names,
                            const Json& more) {
  std::set<std::string> gone;
  const Json former = summary["parts"];
  for (std::size_t k = 0; k < former.size(); ++k) {
    const Json& list = *former.at(k).find("files");
    for (std::size_t i = 0; i < list.size(); ++i) gone.insert(list.at(i).find("name")->text());
  }
  for (const std::string& name : names) gone.erase(name);
  const auto is_gone = [&](const std::string& name) { return gone.count(name) > 0; };
  summary["parts"] = Json::array();
  std::erase_if(files, is_gone);
  summary["parts"].push_back(describe_part(number, names, more));
  write_summary();
  std::error_code ignored;
  for (const std::string& name : gone) std::filesystem::remove(m_folder / name, ignored);
  std::erase_if(m_planned, is_gone);
}

std::int64_t Session::last_part() const {
  std::int64_t last = -1;
  const Json* const parts = m_output != nullptr ? m_output->earlier().find("parts") : nullptr;
  for (std::size_t k = 0; parts != nullptr && k < parts->size(); ++k) {
    const Json* const number = parts->at(k).find("number");
    if (number != nullptr) last = std::max(last, static_cast<std::int64_t>(number->number(-1.0)));
  }
  return last;
}

void Session::failed(const std::string& why) noexcept {
  try {
    const Json* const now = summary.find("state");
    if (!m_writing || m_output == nullptr || now == nullptr || now->text() != "running") return;
    summary["state"] = "failed";
    summary["error"] = why;
    write_summary();
  } catch (...) {
    // the present summary stays valid
  }
}

std::string Session::interrupted() noexcept {
  m_mutex.lock();  // never unlocked
  try {
    const Json* const state = m_last.find("state");
    if (state == nullptr) return "no result was written";
    if (state->text() != "running") {
      return state->text() == "done"
                 ? concat("the results in ", m_folder.string(),
                          " are whole, and the picture may be missing")
                 : concat("the run in ", m_folder.string(), " had failed before");
    }
    m_last["state"] = "interrupted";
    const Json* const list = m_last.find("files");
    for (const char* key : {"to_write", "earlier_files"}) remove_written(m_last, key);
    write_json(m_folder / "summary.json", m_last);
    m_parts.remove();
    return concat(counted(list != nullptr ? list->size() : 0, "file"), " written, ",
                  (m_folder / "summary.json").string(), " names them",
                  m_resumable ? "; --resume goes on with them" : "");
  } catch (const std::exception& error) {
    return concat("summary.json was not brought up to date: ", error.what());
  }
}

void Session::out_of_time(const std::string& what) {
  m_status = exit_time;
  if (m_output == nullptr) return;
  summary["state"] = "interrupted";
  write_summary();
  print_message(program(), concat("ended before the last part, ", what, "; --resume goes on"));
}

void Session::complete() {
  if (summary.find("picture") != nullptr) return;
  files.emplace_back("summary.json");
  // The results are complete: files left by earlier runs do not belong to them.
  if (m_output != nullptr) m_output->remove_others(files);
  summary["state"] = "done";
  summary["versions"] = versions(more_versions);
  summary["machine"] = machine();
  // The summary exists even if drawing takes long, or fails.
  summary["picture"] = "not drawn: the run ended before";
}

void Session::keep_earlier() {
  Json earlier = m_output->earlier();
  if (earlier.find("to_write") == nullptr) return;
  m_output->remove_others(earlier.find("files")->texts());
  earlier.remove("to_write");
  write_json(m_folder / "summary.json", earlier);
}

void Session::finish(const Ending& ending) {
  complete();
  write_summary();
  Picture picture{false, m_options.plot ? m_no_picture : "--no-plot was given"};
  if (picture.why.empty()) {
    const HostPhase phase(phases, "picture");
    picture = draw_picture(ending.script, {m_folder.string()});
  }
  if (picture.drawn) files.insert(files.end(), ending.pictures.begin(), ending.pictures.end());
  summary["picture"] = picture.drawn ? ending.picture_name : "not drawn: " + picture.why;
  m_planned.clear();
  write_summary();

  for (const std::string& line : ending.lines) print(line);
  std::string list;
  for (const auto& [phase, value] : phases.phases()) {
    list += concat(" ", phase, " ", fixed(value, 3), ",");
  }
  print("seconds  ", list, " total ", fixed(phases.total(), 3));
  if (!ending.rate.empty()) print(ending.rate);
  list.clear();
  for (const std::string& file : files) list += " " + file;
  print("written   ", m_folder.string(), ":", list);
  if (m_options.plot && !picture.drawn) print(ending.word, " not drawn: ", picture.why);
}

// Stores the options that were given.
static void read_options(const Arguments& given, const Description& description,
                         CommonOptions& options) {
  options.config = given.config();
  options.words = description.words(given);
  options.inputs = description.inputs(given);
  if (!options.config.empty()) options.inputs.push_back({"config", options.config});
  description.read(given);
}

namespace detail {

int run_program(int argc, char** argv, const ProgramParts& parts) {
  choose_waiting(argv);
  return_freed_arrays();
  const Description& description = parts.description;
  CommonOptions& options = parts.options;
  const std::string& program = description.program;
  std::unique_ptr<Processes> processes;
  Running running(program);
  const SignalWatch watch([&](int signal) { running.end(signal); });
  std::optional<OutputFolder> folder;
  std::optional<Session> session;
  std::optional<Arguments> given;
  // before the session and the folder are destroyed, while signals are watched
  const FolderRelease release(running);
  try {
    processes = parts.processes ? parts.processes(argc, argv) : std::make_unique<Processes>();
    // of several processes, the launcher reports the signal
    const bool tells = processes->alone();
    running.has(nullptr, nullptr, tells);
    std::vector<std::string> words(argv + 1, argv + argc);
    const std::vector<std::string> kokkos_options = take_kokkos_options(words);
    // The root reads options and files; it sends the others what to compute.
    bool text_only = false;
    processes->collectively([&] {
      if (!processes->root()) return;
      const Arguments& arguments = given.emplace(description, words);
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
      read_options(arguments, description, options);
      if (options.plan && !fs::exists(options.out)) return;  // a plan makes no folder
      // a signal finds either no folder or one that it can unlock
      const auto delayed = running.delay_end();
      folder.emplace(program, "--out", options.out, options.inputs);
      running.has(&*folder, nullptr, tells);
    });
    OutputFolder* const output = folder ? &*folder : nullptr;
    running.has(output, nullptr, tells);
    processes->broadcast(&text_only, sizeof(text_only));
    if (text_only) return exit_done;
    if (processes->each_reads() && !processes->root()) {
      read_options(Arguments(description, words), description, options);
    }

    std::unique_ptr<ScopeGuard> kokkos;
    processes->collectively(
        [&] { kokkos = start_kokkos(program, kokkos_options, processes->rank_on_host()); });
    set_memory_sharing(*processes, processes->size_of_host());
    take_memory_share();
    if (processes->root() && options.space == "openmp") {
      const std::string warning = host_threads_warning();
      if (!warning.empty()) print_message(program, warning);
    }
    session.emplace(description, options, *processes, output);
    running.has(output, &*session, tells);
    parts.run(*session);
    flush_output();
    return session->status();
  } catch (...) {
    // The root reports an exception that all processes know. One that only this process knows ends
    // the others.
    const bool known = !processes || processes->agreed() || processes->finished();
    if (!known && session && session->writing()) leave_error_to_root(*processes);
    const int status =
        report_exception(program, given ? &*given : nullptr, session ? &*session : nullptr,
                         !known || !processes || processes->root());
    if (!known && processes->size() > 1) processes->abort(status);
    return status;
  }
}

}  // namespace detail
}  // namespace moho::examples
