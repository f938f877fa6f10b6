// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Loops around EncodeLorenzoLanes: an estimate of the largest amplitude, and the payload.

#include <moho/snapshot/codec/detail/lorenzo_lanes.hpp>
#include <moho/snapshot/codec/detail/statistics.hpp>

#include <cstdint>

namespace moho::snapshot::detail {

/// Largest amplitude of sample rows, by 32 threads for 512 nodes of a row.
struct SampleRowsLanes {
  const float* field;
  wave::Layout<3> layout;
  SampleRows rows;
  std::int64_t pieces;  ///< pieces of a row
  LorenzoFindings* findings;

  /// Returns the threads of the loop.
  std::int64_t threads() const { return rows.size() * pieces * block_lanes; }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t part = n / block_lanes;
    const Index<3> row = rows.row(part / pieces);
    if (row[1] >= rows.box.upper[1]) return;
    const std::int64_t first = part % pieces * 512 + n % block_lanes;
    const std::int64_t count = rows.box.upper[2] - rows.box.lower[2];
    const float* const from = field + layout.flat(row);
    std::uint32_t peak = 0;
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t size =
          first + 32 * i < count ? bits_of(from[first + 32 * i]) & 0x7fffffffu : 0u;
      peak = size > peak ? size : peak;
    }
    peak = max_of_lanes(peak);
    if (n % block_lanes == 0 && peak > findings->max) {
      Kokkos::atomic_fetch_max(&findings->max, peak);
    }
  }
};

/// Scan over groups of blocks that share an offset: offsets, and the sum of all lengths.
template <int Dim, class Memory>
struct PlaceGroups {
  static constexpr std::int64_t group = Packed<Dim, Memory>::group;
  const std::uint16_t* lengths;
  std::int64_t* offsets;
  std::int64_t blocks;
  LorenzoFindings* findings;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& sum,
                                         const bool final) const {
    const std::int64_t first = i * group;
    const std::int64_t last = first + group < blocks ? first + group : blocks;
    if (final) offsets[i] = sum;
    for (std::int64_t b = first; b < last; ++b) sum += lengths[b];
    if (final && last == blocks) findings->bytes = sum;
  }
};

/// Functor that copies blocks from the store to the payload, four at a time by 32 threads.
struct GatherLorenzo {
  static constexpr std::int64_t at_once = 4, group = 32;
  const std::uint32_t* store;
  const std::uint16_t* lengths;
  const std::int64_t* positions;
  const std::int64_t* offsets;
  std::uint32_t* payload;
  std::int64_t blocks;

  /// Returns the threads of the loop.
  static std::int64_t threads(std::int64_t blocks) {
    return (blocks + at_once - 1) / at_once * block_lanes;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const int lane = static_cast<int>(n % block_lanes);
    const std::int64_t begin = n / block_lanes * at_once;
    const std::int64_t first = begin / group * group;
    const int own = static_cast<int>(begin - first) + lane / 8;
    const int length = first + lane < blocks ? lengths[first + lane] : 0;
    const int up_to = LorenzoLanes<3>::sum_up_to<1, 32>(length, lane);
    const int words = from_lane(length, own) / 4;
    const int before = from_lane(up_to, own) / 4 - words;
    if (words == 0) return;
    const std::uint32_t* const from = store + positions[first + own];
    std::uint32_t* const to = payload + offsets[first / group] / 4 + before;
    for (int k = lane % 8; k < words; k += 8) to[k] = from[k];
  }
};

}  // namespace moho::snapshot::detail
