// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kokkos from the beginning to the end of a program.

namespace moho {

/// \brief Initialises Kokkos when constructed, and finalises it when destroyed.
///
/// It does nothing if Kokkos is initialised already. Options --kokkos-* and variables KOKKOS_* have
/// the meaning that Kokkos gives them. Without them OMP_NUM_THREADS sets the number of threads, and
/// Kokkos chooses the device. Kokkos's warning of an unset OMP_PROC_BIND is printed only if
/// KOKKOS_DISABLE_WARNINGS is set to 0: bound threads suit programs that have their processors to
/// themselves. Other warnings of Kokkos are unaffected.
///
///     int main(int argc, char** argv) {
///       const moho::ScopeGuard kokkos(argc, argv);
///       const Kokkos::DefaultExecutionSpace exec;
///     }
class ScopeGuard {
 public:
  /// Initialises Kokkos without options of a command line.
  /// \throws InputError for more than max_host_threads threads
  ScopeGuard();
  /// Initialises Kokkos, which removes the options that it knows.
  /// \param[in,out] argc,argv arguments of main()
  /// \throws InputError for more than max_host_threads threads
  ScopeGuard(int& argc, char* argv[]);
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  /// Finalises Kokkos if the constructor initialised it.
  ~ScopeGuard();

 private:
  bool m_initialised = false;
};

}  // namespace moho
