// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots, the jobs that they are computed in, and the files of a job.

#include <moho/cluster/guard.hpp>
#include <moho/cluster/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// A shot to compute.
struct Task {
  std::int64_t shot = 0;  ///< its number
  double cost = 1.0;      ///< work that it is, against the others
  /// Are both the same?
  friend bool operator==(const Task&, const Task&) = default;
};

/// What is the same for all shots of an evaluation.
struct Work {
  std::string campaign;         ///< name of the run: letters, digits and . _ -
  std::int64_t evaluation = 0;  ///< of a model, in an inversion
  Fingerprint survey;           ///< what the results depend on; they carry its checksum
  /// \brief Program and arguments that compute a shot, as a list. In every word {shot} becomes the
  /// number, {out} the folder for the results, {programs} the folder of moho's programs at the
  /// site, {input:NAME} the path of an input there. Exit status 2: the input is not usable.
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> inputs;  ///< names and paths of files
  Key key{};  ///< of the journal; distribute() and workers set it
};

/// Shots that are computed one after the other by one worker.
struct Job {
  std::string token;                        ///< of its batch, a point and its number in it
  std::vector<Task> tasks;                  ///< the shots
  double time_limit = 0.0;                  ///< time limit; 0: that of the site
  double memory = 0.0;                      ///< bytes; 0: what the site gives
  std::vector<std::string> excluded_nodes;  ///< nodes not to run on
};

/// Jobs that are submitted at once, under one token that no other submission ever has.
struct Batch {
  std::string token;      ///< campaign.evaluation.number
  std::vector<Job> jobs;  ///< at least one; equal limits
};

/// Checks what a user gave. \throws InputError
void check_work(const Work& work);
/// The checksum of the survey's names and values, which results carry.
std::string checksum_of(const Fingerprint& survey);

/// The text of a job for a worker.
std::string to_text(const Work& work, const Job& job);
/// \brief The job that a text says; `key` becomes that of the work.
/// \throws FileError for a text that is damaged, no job, or not authenticated by the key
std::pair<Work, Job> parse_job(const std::string& text, const std::string& name, const Key& key);

/// Where the files of a job lie below a site's folder.
struct JobFiles {
  std::filesystem::path job;     ///< what to do
  std::filesystem::path log;     ///< what the programs said
  std::filesystem::path report;  ///< what the worker says, line by line
  std::filesystem::path lock;    ///< locked by the worker as long as it lives
  std::filesystem::path work;    ///< folder for the outputs of programs
};
/// The files of a job.
JobFiles files_of(const std::filesystem::path& folder, const std::string& job_token);
/// The file of a shot's result, below the site's folder.
std::string result_name(std::int64_t shot, const std::string& job_token);

/// A shot that did not succeed, as its worker says.
struct ShotFailure {
  std::int64_t shot = 0;  ///< number
  int exit = -1;          ///< exit status of the program
  int signal = 0;         ///< that ended it
  bool disk = false;      ///< its result could not be written
  std::string message;    ///< the program's last lines
};

/// What a worker has said so far.
struct JobReport {
  std::vector<ShotFailure> failures;    ///< shots that did not succeed
  std::optional<std::int64_t> current;  ///< begun and not ended
  std::vector<std::int64_t> done;       ///< whose results were written
  std::string host;                     ///< of the worker
  std::optional<int> exit;              ///< its exit status, if it has ended by itself
  std::string message;                  ///< why it stopped before the last shot
  double seconds = 0.0;                 ///< that its shots took
};

/// Reads what workers of a job have said; nothing if they have said nothing.
JobReport read_report(const std::filesystem::path& report);

}  // namespace moho::cluster
