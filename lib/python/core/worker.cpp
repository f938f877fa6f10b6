// SPDX-License-Identifier: BSD-3-Clause

#include "worker.hpp"

#include <moho/core/error.hpp>
#include <moho/core/launch.hpp>
#include <moho/core/scope_guard.hpp>

#include <nanobind/stl/string.h>

#include <unistd.h>
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__)
#include <omp.h>
#endif

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace moho::python {

namespace nb = nanobind;

void Job::report(double fraction, const std::string& what) {
  if (m_cancelled) throw Cancelled();
  const std::lock_guard lock(m_mutex);
  m_fraction = fraction;
  m_what = what;
  m_news = true;
}

namespace {

// Ends the threads that OpenMP keeps for the calling thread; its next parallel region makes new
// ones. GNU's runtime counts the threads of all pools of a process: with more of them than
// processors it puts threads to sleep at every barrier instead of letting them spin.
void release_openmp_threads() {
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__)
  omp_pause_resource_all(omp_pause_soft);
#endif
}

// True if the process has loaded PyTorch, whose threads may be of the same runtime of OpenMP.
bool has_torch() {
  return PyDict_GetItemString(PyImport_GetModuleDict(), "torch") != nullptr;  // borrowed
}

}  // namespace

// Duration from which a job ends the waiting threads of OpenMP, and interval between checks for
// signals. Shorter jobs leave these threads, because new ones take time to start.
constexpr std::chrono::milliseconds long_job{50};

// The thread and its queue. There is one, which is never destroyed: threads of the interpreter may
// wait for it until the process ends.
class Worker {
 public:
  // Releases the threads of OpenMP of callers during long jobs, and those of the jobs after them.
  void take_turns() { m_turns = true; }
  // Starts the thread with the first job. Returns false if no job can be run any more.
  bool add(std::shared_ptr<Job> job) {
    const std::lock_guard lock(m_mutex);
    if (m_finished || (m_thread.joinable() && m_process != ::getpid())) return false;
    if (!m_thread.joinable()) {
      m_process = ::getpid();
      m_thread = std::thread([this] { loop(); });
    }
    m_jobs.push_back(std::move(job));
    m_event.notify_one();
    return true;
  }
  void finish() {
    {
      const std::lock_guard lock(m_mutex);
      const bool ran = m_thread.joinable() && m_process == ::getpid();
      m_finished = true;
      m_ending = true;
      for (const auto& job : m_jobs) job->m_cancelled = true;
      if (m_current != nullptr) m_current->m_cancelled = true;
      m_stop.request();
      m_event.notify_one();
      if (!ran) return;
    }
    m_thread.join();
    // Daemon threads that are about to return need the interpreter, which ends them from then on.
    for (int k = 0; k < 200 && m_waiting > 0; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void set_threads(int threads) {
    const std::lock_guard lock(m_mutex);
    if (m_thread.joinable()) {
      throw InputError(
          "threads: Kokkos is already running (allowed: before the first computation): call "
          "moho.configure() earlier, or set MOHO_NUM_THREADS");
    }
    m_threads = threads;
  }
  void wait(Job& job, const nb::object& progress);
  // Ends a job in its next step, or before it begins.
  void cancel(Job& job) {
    const std::lock_guard lock(m_mutex);
    job.m_cancelled = true;
    if (m_current.get() == &job) m_stop.request();
  }
  // Flag of the instances of all jobs; set while the running job is to end.
  const StopFlag& stop() const { return m_stop; }

  std::set<std::shared_ptr<Resource>> resources;  // used by the thread alone

 private:
  // Counts the threads in a scope.
  class Counted {
   public:
    explicit Counted(std::atomic<int>& count) : m_count(count) { ++m_count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --m_count; }

   private:
    std::atomic<int>& m_count;
  };

  // Blocks a daemon thread until the process ends: the interpreter would unwind its stack, and with
  // it destructors that may not throw.
  [[noreturn]] void hang() {
    --m_waiting;
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  void loop();
  std::shared_ptr<Job> next() {
    std::unique_lock lock(m_mutex);
    m_current = nullptr;
    m_event.wait(lock, [&] { return !m_jobs.empty() || m_finished; });
    if (m_jobs.empty()) return nullptr;
    if (!m_finished) m_stop.clear();
    m_current = std::move(m_jobs.front());
    m_jobs.pop_front();
    return m_current;
  }

  StopFlag m_stop;
  std::mutex m_mutex;
  std::condition_variable m_event;
  std::deque<std::shared_ptr<Job>> m_jobs;
  std::shared_ptr<Job> m_current;
  std::thread m_thread;
  ::pid_t m_process = 0;
  bool m_finished = false;
  int m_threads = 0;
  std::atomic<bool> m_turns = false;
  std::atomic<bool> m_ending = false;
  std::atomic<int> m_waiting = 0;  // threads in wait()
};

namespace {

Worker& worker() {
  static auto* const one = new Worker;
  return *one;
}

// Marks the thread that executes an iteration.
struct MarkThread {
  std::set<std::thread::id>* ids;
  std::mutex* mutex;
  void operator()(const std::int64_t) const {
    const std::lock_guard lock(*mutex);
    ids->insert(std::this_thread::get_id());
  }
};

}  // namespace

void Worker::loop() {
  std::vector<std::string> words{"moho", "--kokkos-disable-warnings"};
#if KOKKOS_VERSION >= 30700
  if (m_threads > 0) words.push_back("--kokkos-num-threads=" + std::to_string(m_threads));
#else
  if (m_threads > 0) words.push_back("--kokkos-threads=" + std::to_string(m_threads));
#endif
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  std::optional<ScopeGuard> kokkos;
  std::exception_ptr refused;
  try {
    kokkos.emplace(count, arguments.data());
  } catch (...) {
    refused = std::current_exception();
  }
  while (const std::shared_ptr<Job> job = next()) {
    std::exception_ptr failure = refused;
    const auto start = std::chrono::steady_clock::now();
    try {
      if (job->m_cancelled) throw Cancelled();
      if (!failure) job->m_work(*job);
    } catch (...) {
      failure = std::current_exception();
    }
    job->m_work = {};  // may own memory of Kokkos
    if (m_turns && std::chrono::steady_clock::now() - start > long_job) release_openmp_threads();
    const std::lock_guard lock(job->m_mutex);
    job->m_failure = failure;
    job->m_done = true;
    job->m_event.notify_all();
  }
  for (const auto& resource : resources) resource->release();
}

void Worker::wait(Job& job, const nb::object& progress) {
  const Counted counted(m_waiting);
  std::optional<nb::python_error> raised;
  bool released = !m_turns;
  for (bool done = false; !done;) {
    bool news = false;
    double fraction = 0.0;
    std::string what;
    {
      const nb::gil_scoped_release unlock;
      if (m_ending) hang();
      std::unique_lock lock(job.m_mutex);
      done = job.m_event.wait_for(lock, long_job, [&] { return job.m_done; });
      news = std::exchange(job.m_news, false);
      fraction = job.m_fraction;
      what = job.m_what;
      lock.unlock();
      if (m_ending) hang();
      if (!done && !released) release_openmp_threads();
      released = released || !done;
    }
    if (raised) continue;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (news && !progress.is_none()) progress(fraction, what);
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
      cancel(job);
    }
  }
  if (raised) throw std::move(*raised);
  try {
    if (job.m_failure) std::rethrow_exception(job.m_failure);
  } catch (const Cancelled&) {
    throw Error("moho: the interpreter is ending, and the computation was ended");
  } catch (const Stopped&) {
    throw Error("moho: the interpreter is ending, and the computation was ended");
  }
}

void run(const nb::object& progress, std::function<void(Job&)> work) {
  const auto job = std::make_shared<Job>(std::move(work));
  if (has_torch()) worker().take_turns();
  if (!worker().add(job)) {
    throw Error("moho: the interpreter is ending (allowed: calls before its exit handlers)");
  }
  worker().wait(*job, progress);
}

const StopFlag& stop_of_jobs() { return worker().stop(); }

void own(const std::shared_ptr<Resource>& resource) { worker().resources.insert(resource); }

void disown(const std::shared_ptr<Resource>& resource) {
  worker().add(std::make_shared<Job>([resource](Job&) {
    resource->release();
    worker().resources.erase(resource);
  }));
}

void set_threads(int threads) { worker().set_threads(threads); }

void finish() {
  const nb::gil_scoped_release unlock;
  worker().finish();
}

int count_threads() {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  run(nb::none(), [&](Job&) {
    launch("moho::python::count_threads", Exec(Kokkos::DefaultHostExecutionSpace()), 4096,
           MarkThread{&ids, &mutex});
  });
  return static_cast<int>(ids.size());
}

}  // namespace moho::python
