// SPDX-License-Identifier: BSD-3-Clause
#include "app/output_folder.hpp"

#include "app/parts_file.hpp"
#include "app/result_names.hpp"

#include <moho/core/error.hpp>
#include <moho/io/file_lock.hpp>
#include <moho/io/model.hpp>
#include <moho/io/owned_folder.hpp>
#include <moho/io/text_file.hpp>
#include <moho/io/writer.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sstream>
#include <system_error>

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = ".moho_lock";
constexpr const char* summary_name = "summary.json";
constexpr std::uintmax_t max_bytes = std::uintmax_t{1} << 30;  // of a file that is read
// of make_scratch(): removed if a killed run left them
constexpr const char* scratch_names[] = {".moho_snapshots"};

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof(name) - 1) != 0) return "an unknown machine";
  return name;
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  char text[32] = "";
  std::tm parts{};
  if (gmtime_r(&now, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  return text;
}

// First bytes of an open file.
std::string content_of(int descriptor) {
  char text[512];
  const ssize_t count = ::pread(descriptor, text, sizeof(text), 0);
  return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : std::string();
}

// Kind of a path, without following links; empty for a plain file and for a missing one.
std::string kind_of(const fs::path& path) {
  std::error_code error;
  switch (fs::symlink_status(path, error).type()) {
    case fs::file_type::not_found:
    case fs::file_type::none:
    case fs::file_type::regular:
      return {};
    case fs::file_type::symlink:
      return "a symbolic link";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::fifo:
      return "a named pipe";
    default:
      return "no plain file";
  }
}

// True if this text is that of a run's lock: "<program>, process <id> on <host>, ...".
bool is_lock_text(const std::string& text) {
  std::istringstream words(text);
  std::string program, process, on, host;
  long id = 0;
  return text.empty() ||
         (words >> program >> process >> id >> on >> host && process == "process" && on == "on");
}

// True if the process named by a lock's text may run; one of another machine may.
bool lives(const std::string& holder) {
  std::istringstream words(holder);
  std::string program, process, on, host;
  long id = 0;
  if (!(words >> program >> process >> id >> on >> host)) return false;
  if (host.back() == ',') host.pop_back();
  if (host != host_name()) return true;
  return id != ::getpid() && (::kill(static_cast<pid_t>(id), 0) == 0 || errno == EPERM);
}

}  // namespace

OutputFolder::OutputFolder(std::string program, std::string option, const std::string& folder,
                           const std::vector<InputName>& inputs)
    : m_program(std::move(program)),
      m_option(concat(option, " ", folder)),
      m_path(folder),
      m_lock_path(fs::path(folder) / lock_name) {
  std::error_code error, ignored;
  fs::create_directories(m_path, error);
  if (!fs::is_directory(m_path, ignored)) {
    const std::string why = error                         ? error.message()
                            : fs::exists(m_path, ignored) ? std::string("it is a file")
                                                          : std::string("no such folder");
    throw FileError(concat(m_option, ": the folder cannot be made (", why,
                           "): name a folder that you may write to"));
  }
  for (const InputName& input : inputs) {
    for (const fs::path& file : io::files_of(input.path)) {
      const auto identity = io::node_of(file);
      if (!identity) continue;  // a number, or the reader reports the error
      std::string name = concat("--", input.option, " ", input.path);
      if (file != input.path) name += concat(" with ", file.string());
      m_inputs.emplace_back(std::move(name), *identity);
    }
  }
  if (const auto* input = input_of(m_lock_path)) {
    throw InputError(concat(m_option, ": ", m_lock_path.string(),
                            " says who uses the folder and is read as ", input->first,
                            ": name another folder"));
  }
  take();
  try {
    read_summary();
  } catch (...) {
    release();
    throw;
  }
}

void OutputFolder::refuse_held(const std::string& holder) const {
  const std::string who = holder.substr(0, holder.find('\n'));
  throw FileError(concat(m_option, ": the folder is in use by ",
                         who.empty() ? std::string("another run") : who,
                         " (one run at a time writes into a folder): wait for that run to end, or "
                         "name another folder"));
}

void OutputFolder::refuse_lock(const std::string& what) const {
  throw InputError(
      concat(m_option, ": ", m_lock_path.string(), " ", what,
             " (allowed: a plain file that an earlier run left): move it away, or name "
             "another folder"));
}

void OutputFolder::take() {
  for (;;) {
    const int file =
        ::open(m_lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    const int reason = errno;
    struct stat mine {};
    if (const std::string kind = kind_of(m_lock_path); !kind.empty()) {
      if (file >= 0) ::close(file);
      refuse_lock("is " + kind);
    }
    if (file < 0 || ::fstat(file, &mine) != 0 || !S_ISREG(mine.st_mode)) {
      if (file >= 0) ::close(file);
      throw FileError(concat(m_option, ": the folder cannot be written to (", std::strerror(reason),
                             "): name a folder that you may write to"));
    }
    if (mine.st_nlink > 1 || !is_lock_text(content_of(file))) {
      ::close(file);
      refuse_lock(mine.st_nlink > 1 ? "is a file with another name as well (a hard link)"
                                    : "holds a text that no run wrote");
    }
    int failed = io::lock_file(file);
    if (failed == EWOULDBLOCK && !lives(content_of(file))) {
      failed = io::lock_file(file, io::lock_seconds);
    }
    if (failed != 0 && failed != EWOULDBLOCK && failed != EINTR) {
      // a file system without locks
      failed = lives(content_of(file)) ? EWOULDBLOCK : 0;
    }
    if (failed == EWOULDBLOCK) {
      const std::string holder = content_of(file);
      ::close(file);
      refuse_held(holder);
    }
    // the previous owner may have removed the file after it was opened here
    struct stat current {};
    const bool same = failed == 0 && ::stat(m_lock_path.c_str(), &current) == 0 &&
                      current.st_ino == mine.st_ino && current.st_dev == mine.st_dev;
    if (!same) {
      ::close(file);
      continue;
    }
    m_lock = file;
    break;
  }
  const std::string text = concat(m_program, ", process ", ::getpid(), " on ", host_name(),
                                  ", since ", time_now(), "\n");
  // a full disk is reported when results are written
  if (::ftruncate(m_lock, 0) == 0) {
    const ssize_t ignored = ::pwrite(m_lock, text.data(), text.size(), 0);
    (void)ignored;
  }
}

void OutputFolder::release(bool at_end) noexcept {
  m_scratch_mutex.lock();
  if (m_lock >= 0) {
    for (const fs::path& scratch : m_scratch) io::remove_owned_folder(scratch);
    m_scratch.clear();
    ::unlink(m_lock_path.c_str());  // while it is locked
    ::close(m_lock);
    m_lock = -1;
  }
  if (!at_end) m_scratch_mutex.unlock();
}

void OutputFolder::check_plain(const fs::path& path) const {
  const std::string kind = kind_of(path);
  if (kind.empty() || input_of(path) != nullptr) return;  // claim() reports input files
  throw InputError(concat(m_option, ": ", path.string(), " is ", kind,
                          " (allowed: plain files where results are written): move it away, or "
                          "name another folder"));
}

void OutputFolder::read_summary() {
  const fs::path path = m_path / summary_name;
  std::error_code error;
  check_plain(path);
  if (!fs::is_regular_file(path, error)) return;
  io::check_file_size(m_option, path, max_bytes, "a summary");
  Json summary;
  try {
    summary = Json::parse(io::read_text(path, max_bytes));
  } catch (const FileError&) {
    return;  // not a file of this program
  }
  const Json* program = summary.find("program");
  if (program == nullptr || program->text() != m_program) return;
  m_earlier = std::move(summary);
  io::check_file_size(m_option, m_path / PartsFile::file_name, max_bytes, "the parts of a run");
  PartsFile(m_path).add_to(m_earlier, max_bytes);
  m_owned.insert(summary_name);
  for (const char* list : {"files", "earlier_files", "to_write"}) {
    const Json* const names = m_earlier.find(list);
    if (names == nullptr) continue;
    for (const std::string& name : names->texts()) {
      if (is_result_name(m_program, name)) m_owned.insert(name);
    }
  }
}

const std::pair<std::string, io::FileNode>* OutputFolder::input_of(const fs::path& path) const {
  const auto identity = io::node_of(path);
  if (!identity) return nullptr;
  for (const auto& input : m_inputs) {
    if (input.second == *identity) return &input;
  }
  return nullptr;
}

void OutputFolder::claim(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const fs::path path = m_path / name;
    if (const auto* input = input_of(path)) {
      throw InputError(concat(m_option, ": the result ", path.string(), " would replace ",
                              input->first,
                              " (allowed: results that replace no input file): name another "
                              "folder"));
    }
  }
  for (const std::string& name : names) {
    if (!is_result_name(m_program, name)) {
      throw Error(concat("'", name, "' is missing among the results of ", m_program,
                         " (examples/app/result_names.cpp): add it there"));
    }
    const fs::path path = m_path / name;
    check_plain(path);
    // temporary name that the plotting programs use
    if (path.extension() == ".png") check_plain(path.string() + ".part");
    std::error_code error;
    if (m_owned.count(name) > 0 ||
        fs::symlink_status(path, error).type() == fs::file_type::not_found) {
      continue;
    }
    throw InputError(concat(m_option, ": ", path.string(), " is there, and no run of ", m_program,
                            " is known to have written it (allowed: to replace files that a "
                            "summary.json of ",
                            m_program, " lists): move it away, or name another folder"));
  }
  remove_left_over(names);
  if (m_claimed) return;
  m_claimed = true;
  std::vector<std::string> left(m_owned.begin(), m_owned.end());
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(m_path, error)) {
    const std::string name = entry.path().filename().string();
    const std::string result = name.substr(0, name.find(".part-"));  // that was not complete
    if (result != name && is_result_name(m_program, result)) left.push_back(result);
  }
  remove_left_over(left);
  for (const char* scratch : scratch_names) io::remove_owned_folder(m_path / scratch);
}

void OutputFolder::remove_left_over(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    io::remove_abandoned_parts(m_path / name);
    if (fs::path(name).extension() != ".png") continue;
    const fs::path part = m_path / (name + ".part");
    std::error_code error;
    if (fs::is_regular_file(fs::symlink_status(part, error)) && input_of(part) == nullptr) {
      fs::remove(part, error);
    }
  }
}

fs::path OutputFolder::make_scratch(const std::string& name) {
  const fs::path path = m_path / name;
  const std::lock_guard<std::mutex> hold(m_scratch_mutex);  // a signal may end the process
  try {
    io::make_owned_folder(path);
  } catch (const InputError& error) {
    throw InputError(concat(m_option, ": ", error.what()));
  }
  m_scratch.push_back(path);
  return path;
}

void OutputFolder::remove_others(const std::vector<std::string>& names) {
  const std::set<std::string> kept(names.begin(), names.end());
  for (const std::string& name : m_owned) {
    const fs::path path = m_path / name;
    std::error_code error;
    if (kept.count(name) > 0 || input_of(path) != nullptr) continue;
    if (fs::is_regular_file(fs::symlink_status(path, error))) fs::remove(path, error);
  }
  m_owned.clear();
}

}  // namespace moho::examples
