// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Temporary data on a disk that nothing has to remove, and the rate of a disk.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace moho::io {

/// \brief A file without a name for temporary data.
///
/// The name is removed right after the file is opened. The system frees its space when the object
/// is destroyed or the process ends. Data are flushed to the disk by the system.
class ScratchFile {
 public:
  /// \param folder existing folder
  /// \param limit largest number of bytes of the file
  /// \throws FileError if no file can be made there
  explicit ScratchFile(const std::filesystem::path& folder,
                       std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// \brief Appends bytes. One thread at a time may call it.
  /// \return offset of the first byte
  /// \throws FileError for a full disk or quota, other errors of the system, and beyond the limit
  std::uint64_t append(const void* data, std::size_t bytes);
  /// \brief Reads exactly `bytes` bytes at an offset. Any thread may call it.
  /// \throws FileError if the file has fewer, and for errors of the system
  void read(std::uint64_t offset, void* destination, std::size_t bytes) const;
  /// Waits until all data are on the disk. \throws FileError
  void flush();
  /// Asks the system to drop flushed data from memory, so that read() uses the disk.
  void drop_from_memory();
  /// Returns the number of appended bytes.
  std::uint64_t size() const { return m_size; }
  /// Returns the folder and the kind of the file, for messages.
  const std::string& name() const { return m_name; }

 private:
  std::string m_name;
  std::uint64_t m_limit, m_size = 0;
  int m_descriptor = -1;
};

/// Rates of a disk, bytes per second.
struct DiskRates {
  double write = 0.0;  ///< written and flushed
  double read = 0.0;   ///< read, from the disk as far as the system drops data from memory
};

/// \brief Measures the rates of the disk of a folder with a scratch file.
///
/// Pieces of 8 MiB are flushed one by one until `bytes` are written or half a second is over, and
/// read in reverse order.
/// \param folder existing folder
/// \param bytes largest number of bytes to write, 1 or more
/// \throws FileError as ScratchFile
DiskRates measure_disk(const std::filesystem::path& folder,
                       std::uint64_t bytes = std::uint64_t{64} << 20);

}  // namespace moho::io
