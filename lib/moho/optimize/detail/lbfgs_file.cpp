// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/optimize/detail/lbfgs_file.hpp>

#include <cstring>

namespace moho::optimize::detail {

namespace {

// The last digit is the version of the layout and of the contents of the pieces.
struct Header {
  char magic[8] = {'M', 'O', 'H', 'O', 'L', 'B', 'F', '1'};
  std::uint32_t order = 1;
  std::int32_t scalar_bytes = 0;
  std::int64_t count = 0;
};
static_assert(sizeof(Header) == 24);

}  // namespace

LbfgsWriter::LbfgsWriter(const std::filesystem::path& path, int scalar_bytes, std::int64_t count)
    : m_file(path) {
  Header header;
  header.scalar_bytes = scalar_bytes;
  header.count = count;
  write(header);
}

void LbfgsWriter::put(const void* data, std::size_t bytes) {
  const auto length = static_cast<std::uint64_t>(bytes);
  const std::uint32_t sum = io::crc32c(data, bytes, io::crc32c(&length, sizeof(length)));
  m_file.write(&length, sizeof(length));
  m_file.write(data, bytes);
  m_file.write(&sum, sizeof(sum));
}

LbfgsReader::LbfgsReader(const std::filesystem::path& path, int scalar_bytes) : m_file(path) {
  const auto refuse = [&](const std::string& why, const char* allowed) {
    throw FileError(concat("'", m_file.name(), "' ", why, " (allowed: ", allowed, ")"));
  };
  Header header;
  const Header expected;
  if (m_file.size() < sizeof(std::uint64_t) + sizeof(Header)) {
    refuse("is too short for a search", "what Lbfgs::save wrote");
  }
  m_file.read(sizeof(std::uint64_t), &header, sizeof(header));
  if (std::memcmp(header.magic, expected.magic, 7) != 0) {
    refuse("is no search", "what Lbfgs::save wrote");
  }
  if (std::memcmp(header.magic, expected.magic, 8) != 0 || header.order != expected.order) {
    refuse("is a search of another version or byte order", "that of this program");
  }
  read(header);
  if (header.scalar_bytes != scalar_bytes) {
    refuse(concat("is a search with numbers of ", header.scalar_bytes, " bytes"),
           scalar_bytes == 4 ? "4, single precision" : "8, double precision");
  }
  m_count = header.count;
}

void LbfgsReader::damaged() const {
  throw FileError(concat("'", m_file.name(),
                         "' is damaged (its length or a checksum is wrong; allowed: what "
                         "Lbfgs::save wrote): go on from an older one, or begin again"));
}

std::uint64_t LbfgsReader::next() {
  std::uint64_t length = 0;
  const std::uint64_t size = m_file.size();
  constexpr std::uint64_t around = sizeof(length) + sizeof(std::uint32_t);
  if (m_at + around > size) damaged();
  m_file.read(m_at, &length, sizeof(length));
  if (length > size - m_at - around) damaged();
  return length;
}

void LbfgsReader::get(void* data, std::size_t bytes) {
  const auto length = static_cast<std::uint64_t>(bytes);
  m_at += sizeof(length);
  if (bytes > 0) m_file.read(m_at, data, bytes);
  std::uint32_t sum = 0;
  m_file.read(m_at + length, &sum, sizeof(sum));
  if (sum != io::crc32c(data, bytes, io::crc32c(&length, sizeof(length)))) damaged();
  m_at += length + sizeof(sum);
}

void LbfgsReader::finish() const {
  if (m_at == m_file.size()) return;
  constexpr std::uint64_t around = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  std::uint64_t length = 0;
  if (m_file.size() - m_at >= around) m_file.read(m_at, &length, sizeof(length));
  if (length == 0 || length != m_file.size() - m_at - around) damaged();
  throw FileError(concat("'", m_file.name(), "' has a note of ", length,
                         " bytes (allowed here: files without a note): pass a string to "
                         "Lbfgs::load, which receives it"));
}

}  // namespace moho::optimize::detail
