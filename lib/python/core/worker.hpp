// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The thread that starts Kokkos, runs all computations of the Python module and ends
/// Kokkos.

#include <nanobind/nanobind.h>

#include <moho/core/instance.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace moho::python {

/// The host space in which the module computes, and its instance.
using Memory = Kokkos::HostSpace;
using Exec = Instance<Memory>;

/// Thrown on the worker by Job::report() if the caller no longer wants the result.
struct Cancelled {};

/// A computation of the worker, and its news for the waiting caller.
class Job {
 public:
  explicit Job(std::function<void(Job&)> work) : m_work(std::move(work)) {}

  /// Ends the job if its caller was interrupted. \throws Cancelled
  void check() const {
    if (m_cancelled.load(std::memory_order_relaxed)) throw Cancelled();
  }
  /// Stores the progress for the caller. \throws Cancelled if the caller was interrupted
  void report(double fraction, const std::string& what);
  /// Returns a progress callback of the library that calls report().
  std::function<void(double, const std::string&)> progress() {
    return [this](double fraction, const std::string& what) { report(fraction, what); };
  }

 private:
  friend class Worker;

  std::function<void(Job&)> m_work;
  std::mutex m_mutex;
  std::condition_variable m_event;
  bool m_done = false, m_news = false;
  std::atomic<bool> m_cancelled = false;
  double m_fraction = 0.0;
  std::string m_what;
  std::exception_ptr m_failure;
};

/// \brief Runs a job on the worker and waits without the interpreter's lock.
///
/// Every 50 ms the calling thread handles signals of the interpreter and reports the progress. An
/// exception that this raises cancels the job, and is raised when the job has ended. With Kokkos
/// 3.4 only the thread that initialised Kokkos computes in parallel: hence one thread for all jobs.
/// The first job initialises Kokkos.
/// \param work the job; it may not use objects of Python
/// \param progress callable(fraction, text) or None
/// \throws Error after the end of the interpreter, and what the job throws
void run(const nanobind::object& progress, std::function<void(Job&)> work);

/// The flag that ends the running job in its next time step; for instances of the library.
const StopFlag& stop_of_jobs();

/// Memory of Kokkos that an object of Python owns; it is released on the worker.
class Resource {
 public:
  Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual ~Resource() = default;
  /// Releases the memory; called on the worker, at the latest before Kokkos ends.
  virtual void release() = 0;
};

/// Registers a resource. Call it in a job.
void own(const std::shared_ptr<Resource>& resource);

/// Releases a resource after the jobs that were added before, without waiting for them.
void disown(const std::shared_ptr<Resource>& resource);

/// Sets the number of threads of the computations; 0: that of the environment.
/// \throws InputError after the first computation
void set_threads(int threads);

/// Ends running and waiting jobs, finalises Kokkos, and joins the worker.
void finish();

/// Returns the number of threads that execute a loop of the worker.
int count_threads();

}  // namespace moho::python
