// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/gravity/ranks.hpp>

#include <Kokkos_Core.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

extern char** environ;

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

// Exit status by which the Python programs say that numpy or matplotlib is missing.
constexpr int python_lacks_packages = 3;

// Runs a command and collects what it prints. Returns its exit status, or -1 if it could not be
// started.
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
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
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
    if (errno != EINTR) return -1;
  }
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
#ifdef MOHO_PLOT_DIR
  folders.emplace_back(MOHO_PLOT_DIR);
#endif
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(self.parent_path());
    folders.push_back(self.parent_path().parent_path() / "share" / "moho" / "examples");
  }
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / script, error)) return (folder / script).string();
  }
  return {};
}

}  // namespace

int report_exception(const std::string& program, Stage stage, bool print) {
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
    return report(error.what(), stage == Stage::input ? exit_usage : exit_failure);
  } catch (const std::bad_alloc&) {
    return report("the machine is out of memory: compute less at once", exit_failure);
  } catch (const std::exception& error) {
    return report(error.what(), exit_failure);
  }
}

std::vector<std::string> take_kokkos_options(std::vector<std::string>& arguments) {
  std::vector<std::string> taken, rest;
  for (const std::string& argument : arguments) {
    (argument.rfind("--kokkos", 0) == 0 ? taken : rest).push_back(argument);
  }
  arguments = rest;
  return taken;
}

int visible_devices() {
#ifdef KOKKOS_ENABLE_CUDA
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#else
  return 0;
#endif
}

namespace {
// Kokkos's options together with the device of this rank.
std::vector<std::string> with_device(std::vector<std::string> kokkos_options, int rank_on_host) {
  const int devices = visible_devices();
  bool chosen = devices == 0 || std::getenv("KOKKOS_DEVICE_ID") != nullptr;
  for (const std::string& option : kokkos_options) {
    chosen = chosen || option.rfind("--kokkos-device-id", 0) == 0;
  }
  if (!chosen) {
    // The one way to say it that Kokkos 3.4 and 5 have in common.
    kokkos_options.push_back(
        concat("--kokkos-device-id=", gravity::device_of(rank_on_host, devices)));
  }
  // The first rank of a machine warns for all of them.
  if (rank_on_host > 0) kokkos_options.emplace_back("--kokkos-disable-warnings");
  return kokkos_options;
}
}  // namespace

KokkosScope::KokkosScope(const std::string& program, const std::vector<std::string>& kokkos_options,
                         int rank_on_host)
    : KokkosScope(program, with_device(kokkos_options, rank_on_host)) {}

KokkosScope::KokkosScope(const std::string& program,
                         const std::vector<std::string>& kokkos_options) {
  // The OpenMP runtime has read its variables by now; this only tells Kokkos what they amount to.
  ::setenv("OMP_PROC_BIND", "false", 0);
  std::vector<std::string> words{program};
  words.insert(words.end(), kokkos_options.begin(), kokkos_options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  Kokkos::initialize(argc, argv.data());
}

KokkosScope::~KokkosScope() { Kokkos::finalize(); }

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

Picture draw_picture(const std::string& script, const std::vector<std::string>& arguments) {
  const std::string path = find_script(script);
  if (path.empty()) return {false, script + " was not found beside the program"};
  std::vector<std::string> pythons;
  if (const char* chosen = std::getenv("MOHO_PYTHON"); chosen != nullptr && *chosen != '\0') {
    pythons.emplace_back(chosen);
  } else {
#ifdef MOHO_PYTHON
    if (std::strlen(MOHO_PYTHON) > 0) pythons.emplace_back(MOHO_PYTHON);
#endif
    pythons.emplace_back("/usr/bin/python3");
    pythons.emplace_back("python3");
  }
  const std::string advice = ": install python3-matplotlib, or run " + script + " later";
  std::string why = "there is no python3" + advice;
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
