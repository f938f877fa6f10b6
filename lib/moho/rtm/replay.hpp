// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots that are computed again from states of the forward leg: exact, for little
/// memory.

#include <moho/core/arena.hpp>
#include <moho/core/instances.hpp>
#include <moho/rtm/leg.hpp>
#include <moho/rtm/stores.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace moho::rtm {

/// \brief Where to keep states so that a run is replayed backwards with the fewest steps.
///
/// The run is cut into pieces of equal length; a piece is replayed whole, from a state at its
/// beginning. With enough states each piece has one, and everything is computed twice; with fewer,
/// pieces are computed more often. The optimum of Griewank and Walther (2000), by dynamic
/// programming.
class ReplaySchedule {
 public:
  /// \param pieces of the run, 1 to 4096 \param states that can be kept besides the one at the
  /// beginning of the run, 0 or more
  ReplaySchedule(std::int64_t pieces, std::int64_t states);
  /// Pieces run until the last piece of `pieces` is done, from the state at their beginning, and
  /// all others before it: with `states` free ones.
  std::int64_t cost(std::int64_t pieces, std::int64_t states) const;
  /// The piece, counted from the beginning, at which the next state belongs; 0: none does.
  std::int64_t split(std::int64_t pieces, std::int64_t states) const;

 private:
  std::int64_t m_pieces, m_states;
  std::vector<std::int64_t> m_cost, m_split;
};

/// \brief Keeps states of the forward leg, and computes snapshots from them, a piece of the run at
/// a time. The same bits as those of the forward leg.
template <class T, int Dim, class Memory>
class ReplayStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param exec of the run
  /// \param leg the forward leg; it has to outlive the store
  /// \param arena for the snapshots of a piece
  /// \param snapshots of the run in all
  /// \param every steps from one to the next
  /// \param piece snapshots of a piece, 1 or more
  /// \param states kept at most besides that of rest at the beginning
  ReplayStore(const InstanceOf<Memory>& exec, const Leg<T, Dim, Memory>& leg,
              DeviceArena<T, Memory>& arena, std::int64_t snapshots, std::int64_t every,
              std::int64_t piece, std::int64_t states);

  void stepped(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
               const Box<Dim>& box, std::int64_t time) override;
  void put(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
           const Box<Dim>& box, std::int64_t time) override;
  void turn(const Instance<Memory>& exec) override;
  Snapshot<T, Dim, Memory> get(const Instance<Memory>& exec, std::int64_t time) override;
  SnapshotReport report() const override;

 private:
  struct State {
    std::int64_t piece = 0;
    wave::Wavefield<T, Dim, Memory> wavefield;
  };
  // the time at which a piece begins: that of the snapshot before its first
  std::int64_t begin_of(std::int64_t piece) const { return piece * m_piece * m_every; }
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& from,
            std::int64_t piece);
  void copy_state(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& from,
                  const wave::Wavefield<T, Dim, Memory>& to) const;
  std::int64_t next_state(std::int64_t after, std::int64_t pieces) const;
  void replay(const Instance<Memory>& exec, std::int64_t piece);

  const Leg<T, Dim, Memory>& m_leg;
  DeviceArena<T, Memory>& m_arena;
  std::int64_t m_every, m_piece, m_pieces, m_states;
  ReplaySchedule m_schedule;
  std::vector<State> m_kept;                             ///< ascending by piece
  std::vector<wave::Wavefield<T, Dim, Memory>> m_spare;  ///< freed states
  wave::Wavefield<T, Dim, Memory> m_work;
  wave::BoxHistory<Dim> m_history;
  std::map<std::int64_t, Snapshot<T, Dim, Memory>> m_snapshots;  ///< of the present piece
  std::map<std::int64_t, Box<Dim>> m_boxes;                      ///< of all snapshots
  std::int64_t m_present = -1;                                   ///< piece
  std::int64_t m_count = 0;
  std::size_t m_state_bytes = 0, m_most_states = 0;
  double m_raw = 0.0, m_points = 0.0;
};

template <class T, int Dim, class Memory>
ReplayStore<T, Dim, Memory>::ReplayStore(const InstanceOf<Memory>& exec,
                                         const Leg<T, Dim, Memory>& leg,
                                         DeviceArena<T, Memory>& arena, std::int64_t snapshots,
                                         std::int64_t every, std::int64_t piece,
                                         std::int64_t states)
    : m_leg(leg),
      m_arena(arena),
      m_every(every),
      m_piece(piece),
      m_pieces((snapshots + piece - 1) / piece),
      m_states(std::min(states, std::max<std::int64_t>(m_pieces - 1, 0))),
      m_schedule(std::max<std::int64_t>(m_pieces, 1), m_states),
      m_work(leg.propagator->make_wavefield(exec)) {
  m_arena.reset();
  m_state_bytes = m_work.bytes();
}

template <class T, int Dim, class Memory>
void ReplayStore<T, Dim, Memory>::copy_state(const Instance<Memory>& exec,
                                             const wave::Wavefield<T, Dim, Memory>& from,
                                             const wave::Wavefield<T, Dim, Memory>& to) const {
  wave::copy_planes<T, Dim, Memory>(exec, m_leg.propagator->scheme(), from, to,
                                    all_planes(m_leg.propagator->grid()));
}

template <class T, int Dim, class Memory>
void ReplayStore<T, Dim, Memory>::save(const Instance<Memory>& exec,
                                       const wave::Wavefield<T, Dim, Memory>& from,
                                       std::int64_t piece) {
  State state;
  state.piece = piece;
  if (m_spare.empty()) {
    state.wavefield = m_leg.propagator->make_wavefield(exec);
    for (auto& slope : state.wavefield.slope) slope = {};  // work space, no state
  } else {
    state.wavefield = m_spare.back();
    m_spare.pop_back();
  }
  copy_state(exec, from, state.wavefield);
  m_kept.push_back(state);
  m_most_states = std::max(m_most_states, m_kept.size());
}

// The piece at which the next state after the one at piece `after` belongs, of `pieces` from there
// on; 0: none.
template <class T, int Dim, class Memory>
std::int64_t ReplayStore<T, Dim, Memory>::next_state(std::int64_t after,
                                                     std::int64_t pieces) const {
  const std::int64_t split =
      m_schedule.split(pieces, m_states - static_cast<std::int64_t>(m_kept.size()));
  return split > 0 ? after + split : 0;
}

template <class T, int Dim, class Memory>
void ReplayStore<T, Dim, Memory>::stepped(const Instance<Memory>& exec,
                                          const wave::Wavefield<T, Dim, Memory>& wavefield,
                                          const Box<Dim>& box, std::int64_t time) {
  m_history.add(box);
  const std::int64_t last = m_kept.empty() ? 0 : m_kept.back().piece;
  const std::int64_t next = next_state(last, m_pieces - last);
  if (next > 0 && time == begin_of(next)) save(exec, wavefield, next);
}

template <class T, int Dim, class Memory>
void ReplayStore<T, Dim, Memory>::put(const Instance<Memory>& exec,
                                      const wave::Wavefield<T, Dim, Memory>& wavefield,
                                      const Box<Dim>& box, std::int64_t time) {
  m_boxes[time] = box;
  ++m_count;
  m_raw += static_cast<double>(box.size()) * sizeof(T);
  const std::int64_t piece = (time / m_every - 1) / m_piece;
  if (piece != m_pieces - 1) return;
  // the last piece need not be replayed
  m_present = piece;
  const wave::Storage<T, Memory> values = m_arena.take(box.size());
  detail::take_box<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[0], box, values.data());
  m_snapshots[time] = {box, values};
}

template <class T, int Dim, class Memory>
void ReplayStore<T, Dim, Memory>::turn(const Instance<Memory>&) {}

template <class T, int Dim, class Memory>
void ReplayStore<T, Dim, Memory>::replay(const Instance<Memory>& exec, std::int64_t piece) {
  while (!m_kept.empty() && m_kept.back().piece > piece) {
    m_spare.push_back(m_kept.back().wavefield);
    m_kept.pop_back();
  }
  m_snapshots.clear();
  m_arena.reset();
  std::int64_t from = m_kept.empty() ? 0 : m_kept.back().piece;
  if (m_kept.empty()) {
    m_work.clear(exec);
  } else {
    copy_state(exec, m_kept.back().wavefield, m_work);
  }
  wave::ReplayedDomain<T, Dim, Memory> domain(m_history);
  const auto advance = [&](std::int64_t first, std::int64_t last, bool keep) {
    wave::RunOptions<T, Dim, Memory> run;
    run.first = first;
    run.last = last;
    run.domain = &domain;
    if (keep) {
      run.advanced = [&](std::int64_t time, const Box<Dim>&) {
        const auto found = m_boxes.find(time);
        if (found == m_boxes.end()) return;
        const wave::Storage<T, Memory> values = m_arena.take(found->second.size());
        detail::take_box<T, Dim, Memory>(exec, m_work.layout, m_work.now[0], found->second,
                                         values.data());
        m_snapshots[time] = {found->second, values};
      };
    }
    m_points += m_leg.run(exec, m_work, run).points;
  };
  while (from < piece) {
    const std::int64_t next = next_state(from, piece + 1 - from);
    const std::int64_t to = next > 0 ? next : piece;
    advance(begin_of(from), begin_of(to), false);
    if (next > 0) save(exec, m_work, to);
    from = to;
  }
  const std::int64_t last = std::min(begin_of(piece + 1), m_boxes.rbegin()->first);
  advance(begin_of(piece), last, true);
  m_present = piece;
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> ReplayStore<T, Dim, Memory>::get(const Instance<Memory>& exec,
                                                          std::int64_t time) {
  if (m_boxes.count(time) == 0) detail::no_snapshot(time);
  const std::int64_t piece = (time / m_every - 1) / m_piece;
  if (piece != m_present) replay(exec, piece);
  return m_snapshots.at(time);
}

template <class T, int Dim, class Memory>
SnapshotReport ReplayStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = "replay";
  report.snapshots = m_count;
  report.raw_bytes = m_raw;
  report.device_bytes = m_arena.bytes() + m_state_bytes * (m_most_states + 1);
  report.kept_bytes = static_cast<double>(report.device_bytes);
  report.points = m_points;
  return report;
}

}  // namespace moho::rtm

/// \cond
#define MOHO_RTM_REPLAY(prefix, T, Dim, Memory) prefix template class ReplayStore<T, Dim, Memory>;
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_RTM_REPLAY, extern)
}
#endif
/// \endcond
