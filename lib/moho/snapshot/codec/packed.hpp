// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Compressed snapshot in memory.

#include <moho/core/copy.hpp>
#include <moho/snapshot/codec/detail/huffman.hpp>
#include <moho/snapshot/codec/detail/layout.hpp>
#include <moho/snapshot/codec/types.hpp>

#include <cstdint>
#include <vector>

namespace moho::snapshot {

/// \brief Header of a compressed snapshot: mode, box and numbers of the codec.
///
/// Values are p 2^exponent / unit, unit being `quantum` (lorenzo, transform). In the mode paper p
/// 2^exponent is peak (n / levels)^2 with the sign of n.
template <int Dim>
struct PackedHeader {
  CodecMode mode = CodecMode::transform;  ///< compression mode
  Box<Dim> box{};                         ///< nodes of the snapshot
  int bits = 0;                           ///< blocks: bits of a node
  int exponent = 0;      ///< exponent of the power of two by which values were multiplied
  float quantum = 1.0f;  ///< lorenzo, transform
  float levels = 1.0f;   ///< paper: levels of the square root of the largest amplitude
  float peak = 1.0f;     ///< paper: the largest amplitude times 2^exponent
  double max = 0.0;      ///< largest amplitude of the field
  /// Modes transform, paper: lengths of Huffman codes, 256 for each alphabet.
  std::vector<std::uint8_t> code_lengths;

  /// Returns the number of alphabets of a mode.
  static int alphabets(CodecMode mode) {
    return mode == CodecMode::transform ? 8 : mode == CodecMode::paper ? 1 : 0;
  }
  /// Returns true for modes whose blocks differ in length.
  bool variable() const { return mode != CodecMode::blocks; }
  /// Returns the offset of the first block of the mode `blocks`.
  ///
  /// The scales of all blocks precede it; it is a multiple of 128 bytes.
  std::int64_t first_block() const { return (4 * BlockGrid<Dim>(box).size() + 127) / 128 * 128; }
};

/// \brief A compressed snapshot. Blocks are those of BlockGrid, in its order.
///
/// A copy refers to the same memory.
template <int Dim, class Memory>
struct Packed {
  static constexpr std::int64_t group = 32;    ///< blocks that share an offset
  static constexpr std::int64_t padding = 16;  ///< bytes after the payload that may also be read

  PackedHeader<Dim> header;                      ///< header
  Kokkos::View<std::uint16_t*, Memory> lengths;  ///< bytes of every block; empty in mode blocks
  Kokkos::View<std::int64_t*, Memory> offsets;   ///< offset of every 32nd block
  Kokkos::View<std::uint8_t*, Memory> payload;   ///< the blocks, and padding
  std::int64_t payload_bytes = 0;                ///< bytes without padding

  /// Returns the stored bytes: payload, lengths, codes, and 128 for all other data.
  std::int64_t bytes() const {
    return payload_bytes + 2 * static_cast<std::int64_t>(lengths.size()) + 128 +
           static_cast<std::int64_t>(detail::pack_lengths(header.code_lengths).size());
  }
  /// Returns the bytes of the nodes in single precision.
  std::int64_t raw_bytes() const { return 4 * header.box.size(); }
  /// Returns raw_bytes() over bytes().
  double ratio() const { return static_cast<double>(raw_bytes()) / static_cast<double>(bytes()); }
};

/// \brief Returns a copy of a compressed snapshot in another memory space; waits for completion.
///
/// `exec` is an instance of the device, if one of the memories belongs to a device.
template <class To, int Dim, class From, class ExecMemory>
Packed<Dim, To> copy_packed(const Instance<ExecMemory>& exec, const Packed<Dim, From>& from) {
  Packed<Dim, To> to;
  to.header = from.header;
  to.payload_bytes = from.payload_bytes;
  const auto place = [](auto& view, const char* label, std::size_t size) {
    view = std::decay_t<decltype(view)>(
        Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), size);
  };
  place(to.lengths, "moho::snapshot::lengths", from.lengths.size());
  place(to.offsets, "moho::snapshot::offsets", from.offsets.size());
  const auto bytes = static_cast<std::size_t>(from.payload_bytes + Packed<Dim, To>::padding);
  place(to.payload, "moho::snapshot::payload", from.payload.size() == 0 ? 0 : bytes);
  if (from.lengths.size() > 0) copy(exec, to.lengths, from.lengths);
  if (from.offsets.size() > 0) copy(exec, to.offsets, from.offsets);
  if (from.payload.size() > 0) {
    copy(exec, to.payload,
         Kokkos::subview(from.payload, std::pair<std::size_t, std::size_t>(0, bytes)));
  }
  exec.fence();
  return to;
}

}  // namespace moho::snapshot
