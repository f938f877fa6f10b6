// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace moho::io {

std::optional<FileNode> node_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileNode{static_cast<std::uint64_t>(status.st_dev),
                  static_cast<std::uint64_t>(status.st_ino)};
}

InputFile::InputFile(const std::filesystem::path& path) : m_name(path.string()) {
  // With O_NONBLOCK, opening a named pipe without a writer does not block.
  m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (m_descriptor < 0) {
    const int reason = errno;
    throw FileError(concat("cannot read '", m_name, "' (", std::strerror(reason), ")",
                           reason == ENOENT ? ": check the path" : ""));
  }
  struct stat status {};
  const int failed = ::fstat(m_descriptor, &status);
  const int reason = errno;
  if (failed != 0 || !S_ISREG(status.st_mode)) {
    ::close(m_descriptor);
    if (failed != 0)
      throw FileError(concat("cannot read '", m_name, "' (", std::strerror(reason), ")"));
    throw FileError(concat("cannot read '", m_name, "' (it is ",
                           S_ISDIR(status.st_mode) ? "a folder" : "no regular file",
                           "): give the path of a file on disk"));
  }
  m_size = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(m_descriptor); }

void InputFile::read(std::uint64_t offset, void* destination, std::size_t bytes) const {
  if (offset > m_size || bytes > m_size - offset) {
    throw FileError(concat("'", m_name, "' is too short (", m_size, " bytes, and bytes ", offset,
                           " to ", offset + bytes, " are wanted): the file is truncated"));
  }
  auto* to = static_cast<char*>(destination);
  while (bytes > 0) {
    const std::size_t piece = std::min<std::size_t>(bytes, std::size_t{1} << 30);
    const ssize_t got = ::pread(m_descriptor, to, piece, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(concat("cannot read '", m_name, "' (", std::strerror(errno), ")"));
    if (got == 0) throw FileError(concat("'", m_name, "' became shorter while it was read"));
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

std::string InputFile::text(std::uint64_t largest) const {
  std::string result(static_cast<std::size_t>(std::min(largest, m_size)), '\0');
  read(0, result.data(), result.size());
  return result;
}

}  // namespace moho::io
