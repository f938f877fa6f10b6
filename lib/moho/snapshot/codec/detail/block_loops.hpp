// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Loops over the blocks of a snapshot: encoding, gathering, decoding and sampling.

#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/snapshot/codec/detail/blocks.hpp>
#include <moho/snapshot/codec/detail/layout.hpp>
#include <moho/snapshot/codec/detail/statistics.hpp>
#include <moho/snapshot/codec/detail/transform.hpp>
#include <moho/snapshot/codec/packed.hpp>
#include <moho/snapshot/correlation.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace moho::snapshot::detail {

/// Blocks that a loop item processes: those that share an offset on hosts, one on devices.
template <class Memory>
inline constexpr std::int64_t blocks_an_item = is_host_memory<Memory> ? 32 : 1;

/// Launches a loop over items of blocks of unequal cost.
template <class Memory, class Body>
void launch_blocks(const char* label, const Instance<Memory>& exec, std::int64_t items,
                   const Body& body) {
  if constexpr (is_host_memory<Memory>) {
    launch_dynamic(label, exec, items, body);
  } else {
    launch(label, exec, items, body);
  }
}

/// Functor that encodes blocks; those of an item are consecutive in memory.
template <class Coder, class T, int Dim, class Memory>
struct EncodeBlocks {
  Coder coder;
  BlockSource<T, Dim> source;
  std::int64_t begin, end;  ///< range of blocks
  std::uint8_t* slots;
  std::uint16_t* lengths;
  std::int32_t* item_bytes;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    constexpr std::int64_t per = blocks_an_item<Memory>;
    alignas(64) float values[512];
    const std::int64_t first = begin + item * per;
    const std::int64_t last = first + per < end ? first + per : end;
    std::uint8_t* const start = slots + item * per * Coder::max_bytes;
    std::uint8_t* at = start;
    for (std::int64_t b = first; b < last; ++b) {
      source.load(b, values);
      const int bytes = coder.encode(values, at);
      lengths[b] = static_cast<std::uint16_t>(bytes);
      at += bytes;
    }
    item_bytes[item] = static_cast<std::int32_t>(at - start);
  }
};

/// Functor that computes the offsets of items in the payload, and of groups of blocks.
template <class Memory>
struct PlaceItems {
  const std::int32_t* item_bytes;
  std::int64_t* item_offsets;
  std::int64_t* group_offsets;
  std::int64_t first_block, base, group;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& sum,
                                         const bool final) const {
    if (final) {
      item_offsets[i] = base + sum;
      const std::int64_t block = first_block + i * blocks_an_item<Memory>;
      if (block % group == 0) group_offsets[block / group] = base + sum;
    }
    sum += item_bytes[i];
  }
};

/// PlaceItems for one of several device loops, which continues at the end of the previous one.
///
/// The loop begins at totals[0] bytes and ends at totals[1].
template <class Memory>
struct PlaceNextItems {
  PlaceItems<Memory> items;  ///< its base is unused
  std::int64_t* totals;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& sum,
                                         const bool final) const {
    if (final) {
      PlaceItems<Memory> next = items;
      next.base = totals[0];
      next(i, sum, true);
      if (i == count - 1) totals[1] = totals[0] + sum;
    } else {
      items(i, sum, false);
    }
  }
};

/// Functor that gathers the bytes of items, up to the capacity. On devices 32 threads share an
/// item.
template <class Memory>
struct GatherItems {
  static constexpr std::int64_t threads = is_host_memory<Memory> ? 1 : 32;
  const std::uint8_t* slots;
  std::int64_t slot;
  const std::int32_t* item_bytes;
  const std::int64_t* item_offsets;
  std::uint8_t* payload;
  std::int64_t room;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t item = n / threads;
    const std::uint8_t* const from = slots + item * slot;
    std::uint8_t* const to = payload + item_offsets[item];
    const std::int64_t bytes = item_bytes[item];
    if constexpr (is_host_memory<Memory>) {
      memcpy(to, from, static_cast<std::size_t>(bytes));
    } else {
      if (item_offsets[item] + bytes > room) return;
      if ((bytes | item_offsets[item] | slot) % 4 == 0) {
        const auto* const words = reinterpret_cast<const std::uint32_t*>(from);
        auto* const out = reinterpret_cast<std::uint32_t*>(to);
        for (std::int64_t i = n % threads; i < bytes / 4; i += threads) out[i] = words[i];
      } else {
        for (std::int64_t i = n % threads; i < bytes; i += threads) to[i] = from[i];
      }
    }
  }
};

/// Functor that encodes blocks of a fixed length.
template <class T, int Dim, class Memory>
struct EncodeFixed {
  FixedCoder coder;
  BlockSource<T, Dim> source;
  std::int64_t count;
  float* scales;
  std::uint8_t* blocks;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    constexpr std::int64_t per = blocks_an_item<Memory>;
    alignas(64) float values[512];
    for (std::int64_t b = item * per; b < (item + 1) * per && b < count; ++b) {
      source.load(b, values);
      scales[b] = coder.encode(values, blocks + b * coder.block_bytes());
    }
  }
};

/// Functor that decodes blocks and passes their nodes to a target.
template <class Coder, class Target, int Dim, class Memory>
struct DecodeBlocks {
  Coder coder;
  Target target;
  BlockGrid<Dim> blocks;
  std::int64_t count;
  const std::uint16_t* lengths;
  const std::int64_t* offsets;
  const std::uint8_t* payload;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    constexpr std::int64_t per = blocks_an_item<Memory>;
    constexpr std::int64_t group = Packed<Dim, Memory>::group;
    alignas(64) float values[512];
    const std::int64_t first = item * per;
    const std::int64_t last = first + per < count ? first + per : count;
    std::int64_t at = offsets[first / group];
    for (std::int64_t b = first / group * group; b < first; ++b) at += lengths[b];
    for (std::int64_t b = first; b < last; ++b) {
      const int bytes = lengths[b];
      const Index<Dim> node = blocks.first(b);
      if (BlockGrid<Dim>::meets(target.box, node)) {
        if (bytes > 0) {
          coder.decode(payload + at, payload + at + bytes, values);
        } else {
          for (int e = 0; e < 512; ++e) values[e] = 0.0f;
        }
        target.store(node, values);
      }
      at += bytes;
    }
  }
};

/// Functor that decodes blocks of a fixed length and passes their nodes to a target.
template <class Target, int Dim, class Memory>
struct DecodeFixed {
  FixedCoder coder;
  Target target;
  BlockGrid<Dim> blocks;
  std::int64_t count;
  const float* scales;
  const std::uint8_t* payload;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    constexpr std::int64_t per = blocks_an_item<Memory>;
    alignas(64) float values[512];
    for (std::int64_t b = item * per; b < (item + 1) * per && b < count; ++b) {
      const Index<Dim> node = blocks.first(b);
      if (!BlockGrid<Dim>::meets(target.box, node)) continue;
      coder.decode(payload + b * coder.block_bytes(), scales[b], values);
      target.store(node, values);
    }
  }
};

/// Sample of blocks: one of every `stride`, at an irregular position among them.
struct Sample {
  std::int64_t blocks = 0;  ///< blocks of the box
  std::int64_t stride = 1;
  std::int64_t items = 1;  ///< items of the loop over the sample
  /// Returns the number of blocks of the sample.
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return (blocks + stride - 1) / stride; }
  /// Returns a block of the sample, or `blocks` if it has no such block.
  KOKKOS_INLINE_FUNCTION std::int64_t block(std::int64_t n) const {
    auto mixed = static_cast<std::uint64_t>(n) * 0x9e3779b97f4a7c15ull;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9ull;
    mixed ^= mixed >> 32;
    const std::int64_t block =
        n * stride + static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(stride));
    return block < blocks ? block : blocks - 1;
  }
  /// Sets the range of sample blocks that an item processes.
  KOKKOS_INLINE_FUNCTION void part(std::int64_t item, std::int64_t& begin,
                                   std::int64_t& end) const {
    begin = count() * item / items;
    end = count() * (item + 1) / items;
  }
};

/// Histogram of the coefficients' magnitudes of a sample, and the energy of its nodes in the box.
///
/// Each coefficient counts as often as its block has nodes in the box.
template <class T, int Dim>
struct SampleMagnitudes {
  BlockSource<T, Dim> source;
  Sample sample;
  std::uint64_t* counts;  ///< counts of every item
  double* squares;        ///< sums of squares of every item
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    alignas(64) float values[512];
    alignas(64) float work[512];
    std::uint64_t* const own = counts + item * MagnitudeBins::count;
    for (int i = 0; i < MagnitudeBins::count; ++i) own[i] = 0;
    double energy = 0.0;
    std::int64_t begin = 0, end = 0;
    sample.part(item, begin, end);
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t b = sample.block(n);
      source.load(b, values);
      const int inside = source.blocks.inside(b);
      transform_block<Dim>(values, work);
      float sum = 0.0f;
      for (int e = 0; e < 512; ++e) sum += values[e] * values[e];
      energy += static_cast<double>(sum) * inside / 512.0;
      for (int e = 0; e < 512; ++e) {
        own[MagnitudeBins::of(fabsf(values[e]))] += static_cast<std::uint64_t>(inside);
      }
    }
    squares[item] = energy;
  }
};

/// Counts of the symbols of a sample, and the energy of its errors.
template <class Coder, class T, int Dim>
struct SampleSymbols {
  Coder coder;
  BlockSource<T, Dim> source;
  Sample sample;
  std::uint32_t* counts;  ///< counts of every item
  double* errors;         ///< energies of every item
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    alignas(64) float values[512];
    std::uint32_t* const own = counts + item * Coder::alphabets * symbols;
    for (int i = 0; i < Coder::alphabets * symbols; ++i) own[i] = 0;
    std::int64_t begin = 0, end = 0;
    double energy = 0.0;
    sample.part(item, begin, end);
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t b = sample.block(n);
      source.load(b, values);
      coder.count(values, own);
      // Outside the box, where one node replaces many, errors are smaller than inside.
      const bool whole = source.blocks.inside(b) == BlockGrid<Dim>::nodes;
      if (!whole) Coder::back(values);
      energy += static_cast<double>(energy_of(values, source.blocks, b, whole));
    }
    errors[item] = energy;
  }
  /// Returns the sum of squares of a block, over nodes in the box alone for a partial block.
  KOKKOS_INLINE_FUNCTION static float energy_of(const float* values, const BlockGrid<Dim>& blocks,
                                                std::int64_t block, bool whole) {
    float sum = 0.0f;
    if (whole) {
      for (int e = 0; e < 512; ++e) sum += values[e] * values[e];
      return sum;
    }
    const Index<Dim> first = blocks.first(block);
    for (int e = 0; e < 512; ++e) {
      Index<Dim> node = first;
      int rest = e;
      for (int d = Dim - 1; d >= 0; --d) {
        node[d] += rest % BlockGrid<Dim>::side(d);
        rest /= BlockGrid<Dim>::side(d);
      }
      if (blocks.box.contains(node)) sum += values[e] * values[e];
    }
    return sum;
  }
};

/// Functor that sums over rows.
template <class Value>
struct SumRows {
  const Value* rows;
  std::uint64_t* sums;
  std::int64_t columns, count;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t column) const {
    std::uint64_t sum = 0;
    for (std::int64_t r = 0; r < count; ++r) sum += rows[r * columns + column];
    sums[column] = sum;
  }
};

/// Functor that writes nodes into an array: one by one, four by four, or at array().
template <class T, int Dim>
struct StoreNodes {
  T* first;            ///< element of node (0, ..., 0), which may lie outside the array
  Index<Dim> strides;  ///< strides; the last is 1

  /// Returns the functor for a padded array.
  static StoreNodes of(T* field, const wave::Layout<Dim>& layout) {
    return {field + layout.offset, layout.strides};
  }
  /// Returns the element of a node.
  KOKKOS_FORCEINLINE_FUNCTION T* array(const Index<Dim>& node) const {
    std::int64_t element = 0;
    for (int d = 0; d < Dim; ++d) element += node[d] * strides[d];
    return first + element;
  }
  /// Returns the elements between nodes along each axis.
  KOKKOS_FORCEINLINE_FUNCTION const Index<Dim>& steps() const { return strides; }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Index<Dim>& node, T value) const {
    *array(node) = value;
  }
  /// A store that overwrites needs no previous values.
  struct Loaded {};
  KOKKOS_FORCEINLINE_FUNCTION Loaded before(const Index<Dim>&) const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void four(const Index<Dim>& node, const Loaded&,
                                        const kernel::Pack4<T>& values) const {
    kernel::store_pack(array(node), values);
  }
};

/// \brief Returns the quantum whose rounding gives a requested energy of errors.
/// \param counts counts of MagnitudeBins
/// \param rounding TransformCoder::rounding
/// \param noise requested sum of squared errors of the sample
double quantum_for_noise(const std::vector<std::uint64_t>& counts, double rounding, double noise);

/// \brief Returns the quantum of integers whose values have a bounded error after rounding.
/// \param max largest amplitude
/// \param error largest allowed error
/// \param unit distance of the smallest numbers that the field can represent
double quantum_for_error(double max, double error, double unit);

/// Returns the levels of the square root for errors of squares up to `error` of the largest.
double levels_for_error(double error);

}  // namespace moho::snapshot::detail
