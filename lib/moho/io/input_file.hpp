// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading of regular files of known size.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace moho::io {

/// Identity of a file in the file system; the same for all symbolic and hard links to it.
struct FileNode {
  std::uint64_t device = 0;  ///< device number of the file system
  std::uint64_t inode = 0;   ///< inode number of the file
  /// Returns true for the same file.
  friend bool operator==(const FileNode&, const FileNode&) = default;
};

/// Returns the identity of the file at a path, following links; nothing if it does not exist.
std::optional<FileNode> node_of(const std::filesystem::path& path);

/// A regular file opened for reading.
///
/// All readers of moho::io compare the size that a header states with size() before they allocate
/// memory.
class InputFile {
 public:
  /// Opens a file. \throws FileError if it is missing, unreadable or not a regular file
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Returns the path as given, for messages.
  const std::string& name() const { return m_name; }
  /// Returns the length in bytes.
  std::uint64_t size() const { return m_size; }

  /// Reads exactly `bytes` bytes at `offset`. \throws FileError if the file has fewer
  void read(std::uint64_t offset, void* destination, std::size_t bytes) const;

  /// Returns up to `largest` bytes from the beginning of the file.
  std::string text(std::uint64_t largest) const;

 private:
  std::string m_name;
  std::uint64_t m_size = 0;
  int m_descriptor = -1;
};

}  // namespace moho::io
