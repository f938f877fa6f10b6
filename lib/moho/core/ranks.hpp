// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Division of items among processes, and assignment of devices to processes.
///
/// Couder-Castaneda et al. (2013), equations 7 to 11, there for prisms. Items are numbered from 0,
/// and ranges are half-open. This header does not need MPI; <moho/mpi/mpi.hpp> does.

#include <moho/core/error.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::mpi {

/// A half-open range of items: first, first + 1, ..., last - 1.
struct Part {
  std::int64_t first = 0;  ///< first item
  std::int64_t last = 0;   ///< one past the last item

  /// Returns the number of items.
  std::int64_t size() const { return last - first; }
  /// Compares both ends.
  friend bool operator==(const Part&, const Part&) = default;
};

/// Returns the items of one rank out of `count` (equations 7 to 10).
///
/// Let s = count / ranks and r = count mod ranks. The first r ranks have s + 1 items each, the
/// others s, in order. Each item belongs to exactly one rank. Ranks beyond the number of items have
/// an empty part.
/// \throws InputError for a negative count, ranks < 1, or a rank outside 0 to ranks - 1
inline Part part_of(std::int64_t count, int ranks, int rank) {
  if (count < 0 || ranks < 1 || rank < 0 || rank >= ranks) {
    throw InputError(concat("part_of: rank ", rank, " of ", ranks, " ranks and ", count,
                            " items (allowed: ranks from 0 to one below their number, which is at "
                            "least 1, and 0 items or more)"));
  }
  const std::int64_t quotient = count / ranks;
  const std::int64_t remainder = count % ranks;
  Part part{rank * quotient, (rank + 1) * quotient};
  if (rank < remainder) {
    part.first += rank;
    part.last += rank + 1;
  } else {
    part.first += remainder;
    part.last += remainder;
  }
  return part;
}

/// Returns the device of a rank (equation 11): rank mod devices.
///
/// `rank` is the rank within one machine. The global rank gives the same result if each machine has
/// as many ranks as devices and ranks are numbered machine by machine.
/// \throws InputError for devices < 1 or a negative rank
inline int device_of(int rank, int devices) {
  if (devices < 1 || rank < 0) {
    throw InputError(concat("device_of: rank ", rank, " and ", devices,
                            " devices (allowed: rank 0 or more, 1 device or more)"));
  }
  return rank % devices;
}

}  // namespace moho::mpi
