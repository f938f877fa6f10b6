// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Exchange of planes and snapshots between slabs of different ranks (internal).

#include <moho/core/error.hpp>
#include <moho/core/staging.hpp>
#include <moho/core/timer.hpp>
#include <moho/stream/detail/peer_memory.hpp>
#include <moho/stream/detail/slab_pieces.hpp>
#include <moho/stream/ranks.hpp>
#include <moho/stream/snapshots.hpp>
#include <moho/wave/snapshots.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief Messages between the slab of this rank and those of the previous and the next rank.
///
/// Hosts send from and receive into the arrays of the wavefield, one message for each part. A
/// device copies into the memory of a neighbour's device where test_peers() allows it; the message
/// is then a byte, and an event of the device tells when the copy is complete. Otherwise it uses a
/// page-locked buffer for each direction and neighbour, with one message each.
template <class T, class Memory>
class SlabMessages : public SlabSides {
 public:
  /// \param ranks one for each slab, in order; they have to outlive the object
  /// \param copy instance of the transfers between device and buffers
  SlabMessages(StreamRanks& ranks, const Instance<Memory>& copy) : m_ranks(ranks), m_copy(copy) {}
  SlabMessages(const SlabMessages&) = delete;
  SlabMessages& operator=(const SlabMessages&) = delete;
  ~SlabMessages() {
    if (m_tested) m_copy.fence();  // copies from memory that others may take
  }

  /// Returns the ranks.
  StreamRanks& ranks() const { return m_ranks; }
  /// Returns true if a side has a neighbour.
  bool has(Side side) const { return has_rank(m_ranks, side); }
  /// \brief Starts an exchange. Hosts: after the steps of the planes that leave. Devices: the
  /// instance of the transfers has to wait for these steps.
  ///
  /// The parts must stay unchanged until finish().
  /// \param leaving,arriving parts for each side, empty on a side without a neighbour
  void begin(const SlabPieces<T, Memory> (&leaving)[2],
             const SlabPieces<T, Memory> (&arriving)[2]) {
    if constexpr (!is_host_memory<Memory>) share(leaving, arriving);
    for (const Side side : {previous, next}) {
      if (!has(side)) continue;
      m_arriving[side] = arriving[side];
      if constexpr (is_host_memory<Memory>) {
        for (const auto& piece : arriving[side]) {
          m_ranks.receive(piece.data(), piece.size() * sizeof(T), rank_on(m_ranks, side));
        }
        for (const auto& piece : leaving[side]) {
          m_ranks.send(piece.data(), piece.size() * sizeof(T), rank_on(m_ranks, side));
        }
      } else {
        const auto leave = [&](const auto& piece, const auto& part) { copy(m_copy, part, piece); };
        if (m_to[side].direct) {
          visit<Memory>(leaving[side], m_to[side].slot(m_outbox[side].data(), m_turn), leave);
        } else {
          visit<StagingMemory<Memory>>(leaving[side], buffer(m_out[side], leaving[side]).data(),
                                       leave);
        }
        if (!m_from[side].direct) buffer(m_in[side], arriving[side]);
        if (m_to[side].signals) m_signals[side].record(m_copy, m_turn);
      }
    }
  }
  /// \brief Waits for the messages of an exchange, and submits the transfers of devices.
  ///
  /// Afterwards the parts that left may be overwritten, on devices by work that waits for the
  /// instance of the transfers.
  void finish() {
    if constexpr (!is_host_memory<Memory>) {
      if (waits_for_copies()) m_copy.fence();
      for (const Side side : {previous, next}) {
        if (!has(side)) continue;
        const int rank = rank_on(m_ranks, side);
        if (m_from[side].direct) {
          m_ranks.receive(&m_arrived[side], 1, rank);
        } else {
          m_ranks.receive(m_in[side].data(), m_in[side].size() * sizeof(T), rank);
        }
        if (m_to[side].direct) {
          m_ranks.send(&m_left, 1, rank);
        } else {
          m_ranks.send(m_out[side].data(), m_out[side].size() * sizeof(T), rank);
        }
      }
    }
    m_ranks.wait_received();
    if constexpr (!is_host_memory<Memory>) {
      for (const Side side : {previous, next}) {
        if (!has(side)) continue;
        const auto arrive = [&](const auto& piece, const auto& part) { copy(m_copy, piece, part); };
        if (m_from[side].signals) m_waits[side].make_wait(m_copy, m_turn);
        if (m_from[side].direct) {
          visit<Memory>(m_arriving[side], m_from[side].slot(m_inbox[side].data(), m_turn), arrive);
        } else {
          visit<StagingMemory<Memory>>(m_arriving[side], m_in[side].data(), arrive);
        }
      }
      m_turn = 1 - m_turn;
    }
    m_ranks.wait_sent();
  }

 private:
  using Buffer = Kokkos::View<T*, StagingMemory<Memory>>;
  // Memory on a device for what passes from one rank to another. Exchanges use its halves in turn:
  // when a rank begins an exchange, its neighbour has announced the one before. With events, the
  // copies of this rank wait for that of the neighbour, which follows its copies from the half that
  // is written now; without them, the neighbour had waited for these before.
  struct Channel {
    bool direct = false;
    bool signals = false;  ///< an event follows the copies
    std::size_t half = 0;  ///< bytes
    // Both ranks compute the same from the bytes of an exchange.
    bool grows(std::size_t bytes) const { return direct && bytes > half; }
    void grow(std::size_t bytes) {
      constexpr std::size_t unit = std::size_t(1) << 20;
      half = (bytes + unit - 1) / unit * unit;
    }
    T* slot(char* data, int turn) const {
      return reinterpret_cast<T*>(data + static_cast<std::size_t>(turn) * half);
    }
  };

  // Finds the sides whose memory is shared, and shares more if an exchange needs more.
  void share(const SlabPieces<T, Memory> (&leaving)[2],
             const SlabPieces<T, Memory> (&arriving)[2]) {
    if (!m_tested) {
      if (!m_ranks.peers()) m_ranks.set_peers(test_peers<Memory>(m_ranks, m_copy));
      for (const Side side : {previous, next}) {
        m_from[side].direct = m_to[side].direct = has(side) && m_ranks.peers()->sides[side];
        if (has(side) && m_ranks.peers()->signals[side]) exchange_signals(side);
      }
      m_tested = true;
    }
    PeerOffer mine[2], theirs[2];
    bool gives[2] = {}, takes[2] = {};
    for (const Side side : {previous, next}) {
      gives[side] = m_from[side].grows(bytes_of(arriving[side]));
      takes[side] = m_to[side].grows(bytes_of(leaving[side]));
      if (takes[side]) m_ranks.receive(&theirs[side], sizeof(PeerOffer), rank_on(m_ranks, side));
      if (!gives[side]) continue;
      m_copy.fence();  // copies from the memory that is replaced
      m_from[side].grow(bytes_of(arriving[side]));
      mine[side] = m_inbox[side].allocate(m_copy, 2 * m_from[side].half);
      m_from[side].direct = mine[side].bytes > 0;
      m_ranks.send(&mine[side], sizeof(PeerOffer), rank_on(m_ranks, side));
    }
    m_ranks.wait_received();
    for (const Side side : {previous, next}) {
      if (!takes[side]) continue;
      m_copy.fence();  // copies into the memory that is replaced
      m_to[side].grow(bytes_of(leaving[side]));
      m_to[side].direct = theirs[side].bytes > 0;  // otherwise the neighbour has no memory left
      if (m_to[side].direct && !m_outbox[side].open(m_copy, theirs[side])) {
        throw Error(concat("slabs: rank ", m_ranks.rank(), " cannot map the memory of rank ",
                           rank_on(m_ranks, side),
                           "'s device, which it has written before: another program may have "
                           "disturbed the devices; try again"));
      }
    }
    m_ranks.wait_sent();
  }
  // Opens the events of the neighbour on a side, which opens those of this rank.
  void exchange_signals(Side side) {
    const SignalOffer mine = m_signals[side].create(m_copy);
    SignalOffer theirs;
    m_ranks.receive(&theirs, sizeof(theirs), rank_on(m_ranks, side));
    m_ranks.send(&mine, sizeof(mine), rank_on(m_ranks, side));
    m_ranks.wait_received();
    const char opened = m_waits[side].open(m_copy, theirs) ? 1 : 0;
    m_ranks.wait_sent();
    char by_neighbour = 0;
    m_ranks.receive(&by_neighbour, 1, rank_on(m_ranks, side));
    m_ranks.send(&opened, 1, rank_on(m_ranks, side));
    m_ranks.wait_received();
    m_ranks.wait_sent();
    m_from[side].signals = m_to[side].signals = opened != 0 && by_neighbour != 0;
  }
  // Returns true if a neighbour learns by the message alone that a copy is complete.
  bool waits_for_copies() const {
    for (const Side side : {previous, next}) {
      if (has(side) && !(m_to[side].direct && m_to[side].signals)) return true;
    }
    return false;
  }
  static std::size_t bytes_of(const SlabPieces<T, Memory>& pieces) {
    std::size_t size = 0;
    for (const auto& piece : pieces) size += piece.size();
    return size * sizeof(T);
  }
  // Returns a buffer with the size of all parts.
  static Buffer& buffer(Buffer& one, const SlabPieces<T, Memory>& pieces) {
    const std::size_t size = bytes_of(pieces) / sizeof(T);
    if (one.size() != size) {
      one = Buffer(Kokkos::view_alloc("moho::stream::message", Kokkos::WithoutInitializing), size);
    }
    return one;
  }
  // Calls a function with each part and its place in contiguous memory.
  template <class Place, class Function>
  static void visit(const SlabPieces<T, Memory>& pieces, T* all, const Function& function) {
    using Part = Kokkos::View<T*, Place, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    for (const auto& piece : pieces) {
      function(piece, Part(all, piece.size()));
      all += piece.size();
    }
  }

  StreamRanks& m_ranks;
  Instance<Memory> m_copy;
  SlabPieces<T, Memory> m_arriving[2];
  Buffer m_out[2], m_in[2];
  PeerInbox<Memory> m_inbox[2];
  PeerOutbox<Memory> m_outbox[2];
  PeerSignals<Memory> m_signals[2];
  PeerWaits<Memory> m_waits[2];
  Channel m_from[2], m_to[2];
  char m_arrived[2] = {}, m_left = 0;
  int m_turn = 0;
  bool m_tested = false;
};

/// \brief Snapshots of slabs of ranks, which the first rank passes on in the order of the complete
/// box.
template <class T, int Dim, class Memory>
class RankSnapshots {
 public:
  /// \param ranks one for each slab; they have to outlive the object
  /// \param step instance that steps the slab of this rank
  /// \param own planes of the slabs of all ranks, ascending
  /// \param box nodes of a snapshot
  /// \param snapshots receivers of snapshots, used on the first rank; they must outlive the object
  RankSnapshots(StreamRanks& ranks, const Instance<Memory>& step,
                const std::vector<PlaneRange>& own, const Box<Dim>& box,
                const StreamSnapshots<T>& snapshots)
      : m_ranks(ranks), m_snapshots(snapshots), m_size(box.size()) {
    const std::int64_t plane = box.size() / std::max<std::int64_t>(box.extent(0), 1);
    for (const PlaneRange& planes : own) {
      m_first.push_back(std::clamp(planes.begin - box.lower[0], std::int64_t(0), box.extent(0)) *
                        plane);
    }
    m_first.push_back(m_size);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    Box<Dim> part = box;
    part.lower[0] = box.lower[0] + m_first[rank] / std::max<std::int64_t>(plane, 1);
    part.upper[0] = box.lower[0] + m_first[rank + 1] / std::max<std::int64_t>(plane, 1);
    if (count(rank) == 0) return;
    m_queue.emplace(
        step, part,
        [this](const wave::SnapshotPart<T>& one) {
          m_values.resize(static_cast<std::size_t>(one.size));
          std::copy_n(one.values, one.count, m_values.begin() + one.begin);
        },
        wave::SnapshotOptions{.slots = 1});
  }

  /// \brief Passes on the values of a step. Collective; it waits.
  /// \throws any exception of StreamSnapshots::take
  void put(const wave::Layout<Dim>& layout, const wave::Storage<const T, Memory>& field,
           std::int64_t step, const wave::Storage<const T, Memory>& factors) {
    const Stopwatch watch;
    if (m_queue) {
      m_queue->put(layout, field, step, factors);
      m_queue->finish();
    }
    const auto rank = static_cast<std::size_t>(m_ranks.rank());
    if (rank > 0) {
      if (count(rank) > 0) m_ranks.send(m_values.data(), m_values.size() * sizeof(T), 0);
      m_ranks.wait_sent();
    } else {
      for (std::size_t r = 0; r < static_cast<std::size_t>(m_ranks.size()); ++r) {
        if (count(r) == 0) continue;
        m_values.resize(static_cast<std::size_t>(count(r)));
        if (r > 0) {
          m_ranks.receive(m_values.data(), m_values.size() * sizeof(T), static_cast<int>(r));
          m_ranks.wait_received();
        }
        m_snapshots.take({m_index, step, m_first[r], count(r), m_size, m_values.data()});
      }
      if (m_snapshots.done) m_snapshots.done(m_index, step);
    }
    ++m_index;
    m_waited += watch.seconds();
  }
  /// Returns the seconds that the run has waited for snapshots.
  double seconds_waited() const { return m_waited; }

 private:
  // Returns the values of a rank.
  std::int64_t count(std::size_t rank) const { return m_first[rank + 1] - m_first[rank]; }

  StreamRanks& m_ranks;
  const StreamSnapshots<T>& m_snapshots;
  std::int64_t m_size;
  std::vector<std::int64_t> m_first;  // first value of each rank in the box, and the end
  std::vector<T> m_values;            // of one rank
  std::int64_t m_index = 0;
  double m_waited = 0.0;
  std::optional<wave::SnapshotQueue<T, Dim, Memory>> m_queue;  // destroyed before the values
};

}  // namespace moho::stream
