// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots of a shot that several devices step together.

#include <moho/wave/snapshots.hpp>

#include <cstdint>
#include <functional>

namespace moho::stream {

/// Snapshots of a shot: their steps and receivers.
template <class T>
struct StreamSnapshots {
  std::int64_t every = 0;  ///< steps between snapshots; 0: no snapshots
  std::int64_t last = 0;   ///< last step with a snapshot
  /// Receives the parts of each snapshot in order, on separate threads.
  std::function<void(const wave::SnapshotPart<T>&)> take = {};
  /// Called on the calling thread in the order of steps, after all parts of a snapshot.
  std::function<void(std::int64_t index, std::int64_t step)> done = {};
};

}  // namespace moho::stream
