// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/error.hpp>
#include <moho/core/threads.hpp>

#ifdef _OPENMP
#include <omp.h>
#endif
#include <unistd.h>

namespace moho {

HostThreads host_threads() {
  HostThreads result;
#ifdef _OPENMP
  result.threads = omp_get_max_threads();
  // Processors allowed to the process at its start, even if OpenMP has bound this thread to one.
  result.processors = omp_get_num_procs();
  result.online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
#endif
  return result;
}

void check_host_threads(int requested) {
  const HostThreads available = host_threads();
  const int threads = requested > 0 ? requested : available.threads;
  if (threads <= max_host_threads) return;
  throw InputError(concat(requested > 0 ? "the options of Kokkos ask" : "OMP_NUM_THREADS asks",
                          " for ", threads, " threads (allowed: 1 to ", max_host_threads,
                          ", which is what Kokkos has room for): ask for as many as there are "
                          "processors, ",
                          available.processors));
}

std::string host_threads_warning() {
  const HostThreads available = host_threads();
  if (available.threads <= available.processors || available.processors >= available.online)
    return {};
  return concat(available.threads, " threads share ", available.processors, " of this machine's ",
                available.online,
                " processors, to which"
                " the process was bound when it was started: bind it to more (taskset, numactl, "
                "mpirun --bind-to none), or set OMP_NUM_THREADS to ",
                available.processors);
}

}  // namespace moho
