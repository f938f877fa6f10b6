// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The snapshots of a shot in a scratch file.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/timeline.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/scratch_file.hpp>
#include <moho/snapshot/strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace moho::snapshot {

/// Options of stores with snapshots in files.
template <int Dim>
struct SnapshotFileOptions {
  std::filesystem::path folder;  ///< existing folder; the file there has no name and is never left
  Grid<Dim> grid;                ///< grid of the wavefield
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  ///< bytes of a shot
  int queue = file_queue;  ///< snapshots that wait for the disk, or are read ahead; 1 or more
};

namespace detail {
/// Returns a number of queued snapshots. \throws InputError for less than 1
inline std::size_t queue_length(int queue) {
  if (queue >= 1) return static_cast<std::size_t>(queue);
  throw InputError(concat("queue: ", queue, " snapshots wait for the disk (allowed: 1 or more)"));
}
}  // namespace detail

/// \brief The snapshots of a shot as bytes in a scratch file, with checksums.
///
/// One thread writes all snapshots; afterwards one thread reads them.
class SnapshotFile {
 public:
  /// \param folder existing folder
  /// \param limit largest number of bytes
  /// \param timeline receives the spans "write snapshot" and "read snapshot"; may be null
  /// \throws FileError if no file can be made there
  SnapshotFile(const std::filesystem::path& folder, std::uint64_t limit, Timeline* timeline)
      : m_file(folder, limit), m_timeline(timeline) {}

  /// Writes the snapshot of a time. \throws FileError as io::ScratchFile::append()
  void write(std::int64_t time, const void* data, std::size_t bytes) {
    const TimelineSpan span(m_timeline, "write snapshot", static_cast<std::int64_t>(bytes));
    m_entries[time] = {m_file.append(data, bytes), bytes, io::crc32c(data, bytes)};
  }
  /// Returns the number of bytes of the snapshot of a time.
  std::size_t size_of(std::int64_t time) const { return m_entries.at(time).bytes; }
  /// Reads the size_of(time) bytes of the snapshot of a time. \throws FileError if it cannot be
  /// read, or has changed
  void read(std::int64_t time, void* destination) const {
    const Entry& entry = m_entries.at(time);
    const TimelineSpan span(m_timeline, "read snapshot", static_cast<std::int64_t>(entry.bytes));
    m_file.read(entry.offset, destination, entry.bytes);
    if (io::crc32c(destination, entry.bytes) == entry.checksum) return;
    throw FileError(concat("cannot read ", m_file.name(), " (the checksum of the snapshot of step ",
                           time, " is wrong): check the disk, or choose another folder"));
  }
  /// Returns the bytes of the snapshot of a time. \throws FileError as above
  std::vector<std::uint8_t> read(std::int64_t time) const {
    std::vector<std::uint8_t> bytes(size_of(time));
    read(time, bytes.data());
    return bytes;
  }
  /// Returns the number of bytes written.
  std::uint64_t size() const { return m_file.size(); }
  /// Returns the name of the file for messages.
  const std::string& name() const { return m_file.name(); }

 private:
  struct Entry {
    std::uint64_t offset;
    std::size_t bytes;
    std::uint32_t checksum;
  };
  io::ScratchFile m_file;
  Timeline* m_timeline;
  std::map<std::int64_t, Entry> m_entries;
};

}  // namespace moho::snapshot
