// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/detail/seconds.hpp>
#include <moho/cluster/job_system.hpp>
#include <moho/cluster/process.hpp>
#include <moho/core/memory_share.hpp>
#include <moho/core/text.hpp>
#include <moho/io/input_file.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <limits>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

namespace moho::cluster {

const char* to_string(JobState state) {
  constexpr const char* names[] = {"unknown",   "queued",    "running",       "completed",
                                   "failed",    "timed out", "out of memory", "node lost",
                                   "preempted", "cancelled"};
  return names[static_cast<int>(state)];
}

bool has_ended(JobState state) {
  return state != JobState::unknown && state != JobState::queued && state != JobState::running;
}

// ---- processes

namespace {

namespace fs = std::filesystem;
using detail::seconds_now;

// Returns the time of the monotonic clock, s, at which a job that has started reaches its limit.
//
// The lock of a job is written when its worker starts, also by an earlier process.
double deadline_of(const JobFiles& files) {
  double limit = 0.0;
  try {
    const io::InputFile file(files.job);
    limit = time_limit_of(file.text(file.size()));
  } catch (const FileError&) {
    // without its file a job has no limit
  }
  std::error_code error;
  const auto begun = fs::last_write_time(files.lock, error);
  if (!(limit > 0.0) || error) return std::numeric_limits<double>::infinity();
  const auto age = fs::file_time_type::clock::now() - begun;
  return seconds_now() + limit - std::max(0.0, std::chrono::duration<double>(age).count());
}

// Returns true if the lock of a job is held, which means that its worker is running.
bool is_held(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return held;
}

// Returns the process recorded in a lock file; 0 if its number now belongs to another process.
int recorded_process(const fs::path& path) {
  std::ifstream file(path);
  int process = 0;
  std::string rest, identity;
  file >> process;
  std::getline(file, rest);
  std::getline(file, identity);
  return process > 1 && !identity.empty() && process_identity(process) == identity ? process : 0;
}

}  // namespace

// Starts waiting workers as soon as a slot is free.
//
// The distributor flushes its journal between queries, which can take longer than the start of a
// worker. Without this thread slots would stay idle meanwhile.
struct LocalJobs::Watcher {
  std::mutex mutex;  // guards the jobs
  bool stopping = false;
  int wake_descriptor = -1;  // an eventfd; written to when the set of processes has changed
  std::thread thread;

  void wake() const {
    const std::uint64_t one = 1;
    while (::write(wake_descriptor, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
  }
  // Waits until one of the processes ends, until wake() is called, or for some seconds.
  void wait(const std::vector<int>& processes, double seconds) const {
    std::vector<pollfd> all{{wake_descriptor, POLLIN, 0}};
    for (const int process : processes) {
      const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
      if (descriptor >= 0) all.push_back({descriptor, POLLIN, 0});
    }
    // poll every 20 ms if pidfd_open() is not available for all processes
    const bool complete = all.size() == processes.size() + 1;
    const int max = std::isfinite(seconds)
                        ? static_cast<int>(std::ceil(1e3 * std::clamp(seconds, 0.0, 86400.0)))
                        : -1;
    ::poll(all.data(), all.size(), complete ? max : 20);
    std::uint64_t ignored = 0;
    if (all[0].revents != 0 && ::read(wake_descriptor, &ignored, sizeof(ignored)) < 0) {
      // no pending event
    }
    for (std::size_t k = 1; k < all.size(); ++k) ::close(all[k].fd);
  }
};

LocalJobs::~LocalJobs() {
  if (m_watcher->thread.joinable()) {
    {
      const std::lock_guard lock(m_watcher->mutex);
      m_watcher->stopping = true;
    }
    m_watcher->wake();
    m_watcher->thread.join();
  }
  if (m_watcher->wake_descriptor >= 0) ::close(m_watcher->wake_descriptor);
}

// Kills a running worker that has reached the time limit of its job. Returns true if it did.
bool LocalJobs::kill_late(const std::string& token, KnownJob& job) {
  const JobFiles files = files_of(m_folder, token);
  if (!job.deadline) job.deadline = deadline_of(files);
  if (seconds_now() < *job.deadline) return false;
  const int process = job.own ? job.process : recorded_process(files.lock);
  if (process < 2) return false;
  ::kill(-process, SIGKILL);  // its session, which includes its programs
  if (job.own) poll_process(process, true);
  job.status.signal = SIGKILL;
  job.status.state = JobState::timed_out;
  return true;
}

void LocalJobs::notice_end(const std::string& token, KnownJob& job) {
  const ProcessStatus ended = poll_process(job.process);
  if (ended.running) {
    kill_late(token, job);
    return;
  }
  job.status.exit = ended.exit;
  job.status.signal = ended.signal;
  job.status.state = ended.exit == 0 ? JobState::completed : JobState::failed;
}

LocalJobs::LocalJobs(fs::path folder, std::vector<std::string> worker, int slots, int sharing)
    : m_folder(std::move(folder)),
      m_worker(std::move(worker)),
      m_slots(slots),
      m_share(MemoryShare::of(std::max({slots, sharing, 1}))),
      m_watcher(std::make_unique<Watcher>()) {
  if (slots < 1) {
    throw InputError(
        concat("slots is ", slots, " (allowed: 1 and more): give the number of concurrent shots"));
  }
  m_watcher->wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (m_watcher->wake_descriptor < 0) return;  // without an eventfd query() starts workers
  m_watcher->thread = std::thread([this] {
    std::unique_lock lock(m_watcher->mutex);
    while (!m_watcher->stopping) {
      std::vector<int> processes;
      double deadline = std::numeric_limits<double>::infinity();
      for (auto& [token, job] : m_jobs) {
        if (job.own && job.status.state == JobState::running) notice_end(token, job);
      }
      start_waiting();
      for (const auto& [token, job] : m_jobs) {
        if (!job.own || job.status.state != JobState::running) continue;
        processes.push_back(job.process);
        if (job.deadline) deadline = std::min(deadline, *job.deadline);
      }
      lock.unlock();
      m_watcher->wait(processes, deadline - seconds_now());
      lock.lock();
    }
  });
}

std::string LocalJobs::probe() {
  if (m_worker.empty() || ::access(m_worker[0].c_str(), X_OK) != 0) {
    throw InputError(concat("the worker '", m_worker.empty() ? "" : m_worker[0],
                            "' cannot be run (", std::strerror(errno),
                            "): build or install shot_worker, or name its folder as programs"));
  }
  return concat(text::counted(m_slots, "process", "processes"), " on ", host_name());
}

void LocalJobs::start(const std::string& token, KnownJob& job) {
  const JobFiles files = files_of(m_folder, token);
  // Taken before the worker starts and inherited by it, so an observer never sees it unlocked.
  const int lock = ::open(files.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    if (lock >= 0) ::close(lock);
    if (lock >= 0 && reason == EWOULDBLOCK) {  // its worker is running
      job.status.state = JobState::running;
      return;
    }
    throw Refused(concat("cannot lock '", files.lock.string(), "' (", std::strerror(reason), ")"));
  }
  StartOptions how;
  how.words = m_worker;
  how.words.push_back(token);
  how.log = files.log;
  how.inherited_descriptor = lock;
  how.new_session = true;
  how.environment = {{"MOHO_LOCK", std::to_string(lock)}, m_share.variable()};
  try {
    job.process = start_process(how);
  } catch (const FileError& error) {
    ::close(lock);
    throw Refused(error.what());
  }
  const std::string text =
      std::to_string(job.process) + '\n' + process_identity(job.process) + '\n';
  if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, text.data(), text.size(), 0) < 0) {
    // the recorded number is needed only for cancelling and time limits after a restart
  }
  ::close(lock);
  job.own = true;
  job.deadline = deadline_of(files);
  job.status.state = JobState::running;
}

// Starts waiting workers in free slots. Returns true if any was started.
bool LocalJobs::start_waiting() {
  bool any = false;
  int running = 0;
  for (const auto& [token, job] : m_jobs) running += job.status.state == JobState::running ? 1 : 0;
  while (running < m_slots && !m_waiting.empty()) {
    const std::string token = m_waiting.front();
    m_waiting.erase(m_waiting.begin());
    KnownJob& job = m_jobs[token];
    try {
      start(token, job);
      ++running;
      any = true;
    } catch (const std::exception& error) {  // Refused, and errors of the system
      job.status.state = JobState::node_lost;
      job.status.message = error.what();
    }
  }
  return any;
}

std::vector<std::string> LocalJobs::submit(const Batch& batch) {
  const std::lock_guard lock(m_watcher->mutex);
  std::vector<std::string> ids;
  for (const Job& job : batch.jobs) {
    KnownJob& known = m_jobs[job.token];
    known.status.id = job.token;
    known.status.node = host_name();
    known.status.state = JobState::queued;
    m_waiting.push_back(job.token);
    ids.push_back(job.token);
  }
  if (start_waiting()) m_watcher->wake();
  return ids;
}

std::vector<std::string> LocalJobs::find(const Batch& batch) {
  const std::lock_guard lock(m_watcher->mutex);
  // A batch counts as never accepted if none of its workers was started. Otherwise query() starts
  // its queued jobs.
  std::vector<std::string> ids;
  bool any = false;
  for (const Job& job : batch.jobs) {
    std::error_code error;
    any =
        any || m_jobs.count(job.token) > 0 || fs::exists(files_of(m_folder, job.token).lock, error);
    ids.push_back(job.token);
  }
  return any ? ids : std::vector<std::string>();
}

std::vector<JobStatus> LocalJobs::query(const std::vector<std::string>& ids) {
  const std::lock_guard lock(m_watcher->mutex);
  std::vector<JobStatus> all;
  for (const std::string& token : ids) {
    auto at = m_jobs.find(token);
    if (at == m_jobs.end()) {  // submitted by an earlier process
      KnownJob& known = m_jobs[token];
      known.status.id = token;
      known.status.node = host_name();
      known.status.state = JobState::running;
      at = m_jobs.find(token);
    }
    KnownJob& job = at->second;
    if (job.status.state == JobState::running) {
      if (job.own) {
        notice_end(token, job);
      } else {
        const JobFiles files = files_of(m_folder, token);
        if (is_held(files.lock)) {
          kill_late(token, job);
        } else {
          const JobReport report = read_report(files.report);
          if (report.exit) {
            job.status.exit = *report.exit;
            job.status.state = *report.exit == 0 ? JobState::completed : JobState::failed;
          } else if (!report.host.empty()) {  // killed before its report was complete
            job.status.state = JobState::failed;
            job.status.message = "its worker ended unexpectedly";
          } else if (std::error_code error; fs::exists(files.job, error)) {
            // Its process ended while the job was queued. The job is queued again and counts
            // neither as an attempt nor as a loss. A failing worker is then reported by
            // notice_end(), so this happens only once.
            job.status.state = JobState::queued;
            m_waiting.push_back(token);
          } else {
            job.status.state = JobState::node_lost;
            job.status.message = "its file '" + files.job.string() + "' is missing";
          }
        }
      }
    }
    all.push_back(job.status);
    if (has_ended(job.status.state)) m_jobs.erase(at);
  }
  if (start_waiting()) m_watcher->wake();
  return all;
}

void LocalJobs::cancel(const std::vector<std::string>& ids) {
  const std::lock_guard lock(m_watcher->mutex);
  for (const std::string& token : ids) {
    m_waiting.erase(std::remove(m_waiting.begin(), m_waiting.end(), token), m_waiting.end());
    const auto at = m_jobs.find(token);
    int process = 0;
    if (at != m_jobs.end() && at->second.own) {
      // the number of an ended process may belong to another process
      if (at->second.status.state == JobState::running) process = at->second.process;
    } else if (is_held(files_of(m_folder, token).lock)) {
      process = recorded_process(files_of(m_folder, token).lock);
    }
    // A worker leads its own session: signal its process group, which includes its programs.
    if (process > 1) {
      ::kill(-process, SIGKILL);
      if (at != m_jobs.end() && at->second.own) poll_process(process, true);
    }
    // Keep the job until query() has reported it; query() would start the worker of an unknown job.
    KnownJob& job = m_jobs[token];
    job.status.id = token;
    job.status.node = host_name();
    job.status.state = JobState::cancelled;
  }
  if (start_waiting()) m_watcher->wake();
}

// ---- threads

struct ThreadJobs::Pool {
  WorkerOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> waiting;
  std::map<std::string, JobStatus> jobs;
  std::set<std::string> cancelled;
  bool stopping = false;
  std::vector<std::thread> threads;

  ~Pool() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
  void work() {
    for (;;) {
      std::string token;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopping || !waiting.empty(); });
        if (stopping) return;
        token = waiting.front();
        waiting.pop_front();
        jobs[token].state = JobState::running;
      }
      WorkerOptions own = options;
      own.stop = [this, token] {
        const std::lock_guard lock(mutex);
        return stopping || cancelled.count(token) > 0;
      };
      int exit = 1;
      std::string words;
      try {
        exit = run_job(token, own);
      } catch (const std::exception& error) {
        words = error.what();
      }
      const std::lock_guard lock(mutex);
      JobStatus& status = jobs[token];
      status.exit = exit;
      status.message = words;
      status.state = exit == 0 ? JobState::completed : JobState::failed;
    }
  }
};

ThreadJobs::ThreadJobs(WorkerOptions options, int slots)
    : m_pool(std::make_unique<Pool>()), m_slots(slots) {
  if (slots < 1) throw InputError(concat("slots is ", slots, " (allowed: 1 and more)"));
  if (!options.program) throw InputError("threads: no function that computes a shot is given");
  m_pool->options = std::move(options);
  for (int k = 0; k < slots; ++k) m_pool->threads.emplace_back([this] { m_pool->work(); });
}

ThreadJobs::~ThreadJobs() = default;

std::string ThreadJobs::probe() {
  return concat(text::counted(m_slots, "thread"), " of this process");
}

std::vector<std::string> ThreadJobs::submit(const Batch& batch) {
  std::vector<std::string> ids;
  {
    const std::lock_guard lock(m_pool->mutex);
    for (const Job& job : batch.jobs) {
      JobStatus status;
      status.id = job.token;
      status.state = JobState::queued;
      status.node = host_name();
      m_pool->jobs[job.token] = status;
      m_pool->waiting.push_back(job.token);
      ids.push_back(job.token);
    }
  }
  m_pool->changed.notify_all();
  return ids;
}

std::vector<std::string> ThreadJobs::find(const Batch& batch) {
  const std::lock_guard lock(m_pool->mutex);
  std::vector<std::string> ids;
  for (const Job& job : batch.jobs) {
    if (m_pool->jobs.count(job.token) == 0) return {};
    ids.push_back(job.token);
  }
  return ids;
}

std::vector<JobStatus> ThreadJobs::query(const std::vector<std::string>& ids) {
  const std::lock_guard lock(m_pool->mutex);
  std::vector<JobStatus> all;
  for (const std::string& id : ids) {
    const auto at = m_pool->jobs.find(id);
    if (at == m_pool->jobs.end()) {
      all.push_back({id, JobState::node_lost, -1, 0, host_name(), "its process has ended"});
      continue;
    }
    all.push_back(at->second);
    if (has_ended(at->second.state)) m_pool->jobs.erase(at);
  }
  return all;
}

void ThreadJobs::cancel(const std::vector<std::string>& ids) {
  const std::lock_guard lock(m_pool->mutex);
  for (const std::string& id : ids) {
    auto& waiting = m_pool->waiting;
    const auto at = std::find(waiting.begin(), waiting.end(), id);
    if (at != waiting.end()) {
      waiting.erase(at);
      m_pool->jobs.erase(id);
    } else {
      m_pool->cancelled.insert(id);
    }
  }
}

}  // namespace moho::cluster
