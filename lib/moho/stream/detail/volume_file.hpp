// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Volume in a file: memory-mapped arrays, and a head that identifies the complete state.

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::stream {

/// \brief Memory-mapped file with a head of two entries, written alternately.
///
/// Each entry has a checksum, so that an entry that was interrupted is ignored, and the other one
/// is valid. The owner of the run removes the file at the end.
class VolumeFile {
 public:
  /// \brief Creates a file with all bytes allocated on the disk, or opens an existing one.
  /// \param path of the file; a file of another kind or another run is never replaced
  /// \param key identifies the run
  /// \param bytes of all arrays, without the head
  /// \param resume true to continue an existing file of this run
  /// \throws FileError naming the cause: no such folder, no room, a foreign file
  VolumeFile(const std::string& path, const std::string& key, std::size_t bytes, bool resume);
  VolumeFile(const VolumeFile&) = delete;
  VolumeFile& operator=(const VolumeFile&) = delete;
  ~VolumeFile();

  /// Returns the next array, page-aligned. Arrays have the order of the first calls.
  void* take(std::size_t bytes);
  /// Returns the steps done in the complete state.
  std::int64_t level() const { return m_level; }
  /// Returns the index of the complete state, 0 or 1.
  int generation() const { return m_generation; }
  /// Writes all arrays to the disk, and then the head.
  void commit(std::int64_t level, int generation);
  /// Returns the path.
  const std::string& path() const { return m_path; }

 private:
  void write_head();

  std::string m_path;
  std::uint32_t m_key = 0;
  int m_file = -1;
  char* m_begin = nullptr;
  std::size_t m_bytes = 0, m_used = 0;
  bool m_continued = false;
  std::int64_t m_level = 0;
  std::uint64_t m_number = 0;  ///< number of commits
  int m_generation = 0;
};

/// \brief Checks that a path is free, or with `resume` has the volume of this run.
/// \throws FileError as VolumeFile, for a foreign file; nothing is changed
void check_volume(const std::string& path, const std::string& key, bool resume);

/// Returns true for a file that is the volume of the run with a given key.
bool is_volume_of(const std::string& path, const std::string& key);

/// \brief Measures B/s written to and read from a temporary file next to a given path.
///
/// They are the rates of a volume's disk. Pages that the system caches may speed up reading.
/// \throws FileError if the file cannot be created
void measure_disk(const std::string& path, double& in, double& out);

}  // namespace moho::stream
