// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The number of OpenMP threads and of the processors available to them.

#include <string>

namespace moho {

/// Number of OpenMP threads, as set by the environment, and numbers of processors.
struct HostThreads {
  int threads = 1;  ///< threads of a kernel
  /// Processors that this process may use; its CPU affinity may exclude others.
  int processors = 1;
  int online = 1;  ///< processors of the machine
};

/// Returns these numbers, all 1 without OpenMP. Kokkos need not be initialised.
HostThreads host_threads();

/// Largest number of threads that Kokkos supports; beyond it Kokkos overruns a table.
inline constexpr int max_host_threads = 512;

/// \brief Checks the number of threads. Call it before Kokkos is initialised.
/// \param requested number of threads that an option of Kokkos requests; 0: no such option
/// \throws InputError for more than max_host_threads threads
void check_host_threads(int requested = 0);

/// Returns a warning if the CPU affinity of the process leaves fewer processors than threads.
///
/// The text is empty if the number of processors suffices or the process is not bound.
std::string host_threads_warning();

}  // namespace moho
