// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Record of submissions in the journal of a distributor.
///
/// An event is a list of texts (a job is its shots, separated by commas):
///
///     start time                                     begin of a run
///     batch token site time seconds memory jobs...   before a submission
///     sent token ids...                              accepted
///     void token why                                 not accepted
///     over job state node time                       end of a job
///     fail shot cause node words                     failure of a shot
///     give shot why                                  given up
///     pause site why                                 excluded
///     beat time done left                            progress

#include <moho/cluster/job.hpp>
#include <moho/cluster/policy.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster {

/// An event of the journal.
using Event = std::vector<std::string>;

/// Submission of an earlier run.
struct BatchRecord {
  Batch batch;                   ///< token and jobs; all jobs have the same limits
  std::string site;              ///< name of the site
  double time = 0.0;             ///< time of the submission, seconds since the epoch
  std::vector<std::string> ids;  ///< ids of its jobs; empty: acceptance is unknown
  std::set<std::string> ended;   ///< tokens of ended jobs
};

/// Failures of a shot.
struct ShotRecord {
  int attempts = 0;             ///< failures that count as attempts
  int lost = 0;                 ///< other failures
  bool given_up = false;        ///< given up by the last run
  std::set<std::string> nodes;  ///< nodes on which its program failed
  std::string reason;           ///< last failure
};

/// State described by the events of a journal.
struct SubmissionLog {
  std::map<std::string, BatchRecord> batches;         ///< unfinished batches by token
  std::map<std::int64_t, ShotRecord> shots;           ///< shots that failed
  std::map<std::string, std::string> excluded_sites;  ///< excluded sites of the last run, and the
                                                      ///< reasons
  std::vector<std::pair<double, double>> heartbeats;  ///< of the last run: times, shots done
  double begin_time = 0.0;      ///< start of the last run, seconds since the epoch
  double remaining = -1.0;      ///< shots without a result at the last heartbeat; -1: none yet
  std::int64_t next_batch = 0;  ///< first unused batch number
  std::map<std::string, std::map<std::string, int>> failures;  ///< counts by node and cause
  std::vector<std::string> last_failures;                      ///< last ten failures
};

/// Reads events; unknown ones are ignored.
SubmissionLog read_submission_log(const std::vector<Event>& events);

/// Returns the event that precedes a submission.
Event batch_event(const Batch& batch, const std::string& site, double time);
/// Returns the event of an accepted batch.
Event sent_event(const Batch& batch, const std::vector<std::string>& ids);

}  // namespace moho::cluster
