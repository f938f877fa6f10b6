// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Protection of journals, jobs and results against other users.
///
/// Folders and files are private. Jobs and results carry a message authentication code (MAC), a
/// keyed BLAKE2b of libsodium, which detects files written without the key of the journal. The key
/// lies in the journal's folder, which only its owner can write. CRC-32C detects accidental damage
/// only.

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace moho::cluster {

/// Key of a journal: 32 random bytes.
struct Key {
  std::array<unsigned char, 32> bytes{};  ///< all zero: no key
  /// Returns true if both keys are equal.
  friend bool operator==(const Key&, const Key&) = default;
};

/// Name of the key file in the folder of a journal.
inline constexpr const char* key_file = "moho.key";

/// Returns the key as 64 hexadecimal digits.
std::string to_text(const Key& key);
/// Parses the digits of to_text(). \throws InputError
Key parse_key(std::string_view digits);

/// \brief Reads the key of a journal's folder.
/// \throws InputError if it is missing, damaged, or accessible to other users
Key read_key(const std::filesystem::path& folder);
/// \brief Writes a key that only its owner can read; an existing key is kept.
/// \returns the key of the folder \throws FileError; InputError as read_key()
Key write_key(const std::filesystem::path& folder, const Key& key);
/// Returns a key of random numbers from the system.
Key make_key();

/// Message authentication code of data added in pieces.
class Mac {
 public:
  /// Starts with empty data. \throws Error if libsodium cannot be used
  explicit Mac(const Key& key);
  Mac(const Mac&) = delete;
  Mac& operator=(const Mac&) = delete;
  ~Mac();
  /// Adds data. \param bytes size of the data
  void add(const void* data, std::size_t bytes);
  /// Returns the last line of a job or result: "mac", 64 hexadecimal digits, end of line. May be
  /// called once.
  std::string line();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

/// Length of Mac::line() in bytes.
inline constexpr std::size_t mac_bytes = 69;
/// Compares two lines of Mac::line() in constant time.
bool same_mac(std::string_view a, std::string_view b);

/// \brief Creates missing folders of a path with mode 0700, independent of the umask.
/// \throws FileError
void make_private_folders(const std::filesystem::path& folder);
/// \brief Checks that a folder belongs to this user and that no other user can write it.
/// \throws InputError
void check_private_folder(const std::filesystem::path& folder);
/// \brief Checks the same for an open file. \param path its path, for messages
/// \throws InputError
void check_private_file(int descriptor, const std::filesystem::path& path);
/// Writes a file atomically, with mode 0600. \throws FileError
void write_private_text(const std::filesystem::path& path, std::string_view text);

}  // namespace moho::cluster
