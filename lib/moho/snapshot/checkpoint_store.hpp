// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots recomputed from checkpoints of the forward propagation.
///
/// They are exact and need little memory.

#include <moho/core/arena.hpp>
#include <moho/core/instances.hpp>
#include <moho/snapshot/replay.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/wave/source_term.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace moho::snapshot {

/// \brief Store of checkpoints, from which snapshots are recomputed segment by segment.
///
/// The snapshots have the same bits as the forward propagation.
template <class T, int Dim, class Memory>
class CheckpointStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the run
  /// \param source source term of the forward propagation; it has to outlive the store
  /// \param arena memory of the snapshots of a segment
  /// \param snapshots total number of snapshots of the run
  /// \param snapshot_interval steps between snapshots
  /// \param piece snapshots of a segment, 1 or more
  /// \param states largest number of checkpoints, in addition to the state of rest at the beginning
  /// \param fields wavefields in a snapshot: 1 p, 2 p and q
  CheckpointStore(const InstanceOf<Memory>& exec, const wave::SourceTerm<T, Dim, Memory>& source,
                  DeviceArena<T, Memory>& arena, std::int64_t snapshots,
                  std::int64_t snapshot_interval, std::int64_t piece, std::int64_t states,
                  int fields = 1);

  void on_step(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
               const Box<Dim>& box, std::int64_t time) override;
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override;
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  SnapshotReport report() const override;

 private:
  using Wave = wave::Wavefield<T, Dim, Memory>;
  using Action = CheckpointAction::Kind;
  // time at which a segment begins: that of the snapshot before its first
  std::int64_t begin_of(std::int64_t piece) const { return piece * m_piece * m_snapshot_interval; }
  // follows the schedule to the next visit, without stepping: lists the states that the forward
  // propagation stores
  void plan_forward();
  void save(const Instance<Memory>& exec, const Wave& from, std::int64_t slot);
  void copy_state(const Instance<Memory>& exec, const Wave& from, const Wave& to) const;
  void run(const Instance<Memory>& exec, std::int64_t first, std::int64_t last, bool keep);
  void replay(const Instance<Memory>& exec, std::int64_t piece);

  const wave::SourceTerm<T, Dim, Memory>& m_source;
  DeviceArena<T, Memory>& m_arena;
  int m_fields;
  std::int64_t m_snapshot_interval, m_piece, m_pieces;
  std::vector<CheckpointAction> m_actions;          ///< positions are segments
  std::size_t m_next = 0;                           ///< index of the next action
  std::map<std::int64_t, std::int64_t> m_to_store;  ///< forward propagation: slot by segment
  std::map<std::int64_t, Wave> m_slots;             ///< checkpoints; slot 0 is the state of rest
  Wave m_work;
  wave::BoxHistory<Dim> m_history;
  /// Snapshots of the current segment.
  std::map<std::int64_t, Snapshot<T, Dim, Memory>> m_snapshots;
  std::map<std::int64_t, Box<Dim>> m_boxes;  ///< boxes of all snapshots
  std::int64_t m_present = -1;               ///< current segment
  std::size_t m_state_bytes = 0;
  double m_raw = 0.0, m_points = 0.0;
};

template <class T, int Dim, class Memory>
CheckpointStore<T, Dim, Memory>::CheckpointStore(const InstanceOf<Memory>& exec,
                                                 const wave::SourceTerm<T, Dim, Memory>& source,
                                                 DeviceArena<T, Memory>& arena,
                                                 std::int64_t snapshots,
                                                 std::int64_t snapshot_interval, std::int64_t piece,
                                                 std::int64_t states, int fields)
    : m_source(source),
      m_arena(arena),
      m_fields(fields),
      m_snapshot_interval(snapshot_interval),
      m_piece(piece),
      m_pieces((snapshots + piece - 1) / piece),
      m_actions(replay_schedule(m_pieces, states + 1)),
      m_work(source.propagator->make_wavefield(exec)) {
  m_arena.reset();
  m_state_bytes = m_work.bytes();
  plan_forward();
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::plan_forward() {
  for (; m_next < m_actions.size(); ++m_next) {
    const CheckpointAction& action = m_actions[m_next];
    if (action.kind == Action::visit) return;
    if (action.kind == Action::store) m_to_store[action.position] = action.slot;
  }
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::copy_state(const Instance<Memory>& exec,
                                                 const wave::Wavefield<T, Dim, Memory>& from,
                                                 const wave::Wavefield<T, Dim, Memory>& to) const {
  wave::copy_planes<T, Dim, Memory>(exec, m_source.propagator->scheme(), from, to,
                                    m_source.propagator->layout().window);
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::save(const Instance<Memory>& exec, const Wave& from,
                                           std::int64_t slot) {
  if (slot == 0) return;  // state of rest
  auto found = m_slots.find(slot);
  if (found == m_slots.end()) {
    Wave state = m_source.propagator->make_wavefield(exec);
    for (auto& field : state.axis_derivative) field = {};  // work space, not state
    found = m_slots.emplace(slot, state).first;
  }
  copy_state(exec, from, found->second);
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::on_step(const Instance<Memory>& exec, const Wave& wavefield,
                                              const Box<Dim>& box, std::int64_t time) {
  m_history.add(box);
  if (time % (m_piece * m_snapshot_interval) != 0) return;
  const auto found = m_to_store.find(time / (m_piece * m_snapshot_interval));
  if (found != m_to_store.end()) save(exec, wavefield, found->second);
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::save(const Instance<Memory>& exec,
                                           const wave::Wavefield<T, Dim, Memory>& wavefield,
                                           const Box<Dim>& box, std::int64_t time) {
  m_boxes[time] = box;
  m_raw += static_cast<double>(m_fields * box.size()) * sizeof(T);
  const std::int64_t piece = (time / m_snapshot_interval - 1) / m_piece;
  if (piece != m_pieces - 1) return;
  // the last segment need not be replayed
  m_present = piece;
  const wave::Storage<T, Memory> values = m_arena.take(m_fields * box.size());
  detail::take_fields<T, Dim, Memory>(exec, wavefield, box, m_fields, values.data());
  m_snapshots[time] = {box, values};
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::run(const Instance<Memory>& exec, std::int64_t first,
                                          std::int64_t last, bool keep) {
  wave::ReplayedDomain<T, Dim, Memory> domain(m_history);
  wave::RunOptions<T, Dim, Memory> options;
  options.first = first;
  options.last = last;
  options.domain = &domain;
  if (keep) {
    options.advanced = [&](std::int64_t time, const Box<Dim>&) {
      const auto found = m_boxes.find(time);
      if (found == m_boxes.end()) return;
      const wave::Storage<T, Memory> values = m_arena.take(m_fields * found->second.size());
      detail::take_fields<T, Dim, Memory>(exec, m_work, found->second, m_fields, values.data());
      m_snapshots[time] = {found->second, values};
    };
  }
  m_points += m_source.run(exec, m_work, options).points;
}

template <class T, int Dim, class Memory>
void CheckpointStore<T, Dim, Memory>::replay(const Instance<Memory>& exec, std::int64_t piece) {
  m_snapshots.clear();
  m_arena.reset();
  std::int64_t present = m_present;  // position of m_work, which the actions determine
  for (; m_next < m_actions.size(); ++m_next) {
    const CheckpointAction& action = m_actions[m_next];
    if (action.kind == Action::restore) {
      if (action.slot == 0) {
        m_work.clear(exec);
      } else {
        copy_state(exec, m_slots.at(action.slot), m_work);
      }
    } else if (action.kind == Action::advance) {
      run(exec, begin_of(present), begin_of(action.position), false);
    } else if (action.kind == Action::store) {
      save(exec, m_work, action.slot);
    } else if (action.position == piece) {
      break;
    }
    present = action.position;
  }
  if (m_next == m_actions.size()) detail::no_snapshot(begin_of(piece) + m_snapshot_interval);
  run(exec, begin_of(piece), std::min(begin_of(piece + 1), m_boxes.rbegin()->first), true);
  m_present = piece;
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> CheckpointStore<T, Dim, Memory>::load(const Instance<Memory>& exec,
                                                               std::int64_t time) {
  if (m_boxes.count(time) == 0) detail::no_snapshot(time);
  const std::int64_t piece = (time / m_snapshot_interval - 1) / m_piece;
  if (piece != m_present) replay(exec, piece);
  return m_snapshots.at(time);
}

template <class T, int Dim, class Memory>
SnapshotReport CheckpointStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = "replay";
  report.snapshots = static_cast<std::int64_t>(m_boxes.size());
  report.raw_bytes = m_raw;
  report.device_bytes = m_arena.bytes() + m_state_bytes * (m_slots.size() + 1);
  report.kept_bytes = static_cast<double>(report.device_bytes);
  report.points = m_points;
  return report;
}

}  // namespace moho::snapshot

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, CheckpointStore)
}  // namespace moho::snapshot
#endif
/// \endcond
