// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What a job does: shot after shot, each result a whole file at once, and a report of all
/// that happened.

#include <moho/cluster/job.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace moho::cluster {

/// How the computation of a shot ended.
struct ShotOutcome {
  int exit = 0;         ///< 0: its files are whole; 2: the input is not usable
  int signal = 0;       ///< that ended the program
  std::string message;  ///< its last lines
};

/// Computes a shot and leaves its files in a folder, which is empty.
using ShotProgram = std::function<ShotOutcome(const Task&, const std::filesystem::path& out)>;

/// How a worker works.
struct WorkerOptions {
  std::filesystem::path folder;    ///< of the site; the folder above holds the key
  std::filesystem::path programs;  ///< folder of moho's programs; empty: that of this one
  ShotProgram program;             ///< empty: the command of the work
  /// The position of the next shot among those of the job, from 0; empty: one after the other.
  /// Ranks of one job share a counter.
  std::function<std::int64_t()> next_position;
  int rank = 0;     ///< of several that share a job
  int devices = 0;  ///< of this machine that ranks share, by CUDA_VISIBLE_DEVICES; 0: leave it
  std::function<bool()> stop;  ///< is it time to take no more shots?
};

/// Exit statuses of a worker.
enum WorkerExit : int {
  worker_done = 0,     ///< all results are written
  worker_failed = 1,   ///< shots failed; the report names them
  worker_input = 2,    ///< a program said that the input is not usable
  worker_stopped = 75  ///< it ended before the last shot, for want of time
};

/// The words of a command for a shot. \throws InputError for an input without a path
std::vector<std::string> expand_command(const Work& work, std::int64_t shot,
                                        const std::filesystem::path& out,
                                        const std::filesystem::path& programs);

/// \brief Does a job: reads its file, computes its shots, writes results and the report.
/// \return one of WorkerExit \throws FileError if the job cannot be read or nothing be written
int run_job(const std::string& job_token, const WorkerOptions& options);

}  // namespace moho::cluster
