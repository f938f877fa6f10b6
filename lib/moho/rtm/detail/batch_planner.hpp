// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Plan of shots that advance in the same launches. Included by migration_planner.hpp.

#include <moho/core/text.hpp>
#include <moho/rtm/detail/migration_planner.hpp>
#include <moho/wave/kernel/shot_batch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace moho::rtm::detail {

// Returns true if snapshots may be uncompressed in the memory of the run.
template <class T, int Dim, class Memory>
bool MigrationPlanner<T, Dim, Memory>::stores_batches() const {
  const std::string& method = m_request.method;
  return method == "auto" || method == "device" || (is_host_memory<Memory> && method == "memory");
}

// Refuses options that do not combine with a given number of shots in the same launches.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::check_batches() const {
  const int given = m_o.batch_size;
  if (given <= 1) return;
  const auto refuse = [&](const std::string& with, int max, const std::string& why) {
    throw InputError(concat("batch_size is ", given, " with ", with,
                            " (allowed: ", max > 1 ? "1 to " : "", max, "): ", why));
  };
  if (m_o.domain != domain::ExpansionMethod::none) {
    refuse(concat("the domain ", domain::to_string(m_o.domain)), 1,
           "shots in the same launches step complete grids");
  }
  if (m_o.offsets.count() > 0) refuse("offset gathers", 1, "shots in the same launches have none");
  if (!stores_batches()) {
    refuse(concat("the storage '", m_request.method, "'"), 1,
           "snapshots of shots in the same launches are uncompressed in the memory of the run");
  }
  const stream::StreamRequest& stream = m_o.stream;
  if (m_o.ranks != nullptr || stream.devices > 1 || stream.block > 0 || stream.updates > 0) {
    refuse("shots over several devices or in a stream", 1,
           "these are migrated one after the other");
  }
  if (m_o.concurrent_shots > 0 && given > m_o.concurrent_shots) {
    refuse(concat(text::counted(m_o.concurrent_shots, "shot"), " at once"), m_o.concurrent_shots,
           "a batch has some of these");
  }
}

// Returns why the shots do not have one model; empty if they do.
template <class T, int Dim, class Memory>
std::string MigrationPlanner<T, Dim, Memory>::different_models(const Instance<Memory>& exec,
                                                               const Modelling& modelling) const {
  for (const auto& shot : m_input.shots) {
    if (!(window_of(shot).box == whole_box(m_input.grid))) {
      return "shots see different parts of the model";
    }
  }
  const std::string tapered = "delta is tapered around the points of each shot";
  if (modelling.plan().source_taper > 0.0) return tapered;
  if (wave::fields_of(modelling.plan().medium) == 1) return "";
  // delta is tapered around points where the medium is not elliptical
  Points<Dim> points;
  for (const auto& shot : m_input.shots) {
    points.insert(points.end(), shot.sources.begin(), shot.sources.end());
    points.insert(points.end(), shot.receivers.begin(), shot.receivers.end());
  }
  const auto less = [](const Point<Dim>& a, const Point<Dim>& b) {
    return std::lexicographical_compare(a.data(), a.data() + Dim, b.data(), b.data() + Dim);
  };
  std::sort(points.begin(), points.end(), less);
  const auto same = [&](const auto& a, const auto& b) { return !less(a, b); };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  wave::ModellingOptions<Dim> options = m_modelling;
  options.sources = points;
  options.memory = std::size_t{1} << 62;
  const auto model = upload_model<T, Dim, Memory>(exec, m_input.grid, m_input.model);
  const auto plan = wave::plan_modelling<T, Dim, Memory>(exec, m_input.grid, model, m_input.faces,
                                                         m_input.wavelet, options);
  return plan.source_taper > 0.0 ? tapered : "";
}

// Chooses shots that advance in the same launches, with uncompressed snapshots in the memory of the
// run. Returns false where that is not possible, not faster, or allows fewer concurrent shots.
template <class T, int Dim, class Memory>
bool MigrationPlanner<T, Dim, Memory>::choose_batches(const Instance<Memory>& exec,
                                                      const Modelling& modelling) {
  const int given = m_o.batch_size;
  const auto processes = static_cast<std::size_t>(std::max(m_o.processes, 1));
  const int all = static_cast<int>(
      std::min<std::size_t>((m_input.shots.size() + processes - 1) / processes, 1024));
  const int shots = m_o.concurrent_shots > 0 ? std::min(m_o.concurrent_shots, all) : all;
  const bool faster = !is_host_memory<Memory> &&
                      wave::steps_in_one_launch<T, Dim, Memory>(
                          modelling.plan().medium, m_o.modelling.equations, m_input.faces);
  if (given == 1 || !(faster || given > 1)) return false;
  if (!stores_batches() || m_o.domain != domain::ExpansionMethod::none || m_o.offsets.count() > 0) {
    return false;
  }
  const auto refuse = [&](const std::string& reason) {
    if (given > 1) m_plan.one_by_one = reason;
    return false;
  };
  if (shots < 2) return refuse("a process has one shot");
  const std::string different = different_models(exec, modelling);
  if (!different.empty()) return refuse(different);
  const std::int64_t nodes = modelling.plan().grid.size();
  const int wanted =
      m_o.concurrent_shots > 0
          ? shots
          : std::min(shots, std::max(given, wave::shots_at_once_together(nodes, shots, 64)));
  const int min = m_o.concurrent_shots > 0 ? shots
                  : given > 1              ? 2
                                           : std::max(wave::shots_at_once(exec, nodes, shots), 2);
  const std::string method = std::exchange(m_request.method, "device");
  for (int concurrent = wanted; concurrent >= min && m_plan.batch_size == 1; --concurrent) {
    try {
      choose(exec, modelling, concurrent);
    } catch (const InputError&) {  // insufficient memory for this number of shots
      continue;
    } catch (const MemoryError&) {
      continue;
    }
    // one batch steps while the data of the other are prepared
    const int size = given > 0 ? given : std::max((concurrent + 1) / 2, 2);
    m_plan.batch_size = std::min(size, concurrent);
  }
  m_request.method = method;
  return m_plan.batch_size > 1 ||
         refuse("uncompressed snapshots of several shots do not fit the memory");
}

// Replaces the seconds of the propagations by those of batches.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::measure_batch(const Instance<Memory>& exec,
                                                     const Modelling& modelling) {
  if (m_plan.batch_size == 1) return;
  snapshot::StorageChoice& strategy = m_plan.storage.strategy;
  const double propagations = 2.0 * static_cast<double>(m_plan.time.steps) *
                              wave::kernel::seconds_of_batched_step<T, Dim, Memory>(
                                  exec, modelling.propagator(), m_plan.batch_size);
  strategy.seconds += propagations - strategy.propagation_seconds;
  strategy.propagation_seconds = propagations;
}

}  // namespace moho::rtm::detail
