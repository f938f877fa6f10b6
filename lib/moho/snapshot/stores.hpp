// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Stores of uncompressed snapshots in the memory of the run or of the host.

#include <moho/core/arena.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/device_instances.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/staging.hpp>
#include <moho/snapshot/snapshot.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::snapshot {

namespace detail {

/// Functor that copies nodes of a padded array into a dense one.
template <class T, int Dim>
struct TakeBox {
  const T* from;
  T* to;
  wave::Layout<Dim> layout;
  Box<Dim> box;
  Index<Dim> strides;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) i += (node[d] - box.lower[d]) * strides[d];
    to[i] = from[layout.flat(node)];
  }
};

/// Copies the nodes of a box from a padded array.
template <class T, int Dim, class Memory>
void take_box(const Instance<Memory>& exec, const wave::Layout<Dim>& layout,
              const wave::Storage<const T, Memory>& field, const Box<Dim>& box, T* to) {
  const TakeBox<T, Dim> functor{field.data(), to, layout, box, dense_strides(box)};
  launch_box("moho::snapshot::take_snapshot", exec, box, functor);
}

/// Copies the nodes of a box from the first fields of a wavefield, one field after the other.
template <class T, int Dim, class Memory>
void take_fields(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
                 const Box<Dim>& box, int fields, T* to) {
  for (int f = 0; f < fields; ++f) {
    take_box<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f], box, to + f * box.size());
  }
}

[[noreturn]] inline void no_snapshot(std::int64_t time) {
  throw Error(concat("snapshot of step ", time, ": it was not kept"));
}

}  // namespace detail

/// Memory of the run for snapshots, reused from shot to shot.
template <class T, class Memory>
using DeviceArena = Arena<T, Memory>;
/// Page-locked memory of the host for snapshots, reused from shot to shot.
template <class T, class Memory>
using HostArena = Arena<T, StagingMemory<Memory>>;

/// \brief Store of snapshots in the memory of the run, which is the host's memory for host runs.
template <class T, int Dim, class Memory>
class MemoryStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param arena memory of the snapshots; the store is its only user until the shot is done
  /// \param fields wavefields to store: 1 p, 2 p and q
  explicit MemoryStore(DeviceArena<T, Memory>& arena, int fields = 1)
      : m_arena(arena), m_fields(fields) {
    m_arena.reset();
  }
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override {
    detail::take_fields<T, Dim, Memory>(exec, wavefield, box, m_fields, reserve(box, time));
  }
  T* reserve(const Box<Dim>& box, std::int64_t time) override {
    const wave::Storage<T, Memory> values = m_arena.take(m_fields * box.size());
    m_bytes += values.size() * sizeof(T);
    m_entries[time] = {box, values};
    return values.data();
  }
  bool stays() const override { return true; }
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  SnapshotReport report() const override;

 private:
  DeviceArena<T, Memory>& m_arena;
  int m_fields;
  std::map<std::int64_t, Snapshot<T, Dim, Memory>> m_entries;
  std::size_t m_bytes = 0;
};

/// \brief Store of snapshots in page-locked memory of the host, for runs on a device.
///
/// Transfers run concurrently with the steps; the next snapshot is prefetched.
template <class T, int Dim, class Memory>
class PinnedStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the run
  /// \param arena memory of the snapshots; the store is its only user until the shot is done
  /// \param largest nodes of the largest box
  /// \param fields wavefields to store: 1 p, 2 p and q
  PinnedStore(const InstanceOf<Memory>& exec, HostArena<T, Memory>& arena, std::int64_t largest,
              int fields = 1);
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override;
  void end_forward(const Instance<Memory>& exec) override;
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  SnapshotReport report() const override;
  /// Waits for pending copies.
  ~PinnedStore() override { m_lane.fence(); }
  PinnedStore(const PinnedStore&) = delete;
  PinnedStore& operator=(const PinnedStore&) = delete;

 private:
  using HostValues = Kokkos::View<T*, Kokkos::LayoutRight, StagingMemory<Memory>>;
  struct Entry {
    Box<Dim> box;
    HostValues values;
  };
  void fetch(std::int64_t time);
  wave::Storage<T, Memory> part(int buffer, const Box<Dim>& box) const {
    return Kokkos::subview(
        m_buffers[buffer],
        std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(m_fields * box.size())));
  }

  Instance<Memory> m_lane;  ///< instance of the copies
  HostArena<T, Memory>& m_arena;
  int m_fields;
  wave::Storage<T, Memory> m_buffers[2];  ///< in the memory of the run
  int m_next = 0;                         ///< index of the buffer to fill next
  std::map<std::int64_t, Entry> m_entries;
  std::int64_t m_fetched = -1;  ///< time of the snapshot in transfer to buffer m_next
  std::size_t m_bytes = 0;
};

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> MemoryStore<T, Dim, Memory>::load(const Instance<Memory>&,
                                                           std::int64_t time) {
  const auto found = m_entries.find(time);
  if (found == m_entries.end()) detail::no_snapshot(time);
  return found->second;
}

template <class T, int Dim, class Memory>
SnapshotReport MemoryStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = is_host_memory<Memory> ? "memory" : "device";
  report.snapshots = static_cast<std::int64_t>(m_entries.size());
  report.raw_bytes = report.kept_bytes = static_cast<double>(m_bytes);
  report.device_bytes = m_arena.bytes();
  return report;
}

template <class T, int Dim, class Memory>
PinnedStore<T, Dim, Memory>::PinnedStore(const InstanceOf<Memory>& exec,
                                         HostArena<T, Memory>& arena, std::int64_t largest,
                                         int fields)
    : m_lane(new_instance(Instance<Memory>(exec))), m_arena(arena), m_fields(fields) {
  m_arena.reset();
  for (auto& buffer : m_buffers) {
    buffer = allocate<wave::Storage<T, Memory>>(Instance<Memory>(exec), "moho::snapshot::snapshot",
                                                fields * largest);
  }
}

template <class T, int Dim, class Memory>
void PinnedStore<T, Dim, Memory>::save(const Instance<Memory>& exec,
                                       const wave::Wavefield<T, Dim, Memory>& wavefield,
                                       const Box<Dim>& box, std::int64_t time) {
  const Entry entry{box, m_arena.take(m_fields * box.size())};
  // the previous copy has left the other buffer, the one before that has left this buffer
  wait_on_device(exec, m_lane);
  const auto buffer = part(m_next, box);
  detail::take_fields<T, Dim, Memory>(exec, wavefield, box, m_fields, buffer.data());
  wait_on_device(m_lane, exec);
  copy(m_lane, entry.values, buffer);
  m_next = 1 - m_next;
  m_bytes += entry.values.size() * sizeof(T);
  m_entries[time] = entry;
}

template <class T, int Dim, class Memory>
void PinnedStore<T, Dim, Memory>::end_forward(const Instance<Memory>&) {
  if (!m_entries.empty()) fetch(m_entries.rbegin()->first);
}

template <class T, int Dim, class Memory>
void PinnedStore<T, Dim, Memory>::fetch(std::int64_t time) {
  const Entry& entry = m_entries.at(time);
  copy(m_lane, part(m_next, entry.box), entry.values);
  m_fetched = time;
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> PinnedStore<T, Dim, Memory>::load(const Instance<Memory>& exec,
                                                           std::int64_t time) {
  const auto found = m_entries.find(time);
  if (found == m_entries.end()) detail::no_snapshot(time);
  if (m_fetched != time) {
    wait_on_device(m_lane, exec);
    fetch(time);
  }
  wait_on_device(exec, m_lane);
  const Snapshot<T, Dim, Memory> result{found->second.box, part(m_next, found->second.box)};
  m_next = 1 - m_next;
  m_fetched = -1;
  if (found != m_entries.begin()) {
    // the previous result, in the other buffer, has been used by then
    wait_on_device(m_lane, exec);
    fetch(std::prev(found)->first);
  }
  return result;
}

template <class T, int Dim, class Memory>
SnapshotReport PinnedStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = "memory";
  report.snapshots = static_cast<std::int64_t>(m_entries.size());
  report.raw_bytes = report.kept_bytes = static_cast<double>(m_bytes);
  report.device_bytes = 2 * m_buffers[0].size() * sizeof(T);
  report.host_bytes = m_arena.bytes();
  return report;
}

}  // namespace moho::snapshot

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, MemoryStore)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, PinnedStore)
}  // namespace moho::snapshot
#endif
/// \endcond
