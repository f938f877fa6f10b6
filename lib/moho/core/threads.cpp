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

void check_host_threads(int asked) {
  const HostThreads there = host_threads();
  const int threads = asked > 0 ? asked : there.threads;
  if (threads <= most_host_threads) return;
  throw InputError(concat(asked > 0 ? "the options of Kokkos ask" : "OMP_NUM_THREADS asks", " for ",
                          threads, " threads (allowed: 1 to ", most_host_threads,
                          ", which is what Kokkos has room for): ask for as many as there are "
                          "processors, ",
                          there.processors));
}

std::string host_threads_warning() {
  const HostThreads there = host_threads();
  if (there.threads <= there.processors || there.processors >= there.online) return {};
  return concat(there.threads, " threads share ", there.processors, " of this machine's ",
                there.online,
                " processors, to which"
                " the process was bound when it was started: bind it to more (taskset, numactl, "
                "mpirun --bind-to none), or set OMP_NUM_THREADS to ",
                there.processors);
}

}  // namespace moho
