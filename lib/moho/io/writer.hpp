// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Atomic writing of files: a file is written completely or not at all.

#include <moho/io/checksum.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moho::io {

/// A file written under a temporary name in its folder and renamed when it is complete.
///
/// Readers of the path see either the old or the complete new file. Every write is checked. If one
/// fails (full disk, quota), the temporary file is removed and a FileError states the path and the
/// system's reason. Destruction without commit() removes the temporary file.
class AtomicFile {
 public:
  /// Creates the temporary file. A symbolic link is replaced; its target is unchanged.
  /// \param path path of the file
  /// \param sums true: identity() returns length and checksum of the file
  /// \throws FileError if the folder is missing or not writable, or the target is not a regular
  /// file
  explicit AtomicFile(const std::filesystem::path& path, bool sums = false);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes.
  void write(const void* data, std::size_t bytes);
  /// Appends text.
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Flushes the file to disk and renames it. After a failure no file remains.
  /// \param expected required number of bytes, if given
  /// \throws FileError
  void commit(std::optional<std::uint64_t> expected = std::nullopt);

  /// Returns length and checksum of the file, if computed; equal to identify_file().
  FileIdentity identity() const { return {m_bytes, m_sum.value()}; }

  /// Removes the temporary file. \throws FileError with the system's reason (an errno value)
  [[noreturn]] void fail(int reason);

  /// Returns the temporary name, for libraries that write the file themselves.
  const std::filesystem::path& temporary() const { return m_temporary; }
  /// Returns the path as given, for messages.
  const std::string& name() const { return m_name; }

 private:
  void flush();
  void put(const char* data, std::size_t bytes);
  void discard() noexcept;

  std::string m_name;
  std::filesystem::path m_target;
  std::filesystem::path m_temporary;
  std::vector<char> m_buffer;
  int m_descriptor = -1;
  bool m_sums = false;
  std::uint64_t m_bytes = 0;
  Checksum m_sum;
};

/// \brief Removes the temporary files of all active AtomicFile objects.
///
/// Afterwards no AtomicFile can be created, renamed or removed: a thread that tries blocks for
/// ever. For a process that is about to end because of a signal. Not async-signal-safe: do not call
/// it from a signal handler.
void abandon_files() noexcept;

/// \brief Removes temporary files for a path that killed processes have left.
///
/// These are temporary files of AtomicFile whose processes no longer exist on this machine. The
/// caller must hold a lock that excludes processes on other machines.
/// \return the names of the removed files
std::vector<std::string> remove_abandoned_parts(const std::filesystem::path& path);

/// Writes a complete text file through AtomicFile.
void write_text(const std::filesystem::path& path, std::string_view text);

/// Appends a number with the fewest digits from which the same double is read.
///
/// Examples are "12", "0.1", "nan" and "inf".
void append_number(std::string& text, double value);
/// Appends a number with the fewest digits from which the same float is read.
void append_number(std::string& text, float value);

}  // namespace moho::io
