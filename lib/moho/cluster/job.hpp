// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots, jobs, batches of jobs, and the files of a job.

#include <moho/cluster/guard.hpp>
#include <moho/cluster/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moho::cluster {

/// A shot to compute.
struct Task {
  std::int64_t shot = 0;  ///< number of the shot
  double cost = 1.0;      ///< computational cost relative to the other shots
  /// Returns true if all members are equal.
  friend bool operator==(const Task&, const Task&) = default;
};

/// The work common to all shots of an evaluation.
struct Work {
  std::string campaign;         ///< name of the run: letters, digits and . _ -
  std::int64_t evaluation = 0;  ///< number of the evaluation, in an inversion
  Fingerprint survey;           ///< everything that results depend on; each result carries its
                                ///< checksum
  /// \brief Command that computes a shot: the program and its arguments.
  ///
  /// Each word may contain {shot}, the number of the shot; {out}, the folder for its results;
  /// {programs}, the folder of moho's programs at the site; and {input:NAME}, the path of an input
  /// at the site. Exit status 2 means that the input is unusable.
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> inputs;  ///< names and paths of input files and
                                                            ///< folders
  bool sums = false;  ///< sites may send the sum of their shots in place of the shots
  Key key{};          ///< key of the journal; set by distribute() and by workers
};

/// Shots that one worker computes in turn.
struct Job {
  std::string token;                        ///< token of its batch, a point, and its index in the
                                            ///< batch
  std::vector<Task> tasks;                  ///< shots
  double time_limit = 0.0;                  ///< seconds; 0: time limit of the site
  double memory = 0.0;                      ///< bytes; 0: the site's default
  std::vector<std::string> excluded_nodes;  ///< nodes that must not run it
  std::int64_t shots_per_job = 1;  ///< of a chunk, which its site divides into jobs: their shots
  double shot_time_limit = 0.0;    ///< of a chunk: seconds per shot; 0: time limit of the site
  double max_memory = 0.0;         ///< of a chunk: bytes of jobs repeated after running out of
                                   ///< memory; 0: they are not repeated
};

/// Jobs submitted together. Each batch has a unique token.
struct Batch {
  std::string token;      ///< campaign.evaluation.number
  std::vector<Job> jobs;  ///< at least one job; all have the same limits
};

/// Checks names, inputs and command of the work. \throws InputError
void check_work(const Work& work);
/// Returns the checksum of the names and values of a fingerprint.
std::string checksum_of(const Fingerprint& survey);

/// Returns the text of a job file.
std::string to_text(const Work& work, const Job& job);
/// \brief Parses the text of a job file.
/// \param text content of the file
/// \param name name of the file, for messages
/// \param key key of the journal, which becomes Work::key
/// \throws FileError for other and damaged texts, and for texts not authenticated by the key
std::pair<Work, Job> parse_job(const std::string& text, const std::string& name, const Key& key);

/// Returns the time limit in the text of a job file, s, without checking its key; 0: none.
double time_limit_of(const std::string& text);

/// Returns the numbers of shots as "3,4,5".
std::string shots_text(const std::vector<Task>& tasks);
/// Appends the shots of shots_text(). \returns false for other texts
bool read_shots(std::string_view text, std::vector<Task>& tasks);

/// Paths of the files of a job.
struct JobFiles {
  std::filesystem::path job;     ///< job file
  std::filesystem::path log;     ///< output of the programs
  std::filesystem::path report;  ///< report of the worker
  std::filesystem::path lock;    ///< locked by the worker until it ends
  std::filesystem::path work;    ///< folder for the outputs of programs
};
/// Returns the paths of a job's files below the folder of its site.
JobFiles files_of(const std::filesystem::path& folder, const std::string& job_token);
/// Returns the path of a shot's result, relative to the folder of the site.
std::string result_name(std::int64_t shot, const std::string& job_token);

/// Returns the path of a shot's report at a site that sends sums, relative to the chunk's folder.
std::string report_name(std::int64_t shot);
/// Name of a file with the sum of shots, in the folder of its chunk or request.
inline constexpr const char* sum_name = "sum.result";

/// Failure of a shot, from the report of its worker.
struct ShotFailure {
  std::int64_t shot = 0;  ///< number of the shot
  int exit = -1;          ///< exit status of the program; -1: none
  int signal = 0;         ///< signal that ended the program; 0: none
  bool disk = false;      ///< true if the result could not be written
  std::string message;    ///< last lines of the program's output
};

/// Content of a worker's report.
struct JobReport {
  std::vector<ShotFailure> failures;    ///< shots that failed
  std::optional<std::int64_t> current;  ///< shot that was started and has not ended
  std::vector<std::int64_t> done;       ///< shots whose results were written
  std::string host;                     ///< name of the worker's machine; empty: no shot was
                                        ///< started
  std::optional<int> exit;              ///< exit status of the worker; empty if it did not end
                                        ///< regularly
  std::string message;                  ///< why it stopped before its last shot
  double seconds = 0.0;                 ///< seconds of computation, summed over shots
};

/// Reads the reports of a job's workers; empty if no report exists.
JobReport read_report(const std::filesystem::path& report);

}  // namespace moho::cluster
