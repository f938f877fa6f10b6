// SPDX-License-Identifier: BSD-3-Clause
#include "app/picture.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

extern char** environ;

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

// Id of the process that draws; 0 without one.
std::atomic<pid_t> drawing{0};

// Exit status of the Python programs if numpy or matplotlib is missing.
constexpr int python_lacks_packages = 3;

// Runs a command and collects its output.
// Returns its exit status, or -1 if it could not be started.
int run_and_read(const std::vector<std::string>& command, std::string& output) {
  int channel[2];
  if (::pipe2(channel, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, channel[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // default signal handling in the child
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) drawing = child;
  ::close(channel[1]);
  if (error != 0) {
    ::close(channel[0]);
    return -1;
  }
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(channel[0], buffer, sizeof(buffer));
    if (n > 0) {
      output.append(buffer, static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      break;
    }
  }
  ::close(channel[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    drawing = 0;
    return -1;
  }
  drawing = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  const auto newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

std::string find_script(const std::string& script) {
  std::vector<fs::path> folders;
  if (const char* const chosen = std::getenv("MOHO_PLOT_DIR");
      chosen != nullptr && *chosen != '\0') {
    folders.emplace_back(chosen);
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
#ifdef MOHO_PLOT_INSTALL_DIR
  if (!error) folders.push_back(self.parent_path() / MOHO_PLOT_INSTALL_DIR);
#endif
#ifdef MOHO_PLOT_DIR
  folders.emplace_back(MOHO_PLOT_DIR);
#endif
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / script, error)) return (folder / script).string();
  }
  return {};
}

}  // namespace

void stop_drawing() {
  const pid_t child = drawing;
  if (child <= 0) return;
  // Python raises KeyboardInterrupt for it, and cleans up
  ::kill(child, SIGINT);
  for (int tries = 0; tries < 100 && drawing == child; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (drawing == child) ::kill(child, SIGKILL);
}

Picture draw_picture(const std::string& script, const std::vector<std::string>& arguments) {
  const std::string path = find_script(script);
  if (path.empty()) return {false, script + " was not found beside the program"};
  std::vector<std::string> pythons;
  std::string why = "python3 was not found";
  if (const char* chosen = std::getenv("MOHO_PYTHON"); chosen != nullptr && *chosen != '\0') {
    pythons.emplace_back(chosen);
    why = concat("MOHO_PYTHON is ", chosen, ", which cannot be run");
  } else {
#ifdef MOHO_PYTHON
    if (std::strlen(MOHO_PYTHON) > 0) pythons.emplace_back(MOHO_PYTHON);
#endif
    pythons.emplace_back("/usr/bin/python3");
    pythons.emplace_back("python3");
  }
  const std::string advice = ": install python3-matplotlib, or run " + script + " later";
  why += advice;
  for (const std::string& python : pythons) {
    std::vector<std::string> command{python, path};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::string output;
    const int status = run_and_read(command, output);
    if (status == 0) return {true, {}};
    if (status == -1 || status == 127) continue;
    if (status == python_lacks_packages) {
      why = last_line(output) + advice;
      continue;
    }
    return {false, script + " failed: " + last_line(output)};
  }
  return {false, why};
}

}  // namespace moho::examples
