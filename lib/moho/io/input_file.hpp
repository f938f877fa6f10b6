// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading a file whose size is known before anything is read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace moho::io {

/// What a file is, whatever its names are: links of both kinds lead to the same.
struct FileNode {
  std::uint64_t device = 0;  ///< number of the file system
  std::uint64_t inode = 0;   ///< number of the file in it
  /// Are both the same file?
  friend bool operator==(const FileNode&, const FileNode&) = default;
};

/// What a path leads to, as the file system knows it; nothing if there is nothing.
std::optional<FileNode> node_of(const std::filesystem::path& path);

/// A regular file opened for reading.
///
/// Every reader of moho::io compares what a header promises with size() before it allocates memory.
class InputFile {
 public:
  /// Opens a file. Throws FileError when it is missing, unreadable, a folder or no regular file.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The path as it was given, for messages.
  const std::string& name() const { return m_name; }
  /// Length in bytes.
  std::uint64_t size() const { return m_size; }

  /// Reads exactly `bytes` bytes from `offset`. Throws FileError when they are not there.
  void read(std::uint64_t offset, void* destination, std::size_t bytes) const;

  /// Reads at most `largest` bytes from the beginning.
  std::string text(std::uint64_t largest) const;

 private:
  std::string m_name;
  std::uint64_t m_size = 0;
  int m_descriptor = -1;
};

}  // namespace moho::io
