// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Exchange of planes and snapshots between slabs of different ranks (internal).

#include <moho/core/order.hpp>
#include <moho/core/timer.hpp>
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
/// Hosts send from and receive into the arrays of the wavefield, one message for each part. Devices
/// use a page-locked buffer for each direction and neighbour, with one message each.
template <class T, class Memory>
class SlabMessages {
 public:
  /// Neighbours of a slab.
  enum Side : std::size_t { previous, next };

  /// \param ranks one for each slab, in order; they have to outlive the object
  /// \param copy instance of the transfers between device and buffers
  SlabMessages(StreamRanks& ranks, const Instance<Memory>& copy) : m_ranks(ranks), m_copy(copy) {}

  /// Returns the ranks.
  StreamRanks& ranks() const { return m_ranks; }
  /// Returns true if a side has a neighbour.
  bool has(Side side) const {
    return side == previous ? m_ranks.rank() > 0 : m_ranks.rank() + 1 < m_ranks.size();
  }
  /// \brief Starts an exchange. Hosts: after the steps of the planes that leave. Devices: the
  /// instance of the transfers has to wait for these steps.
  ///
  /// The parts must stay unchanged until finish().
  /// \param leaving,arriving parts for each side, empty on a side without a neighbour
  void begin(const SlabPieces<T, Memory> (&leaving)[2],
             const SlabPieces<T, Memory> (&arriving)[2]) {
    for (const Side side : {previous, next}) {
      if (!has(side)) continue;
      m_arriving[side] = arriving[side];
      if constexpr (is_host_memory<Memory>) {
        for (const auto& piece : arriving[side]) {
          m_ranks.receive(piece.data(), piece.size() * sizeof(T), rank_of(side));
        }
        for (const auto& piece : leaving[side]) {
          m_ranks.send(piece.data(), piece.size() * sizeof(T), rank_of(side));
        }
      } else {
        Buffer& out = buffer(m_out[side], leaving[side]);
        buffer(m_in[side], arriving[side]);
        visit(leaving[side], out,
              [&](const auto& piece, const auto& part) { copy(m_copy, part, piece); });
      }
    }
  }
  /// \brief Waits for the messages of an exchange, and submits the transfers of devices.
  ///
  /// Afterwards the parts that left may be overwritten.
  void finish() {
    if constexpr (!is_host_memory<Memory>) {
      m_copy.fence();
      for (const Side side : {previous, next}) {
        if (!has(side)) continue;
        m_ranks.receive(m_in[side].data(), m_in[side].size() * sizeof(T), rank_of(side));
        m_ranks.send(m_out[side].data(), m_out[side].size() * sizeof(T), rank_of(side));
      }
    }
    m_ranks.wait_received();
    if constexpr (!is_host_memory<Memory>) {
      for (const Side side : {previous, next}) {
        if (!has(side)) continue;
        visit(m_arriving[side], m_in[side],
              [&](const auto& piece, const auto& part) { copy(m_copy, piece, part); });
      }
    }
    m_ranks.wait_sent();
  }

 private:
  using Buffer = Kokkos::View<T*, StagingMemory<Memory>>;
  int rank_of(Side side) const {
    return side == previous ? m_ranks.rank() - 1 : m_ranks.rank() + 1;
  }
  // Returns a buffer with the size of all parts.
  static Buffer& buffer(Buffer& one, const SlabPieces<T, Memory>& pieces) {
    std::size_t size = 0;
    for (const auto& piece : pieces) size += piece.size();
    if (one.size() != size) {
      one = Buffer(Kokkos::view_alloc("moho::stream::message", Kokkos::WithoutInitializing), size);
    }
    return one;
  }
  // Calls a function with each part and its place in a buffer.
  template <class Function>
  static void visit(const SlabPieces<T, Memory>& pieces, const Buffer& all,
                    const Function& function) {
    std::size_t begin = 0;
    for (const auto& piece : pieces) {
      function(piece, Kokkos::subview(
                          all, std::pair<std::size_t, std::size_t>(begin, begin + piece.size())));
      begin += piece.size();
    }
  }

  StreamRanks& m_ranks;
  Instance<Memory> m_copy;
  SlabPieces<T, Memory> m_arriving[2];
  Buffer m_out[2], m_in[2];
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
