// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/file_lock.hpp>
#include <moho/io/write_error.hpp>
#include <moho/stream/detail/volume_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace moho::stream {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t head_bytes = 2 * page;  // two entries
constexpr char magic[8] = {'M', 'O', 'H', 'O', 'V', 'O', 'L', '1'};

// One entry of the head.
struct Entry {
  char kind[8];
  std::uint64_t number;  ///< number of the commit: the larger one is valid
  std::uint64_t bytes;   ///< bytes of the file
  std::int64_t level;
  std::uint32_t generation;
  std::uint32_t key;
  std::uint32_t checksum;  ///< checksum of all members above
  std::uint32_t unused;
};

std::uint32_t sum_of(const Entry& entry) { return io::crc32c(&entry, offsetof(Entry, checksum)); }

bool is_whole(const Entry& entry) {
  return std::memcmp(entry.kind, magic, sizeof magic) == 0 && entry.checksum == sum_of(entry);
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError(concat("the volume '", path, "' ", what));
}

// Reads the latest complete entry of a head. Returns false if none exists.
bool read_head(int file, Entry& best) {
  bool found = false;
  for (std::size_t k = 0; k < 2; ++k) {
    Entry entry{};
    const bool complete = ::pread(file, &entry, sizeof entry, static_cast<off_t>(k * page)) ==
                          static_cast<ssize_t>(sizeof entry);
    if (!complete || !is_whole(entry)) continue;
    if (!found || entry.number > best.number) best = entry;
    found = true;
  }
  return found;
}

std::string system_text(int error) { return std::strerror(error); }

// Text of a file that cannot be opened.
std::string unopened_text(const std::string& path, int error) {
  struct stat status {};
  const bool link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  return link && error == ENOENT
             ? "is a symbolic link to no file (allowed: a new name, or the name of a file)"
             : concat("cannot be opened: ", system_text(error),
                      " (allowed: a file in a folder that exists and may be written)");
}

// Returns the latest entry of an existing volume of this run. Throws FileError for other files.
// `bytes` of the volume; 0: any number.
Entry entry_of_run(int file, const std::string& path, std::uint32_t key, std::size_t bytes,
                   bool resume) {
  Entry best{};
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(path, "is no regular file (allowed: a file)");
  }
  if (!read_head(file, best)) {
    fail(path,
         "is there and is no volume of a run (allowed: a new name, or a volume of this run with "
         "--resume): nothing was changed; remove it if it is what a run left that was ended before "
         "its first step");
  }
  if (!resume) {
    fail(path,
         "exists, from an earlier run (allowed: a new name, or --resume to go on with it): remove "
         "it if it is not needed");
  }
  const auto length = static_cast<std::size_t>(status.st_size);
  if (best.key != key || best.bytes != length || (bytes > 0 && length != bytes)) {
    fail(path, concat("belongs to another run, or has the wrong size: ", length,
                      " bytes (needed: ", bytes > 0 ? concat(bytes, ", and ") : "",
                      "the same model, shot and options): nothing was changed"));
  }
  return best;
}

[[noreturn]] void fail_without_room(const std::string& path, std::size_t bytes, int error) {
  io::throw_write_error(
      concat("the volume '", path, "' needs ", format_bytes(static_cast<double>(bytes)),
             " on the disk: ", system_text(error)),
      error);
}

}  // namespace

VolumeFile::VolumeFile(const std::string& path, const std::string& key, std::size_t bytes,
                       bool resume)
    : m_path(path), m_key(io::checksum(key)), m_bytes(head_bytes + bytes), m_used(head_bytes) {
  m_file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool made = m_file >= 0;
  if (!made && errno == EEXIST) m_file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (m_file < 0) {
    fail(path, unopened_text(path, errno));
  }
  // destructor's work: the destructor does not run for an incomplete object
  const auto close_and_fail = [&](const std::string& what) {
    if (m_begin != nullptr) ::munmap(m_begin, m_bytes);
    ::close(m_file);
    fail(path, what);
  };
  struct stat status {};
  if (::fstat(m_file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close_and_fail("is no regular file (allowed: a file)");
  }
  if (io::lock_file(m_file) != 0) {
    close_and_fail("is in use by another run (allowed: a name of its own for each)");
  }
  if (!made) {
    Entry best{};
    try {
      best = entry_of_run(m_file, path, m_key, m_bytes, resume);
    } catch (...) {
      ::close(m_file);
      throw;
    }
    m_continued = true;
    m_level = best.level;
    m_generation = static_cast<int>(best.generation);
    m_number = best.number;
  } else {
    const int error = ::posix_fallocate(m_file, 0, static_cast<off_t>(m_bytes));
    if (error != 0) {
      ::unlink(path.c_str());
      ::close(m_file);
      fail_without_room(path, m_bytes, error);
    }
  }
  void* const mapped = ::mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_file, 0);
  if (mapped == MAP_FAILED) close_and_fail(concat("cannot be mapped: ", system_text(errno)));
  m_begin = static_cast<char*>(mapped);
  if (!m_continued) write_head();
}

VolumeFile::~VolumeFile() {
  if (m_begin != nullptr) ::munmap(m_begin, m_bytes);
  if (m_file >= 0) ::close(m_file);
}

void* VolumeFile::take(std::size_t bytes) {
  const std::size_t rounded = (bytes + page - 1) / page * page;
  if (m_used + rounded > m_bytes) fail(m_path, "is too small for its arrays");
  void* const result = m_begin + m_used;
  m_used += rounded;
  return result;
}

void VolumeFile::commit(std::int64_t level, int generation) {
  if (::msync(m_begin, m_bytes, MS_SYNC) != 0) {
    fail(m_path, concat("cannot be written: ", system_text(errno)));
  }
  m_level = level;
  m_generation = generation;
  write_head();
}

void VolumeFile::write_head() {
  Entry entry{};
  std::memcpy(entry.kind, magic, sizeof magic);
  entry.number = ++m_number;
  entry.bytes = m_bytes;
  entry.level = m_level;
  entry.generation = static_cast<std::uint32_t>(m_generation);
  entry.key = m_key;
  entry.checksum = sum_of(entry);
  const auto at = static_cast<off_t>((m_number % 2) * page);
  if (::pwrite(m_file, &entry, sizeof entry, at) != static_cast<ssize_t>(sizeof entry) ||
      ::fdatasync(m_file) != 0) {
    fail(m_path, concat("cannot be written: ", system_text(errno)));
  }
}

void check_volume(const std::string& path, const std::string& key, bool resume) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 && errno == ENOENT) return;
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) fail(path, unopened_text(path, errno));
  try {
    entry_of_run(file, path, io::checksum(key), 0, resume);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
}

bool is_volume_of(const std::string& path, const std::string& key) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  Entry best{};
  const bool found = read_head(file, best);
  ::close(file);
  return found && best.key == io::checksum(key);
}

void measure_disk(const std::string& path, double& in, double& out) {
  constexpr std::size_t piece = std::size_t(4) << 20;
  std::size_t bytes = std::size_t(128) << 20;
  // a unique name
  std::string name = path + ".XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) {
    fail(path, concat("cannot be made: ", system_text(errno),
                      " (allowed: a file in a folder that exists and may be written)"));
  }
  ::unlink(name.c_str());
  const auto close_and_fail = [&](const std::string& what) {
    ::close(file);
    fail(path, what);
  };
  // the constructor of the volume checks the space for the volume itself
  for (int error; (error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes))) != 0;) {
    bytes /= 2;
    if (bytes >= piece) continue;
    ::close(file);
    fail_without_room(path, piece, error);
  }
  // as volumes move: through a mapping, some planes at a time
  std::vector<char> data(piece, 1);
  const auto map = [&] {
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) close_and_fail(concat("cannot be mapped: ", system_text(errno)));
    return static_cast<char*>(mapped);
  };
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto seconds = [](auto a, auto b) { return std::chrono::duration<double>(b - a).count(); };
  char* mapped = map();
  const auto start = now();
  for (std::size_t at = 0; at < bytes; at += piece) std::memcpy(mapped + at, data.data(), piece);
  const bool wrote = ::msync(mapped, bytes, MS_SYNC) == 0;
  const auto written = now();
  ::munmap(mapped, bytes);
  if (!wrote) close_and_fail(concat("cannot be written: ", system_text(errno)));
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  mapped = map();
  const auto begun = now();
  for (std::size_t at = 0; at < bytes; at += piece) std::memcpy(data.data(), mapped + at, piece);
  const auto done = now();
  ::munmap(mapped, bytes);
  ::close(file);
  out = static_cast<double>(bytes) / std::max(seconds(start, written), 1e-9);
  in = static_cast<double>(bytes) / std::max(seconds(begun, done), 1e-9);
}

}  // namespace moho::stream
