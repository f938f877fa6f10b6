// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Interface to stores of the source wavefield between forward and backward propagation.

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
  wave::Storage<const T, Memory> values;  ///< values at these nodes, the last axis fastest: p,
                                          ///< followed by q where the store holds both
};

/// Cost of the storage of snapshots.
struct SnapshotReport {
  std::string kind;              ///< storage method
  std::int64_t snapshots = 0;    ///< number of snapshots
  double raw_bytes = 0.0;        ///< uncompressed size of all snapshots
  double kept_bytes = 0.0;       ///< stored size of all snapshots
  std::size_t device_bytes = 0;  ///< peak memory in the space of the run
  std::size_t host_bytes = 0;    ///< peak memory on the host, if that is another space
  std::size_t disk_bytes = 0;    ///< peak size of files
  double points = 0.0;           ///< nodes of repeated steps
  double seconds_waited = 0.0;   ///< time that the run has waited for memory, threads or files

  /// Returns the uncompressed size over the stored size.
  double ratio() const { return kept_bytes > 0.0 ? raw_bytes / kept_bytes : 0.0; }
};

/// \brief Store of snapshots of the forward propagation for the backward propagation.
///
/// The forward propagation calls save() at the snapshots' times, in ascending order, and on_step()
/// after every step. end_forward() is then called once. The backward propagation calls load() with
/// the same times in descending order. The result of load() is valid until the next call of load().
/// All work is submitted to the instance, which waits for transfers where needed. No call fences
/// the device.
template <class T, int Dim, class Memory>
struct SnapshotStore {
  virtual ~SnapshotStore() = default;
  /// Receives the wavefield before the first step.
  virtual void begin(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
                     std::int64_t time) {
    (void)exec, (void)wavefield, (void)time;
  }
  /// Receives the wavefield after a forward step, with its new time and the nodes of the step.
  virtual void on_step(const Instance<Memory>& exec,
                       const wave::Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                       std::int64_t time) {
    (void)exec, (void)wavefield, (void)box, (void)time;
  }
  /// Stores a snapshot: the nodes of `box` of the current p (and q, for stores of both fields).
  virtual void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
                    const Box<Dim>& box, std::int64_t time) = 0;
  /// \brief Returns the memory of a snapshot that the caller writes, instead of save().
  ///
  /// One launch can then copy the snapshots of several shots.
  /// \param box nodes of the snapshot
  /// \param time of the snapshot
  /// \return start of the values of p (followed by those of q) in the order of Snapshot::values;
  /// null if the store does not support this: nothing was stored, and save() stores the snapshot
  virtual T* reserve(const Box<Dim>& box, std::int64_t time) {
    (void)box, (void)time;
    return nullptr;
  }
  /// \brief Returns true if memory of reserve() and load() stays until the shot ends.
  ///
  /// A caller may then use the values of several times together. reserve() supports all times, and
  /// begin(), on_step() and end_forward() do nothing.
  virtual bool stays() const { return false; }
  /// Ends the forward propagation.
  virtual void end_forward(const Instance<Memory>& exec) { (void)exec; }
  /// Returns the snapshot of a time. \throws Error if it is not available
  virtual Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) = 0;
  /// \brief Returns a wavefield whose current level is the snapshot of a time, without a copy.
  ///
  /// The call counts as a call of load().
  /// \param exec execution instance of the run
  /// \param time of a snapshot
  /// \param box receives the nodes of the snapshot
  /// \return null if the store has no such wavefield: load() then returns the snapshot
  virtual const wave::Wavefield<T, Dim, Memory>* borrow(const Instance<Memory>& exec,
                                                        std::int64_t time, Box<Dim>& box) {
    (void)exec, (void)time, (void)box;
    return nullptr;
  }
  /// \brief Adds the products of a snapshot to the sums of an image, without a separate snapshot.
  ///
  /// A compressed snapshot is decoded and imaged by one kernel. The call counts as a call of
  /// load().
  /// \param exec execution instance of the run
  /// \param time of a snapshot
  /// \param correlation the other wavefield and the sums
  /// \return false if the store does not support this: nothing was added, and load() returns the
  ///   snapshot
  virtual bool correlate(const Instance<Memory>& exec, std::int64_t time,
                         const Correlation<T, Dim, Memory>& correlation) {
    (void)exec, (void)time, (void)correlation;
    return false;
  }
  /// Returns the cost so far.
  virtual SnapshotReport report() const = 0;
};

}  // namespace moho::snapshot
