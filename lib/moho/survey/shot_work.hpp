// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Nodes and seconds of modelled shots, which shots of earlier runs and other computers add.

#include <moho/core/communicator.hpp>

#include <vector>

namespace moho::survey {

/// \brief Work of a shot, or of all shots of a run.
///
/// Seconds of a shot are divided by the number of shots that its run models concurrently: the sum
/// over shots is the time of a run, whatever computers modelled them. A shot that goes on from a
/// volume in a file (stream::StreamingOptions::resume) has the nodes and seconds of its last run.
struct ShotWork {
  double points = 0.0;          ///< nodes stepped
  double whole_points = 0.0;    ///< nodes of all steps without domains
  double seconds = 0.0;         ///< of all steps with injection and recording
  double domain_seconds = 0.0;  ///< of domain computations

  /// Returns the numbers, for a file.
  std::vector<double> numbers() const { return {points, whole_points, seconds, domain_seconds}; }
  /// Adds numbers(); another count of numbers is ignored.
  void add(const std::vector<double>& numbers) {
    if (numbers.size() != 4) return;
    points += numbers[0];
    whole_points += numbers[1];
    seconds += numbers[2];
    domain_seconds += numbers[3];
  }
  /// Returns the nodes stepped per second; 0 without steps.
  double points_per_second() const { return seconds > 0.0 ? points / seconds : 0.0; }
};

/// \brief Returns the work of all processes on the root: nodes are summed, seconds are the mean of
/// those processes that had shots. Collective.
inline ShotWork work_of_all(Communicator& processes, const ShotWork& mine) {
  std::vector<double> sums = mine.numbers();
  sums.push_back(mine.seconds > 0.0 ? 1.0 : 0.0);
  processes.sum_to_root(sums);
  const double busy = sums[4] > 0.0 ? sums[4] : 1.0;
  return {sums[0], sums[1], sums[2] / busy, sums[3] / busy};
}

/// Returns the work of a result of wave::model_shots(). \param concurrent shots modelled
/// concurrently
template <class Result>
ShotWork work_of(const Result& result, int concurrent) {
  return {result.points, result.whole_points, result.seconds / concurrent,
          result.domain_seconds / concurrent};
}

/// Returns the work of a result of stream::model_shots(). \param report with its plan and chains
template <class Result, class Report>
ShotWork stream_work_of(const Result& result, const Report& report) {
  const double concurrent = report.plan.groups;
  // a process computes the domains of its chains one after the other
  return {result.report.points, result.whole_points, result.report.seconds / concurrent,
          result.domain_seconds * report.chains / concurrent};
}

}  // namespace moho::survey
