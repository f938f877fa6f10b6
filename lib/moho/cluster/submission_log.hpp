// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What a distributor writes into its journal besides results: submissions and their ends.
///
/// Events, each a list of texts: `start time`, `batch token site time seconds memory jobs...` (a
/// job is its shots with commas), `sent token ids...`, `void token why`, `over job state node
/// time`, `fail shot cause node words`, `give shot why`, `pause site why`, `beat time done left`.

#include <moho/cluster/job.hpp>
#include <moho/cluster/policy.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster {

/// A list of texts in the journal.
using Event = std::vector<std::string>;

/// A submission of an earlier run.
struct BatchRecord {
  Batch batch;                   ///< token and jobs; limits are those of all its jobs
  std::string site;              ///< its name
  double time = 0.0;             ///< when it was submitted
  std::vector<std::string> ids;  ///< of its jobs; empty: it is not known whether it was accepted
  std::set<std::string> ended;   ///< tokens of jobs that have ended
};

/// What happened to a shot.
struct ShotRecord {
  int attempts = 0;             ///< failures that count
  int lost = 0;                 ///< others
  bool given_up = false;        ///< the last run gave it up
  std::set<std::string> nodes;  ///< on which its program failed
  std::string reason;           ///< the last failure, in words
};

/// All events of a journal.
struct SubmissionLog {
  std::map<std::string, BatchRecord> batches;         ///< by token
  std::map<std::int64_t, ShotRecord> shots;           ///< that failed
  std::map<std::string, std::string> excluded_sites;  ///< sites of the last run that were left out
  std::vector<std::pair<double, double>>
      heartbeats;               ///< times of the last run, and shots done by then
  double begin_time = 0.0;      ///< when the last run began
  double remaining = -1.0;      ///< shots at the last beat; -1: none yet
  std::int64_t next_batch = 0;  ///< number that no batch has had
  std::map<std::string, std::map<std::string, int>> failures;  ///< by node, then cause
  std::vector<std::string> last_failures;                      ///< the last ten, in words
};

/// Reads events. Those that are not understood are left out.
SubmissionLog read_submission_log(const std::vector<Event>& events);

/// The event that a batch is going to be submitted.
Event batch_event(const Batch& batch, const std::string& site, double time);
/// The event that a batch was accepted under these ids.
Event sent_event(const Batch& batch, const std::vector<std::string>& ids);

}  // namespace moho::cluster
