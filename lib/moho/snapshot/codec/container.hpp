// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Compressed snapshots as bytes that say themselves what they are and whether they are
/// whole.

#include <moho/core/grid.hpp>
#include <moho/snapshot/codec/packed.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::snapshot {

/// What a container says about its snapshot besides what decoding takes.
template <int Dim>
struct SnapshotLabel {
  Grid<Dim> grid{};       ///< of the wavefield
  std::int64_t step = 0;  ///< of the run
  double time = 0.0;      ///< s
};

/// \brief A snapshot with its label as bytes.
///
/// Magic, byte order, version, sizes, label, header, code lengths, block lengths, and a CRC32C of
/// all these; the payload; a CRC32C for each MiB of it, and one of this list. Numbers are in the
/// byte order of the machine. \throws InputError for a box that is not in the label's grid
template <int Dim>
std::vector<std::uint8_t> to_container(const Packed<Dim, Kokkos::HostSpace>& packed,
                                       const SnapshotLabel<Dim>& label);

/// \brief The way back. Everything is checked before anything is used.
/// \param data the bytes
/// \param bytes how many
/// \param name what messages call them: the file's name
/// \param label set to the label
/// \throws FileError for bytes that are no container of this dimension, of another version or byte
/// order, too few or too many, or changed
template <int Dim>
Packed<Dim, Kokkos::HostSpace> from_container(const std::uint8_t* data, std::size_t bytes,
                                              const std::string& name, SnapshotLabel<Dim>& label);

}  // namespace moho::snapshot
