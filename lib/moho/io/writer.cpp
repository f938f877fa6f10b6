// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/detail/write_advice.hpp>
#include <moho/io/writer.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>

namespace moho::io {

namespace {
constexpr std::size_t buffer_size = std::size_t{1} << 18;

std::atomic<unsigned> next_temporary{0};

// Names of all existing temporary files, and the mutex that guards them.
struct Temporaries {
  std::mutex mutex;
  std::set<std::filesystem::path> names;
};

// Never destroyed, because threads may outlive static objects.
Temporaries& temporaries() {
  static Temporaries* const all = new Temporaries;
  return *all;
}
}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, bool sums)
    : m_name(path.string()), m_target(path), m_sums(sums) {
  if (path.empty() || path.filename().empty()) {
    throw FileError(
        concat("cannot write '", m_name, "' (that is no file name): give the path of a file"));
  }
  mode_t mode = 0666;
  // the target of a link decides whether the link may be replaced: a device is an error
  struct stat status {};
  const bool exists = ::stat(m_target.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    throw FileError(concat("cannot write '", m_name, "' (it is ",
                           S_ISDIR(status.st_mode) ? "a folder" : "no regular file",
                           "): give the path of a file"));
  }
  if (exists) mode = status.st_mode & 0777;
  m_buffer.reserve(buffer_size);
  const std::lock_guard<std::mutex> hold(temporaries().mutex);
  do {
    m_temporary = m_target;
    m_temporary += concat(".part-", ::getpid(), '-', next_temporary++);
    m_descriptor = ::open(m_temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (m_descriptor < 0 && errno == EEXIST);
  if (m_descriptor < 0) {
    const int reason = errno;
    throw FileError(concat("cannot write '", m_name, "' (", std::strerror(reason), ")",
                           detail::write_advice(reason)));
  }
  temporaries().names.insert(m_temporary);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (m_descriptor < 0) return;
  const std::lock_guard<std::mutex> hold(temporaries().mutex);
  ::close(m_descriptor);
  ::unlink(m_temporary.c_str());
  temporaries().names.erase(m_temporary);
  m_descriptor = -1;
}

void AtomicFile::fail(int reason) {
  discard();
  throw FileError(concat("cannot write '", m_name, "' (", std::strerror(reason),
                         "; no part of it was left behind)", detail::write_advice(reason)));
}

void AtomicFile::put(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done =
        ::write(m_descriptor, data, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void AtomicFile::flush() {
  put(m_buffer.data(), m_buffer.size());
  m_buffer.clear();
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  if (m_descriptor < 0) throw FileError(concat("'", m_name, "' was already closed"));
  const auto* from = static_cast<const char*>(data);
  if (m_sums) {
    m_sum.add(data, bytes);
    m_bytes += bytes;
  }
  if (m_buffer.size() + bytes > buffer_size) flush();
  if (bytes >= buffer_size) {
    put(from, bytes);
  } else {
    m_buffer.insert(m_buffer.end(), from, from + bytes);
  }
}

void AtomicFile::commit(std::optional<std::uint64_t> expected) {
  if (m_descriptor < 0) throw FileError(concat("'", m_name, "' was already closed"));
  flush();
  // Some network file systems report a full disk only at fsync().
  if (::fsync(m_descriptor) != 0 && errno != EINVAL && errno != ENOSYS) fail(errno);
  if (expected) {
    struct stat status {};
    if (::fstat(m_descriptor, &status) != 0) fail(errno);
    if (static_cast<std::uint64_t>(status.st_size) != *expected) {
      discard();
      throw FileError(concat("cannot write '", m_name, "' (", status.st_size,
                             " bytes reached the disk of ", *expected,
                             "; no part of it was left behind)"));
    }
  }
  int not_renamed = 0;
  {
    const std::lock_guard<std::mutex> hold(temporaries().mutex);
    not_renamed = ::rename(m_temporary.c_str(), m_target.c_str()) == 0 ? 0 : errno;
    if (not_renamed == 0) temporaries().names.erase(m_temporary);
  }
  if (not_renamed != 0) fail(not_renamed);
  const int failed = ::close(m_descriptor);
  const int reason = errno;
  m_descriptor = -1;
  if (failed != 0 && reason != EINTR) {
    throw FileError(concat("cannot write '", m_name, "' (", std::strerror(reason), ")",
                           detail::write_advice(reason)));
  }
}

void abandon_files() noexcept {
  Temporaries& all = temporaries();
  all.mutex.lock();  // never unlocked
  for (const std::filesystem::path& name : all.names) ::unlink(name.c_str());
}

std::vector<std::string> remove_abandoned_parts(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> removed;
  std::error_code error;
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const std::string start = path.filename().string() + ".part-";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(start, 0) != 0) continue;
    long process = 0;
    const char* const end = name.data() + name.size();
    const auto first = std::from_chars(name.data() + start.size(), end, process);
    unsigned number = 0;
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-' || process < 1) continue;
    const auto second = std::from_chars(first.ptr + 1, end, number);
    if (second.ec != std::errc() || second.ptr != end) continue;
    const bool lives = ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
    if (lives && process != ::getpid()) continue;
    const std::lock_guard<std::mutex> hold(temporaries().mutex);
    const auto& names = temporaries().names;
    const bool in_use = std::any_of(names.begin(), names.end(),
                                    [&](const fs::path& own) { return own.filename() == name; });
    if (in_use) continue;
    if (entry.is_regular_file(error) && ::unlink(entry.path().c_str()) == 0) {
      removed.push_back(name);
    }
  }
  return removed;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

namespace {
template <class T>
void append_shortest(std::string& text, T value) {
  char digits[64];
  const auto result = std::to_chars(digits, digits + sizeof(digits), value);
  text.append(digits, result.ptr);
}
}  // namespace

void append_number(std::string& text, double value) { append_shortest(text, value); }
void append_number(std::string& text, float value) { append_shortest(text, value); }

}  // namespace moho::io
