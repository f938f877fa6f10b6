// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots with snapshots on the complete grid and in slabs.

#include <moho/wave/shots.hpp>

#include <map>
#include <mutex>
#include <vector>

#include "stream/shots.hpp"

namespace moho::testing {

/// Values of snapshots by step.
template <class T>
using Snapshots = std::map<std::int64_t, std::vector<T>>;

/// Results of a shot with snapshots.
template <class T>
struct Shown {
  std::vector<T> traces;
  Snapshots<T> snapshots;
  std::vector<std::int64_t> done;  ///< steps of complete snapshots
};

/// Collects parts of snapshots; parts of a snapshot have to follow each other.
template <class T>
class Collected {
 public:
  explicit Collected(Shown<T>& to) : m_to(to) {}
  void add(const wave::SnapshotPart<T>& part) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    std::vector<T>& values = m_to.snapshots[part.number];
    EXPECT_EQ(static_cast<std::int64_t>(values.size()), part.begin) << part.number;
    values.insert(values.end(), part.values, part.values + part.count);
    if (part.last()) {
      EXPECT_EQ(static_cast<std::int64_t>(values.size()), part.size);
    }
  }
  void done(std::int64_t index, std::int64_t step) {
    EXPECT_EQ(index, static_cast<std::int64_t>(m_to.done.size()));
    m_to.done.push_back(step);
  }

 private:
  Shown<T>& m_to;
  std::mutex m_mutex;
};

/// Models a shot on one device.
template <class T, int Dim, class Memory>
Shown<T> on_one_device(const Instance<Memory>& exec, const Grid<Dim>& grid,
                       const Model<T, Dim, HostModelMemory>& model, const Boundaries<Dim>& faces,
                       const wave::ModellingOptions<Dim>& options, const wave::Shot<Dim>& shot) {
  auto modelling = whole_modelling<T, Dim, Memory>(exec, grid, model, faces, options, shot);
  Shown<T> result;
  Collected<T> collected(result);
  wave::SurveyRunOptions<T, Dim, Memory> run;
  run.snapshot = [&](const wave::SnapshotPart<T>& part) { collected.add(part); };
  run.snapshot_done = [&](std::int64_t index, std::int64_t step) { collected.done(index, step); };
  wave::model_shots(
      exec, modelling, {shot},
      [&](std::size_t, const auto& one) { result.traces = values_of(one.traces); }, run);
  return result;
}

/// Returns options of slabs.
template <int Dim>
StreamingOptions<Dim> slab_options(const wave::ModellingOptions<Dim>& modelling, int devices) {
  StreamingOptions<Dim> options;
  options.modelling = modelling;
  options.divided = true;
  options.snapshots = true;
  options.measure = false;
  options.wishes.devices = devices;
  return options;
}

/// Runs in slabs, with snapshots every interval of the plan.
template <class T, int Dim, class Memory>
Shown<T> in_slabs(Streaming<T, Dim, Memory>& streaming, const wave::Shot<Dim>& shot) {
  Shown<T> result;
  Collected<T> collected(result);
  stream::StreamSnapshots<T> snapshots;
  snapshots.every = streaming.modelling().time.snapshot_every;
  snapshots.take = [&](const wave::SnapshotPart<T>& part) { collected.add(part); };
  snapshots.done = [&](std::int64_t index, std::int64_t step) { collected.done(index, step); };
  const auto results = streaming.shots({shot}, {stream::StreamShotOptions<Dim>()}, snapshots);
  result.traces = values_of(results.front().traces);
  return result;
}

}  // namespace moho::testing
