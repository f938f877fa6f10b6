// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Analysis of failures: why a shot has no result.

#include <moho/cluster/job.hpp>
#include <moho/cluster/job_system.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster {

/// Reasons why a shot has no result after the end of its job.
enum class Cause {
  input,      ///< the program reported unusable input; the run ends
  program,    ///< the program failed; retried, counts as an attempt
  time,       ///< time limit reached; retried with a longer one, counts as an attempt
  memory,     ///< out of memory; retried with more, counts as an attempt
  node,       ///< node lost; retried on other nodes
  vanished,   ///< unknown to the job system; retried
  missing,    ///< the job succeeded without a result; retried
  cancelled,  ///< the job was cancelled by a user; the site is excluded
  disk,       ///< the result could not be written; the site pauses
  not_begun   ///< the job ended before the shot was started; retried
};

/// Returns the cause in words, such as "the program failed".
const char* to_string(Cause cause);
/// Returns true if the cause counts against the attempts of a shot.
bool counts_as_attempt(Cause cause);

/// Cause of one shot's failure.
struct FailureAnalysis {
  Cause cause = Cause::not_begun;  ///< cause
  std::string message;             ///< exit status, signal, last lines of output
};

/// \brief Returns why a shot of an ended job has no result.
/// \param shot number of the shot
/// \param status state of the job; `unknown` if the system does not know it any more
/// \param report report of its worker
FailureAnalysis analyse_failure(std::int64_t shot, const JobStatus& status,
                                const JobReport& report);

/// Record of lost jobs by node. A node with two losses among its last ten jobs is excluded.
class NodeRecord {
 public:
  /// Records the end of a job on a node. \param lost true if the job was lost
  void add(const std::string& node, bool lost);
  /// Returns the names of excluded nodes.
  std::vector<std::string> nodes_to_exclude() const;

 private:
  std::map<std::string, std::deque<bool>> m_last;
};

}  // namespace moho::cluster
