// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Stable radix sort of keys with their positions, in any memory space.

#include <moho/core/copy.hpp>

#include <cstdint>
#include <utility>

namespace moho::gravity::detail {

/// A key, and what it belongs to.
struct KeyOf {
  std::uint64_t key;
  std::int64_t value;
};

/// One pass of eight bits: blocks of keys have a count of each digit.
struct RadixPass {
  static constexpr int digits = 256;
  const KeyOf* from;
  KeyOf* to;
  std::int64_t count, block, blocks;
  int shift;
  std::int64_t* counts;  ///< digits x blocks

  KOKKOS_FORCEINLINE_FUNCTION int digit(const KeyOf& item) const {
    return static_cast<int>(item.key >> shift & 255u);
  }
};

/// Counts the digits of a block.
struct CountDigits {
  RadixPass pass;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t b) const {
    for (int d = 0; d < RadixPass::digits; ++d) pass.counts[d * pass.blocks + b] = 0;
    const std::int64_t begin = b * pass.block;
    const std::int64_t end = begin + pass.block < pass.count ? begin + pass.block : pass.count;
    for (std::int64_t i = begin; i < end; ++i) {
      ++pass.counts[pass.digit(pass.from[i]) * pass.blocks + b];
    }
  }
};

/// Replaces counts by the sums of all counts before them.
struct ScanCounts {
  std::int64_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& sum,
                                         const bool final) const {
    const std::int64_t own = counts[i];
    if (final) counts[i] = sum;
    sum += own;
  }
};

/// Places the keys of a block.
struct PlaceKeys {
  RadixPass pass;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t b) const {
    const std::int64_t begin = b * pass.block;
    const std::int64_t end = begin + pass.block < pass.count ? begin + pass.block : pass.count;
    for (std::int64_t i = begin; i < end; ++i) {
      const KeyOf item = pass.from[i];
      pass.to[pass.counts[pass.digit(item) * pass.blocks + b]++] = item;
    }
  }
};

/// Greatest of keys.
struct GreatestKey {
  using value_type = std::uint64_t;
  const KeyOf* keys;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::uint64_t& value) const {
    if (keys[i].key > value) value = keys[i].key;
  }
  KOKKOS_INLINE_FUNCTION void init(std::uint64_t& value) const { value = 0; }
  KOKKOS_INLINE_FUNCTION void join(std::uint64_t& to, const std::uint64_t& from) const {
    if (from > to) to = from;
  }
};

/// Sorts keys; equal keys keep their order.
template <class Memory>
void sort_keys(const Instance<Memory>& exec, Kokkos::View<KeyOf*, Memory>& keys) {
  const auto count = static_cast<std::int64_t>(keys.extent(0));
  if (count < 2) return;
  const std::uint64_t max =
      reduce("moho::gravity::greatest_key", exec, count, GreatestKey{keys.data()});
  RadixPass pass{};
  pass.count = count;
  const std::int64_t min = is_host_memory<Memory> ? 4096 : 256;
  const std::int64_t fair = is_host_memory<Memory> ? count / (4 * exec.concurrency()) : 0;
  pass.block = fair > min ? fair : min;
  pass.blocks = (count + pass.block - 1) / pass.block;
  const auto other = allocate<Kokkos::View<KeyOf*, Memory>>(exec, "moho::gravity::keys", count);
  const auto counts = allocate<Kokkos::View<std::int64_t*, Memory>>(
      exec, "moho::gravity::digits", RadixPass::digits * pass.blocks);
  pass.counts = counts.data();
  Kokkos::View<KeyOf*, Memory> from = keys, to = other;
  for (pass.shift = 0; pass.shift < 64 && max >> pass.shift != 0; pass.shift += 8) {
    pass.from = from.data();
    pass.to = to.data();
    launch("moho::gravity::count_digits", exec, pass.blocks, CountDigits{pass});
    scan<std::int64_t>("moho::gravity::scan_digits", exec, RadixPass::digits * pass.blocks,
                       ScanCounts{counts.data()});
    launch("moho::gravity::place_keys", exec, pass.blocks, PlaceKeys{pass});
    std::swap(from, to);
  }
  exec.fence();
  keys = from;
}

}  // namespace moho::gravity::detail
