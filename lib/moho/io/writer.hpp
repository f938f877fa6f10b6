// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The one way moho writes a file: whole, or not at all.

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
/// Whoever reads the path sees the old file or the new one, never a part. Every write is checked;
/// when one fails (a full disk, a quota) the temporary file is removed and a FileError names the
/// path and the system's reason. Destroying the object without commit() removes the temporary file.
class AtomicFile {
 public:
  /// Creates the temporary file. Throws FileError when the folder is missing or not writable, or
  /// when the target is a folder or no regular file. A symbolic link is replaced, its target stays.
  /// \param path of the file
  /// \param sums true: length and checksum of what is written are kept for identity()
  explicit AtomicFile(const std::filesystem::path& path, bool sums = false);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes.
  void write(const void* data, std::size_t bytes);
  /// Appends text.
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Brings everything to the disk and gives the file its name. With `expected`, the file must have
  /// that many bytes. After a failure nothing is left behind.
  void commit(std::optional<std::uint64_t> expected = std::nullopt);

  /// Length and checksum of what was written, where the file was made to keep them: what
  /// identify_file() finds without that it is read.
  FileIdentity identity() const { return {m_bytes, m_sum.value()}; }

  /// Removes the temporary file and throws FileError with the system's reason (an errno value).
  [[noreturn]] void fail(int reason);

  /// The temporary name, for libraries that write by themselves.
  const std::filesystem::path& temporary() const { return m_temporary; }
  /// The path as it was given, for messages.
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

/// \brief Removes the temporary files of every AtomicFile that is being written, and lets no other
/// be created, renamed or removed: a thread that tries waits for ever.
///
/// For a process that is about to end by a signal. Not to be called from a signal handler.
void abandon_files() noexcept;

/// \brief Removes temporary files that a process which ended by force left beside a file.
///
/// Those are meant that AtomicFile makes for this path, of processes that this machine no longer
/// has. To be called by one who has made sure, with a lock, that no process of another machine
/// writes there. \return their names
std::vector<std::string> remove_abandoned_parts(const std::filesystem::path& path);

/// Writes a whole text file through AtomicFile.
void write_text(const std::filesystem::path& path, std::string_view text);

/// Appends a number in the fewest digits that give the same double when read ("12", "0.1", "nan",
/// "inf").
void append_number(std::string& text, double value);
/// Appends a number in the fewest digits that give the same float when read.
void append_number(std::string& text, float value);

}  // namespace moho::io
