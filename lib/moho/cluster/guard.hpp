// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Protection of a journal's files against other users: private folders and files, and keyed
/// message authentication codes (MAC) of jobs and results.
///
/// CRC-32C finds damage. The MAC, keyed BLAKE2b of libsodium, finds files that somebody without the
/// journal's key wrote. The key lies in the journal's folder, which only its owner may write.

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace moho::cluster {

/// Key of a journal: 32 random bytes.
struct Key {
  std::array<unsigned char, 32> bytes{};  ///< zeros: no journal has this key
  /// Are both the same?
  friend bool operator==(const Key&, const Key&) = default;
};

/// Name of the file with the key, in the folder of a journal.
inline constexpr const char* key_file = "moho.key";

/// The key as 64 hexadecimal digits.
std::string to_text(const Key& key);
/// Parses the digits of to_text(). \throws InputError
Key parse_key(std::string_view digits);

/// \brief Reads the key of a journal's folder.
/// \throws InputError if it is missing, damaged, or readable by other users
Key read_key(const std::filesystem::path& folder);
/// \brief Writes a key into a folder, readable by its owner alone, unless the folder has one.
/// \returns the key that the folder has now \throws FileError, InputError as read_key()
Key write_key(const std::filesystem::path& folder, const Key& key);
/// Creates a key from the system's random numbers.
Key make_key();

/// Message authentication code of bytes that are added piece by piece.
class Mac {
 public:
  /// Begins the code of no bytes. \throws Error if libsodium cannot be used
  explicit Mac(const Key& key);
  Mac(const Mac&) = delete;
  Mac& operator=(const Mac&) = delete;
  ~Mac();
  /// Adds bytes.
  void add(const void* data, std::size_t bytes);
  /// Returns the last line of a job or result: "mac", 64 hexadecimal digits, end of line. Once.
  std::string line();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

/// Length of Mac::line().
inline constexpr std::size_t mac_bytes = 69;
/// Compares two lines of Mac::line() in a time that does not depend on where they differ.
bool same_mac(std::string_view a, std::string_view b);

/// \brief Creates missing folders of a path, accessible by their owner alone whatever the umask.
/// \throws FileError
void make_private_folders(const std::filesystem::path& folder);
/// \brief Checks that a folder belongs to this user and that nobody else may write it.
/// \throws InputError
void check_private_folder(const std::filesystem::path& folder);
/// \brief The same for an open file. \param path for messages
void check_private_file(int descriptor, const std::filesystem::path& path);
/// Writes a text as a complete file, accessible by its owner alone. \throws FileError
void write_private_text(const std::filesystem::path& path, std::string_view text);

}  // namespace moho::cluster
