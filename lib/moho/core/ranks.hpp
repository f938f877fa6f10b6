// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How items of work are divided among processes, and which device each of them takes.
///
/// These are equations 7 to 11 of Couder-Castaneda et al. (2013), who divide prisms. Items count
/// from 0, and ranges do not include their end. Nothing here needs MPI; <moho/mpi/mpi.hpp> does.

#include <moho/core/error.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::mpi {

/// A run of items: first, first + 1, ..., last - 1.
struct Part {
  std::int64_t first = 0;  ///< first of the run
  std::int64_t last = 0;   ///< one behind the last of the run

  /// Number of items.
  std::int64_t size() const { return last - first; }
  /// True for runs of the same items.
  friend bool operator==(const Part&, const Part&) = default;
};

/// The items of one rank out of `count` (equations 7 to 10).
///
/// With s = count / ranks and r = count mod ranks, the first r ranks take s + 1 items each and the
/// others s, in order: parts differ by one item at most, leave none out and share none. Ranks
/// beyond the number of items get an empty part.
/// \throws InputError for a negative count, no ranks, or a rank that is not among them
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

/// The device of a rank (equation 11): rank mod devices. `rank` counts the ranks of one machine;
/// the rank among all does as well where each machine has as many ranks as devices and they are
/// numbered machine by machine. \throws InputError without devices, or for a negative rank
inline int device_of(int rank, int devices) {
  if (devices < 1 || rank < 0) {
    throw InputError(concat("device_of: rank ", rank, " and ", devices,
                            " devices (allowed: rank 0 or more, 1 device or more)"));
  }
  return rank % devices;
}

/// How many of the `ranks` ranks of one machine share the device of one of them. With devices = 1,
/// as for ranks that compute on the host, all of them do.
inline int ranks_on_device_of(int rank, int ranks, int devices) {
  const int device = device_of(rank, devices);
  return std::max(1, (ranks - device + devices - 1) / devices);
}

}  // namespace moho::mpi
