// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How many threads OpenMP is about to start, and what they will run on.

#include <string>

namespace moho {

/// Threads of the host's OpenMP, as the environment sets them, and what they can run on.
struct HostThreads {
  int threads = 1;     ///< that a kernel starts
  int processors = 1;  ///< that this process may use: a parent can have bound it to some
  int online = 1;      ///< that the machine has
};

/// Reads them; before or after Kokkos is initialised, which need not be. All 1 without OpenMP.
HostThreads host_threads();

/// Most threads that Kokkos keeps track of; it writes over the end of a table with more.
inline constexpr int most_host_threads = 512;

/// \brief To be called before Kokkos is initialised.
/// \param asked threads that an option of Kokkos asks for; 0: none does
/// \throws InputError for more than most_host_threads threads
void check_host_threads(int asked = 0);

/// A line that says that several threads share fewer processors because the process was bound to
/// these when it was started, or empty.
std::string host_threads_warning();

}  // namespace moho
