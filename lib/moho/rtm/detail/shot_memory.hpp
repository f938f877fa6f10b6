// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory plan of the shots of a migration. Included by migration_planner.hpp.

#include <moho/io/scratch_file.hpp>
#include <moho/rtm/detail/migration_planner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace moho::rtm::detail {

// Returns the nodes of snapshots of all shots: the most nodes need not be the most blocks.
// `interior` of one of them.
template <class T, int Dim, class Memory>
std::vector<Box<Dim>> MigrationPlanner<T, Dim, Memory>::snapshot_boxes(
    const Box<Dim>& interior) const {
  std::vector<Box<Dim>> boxes;
  for (const auto& shot : m_input.shots) {
    const Grid<Dim> window = window_of(shot).grid;
    Box<Dim> box = interior;
    for (int d = 0; d < Dim; ++d) box.upper[d] = box.lower[d] + window.extents[d];
    if (boxes.empty() || !(boxes.back() == box)) boxes.push_back(box);
  }
  return boxes;
}

// Returns a folder, or the closest existing one above it.
inline std::filesystem::path existing_folder(std::filesystem::path folder) {
  std::error_code ignored;
  while (folder.has_relative_path() && !std::filesystem::exists(folder, ignored)) {
    folder = folder.parent_path();
  }
  return folder.empty() ? "." : folder;
}

// Measures the disk of snapshots in files, and what is free there.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::measure_disk() {
  const snapshot::StorageOptions& storage = m_o.storage;
  if (m_disk == 0 && !storage.use_folder) return;
  std::error_code error;
  const auto space = std::filesystem::space(storage.folder, error);
  if (m_disk == 0 && !error) m_disk = static_cast<std::size_t>(space.available);
  // the folder of results may not exist yet
  const auto folder = storage.use_folder ? storage.folder : existing_folder(storage.folder);
  const std::size_t max = std::size_t{64} << 20;
  const io::DiskRates rates =
      io::measure_disk(folder, m_disk > 0 ? std::min(m_disk / 2 + 1, max) : max);
  m_rates.disk_write = rates.write;
  m_rates.disk_read = rates.read;
}

// Memory of the traces of the largest shot.
template <class T, int Dim, class Memory>
survey::ShotTraceBytes MigrationPlanner<T, Dim, Memory>::trace_bytes() const {
  return survey::shot_trace_bytes<T>(m_input.shots, m_o.data_samples, m_plan.time.steps + 1,
                                     is_host_memory<Memory>);
}

// Replaces the traces of the modelling of a shot by those of its migration, and adds the sums of
// its image. `nodes` of the shot's window.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::add_shot(wave::MemoryNeed& need, std::int64_t nodes) const {
  const survey::ShotTraceBytes traces = trace_bytes();
  const std::int64_t offsets = static_cast<std::int64_t>(m_o.offsets.columns.size()) *
                               m_o.offsets.count() * m_input.grid.extents[Dim - 1];
  const std::size_t sums = sizeof(T) * static_cast<std::size_t>(3 * nodes + offsets);
  const wave::MemoryNeed modelled = need;
  need.gathers = static_cast<std::size_t>(traces.series + traces.points);
  need.host = static_cast<std::size_t>(traces.host);
  need.peak = std::max(need.peak - std::min(need.peak, modelled.gathers) + need.gathers + sums,
                       need.model + need.extended + need.medium);
  if (!m_input.data_model) return;
  // the data of a shot are modelled before its propagations
  if (is_host_memory<Memory>) {
    const std::size_t all = modelled.peak + modelled.host + static_cast<std::size_t>(traces.read);
    need.peak = std::max(need.peak + need.host, all) - need.host;
  } else {
    need.peak = std::max(need.peak, modelled.peak);
    need.host = std::max(need.host, modelled.host + static_cast<std::size_t>(traces.read));
  }
}

// Bytes on the host of results that are computed or wait (image, both illuminations, offsets), and
// of the data of the shot that are kept.
template <class T, int Dim, class Memory>
std::size_t MigrationPlanner<T, Dim, Memory>::result_bytes(std::int64_t nodes,
                                                           int concurrent) const {
  const std::int64_t offsets = static_cast<std::int64_t>(m_o.offsets.columns.size()) *
                               m_o.offsets.count() * m_input.grid.extents[Dim - 1];
  return static_cast<std::size_t>(max_pending_results(concurrent)) * sizeof(T) *
             static_cast<std::size_t>(3 * nodes + offsets) +
         static_cast<std::size_t>(m_o.keep_data ? trace_bytes().kept : 0.0);
}

// Throws MemoryError for shots that do not fit without snapshots.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::refuse_memory(std::size_t shots, std::size_t bytes,
                                                     std::size_t allowed, bool given) const {
  const survey::ShotTraceBytes traces = trace_bytes();
  const double of_traces = static_cast<double>(shots) * (traces.series + traces.host);
  throw MemoryError(concat(
      "memory: ",
      shots > 1 ? concat(shots, " concurrent shots take ") : std::string("a shot takes "),
      format_bytes(static_cast<double>(bytes)), " besides snapshots, ", format_bytes(of_traces),
      " of it for traces (allowed: ", format_bytes(static_cast<double>(allowed)),
      given ? ", as asked" : ", what is free", ")",
      shots > 1 ? ": decrease concurrent_shots"
                : ": take fewer receivers, samples or nodes, or allow more memory"));
}

// Bytes for the snapshots of each concurrent shot.
template <class T, int Dim, class Memory>
snapshot::Budget MigrationPlanner<T, Dim, Memory>::budget_of(const Instance<Memory>& exec,
                                                             const Modelling& modelling,
                                                             int concurrent) const {
  constexpr bool on_host = is_host_memory<Memory>;
  const auto shots = static_cast<std::size_t>(concurrent);
  const wave::MemoryNeed& need = m_plan.memory;
  const std::size_t reserved = m_o.storage.reserved;
  const std::size_t limit =
      m_o.storage.device > 0
          ? m_o.storage.device - (on_host ? std::min(m_o.storage.device - 1, reserved) : 0)
          : 0;
  const std::size_t results = result_bytes(modelling.propagator().interior().size(), concurrent);
  const std::size_t all = shots * (need.peak + (on_host ? need.host : 0)) + (on_host ? results : 0);
  // the arrays of one modelling are allocated
  const std::size_t allocated = modelling.plan().memory.medium + modelling.plan().memory.wavefield;
  const std::size_t others = all - std::min(all, allocated);
  // a limit applies to this process alone, and is not divided among ranks
  const std::size_t available = memory_budget(exec, 0, m_o.storage.device > 0 ? 1 : 0);
  if (others > available || (limit > 0 && all > limit)) {
    const std::size_t more = on_host && limit > 0 ? reserved : 0;
    refuse_memory(shots, all + more, limit > 0 ? m_o.storage.device : available + allocated,
                  limit > 0);
  }
  snapshot::Budget budget;
  budget.device = available - others;
  if (limit > 0) budget.device = std::min(available - others, limit - all);
  budget.device /= shots;
  if (!on_host) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    const std::size_t free = memory_budget(host, m_o.storage.host);
    const std::size_t waiting = results + shots * need.host;
    if (waiting > free) {
      throw MemoryError(concat("memory: traces and images of ", shots, " concurrent shots take ",
                               format_bytes(static_cast<double>(waiting)),
                               " of the host (allowed: ", format_bytes(static_cast<double>(free)),
                               m_o.storage.host > 0 ? ", as asked" : ", what is free",
                               "): decrease concurrent_shots"));
    }
    budget.host = (free - waiting) / shots;
  }
  budget.disk = m_disk / shots;
  return budget;
}

}  // namespace moho::rtm::detail
