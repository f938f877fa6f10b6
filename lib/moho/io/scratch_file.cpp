// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/detail/write_advice.hpp>
#include <moho/io/scratch_file.hpp>
#include <moho/io/write_error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

namespace moho::io {

namespace {

constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // of a call of the system

std::atomic<unsigned> next_scratch{0};

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& folder, std::uint64_t limit)
    : m_name(concat("temporary data in '", folder.string(), "'")), m_limit(limit) {
#ifdef O_TMPFILE
  m_descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (m_descriptor >= 0) return;
#endif
  // a file system without such files: the name exists for a moment
  std::filesystem::path path;
  do {
    path = folder / concat(".moho_scratch-", ::getpid(), '-', next_scratch++);
    m_descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (m_descriptor < 0 && errno == EEXIST);
  if (m_descriptor < 0) {
    const int reason = errno;
    throw FileError(concat("cannot write ", m_name, " (", std::strerror(reason), ")",
                           detail::write_advice(reason)));
  }
  ::unlink(path.c_str());
}

ScratchFile::~ScratchFile() { ::close(m_descriptor); }

std::uint64_t ScratchFile::append(const void* data, std::size_t bytes) {
  if (bytes > m_limit || m_size > m_limit - bytes) {
    throw FileError(concat("cannot write ", m_name, " (more than the allowed ",
                           format_bytes(static_cast<double>(m_limit)), "): allow more disk"));
  }
  const std::uint64_t begin = m_size;
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done =
        ::pwrite(m_descriptor, from, std::min(bytes, largest_transfer), static_cast<off_t>(m_size));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const int reason = errno;
      throw_write_error(concat("cannot write ", m_name, " (", std::strerror(reason),
                               "; no part of it was left behind)"),
                        reason);
    }
    from += done;
    m_size += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  return begin;
}

void ScratchFile::read(std::uint64_t offset, void* destination, std::size_t bytes) const {
  auto* to = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t done =
        ::pread(m_descriptor, to, std::min(bytes, largest_transfer), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      throw FileError(concat("cannot read ", m_name, " (",
                             done < 0 ? std::strerror(errno) : "the file was cut",
                             "): check the disk, or choose another folder"));
    }
    to += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void ScratchFile::flush() {
  if (::fdatasync(m_descriptor) == 0 || errno == EINVAL || errno == ENOSYS) return;
  const int reason = errno;
  throw FileError(concat("cannot write ", m_name, " (", std::strerror(reason), ")",
                         detail::write_advice(reason)));
}

void ScratchFile::drop_from_memory() {
#ifdef POSIX_FADV_DONTNEED
  ::posix_fadvise(m_descriptor, 0, 0, POSIX_FADV_DONTNEED);
#endif
}

DiskRates measure_disk(const std::filesystem::path& folder, std::uint64_t bytes) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point begin) {
    return std::max(std::chrono::duration<double>(Clock::now() - begin).count(), 1e-9);
  };
  constexpr std::uint64_t largest_piece = std::uint64_t{8} << 20;
  const auto piece = static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes, 1, largest_piece));
  // disks that compress find nothing in these bytes
  std::vector<std::uint64_t> words((piece + 7) / 8);
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  for (std::uint64_t& word : words) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    word = state;
  }
  ScratchFile file(folder);
  const Clock::time_point begin = Clock::now();
  do {
    file.append(words.data(), piece);
    file.flush();
  } while (file.size() + piece <= bytes && seconds_since(begin) < 0.5);
  DiskRates rates;
  rates.write = static_cast<double>(file.size()) / seconds_since(begin);
  file.drop_from_memory();
  const Clock::time_point turn = Clock::now();
  for (std::uint64_t end = file.size(); end >= piece && seconds_since(turn) < 0.5; end -= piece) {
    file.read(end - piece, words.data(), piece);
    rates.read += static_cast<double>(piece);
  }
  rates.read /= seconds_since(turn);
  return rates;
}

}  // namespace moho::io
