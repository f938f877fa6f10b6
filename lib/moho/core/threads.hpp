// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The number of OpenMP threads, and the processors that they will run on.

#include <string>

namespace moho {

/// Threads of the host's OpenMP, as the environment sets them, and processors.
struct HostThreads {
  int threads = 1;  ///< of a kernel
  int processors =
      1;  ///< that this process may use: it may have been bound to some when it was started
  int online = 1;  ///< of the machine
};

/// Reads them. Kokkos need not be initialised. All are 1 without OpenMP.
HostThreads host_threads();

/// The most threads that Kokkos can have: with more it writes beyond the end of a table.
inline constexpr int most_host_threads = 512;

/// \brief Checks the number of threads. Call it before Kokkos is initialised.
/// \param asked threads that an option of Kokkos asks for; 0: none does
/// \throws InputError for more than most_host_threads threads
void check_host_threads(int asked = 0);

/// A line that says that several threads share fewer processors because the process was bound to
/// these when it was started, or empty.
std::string host_threads_warning();

}  // namespace moho
