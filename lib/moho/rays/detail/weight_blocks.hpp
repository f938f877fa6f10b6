// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fragments of the table of weights: blocks with the weights of one tile each.
///
/// Where the table does not fit, the tiles at the wavefront have blocks and all others have none. A
/// tile that becomes active computes its weights into a free block and finds them there at its next
/// visits. Blocks are in two halves. When one half is used up, the blocks of the other one, which
/// are older, become free together; tiles that are still active compute theirs again. A tile
/// without a block computes its weights for the visit alone, so that the result does not depend on
/// blocks.

#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>
#include <moho/rays/detail/layout.hpp>
#include <moho/rays/options.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace moho::rays::detail {

/// Length of a row of weights that a host computes for a tile: tile width plus largest radius, in
/// complete cache lines. Weights beyond the edge's range are not used.
template <int Dim>
inline constexpr int weight_row = (tile_extent<Kokkos::HostSpace, Dim>(Dim - 1) + max_radius<Dim> +
                                   15) /
                                  16 * 16;

/// Returns the number of scalars in a tile's block of weights. On a host these are the weights of
/// the half star of all vertices whose edges touch the tile, on a device those of all directions of
/// the tile's vertices.
template <class Memory, int Dim>
std::int64_t weight_block_size(const std::vector<std::array<int, Dim>>& half_star, int radius) {
  if constexpr (is_host_memory<Memory>) {
    std::int64_t stride = weight_row<Dim>;
    for (int d = 1; d < Dim - 1; ++d) stride *= tile_extent<Memory, Dim>(d) + radius;
    std::int64_t size = 0;
    for (const auto& offset : half_star) size += (tile_extent<Memory, Dim>(0) + offset[0]) * stride;
    return size;
  } else {
    (void)radius;
    return 2 * static_cast<std::int64_t>(half_star.size()) * tile_volume<Memory, Dim>();
  }
}

/// Frees the blocks of a half: their tiles have none.
template <class Memory>
struct FreeBlocks {
  Kokkos::View<std::int64_t*, Memory> entry;
  Kokkos::View<int*, Memory> owner;
  int first;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const int tile = owner(first + i);
    if (tile < 0) return;
    entry(tile) = 0;
    owner(first + i) = -1;
  }
};

/// The blocks, and which tile has which. Kernels hold copies; turn() is called between rounds.
template <class T, class Memory>
struct WeightBlocks {
  Kokkos::View<T*, Memory> values;            ///< (blocks, size)
  Kokkos::View<std::int64_t*, Memory> entry;  ///< (tiles) block and round, packed; 0: no block
  Kokkos::View<int*, Memory> owner;           ///< (blocks) its tile, or -1
  Kokkos::View<int*, Memory> claimed;         ///< (1) claims in the current half
  std::int64_t size = 0;                      ///< scalars of a block
  int blocks = 0;                             ///< of a half, or all if every tile has one; 0: none
  bool halves = false;                        ///< there are two halves
  int half = 0;                               ///< the current one
  bool closed = false;                        ///< no more claims

  /// Entry of a tile whose block is being computed.
  static constexpr std::int64_t busy = -1;

  /// Returns the weights that an earlier round computed for a tile, or nullptr. Called by one
  /// thread.
  KOKKOS_INLINE_FUNCTION T* find(std::int64_t tile, int round) const {
    if (blocks == 0) return nullptr;
    const std::int64_t found = relaxed_load(&entry(tile));
    // weights of the same round may not be visible yet
    if (found <= 0 || (found >> 32) > round) return nullptr;
    return values.data() + ((found & 0xffffffff) - 1) * size;
  }

  /// Returns a free block for a tile without one, or nullptr. Called by one thread, which calls
  /// publish() when the weights are computed.
  KOKKOS_INLINE_FUNCTION T* claim(std::int64_t tile) const {
    if (blocks == 0 || closed) return nullptr;
    if (Kokkos::atomic_compare_exchange(&entry(tile), std::int64_t(0), busy) != 0) return nullptr;
    const int number = Kokkos::atomic_fetch_add(&claimed(0), 1);
    if (number >= blocks) {
      relaxed_store(&entry(tile), std::int64_t(0));
      return nullptr;
    }
    const int block = half * blocks + number;
    owner(block) = static_cast<int>(tile);
    return values.data() + block * size;
  }

  /// Makes a claimed block known to later rounds.
  KOKKOS_INLINE_FUNCTION void publish(std::int64_t tile, const T* block, int round) const {
    const std::int64_t number = (block - values.data()) / size;
    relaxed_store(&entry(tile), (static_cast<std::int64_t>(round + 1) << 32) | (number + 1));
  }

  /// Frees the older half if the current one is used up. \return tiles whose weights were computed
  /// into blocks since the previous call with the same `counted`
  /// \param counted claims of the current half that were counted before; updated
  std::int64_t turn(const Instance<Memory>& exec, int& counted) {
    if (blocks == 0) return 0;
    int now = value_at(exec, claimed.data());
    now = now < blocks ? now : blocks;
    const std::int64_t more = now - counted;
    counted = now;
    if (now < blocks || !halves) return more;
    half = 1 - half;
    counted = 0;
    launch("moho::rays::free_weight_blocks", exec, blocks,
           FreeBlocks<Memory>{entry, owner, half * blocks});
    fill(exec, claimed, 0);
    return more;
  }

  /// Frees all blocks.
  void reset(const Instance<Memory>& exec) {
    if (blocks == 0) return;
    half = 0;
    fill(exec, entry, std::int64_t(0));
    fill(exec, owner, -1);
    fill(exec, claimed, 0);
  }
};

/// Returns blocks for a number of tiles. \param total blocks in all
template <class T, class Memory>
WeightBlocks<T, Memory> make_weight_blocks(const Instance<Memory>& exec, std::int64_t tiles,
                                           std::int64_t total, std::int64_t size) {
  WeightBlocks<T, Memory> result;
  result.size = size;
  result.halves = total < tiles;
  result.blocks = static_cast<int>(result.halves ? total / 2 : tiles);
  const std::int64_t all = result.halves ? 2 * result.blocks : result.blocks;
  result.values = allocate<decltype(result.values)>(exec, "moho::rays::weight_blocks", all * size);
  result.entry = allocate<decltype(result.entry)>(exec, "moho::rays::block_of_tile", tiles);
  result.owner = allocate<decltype(result.owner)>(exec, "moho::rays::tile_of_block", all);
  result.claimed = allocate<decltype(result.claimed)>(exec, "moho::rays::claimed_blocks", 1);
  result.reset(exec);
  return result;
}

}  // namespace moho::rays::detail
