// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots with snapshots on the complete grid and in slabs.

#include <moho/wave/shots.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
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

/// Returns boxes that grow along x from the first source of a shot.
template <int Dim>
std::function<Box<Dim>(std::int64_t)> boxes_from(const Grid<Dim>& extended,
                                                 const wave::Shot<Dim>& shot) {
  const double planes = (shot.sources.front()[0] - extended.origin[0]) / extended.spacing[0];
  const auto plane = static_cast<std::int64_t>(planes);
  return [=](std::int64_t level) {
    Box<Dim> box = whole_box(extended);
    box.lower[0] = std::max<std::int64_t>(0, plane - 5 - level / 2);
    box.upper[0] = std::min<std::int64_t>(extended.extents[0], plane + 6 + level / 2);
    return box;
  };
}

/// Returns three shots near the lower, the upper and the lower end along x.
template <int Dim>
std::vector<wave::Shot<Dim>> shots_at_ends(const Grid<Dim>& grid) {
  std::vector<wave::Shot<Dim>> shots(3, stream_shot(grid));
  for (std::size_t k = 0; k < 3; ++k) {
    shots[k].number = static_cast<std::int64_t>(k) + 1;
    shots[k].sources.resize(1);
    shots[k].sources.front()[0] = k == 1 ? grid.upper(0) - 70.0 : 20.0;
  }
  return shots;
}

/// Models a shot on one device, in boxes.
template <class T, int Dim, class Memory>
std::vector<T> with_boxes(const Instance<Memory>& exec, const Grid<Dim>& grid,
                          const Model<T, Dim, HostModelMemory>& model, const Boundaries<Dim>& faces,
                          const wave::ModellingOptions<Dim>& options, const wave::Shot<Dim>& shot,
                          const std::function<Box<Dim>(std::int64_t)>& boxes) {
  auto modelling = whole_modelling<T, Dim, Memory>(exec, grid, model, faces, options, shot);
  Boxes<T, Dim, Memory> domain;
  domain.at = boxes;
  auto shot_options = modelling.shot_options();
  shot_options.domain = &domain;
  return values_of(modelling.shot(exec, shot, shot_options).traces);
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
