// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/process.hpp>
#include <moho/core/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>

extern char** environ;

namespace moho::cluster {

namespace {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : m_number(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void reset(int number) {
    close();
    m_number = number;
  }
  void close() {
    if (m_number >= 0) ::close(m_number);
    m_number = -1;
  }
  int number() const { return m_number; }
  bool open() const { return m_number >= 0; }

 private:
  int m_number = -1;
};

FileError cannot_start(const std::string& program, int reason) {
  return FileError(concat("cannot start '", program, "' (", std::strerror(reason),
                          "): name an existing program that you can execute"));
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Settings applied by the child between fork() and exec().
struct Child {
  int in = -1, out = -1, error = -1, inherited_descriptor = -1;
  bool group = false, new_session = false, end_with_parent = false;
  const char* folder = nullptr;
};

// Starts a program with fork() and exec(). \throws FileError if it cannot be started
int launch(std::vector<std::string> words,
           const std::vector<std::pair<std::string, std::string>>& more, const Child& child) {
  if (words.empty() || words[0].empty()) {
    throw InputError("a command has no words (allowed: a program and its arguments): name one");
  }
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) {
      throw InputError("a word of a command contains a null character (allowed: none)");
    }
  }
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : more) {
      replaced = replaced || text.substr(0, text.find('=')) == name;
    }
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [name, value] : more) variables.push_back(name + '=' + value);
  const std::string program = words[0];
  const std::vector<char*> argv = pointers_to(words), envp = pointers_to(variables);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw cannot_start(program, errno);
  Descriptor read_end(ends[0]), write_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) throw cannot_start(program, errno);
  if (process == 0) {
    const auto give_up = [&] {
      const int reason = errno;
      if (::write(ends[1], &reason, sizeof(reason)) < 0) ::_exit(126);
      ::_exit(127);
    };
    // default signal actions, as for a program started by a shell
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGUSR1, SIGINT, SIGTERM, SIGHUP}) {
      ::signal(signal, SIG_DFL);
    }
    if (child.end_with_parent) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
    }
    if (child.new_session) ::setsid();
    if (child.group) ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDWR);
    if (::dup2(child.in >= 0 ? child.in : nothing, 0) < 0 ||
        ::dup2(child.out >= 0 ? child.out : nothing, 1) < 0 ||
        ::dup2(child.error >= 0 ? child.error : nothing, 2) < 0) {
      give_up();
    }
    if (nothing > 2) ::close(nothing);
    if (child.inherited_descriptor >= 0) ::fcntl(child.inherited_descriptor, F_SETFD, 0);
    if (child.folder != nullptr && ::chdir(child.folder) != 0) give_up();
    ::execvpe(argv[0], argv.data(), envp.data());
    give_up();
  }
  write_end.close();
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(ends[0], &reason, sizeof(reason))) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof(reason))) {
    ::waitpid(process, nullptr, 0);
    throw cannot_start(program, reason);
  }
  return process;
}

ProcessStatus status_of(int status) {
  ProcessStatus result;
  result.running = false;
  if (WIFEXITED(status)) result.exit = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

// Polls a process until it has ended, or until a time.
ProcessStatus poll_until(int process, double deadline) {
  ProcessStatus end = poll_process(process);
  for (double pause = 1e-4; end.running; pause = std::min(0.01, 2.0 * pause)) {
    if (detail::seconds_now() > deadline) break;
    ::usleep(static_cast<useconds_t>(pause * 1e6));
    end = poll_process(process);
  }
  return end;
}

}  // namespace

std::string CommandResult::message() const {
  std::string text = error.empty() ? out : error;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > 400) text = "... " + text.substr(text.size() - 400);
  for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
  const std::string how = timed_out     ? "no answer in time"
                          : signal != 0 ? concat("signal ", signal)
                                        : concat("exit ", exit);
  return text.empty() ? how : concat(text, " [", how, "]");
}

CommandResult run_command(const Command& command) {
  int in[2], out[2], error[2];
  // A socket: unlike a pipe, send() to an ended program can suppress SIGPIPE.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
    throw FileError(concat("cannot connect to a program (", std::strerror(errno), ")"));
  }
  Descriptor in_here(in[0]), in_there(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) {
    throw FileError(concat("cannot connect to a program (", std::strerror(errno), ")"));
  }
  Descriptor out_here(out[0]), out_there(out[1]);
  if (::pipe2(error, O_CLOEXEC) != 0) {
    throw FileError(concat("cannot connect to a program (", std::strerror(errno), ")"));
  }
  Descriptor error_here(error[0]), error_there(error[1]);
  Child child;
  child.in = in[1];
  child.out = out[1];
  child.error = error[1];
  child.group = true;
  const int process = launch(command.words, {}, child);
  in_there.close();
  out_there.close();
  error_there.close();

  CommandResult result;
  std::size_t sent = 0;
  const double deadline = detail::seconds_now() + command.timeout;
  if (command.input.empty()) in_here.close();
  const auto take = [&](Descriptor& from, std::string& to) {
    char buffer[1 << 16];
    const ssize_t got = ::read(from.number(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return from.close();
    const std::size_t room = command.max_output - std::min(command.max_output, to.size());
    to.append(buffer, std::min(room, static_cast<std::size_t>(got)));
  };
  while (out_here.open() || error_here.open()) {
    const double left = deadline - detail::seconds_now();
    if (left <= 0.0) {
      result.timed_out = true;
      break;
    }
    pollfd wait[4] = {{in_here.number(), POLLOUT, 0},
                      {out_here.number(), POLLIN, 0},
                      {error_here.number(), POLLIN, 0},
                      {command.stop_descriptor, POLLIN, 0}};
    if (::poll(wait, 4, static_cast<int>(std::min(left, 3600.0) * 1000.0) + 1) <= 0) continue;
    if (wait[3].revents != 0) {
      result.timed_out = true;
      break;
    }
    if (in_here.open() && wait[0].revents != 0) {
      const ssize_t some = ::send(in_here.number(), command.input.data() + sent,
                                  command.input.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (some > 0) sent += static_cast<std::size_t>(some);
      const bool failed = some < 0 && errno != EINTR && errno != EAGAIN;
      if (failed || sent == command.input.size()) in_here.close();
    }
    if (out_here.open() && wait[1].revents != 0) take(out_here, result.out);
    if (error_here.open() && wait[2].revents != 0) take(error_here, result.error);
  }
  in_here.close();
  // The outputs are closed, but the program, or one that it started, may still run.
  ProcessStatus end = poll_until(process, result.timed_out ? 0.0 : deadline);
  result.timed_out = result.timed_out || end.running;
  if (end.running) {
    ::kill(-process, SIGKILL);
    ::kill(process, SIGKILL);
    end = poll_process(process, true);
  }
  result.exit = end.exit;
  result.signal = end.signal;
  return result;
}

int start_process(const StartOptions& start) {
  Descriptor log;
  if (!start.log.empty()) {
    log.reset(::open(start.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log.open()) {
      throw FileError(concat("cannot write '", start.log.string(), "' (", std::strerror(errno),
                             "): name an existing folder that you can write"));
    }
  }
  Child child;
  child.out = child.error = log.number();
  child.inherited_descriptor = start.inherited_descriptor;
  child.new_session = start.new_session;
  child.end_with_parent = start.end_with_parent;
  const std::string folder = start.folder.string();
  if (!folder.empty()) child.folder = folder.c_str();
  return launch(start.words, start.environment, child);
}

ProcessStatus poll_process(int process, bool wait) {
  int status = 0;
  for (;;) {
    const pid_t got = ::waitpid(process, &status, wait ? 0 : WNOHANG);
    if (got < 0 && errno == EINTR) continue;
    if (got == process) return status_of(status);
    ProcessStatus result;
    if (got < 0) {  // not a child of this process, or its status was read before
      result.running = ::kill(process, 0) == 0 || errno == EPERM;
    }
    return result;
  }
}

std::string process_identity(int process) {
  // "pid (name) state ppid ...": the name may contain blanks and brackets; field 22 is the start
  // time
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::istringstream fields(line.substr(close + 1));
  std::string field;
  for (int k = 3; k <= 22; ++k) {
    if (!(fields >> field)) return {};
  }
  std::string name = line.substr(open + 1, close - open - 1);
  std::replace(name.begin(), name.end(), '\n', ' ');
  return field + ' ' + name;
}

void close_lock_on_exec() {
  const char* const text = std::getenv("MOHO_LOCK");
  if (text == nullptr) return;
  const int descriptor = std::atoi(text);
  if (descriptor > 2) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  ::unsetenv("MOHO_LOCK");
}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "unknown";
  return name;
}

std::string time_text() {
  const std::time_t seconds = std::time(nullptr);
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &fields);
  return text;
}

}  // namespace moho::cluster
