// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Compressed snapshots in files, which are complete or absent.

#include <moho/io/input_file.hpp>
#include <moho/io/writer.hpp>
#include <moho/snapshot/codec/container.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace moho::snapshot {

/// \brief Writes a snapshot under a temporary name and renames it when it is complete.
/// \throws InputError as to_container(), FileError if it cannot be written, which leaves no file
template <int Dim>
void write_snapshot(const std::filesystem::path& path, const Packed<Dim, Kokkos::HostSpace>& packed,
                    const SnapshotLabel<Dim>& label) {
  const std::vector<std::uint8_t> bytes = to_container<Dim>(packed, label);
  io::AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit(bytes.size());
}

/// \brief Reads a snapshot. \throws FileError if it is missing, and as from_container()
template <int Dim>
Packed<Dim, Kokkos::HostSpace> read_snapshot(const std::filesystem::path& path,
                                             SnapshotLabel<Dim>& label) {
  const io::InputFile file(path);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.size()));
  file.read(0, bytes.data(), bytes.size());
  return from_container<Dim>(bytes.data(), bytes.size(), file.name(), label);
}

}  // namespace moho::snapshot
