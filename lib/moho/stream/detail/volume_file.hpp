// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A volume in a file: arrays that the system reads and writes, and a head that says which
/// state is whole.

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::stream {

/// \brief A file that is mapped into memory, with a head of two entries written in turn.
///
/// Each entry has a checksum, so that one that was being written when the machine stopped is not
/// believed, and the other one holds. The file is removed by who makes it, when the run is done.
class VolumeFile {
 public:
  /// \brief Makes a file of so many bytes besides its head, all of them allocated on the disk, or
  /// opens the one that is there.
  /// \param path of the file; a file of another kind or another run is never replaced
  /// \param key what the run is
  /// \param bytes of all arrays
  /// \param resume a file that is there, of this run, is continued
  /// \throws FileError naming what is wrong: no such folder, no room, a foreign file
  VolumeFile(const std::string& path, const std::string& key, std::size_t bytes, bool resume);
  VolumeFile(const VolumeFile&) = delete;
  VolumeFile& operator=(const VolumeFile&) = delete;
  ~VolumeFile();

  /// The next array, on a boundary of a page. Arrays come in the order in which they were first
  /// taken.
  void* take(std::size_t bytes);
  /// True where the file was there, and a state in it.
  bool continued() const { return m_continued; }
  /// Steps done in the state that is whole.
  std::int64_t level() const { return m_level; }
  /// Which of the two states that is.
  int generation() const { return m_generation; }
  /// Writes all arrays to the disk, and then the head.
  void commit(std::int64_t level, int generation);
  /// Where it is.
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
  std::uint64_t m_number = 0;  ///< of commits
  int m_generation = 0;
};

/// True for a file that is the volume of the run that a key says.
bool is_volume_of(const std::string& path, const std::string& key);

/// \brief Bytes a second that are written to and read from a file beside another one, which is made
/// and removed: what a volume's disk does. Pages that the system keeps may make reading faster.
/// \throws FileError where it cannot be made
void measure_disk(const std::string& path, double& in, double& out);

}  // namespace moho::stream
