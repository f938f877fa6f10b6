// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The source's wavefield kept from the forward leg of a shot for its backward leg.

#include <moho/core/box.hpp>
#include <moho/snapshot/correlation.hpp>
#include <moho/wave/wavefield.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::snapshot {

/// Values of a wavefield in a box at one time.
template <class T, int Dim, class Memory>
struct Snapshot {
  Box<Dim> box;                           ///< nodes of the grid with its layers
  wave::Storage<const T, Memory> values;  ///< of these nodes, the last axis fastest: p, and then q
                                          ///< where the store keeps both
};

/// What keeping snapshots took.
struct SnapshotReport {
  std::string kind;              ///< how they were kept
  std::int64_t snapshots = 0;    ///< kept
  double raw_bytes = 0.0;        ///< of all of them as numbers
  double kept_bytes = 0.0;       ///< of all of them as they were kept
  std::size_t device_bytes = 0;  ///< most at one time in the space of the run
  std::size_t host_bytes = 0;    ///< most at one time on the host, where that is another space
  std::size_t disk_bytes = 0;    ///< most at one time in files
  double points = 0.0;           ///< nodes stepped again
  double seconds_waited = 0.0;   ///< that the run has waited for memory, threads or files

  /// Raw bytes over those that were kept.
  double ratio() const { return kept_bytes > 0.0 ? raw_bytes / kept_bytes : 0.0; }
};

/// \brief Keeps snapshots of the forward leg, and gives them back for the backward leg.
///
/// The forward leg calls put() at the snapshots' times, in ascending order, and stepped() after
/// every step; then turn() once; the backward leg calls get() with the same times in descending
/// order. What get() returned stays until the next call of get(). All work goes to the instance,
/// which comes to wait where it has to; no call waits for the whole device.
template <class T, int Dim, class Memory>
struct SnapshotStore {
  virtual ~SnapshotStore() = default;
  /// The wavefield before the first step.
  virtual void begin(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
                     std::int64_t time) {
    (void)exec, (void)wavefield, (void)time;
  }
  /// The wavefield after a step of the forward leg, at its new time, and the nodes stepped.
  virtual void stepped(const Instance<Memory>& exec,
                       const wave::Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                       std::int64_t time) {
    (void)exec, (void)wavefield, (void)box, (void)time;
  }
  /// A snapshot: the nodes of `box` of the wavefield's present p (and q, where the store was asked
  /// to keep both).
  virtual void put(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
                   const Box<Dim>& box, std::int64_t time) = 0;
  /// The forward leg is over.
  virtual void turn(const Instance<Memory>& exec) { (void)exec; }
  /// The snapshot of a time. \throws Error where it cannot be had
  virtual Snapshot<T, Dim, Memory> get(const Instance<Memory>& exec, std::int64_t time) = 0;
  /// \brief The snapshot of a time where the store has it as the present of a wavefield: no copy is
  /// made. It counts as a call of get().
  /// \param exec of the run
  /// \param time of a snapshot
  /// \param box set to the nodes that the snapshot has
  /// \return null where the store has no such wavefield: get() then has the snapshot
  virtual const wave::Wavefield<T, Dim, Memory>* present_at(const Instance<Memory>& exec,
                                                            std::int64_t time, Box<Dim>& box) {
    (void)exec, (void)time, (void)box;
    return nullptr;
  }
  /// \brief Adds the snapshot of a time to the sums of an image without making it first, where the
  /// store can: a compressed one is decoded and imaged by one kernel. It counts as a call of get().
  /// \param exec of the run
  /// \param time of a snapshot
  /// \param correlation the other wavefield and the sums
  /// \return false where the store cannot: then nothing was added, and get() has the snapshot
  virtual bool image(const Instance<Memory>& exec, std::int64_t time,
                     const Correlation<T, Dim, Memory>& correlation) {
    (void)exec, (void)time, (void)correlation;
    return false;
  }
  /// What it took.
  virtual SnapshotReport report() const = 0;
};

}  // namespace moho::snapshot
