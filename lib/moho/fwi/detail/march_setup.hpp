// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Start of a marching gradient kernel: first node, and register queues before its plane.

#include <moho/wave/kernel/march_device.hpp>

#include <cstdint>

namespace moho::fwi::detail {

/// Column of a marching thread, and its queues before the first plane.
template <class March>
struct MarchSetup {
  std::int64_t x0, x1, y, z, at;  ///< planes from x0 up to x1; the first node, and its element
  typename March::Queue queue;    ///< of the arrays whose values along x are kept

  /// Initialises the column and the queues of a thread of team `team` of the wavefield. Returns
  /// false for threads without a node.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool find(const March& march, const Member& member, int team) {
    if (!march.tiles.place(march.s, team, member.team_rank(), x0, x1, y, z)) {
      return false;
    }
    at = march.s.flat(x0, y, z);
    march.begin(at, queue);
    return true;
  }
};

}  // namespace moho::fwi::detail
