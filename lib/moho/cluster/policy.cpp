// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/policy.hpp>
#include <moho/core/error.hpp>

#include <algorithm>

namespace moho::cluster {

const char* to_string(Cause cause) {
  constexpr const char* texts[] = {"the input is not usable",
                                   "the program failed",
                                   "the time limit was reached",
                                   "out of memory",
                                   "the node was lost",
                                   "the job vanished",
                                   "the job left no result",
                                   "a user cancelled the job",
                                   "the result could not be written",
                                   "the job ended before the shot was started"};
  return texts[static_cast<int>(cause)];
}

namespace {
// Most frequent reason why a job leaves no files.
constexpr const char* nodes_see =
    ": can the nodes access the programs and the folder of the journal?";
}  // namespace

bool counts_as_attempt(Cause cause) {
  return cause == Cause::program || cause == Cause::time || cause == Cause::memory;
}

FailureAnalysis analyse_failure(std::int64_t shot, const JobStatus& status,
                                const JobReport& report) {
  const std::string message = status.message.empty() ? "" : ": " + status.message;
  for (auto at = report.failures.rbegin(); at != report.failures.rend(); ++at) {
    if (at->shot != shot) continue;
    const std::string how =
        at->signal != 0 ? concat("signal ", at->signal) : concat("exit ", at->exit);
    const std::string text = concat(how, at->message.empty() ? "" : ": ", at->message);
    if (at->disk) return {Cause::disk, at->message};
    if (at->exit == 2) return {Cause::input, at->message.empty() ? how : at->message};
    // When memory runs out, Slurm may kill the program and spare the worker.
    if (status.state == JobState::out_of_memory) return {Cause::memory, text};
    return {Cause::program, text};
  }
  const bool begun = report.current && *report.current == shot;
  const bool done = std::find(report.done.begin(), report.done.end(), shot) != report.done.end();
  switch (status.state) {
    case JobState::timed_out:
      return {begun ? Cause::time : Cause::not_begun, ""};
    case JobState::out_of_memory:
      return {begun || report.host.empty() ? Cause::memory : Cause::not_begun, ""};
    case JobState::node_lost:
      return {Cause::node, "node lost" + message};
    case JobState::preempted:
      return {Cause::node, "preempted" + message};
    case JobState::cancelled:
      return {Cause::cancelled, "cancelled" + message};
    case JobState::failed:
      if (begun) {
        return {Cause::program,
                concat("its worker was ended",
                       status.signal != 0 ? concat(" by signal ", status.signal) : std::string(),
                       message)};
      }
      // No shot was started: the worker itself failed to start.
      if (report.host.empty()) {
        return {Cause::node, concat("its worker did not start", message, nodes_see)};
      }
      return {done ? Cause::missing : Cause::not_begun, "its job failed"};
    case JobState::completed:
      return {report.host.empty() || done ? Cause::missing : Cause::not_begun,
              done ? "its result is missing or damaged"
              : report.host.empty()
                  ? concat("its job ended without a report of its worker", nodes_see)
                  : std::string("its job ended")};
    default:
      return {begun || report.host.empty() ? Cause::vanished : Cause::not_begun,
              "its system does not know the job"};
  }
}

void NodeRecord::add(const std::string& node, bool lost) {
  if (node.empty()) return;
  std::deque<bool>& last = m_last[node];
  last.push_back(lost);
  if (last.size() > 10) last.pop_front();
}

std::vector<std::string> NodeRecord::nodes_to_exclude() const {
  std::vector<std::string> nodes;
  for (const auto& [node, last] : m_last) {
    if (std::count(last.begin(), last.end(), true) >= 2) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace moho::cluster
