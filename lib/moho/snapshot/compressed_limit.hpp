// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory limit of stores of compressed snapshots, and the file of snapshots beyond it.

#include <moho/core/error.hpp>
#include <moho/core/timeline.hpp>
#include <moho/snapshot/codec/container.hpp>
#include <moho/snapshot/codec/packed.hpp>
#include <moho/snapshot/snapshot_file.hpp>

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace moho::snapshot {

/// Memory for the compressed snapshots of a shot, whose size is not known before they are made.
template <int Dim>
struct CompressedLimit {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  ///< of all snapshots in memory
  std::optional<SnapshotFileOptions<Dim>> files = {};  ///< file of those beyond; empty: an error
};

namespace detail {

/// Returns the bytes of the header, the views and the entry of a compressed snapshot in a store.
template <int Dim>
std::uint64_t entry_bytes(CodecMode mode) {
  return 1024 + 256 * static_cast<std::uint64_t>(PackedHeader<Dim>::alphabets(mode));
}

/// Returns the memory of a compressed snapshot with its entry in a store.
template <int Dim, class Memory>
std::uint64_t held_bytes(const Packed<Dim, Memory>& packed) {
  return 2 * packed.lengths.size() + 8 * packed.offsets.size() + packed.payload.size() +
         entry_bytes<Dim>(packed.header.mode);
}

/// \brief Counts the compressed snapshots in memory, and writes those beyond a limit to a file.
///
/// Any thread may call any function.
template <int Dim>
class LimitedMemory {
 public:
  /// \param limit memory and file \param timeline receives spans of the file; may be null
  explicit LimitedMemory(CompressedLimit<Dim> limit, Timeline* timeline = nullptr)
      : m_limit(std::move(limit)), m_timeline(timeline) {}

  /// Counts a snapshot of `bytes`, and returns true, unless it exceeds the memory.
  bool claim(std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_requested += bytes;
    if (m_held + bytes > m_limit.bytes) return false;
    m_held += bytes;
    return true;
  }
  /// \brief Writes a snapshot that exceeds the memory to the file.
  /// \throws MemoryError without files; FileError as SnapshotFile
  void write(std::int64_t time, const Packed<Dim, Kokkos::HostSpace>& packed) {
    const std::lock_guard lock(m_mutex);
    if (!m_limit.files) {
      throw MemoryError(concat("snapshots up to step ", time, " take ",
                               format_bytes(static_cast<double>(m_requested)),
                               " compressed, more than planned (allowed: ",
                               format_bytes(static_cast<double>(m_limit.bytes)),
                               " of memory, and no files): allow more memory or files, or choose "
                               "another method"));
    }
    if (!m_file) m_file.emplace(m_limit.files->folder, m_limit.files->limit, m_timeline);
    const auto bytes = to_container<Dim>(packed, {m_limit.files->grid, time, 0.0});
    m_file->write(time, bytes.data(), bytes.size());
    m_times.insert(time);
  }
  /// Returns true if the snapshot of a time is in the file.
  bool has(std::int64_t time) const {
    const std::lock_guard lock(m_mutex);
    return m_times.count(time) > 0;
  }
  /// Returns the snapshot of a time from the file. \throws FileError as SnapshotFile
  Packed<Dim, Kokkos::HostSpace> read(std::int64_t time) const {
    const std::lock_guard lock(m_mutex);
    const std::vector<std::uint8_t> bytes = m_file->read(time);
    SnapshotLabel<Dim> label;
    return from_container<Dim>(bytes.data(), bytes.size(), m_file->name(), label);
  }
  /// Returns the bytes of the snapshots in memory.
  std::uint64_t held() const {
    const std::lock_guard lock(m_mutex);
    return m_held;
  }
  /// Returns the number of snapshots in the file.
  std::int64_t written() const {
    const std::lock_guard lock(m_mutex);
    return static_cast<std::int64_t>(m_times.size());
  }
  /// Returns the bytes of the file.
  std::size_t file_bytes() const {
    const std::lock_guard lock(m_mutex);
    return m_file ? static_cast<std::size_t>(m_file->size()) : 0;
  }

 private:
  CompressedLimit<Dim> m_limit;
  Timeline* m_timeline;
  mutable std::mutex m_mutex;  ///< guards all following members
  std::uint64_t m_held = 0, m_requested = 0;
  std::optional<SnapshotFile> m_file;
  std::set<std::int64_t> m_times;  ///< of the snapshots in the file
};

}  // namespace detail

}  // namespace moho::snapshot
