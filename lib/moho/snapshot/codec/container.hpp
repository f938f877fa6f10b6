// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Container format of compressed snapshots: labelled bytes with checksums.

#include <moho/core/grid.hpp>
#include <moho/snapshot/codec/packed.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::snapshot {

/// Bytes of the payload of a container that share a CRC32C.
inline constexpr std::size_t checksum_piece = std::size_t{1} << 20;

/// Label of a snapshot in a container: data that decoding does not need.
template <int Dim>
struct SnapshotLabel {
  Grid<Dim> grid{};       ///< grid of the wavefield
  std::int64_t step = 0;  ///< step of the run
  double time = 0.0;      ///< time, s
};

/// \brief Returns a snapshot with its label as bytes.
///
/// The parts are magic, byte order, version, sizes, label, header, code lengths, block lengths, and
/// a CRC32C of all these. The payload follows, a CRC32C for each MiB of it, and one of this list.
/// Numbers are in the byte order of the machine. \throws InputError for a box outside the label's
/// grid
template <int Dim>
std::vector<std::uint8_t> to_container(const Packed<Dim, Kokkos::HostSpace>& packed,
                                       const SnapshotLabel<Dim>& label);

/// \brief Reads a snapshot from the bytes of a container; all bytes are checked before use.
/// \param data the bytes
/// \param bytes number of bytes
/// \param name source in messages: the file's name
/// \param label receives the label
/// \throws FileError for bytes that are not a container of this dimension, of another version or
///   byte order, too few or too many, or changed
template <int Dim>
Packed<Dim, Kokkos::HostSpace> from_container(const std::uint8_t* data, std::size_t bytes,
                                              const std::string& name, SnapshotLabel<Dim>& label);

}  // namespace moho::snapshot
