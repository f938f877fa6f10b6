// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the main function of every example program does: Kokkos's own options, exceptions
/// turned into messages and exit statuses, and the Python program that draws the picture.

#include <string>
#include <vector>

namespace moho::examples {

/// Exit statuses of the example programs.
enum ExitStatus : int {
  exit_done = 0,     ///< results are written
  exit_failure = 1,  ///< something else went wrong: a full disk, a lost device
  exit_usage = 2     ///< the options or the input files cannot be used; the message says why
};

/// Where the program is, which decides the exit status of an error with a file.
enum class Stage { input, output };

/// Message on standard error and exit status for the exception that is being handled. Call it in a
/// catch block.
/// \param print false on those of several processes that leave the message to another one
int report_exception(const std::string& program, Stage stage, bool print = true);

/// Takes the options that begin with --kokkos out of the list and returns them.
std::vector<std::string> take_kokkos_options(std::vector<std::string>& arguments);

/// Kokkos from construction to destruction.
class KokkosScope {
 public:
  /// Initialises Kokkos with its own options. A process that was told nothing about binding threads
  /// to cores says so to Kokkos, which would print a long warning otherwise.
  explicit KokkosScope(const std::string& program, const std::vector<std::string>& kokkos_options);
  /// The same for one of several processes of a machine: each takes the device that
  /// gravity::device_of() gives its rank, unless an option or a variable of Kokkos names one.
  KokkosScope(const std::string& program, const std::vector<std::string>& kokkos_options,
              int rank_on_host);
  KokkosScope(const KokkosScope&) = delete;
  KokkosScope& operator=(const KokkosScope&) = delete;
  ~KokkosScope();
};

/// Number of devices that this process may choose from; 0 in a build for hosts.
int visible_devices();

/// Creates the folder and its parents where missing, and tries a file in it.
/// \throws FileError if it cannot be made or written
void prepare_folder(const std::string& option, const std::string& folder);

/// What became of a picture.
struct Picture {
  bool drawn = false;
  std::string why;  ///< one line: why it was not drawn
};

/// Runs a Python program of the examples folder with arguments. The Python that CMake found is
/// tried first, then the system's; one without matplotlib or numpy is passed over. If the
/// environment names one in MOHO_PYTHON, that one alone is tried.
Picture draw_picture(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace moho::examples
