// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Why a shot has no result, and what follows from it.

#include <moho/cluster/job.hpp>
#include <moho/cluster/job_system.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster {

/// Why a shot has no result though its job has ended.
enum class Cause {
  input,      ///< its program says that the input is not usable: the campaign ends
  program,    ///< its program failed: again, and counted
  time,       ///< its job's time was over: again with more, and counted
  memory,     ///< its job's memory was not enough: again with more, and counted
  node,       ///< its node was lost: again elsewhere
  vanished,   ///< its system does not know the job: again
  missing,    ///< its job ended well and left no result: again
  cancelled,  ///< a person ended its job: its site is left out
  disk,       ///< its result could not be written: its site pauses
  not_begun   ///< its job ended before its turn: again
};

/// "the program failed" and so on.
const char* to_string(Cause cause);
/// Does it count against the attempts of a shot?
bool counts_as_attempt(Cause cause);

/// A shot's cause, in words.
struct FailureAnalysis {
  Cause cause = Cause::not_begun;  ///< why
  std::string message;             ///< exit status, signal, last lines
};

/// \brief Why a shot of a job has no result.
/// \param status how the job ended, as its system says; unknown: it has forgotten the job
/// \param report what its worker said
FailureAnalysis analyse_failure(std::int64_t shot, const JobStatus& status,
                                const JobReport& report);

/// Nodes on which jobs were lost: those with two of their last ten jobs are left out.
class NodeRecord {
 public:
  /// A job on this node ended.
  void add(const std::string& node, bool lost);
  /// Nodes to leave out.
  std::vector<std::string> nodes_to_exclude() const;

 private:
  std::map<std::string, std::deque<bool>> m_last;
};

}  // namespace moho::cluster
