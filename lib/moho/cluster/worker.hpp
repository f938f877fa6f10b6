// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The worker, which computes the shots of a job and writes results and a report.

#include <moho/cluster/job.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace moho::cluster {

/// Outcome of the computation of a shot.
struct ShotOutcome {
  int exit = 0;         ///< 0: all files are complete; 2: unusable input
  int signal = 0;       ///< signal that ended the program; 0: none
  std::string message;  ///< last lines of the program's output
};

/// Computes a shot and writes its files into `out`, an empty folder.
using ShotProgram = std::function<ShotOutcome(const Task&, const std::filesystem::path& out)>;

/// Options of a worker.
struct WorkerOptions {
  std::filesystem::path folder;    ///< folder of the site; its parent folder holds the key
  std::filesystem::path programs;  ///< folder of moho's programs; empty: that of this program
  ShotProgram program;             ///< computes a shot; empty: Work::command does
  /// Returns the index of the next shot in the job, from 0; empty: in order. Ranks of a job share a
  /// counter.
  std::function<std::int64_t()> next_position;
  int rank = 0;           ///< rank among the ranks of the job
  int ranks_of_host = 1;  ///< ranks of the job on this machine, which share its memory
  int devices = 0;  ///< devices of this machine, shared by ranks with CUDA_VISIBLE_DEVICES; 0:
                    ///< unchanged
  std::function<bool()> stop;  ///< true: start no further shot
};

/// Exit statuses of a worker.
enum WorkerExit : int {
  worker_done = 0,     ///< all results are written
  worker_failed = 1,   ///< shots failed; the report names them
  worker_input = 2,    ///< a program reported unusable input
  worker_stopped = 75  ///< it stopped before the last shot, for lack of time or on request
};

/// Returns the command of a shot with all {...} replaced.
/// \throws InputError for an unknown input name
std::vector<std::string> expand_command(const Work& work, std::int64_t shot,
                                        const std::filesystem::path& out,
                                        const std::filesystem::path& programs);

/// \brief Computes the shots of a job and writes their results and a report.
/// \return one of WorkerExit
/// \throws FileError if the job file cannot be read, or if nothing can be written
int run_job(const std::string& job_token, const WorkerOptions& options);

}  // namespace moho::cluster
