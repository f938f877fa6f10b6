// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/detail/ssh_master.hpp>
#include <moho/cluster/guard.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <string_view>
#include <system_error>

namespace moho::cluster::detail {

namespace {

namespace fs = std::filesystem;
constexpr double retry_interval = 30.0;  // seconds between attempts to open the connection

// Returns true if the configuration of ssh names a socket for the host.
bool has_control_path(const std::vector<std::string>& ssh, const std::string& host) {
  Command command;
  command.words = ssh;
  command.words.insert(command.words.end(), {"-G", "--", host});
  const CommandResult result = run_command(command);
  if (!result.succeeded()) return true;
  for (const std::string_view line : split_lines(result.out)) {
    if (line.rfind("controlpath ", 0) == 0 && line != "controlpath none") return true;
  }
  return false;
}

// Returns the path of a new socket in a private folder of this user; empty if it cannot be used.
// Paths of sockets have at most 107 characters, so the folder of the journal may be too deep.
fs::path make_socket_path() {
  static std::atomic<unsigned> next{0};
  const fs::path folder = fs::temp_directory_path() / concat("moho-ssh-", ::geteuid());
  if (folder.native().size() > 64 || !is_safe_path(folder.string())) return {};
  make_private_folders(folder);
  check_private_folder(folder);
  for (const auto& entry : fs::directory_iterator(folder)) {  // of processes that were killed
    int process = 0;
    const std::string name = entry.path().filename().string();
    if (!read_number(std::string_view(name).substr(0, name.find('-')), process)) continue;
    std::error_code error;
    if (::kill(process, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), error);
  }
  return folder / concat(::getpid(), '-', next++);
}

}  // namespace

SshMaster::~SshMaster() {
  if (runs()) {
    ::kill(m_process, SIGTERM);
    poll_process(m_process, true);
  }
  std::error_code error;
  if (!m_socket.empty()) fs::remove(m_socket, error);
}

void SshMaster::open(const std::vector<std::string>& ssh, const std::string& host) {
  if (m_unusable) return;
  const bool first = m_socket.empty();
  if (!first && (runs() || seconds_now() < m_opened_at + retry_interval)) return;
  m_opened_at = seconds_now();
  try {
    if (first) {
      if (!has_control_path(ssh, host)) m_socket = make_socket_path();
      m_unusable = m_socket.empty();
      if (m_unusable) return;
    }
    StartOptions start;
    start.words = ssh;
    start.words.insert(start.words.end(), {"-oControlMaster=yes", "-oControlPersist=no",
                                           "-oControlPath=" + m_socket.string(), "-N", "--", host});
    start.new_session = start.end_with_parent = true;
    std::error_code error;
    fs::remove(m_socket, error);
    m_process = start_process(start);
    // ssh makes the socket after authentication
    while (first && !fs::exists(m_socket, error) && runs() &&
           seconds_now() < m_opened_at + retry_interval) {
      ::usleep(5000);
    }
  } catch (const std::exception&) {
    m_unusable = true;  // each program opens a separate connection
  }
}

bool SshMaster::runs() {
  if (m_process != 0 && !poll_process(m_process).running) m_process = 0;
  return m_process != 0;
}

std::vector<std::string> SshMaster::options() const {
  std::error_code error;
  if (m_socket.empty() || !fs::exists(m_socket, error)) return {};
  return {"-oControlMaster=no", "-oControlPath=" + m_socket.string()};
}

}  // namespace moho::cluster::detail
