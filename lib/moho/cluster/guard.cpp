// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/guard.hpp>
#include <moho/core/error.hpp>
#include <moho/io/writer.hpp>

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t hash_bytes = 32;
static_assert(mac_bytes == 4 + 2 * hash_bytes + 1);
static_assert(hash_bytes >= crypto_generichash_BYTES_MIN &&
              hash_bytes <= crypto_generichash_BYTES_MAX);

void start_sodium() {
  static const int status = sodium_init();
  if (status < 0) throw Error("libsodium cannot be used (no source of random numbers)");
}

std::string hex(const unsigned char* data, std::size_t bytes) {
  std::string text(2 * bytes + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), data, bytes);
  text.resize(2 * bytes);
  return text;
}

// Throws if the file belongs to another user or grants one of the rights in `mode`.
void check_status(const struct stat& status, mode_t mode, const char* what, const fs::path& path,
                  const char* advice) {
  if (status.st_uid != ::geteuid()) {
    throw InputError(concat("the ", what, " '", path.string(), "' belongs to user ", status.st_uid,
                            " (allowed: user ", ::geteuid(),
                            ", who runs this program): use a folder that belongs to you"));
  }
  if ((status.st_mode & mode) == 0) return;
  char digits[8] = "";
  std::snprintf(digits, sizeof(digits), "%04o", static_cast<unsigned>(status.st_mode & 07777));
  throw InputError(concat("the ", what, " '", path.string(), "' has the mode ", digits,
                          ": other users could make it run their programs (allowed: ",
                          mode == 022 ? "writable by you alone" : "no access by group and others",
                          "): ", advice));
}

}  // namespace

std::string to_text(const Key& key) { return hex(key.bytes.data(), key.bytes.size()); }

Key parse_key(std::string_view digits) {
  Key key;
  std::size_t length = 0;
  if (digits.size() != 2 * key.bytes.size() ||
      sodium_hex2bin(key.bytes.data(), key.bytes.size(), digits.data(), digits.size(), nullptr,
                     &length, nullptr) != 0 ||
      length != key.bytes.size()) {
    throw InputError("a journal's key is damaged (allowed: 64 hexadecimal digits)");
  }
  return key;
}

Key make_key() {
  start_sodium();
  Key key;
  crypto_generichash_keygen(key.bytes.data());
  return key;
}

Key read_key(const fs::path& folder) {
  const fs::path path = folder / key_file;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    throw InputError(concat("cannot read the key '", path.string(), "' (", std::strerror(errno),
                            "): the journal was made by another version of moho, or its key was "
                            "removed: start another journal"));
  }
  char text[80];
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const ssize_t got = ::read(descriptor, text, sizeof(text));
  ::close(descriptor);
  if (!known || !S_ISREG(status.st_mode)) {
    throw InputError(concat("the key '", path.string(), "' is no regular file"));
  }
  check_status(status, 077, "key", path,
               "start another journal, because other users may know its key");
  const std::string_view line(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  try {
    return parse_key(line.substr(0, line.find('\n')));
  } catch (const InputError&) {
    throw InputError(
        concat("the key '", path.string(),
               "' is damaged (allowed: 64 hexadecimal digits): start another journal"));
  }
}

Key write_key(const fs::path& folder, const Key& key) {
  const fs::path path = folder / key_file;
  const fs::path temporary = folder / concat(".part-", key_file, '-', ::getpid());
  const std::string text = to_text(key) + '\n';
  ::unlink(temporary.c_str());
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  int reason = descriptor < 0 ? errno : 0;
  if (reason == 0 &&
      (::write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
       ::fsync(descriptor) != 0)) {
    reason = errno != 0 ? errno : ENOSPC;
  }
  if (descriptor >= 0) ::close(descriptor);
  // link() never replaces a key; rename() serves file systems without hard links
  if (reason == 0 && ::link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    reason = ::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  ::unlink(temporary.c_str());
  if (reason != 0) {
    throw FileError(concat("cannot write the key '", path.string(), "' (", std::strerror(reason),
                           "): name a folder that you can write"));
  }
  return read_key(folder);
}

struct Mac::State {
  crypto_generichash_state hash;
};

Mac::Mac(const Key& key) : m_state(std::make_unique<State>()) {
  start_sodium();
  crypto_generichash_init(&m_state->hash, key.bytes.data(), key.bytes.size(), hash_bytes);
}

Mac::~Mac() { sodium_memzero(&m_state->hash, sizeof(m_state->hash)); }

void Mac::add(const void* data, std::size_t bytes) {
  crypto_generichash_update(&m_state->hash, static_cast<const unsigned char*>(data), bytes);
}

std::string Mac::line() {
  unsigned char hash[hash_bytes];
  crypto_generichash_final(&m_state->hash, hash, sizeof(hash));
  return "mac " + hex(hash, sizeof(hash)) + '\n';
}

bool same_mac(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void make_private_folders(const fs::path& folder) {
  fs::path path;
  for (const fs::path& part : folder) {
    path /= part;
    if (::mkdir(path.c_str(), 0700) == 0) continue;
    const int reason = errno;
    std::error_code error;
    if (fs::is_directory(path, error)) continue;
    throw FileError(concat("cannot make the folder '", path.string(), "' (", std::strerror(reason),
                           "): name a folder that you can write"));
  }
}

void check_private_folder(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw InputError(concat("cannot use the folder '", folder.string(), "' (",
                            std::strerror(S_ISDIR(status.st_mode) ? errno : ENOTDIR),
                            "): name a folder that you can write"));
  }
  check_status(status, 022, "folder", folder, "chmod go-w it, or name another folder");
}

void check_private_file(int descriptor, const fs::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw InputError(concat("cannot use '", path.string(), "' (", std::strerror(errno), ")"));
  }
  check_status(status, 022, "file", path, "chmod go-w it if you trust its content");
}

void write_private_text(const fs::path& path, std::string_view text) {
  io::AtomicFile file(path);
  std::error_code error;
  fs::permissions(file.temporary(), fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) file.fail(error.value());
  file.write(text);
  file.commit(text.size());
}

}  // namespace moho::cluster
