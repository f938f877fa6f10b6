// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Creation of snapshot stores from a plan of choose_storage().

#include <moho/core/timeline.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/compressed_store.hpp>
#include <moho/snapshot/host_compressed_store.hpp>
#include <moho/snapshot/storage.hpp>
#include <moho/snapshot/stores.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace moho::snapshot {

/// Memory of the stores of one worker, reused for all shots.
template <class T, class Memory>
struct StorageArenas {
  DeviceArena<T, Memory> device;  ///< in the memory of the run
  HostArena<T, Memory> host;      ///< pinned memory of the host
};

/// \brief Returns the store of a shot.
/// \param exec instance of the run
/// \param plan method, location and codec
/// \param forward source term of the shot, for methods that recompute; with random layers that of
/// the separate source wavefield
/// \param arenas memory of the worker; the store is its only user until destroyed
/// \param timeline receives spans of threads and files; may be null
template <class T, int Dim, class Memory>
std::unique_ptr<SnapshotStore<T, Dim, Memory>> make_store(
    const InstanceOf<Memory>& exec, const StoragePlan& plan,
    const wave::SourceTerm<T, Dim, Memory>& forward, StorageArenas<T, Memory>& arenas,
    Timeline* timeline = nullptr) {
  const auto& propagator = *forward.propagator;
  const StorageChoice& strategy = plan.strategy;
  const bool on_host = plan.location == StorageLocation::host;
  if (strategy.keep == StorageMethod::boundary_values ||
      strategy.keep == StorageMethod::random_layers) {
    return std::make_unique<BoundaryStore<T, Dim, Memory>>(exec, forward, arenas.device);
  }
  if (strategy.keep == StorageMethod::checkpoints) {
    return std::make_unique<CheckpointStore<T, Dim, Memory>>(
        exec, forward, arenas.device, plan.snapshots, plan.interval,
        std::clamp<std::int64_t>(strategy.snapshots, 1, plan.snapshots),
        std::max<std::int64_t>(strategy.states - 1, 0));
  }
  const std::int64_t nodes = propagator.own(propagator.interior()).size();
  if (plan.location == StorageLocation::disk) {
    const SnapshotFileOptions<Dim> files{plan.folder, propagator.grid(), plan.budget.disk,
                                         plan.files ? plan.files->queue : file_queue};
    if (plan.threads > 0) {
      return std::make_unique<HostCompressedStore<T, Dim, Memory>>(
          exec, arenas.host, nodes, *plan.codec, plan.threads, timeline, files);
    }
    return std::make_unique<FileStore<T, Dim, Memory>>(files, plan.codec, timeline);
  }
  if (plan.codec) {
    CompressedLimit<Dim> limit{plan.limit, {}};
    if (plan.budget.disk > 0) {
      limit.files =
          SnapshotFileOptions<Dim>{plan.folder, propagator.grid(), plan.budget.disk, file_queue};
    }
    if (plan.threads == 0) {
      return std::make_unique<CompressedStore<T, Dim, Memory>>(*plan.codec, on_host, limit,
                                                               timeline);
    }
    return std::make_unique<HostCompressedStore<T, Dim, Memory>>(
        exec, arenas.host, nodes, *plan.codec, plan.threads, timeline, std::nullopt, limit);
  }
  if (on_host && !is_host_memory<Memory>) {
    return std::make_unique<PinnedStore<T, Dim, Memory>>(exec, arenas.host, nodes);
  }
  return std::make_unique<MemoryStore<T, Dim, Memory>>(arenas.device);
}

}  // namespace moho::snapshot
