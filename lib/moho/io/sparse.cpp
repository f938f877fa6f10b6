// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/sparse.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace moho::io {

namespace {

static_assert(std::endian::native == std::endian::little, "archives are little endian");

// Updates the checksum of archives (CRC-32 of IEEE 802.3) with a piece of data.
std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t before) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t k = 0; k < 256; ++k) {
      std::uint32_t value = k;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320U : 0U);
      values[k] = value;
    }
    return values;
  }();
  std::uint32_t crc = ~before;
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t k = 0; k < bytes; ++k) crc = crc >> 8 ^ table[(crc ^ at[k]) & 255];
  return ~crc;
}

// Numbers of an archive's headers, stored consecutively.
class Bytes {
 public:
  Bytes& two(std::uint32_t value) { return add(value, 2); }
  Bytes& four(std::uint32_t value) { return add(value, 4); }
  Bytes& text(const std::string& text) {
    m_bytes += text;
    return *this;
  }
  const std::string& bytes() const { return m_bytes; }

 private:
  Bytes& add(std::uint32_t value, std::size_t width) {
    char bytes[4];
    std::memcpy(bytes, &value, 4);
    m_bytes.append(bytes, width);
    return *this;
  }
  std::string m_bytes;
};

// Header of a .npy file.
std::string npy_header(const std::string& type, const std::string& shape) {
  std::string text =
      concat("{'descr': '", type, "', 'fortran_order': False, 'shape': (", shape, "), }");
  while ((text.size() + 11) % 64 != 0) text += ' ';
  text += '\n';
  return Bytes().text("\x93NUMPY").two(1).two(static_cast<std::uint32_t>(text.size())).bytes() +
         text;
}

// An archive of uncompressed .npy files.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path) : m_file(path) {}

  void add(const std::string& name, const std::string& type, const std::string& shape,
           const void* data, std::size_t bytes) {
    const std::string header = npy_header(type, shape);
    const std::uint64_t size = header.size() + bytes;
    const std::uint32_t crc = crc32(data, bytes, crc32(header.data(), header.size(), 0));
    const auto length = static_cast<std::uint32_t>(size);
    // version 2.0, no flags, stored, 1980-01-01
    const std::string common = Bytes()
                                   .two(20)
                                   .two(0)
                                   .two(0)
                                   .two(0)
                                   .two(33)
                                   .four(crc)
                                   .four(length)
                                   .four(length)
                                   .two(static_cast<std::uint32_t>(name.size()))
                                   .two(0)
                                   .bytes();
    m_directory += Bytes()
                       .four(0x02014b50)
                       .two(20)
                       .text(common)
                       .two(0)
                       .two(0)
                       .two(0)
                       .four(0)
                       .four(static_cast<std::uint32_t>(m_at))
                       .text(name)
                       .bytes();
    const std::string local = Bytes().four(0x04034b50).text(common).text(name).bytes();
    m_file.write(local);
    m_file.write(header);
    m_file.write(data, bytes);
    m_at += local.size() + size;
    ++m_count;
  }

  void commit() {
    m_file.write(m_directory);
    m_file.write(Bytes()
                     .four(0x06054b50)
                     .two(0)
                     .two(0)
                     .two(m_count)
                     .two(m_count)
                     .four(static_cast<std::uint32_t>(m_directory.size()))
                     .four(static_cast<std::uint32_t>(m_at))
                     .two(0)
                     .bytes());
    m_file.commit();
  }

 private:
  AtomicFile m_file;
  std::string m_directory;
  std::uint64_t m_at = 0;
  std::uint32_t m_count = 0;
};

// Refuses arrays that are no rows of a matrix.
void check_rows(const SparseRows& rows) {
  const auto entries = static_cast<std::int64_t>(rows.value.size());
  if (rows.first.empty() || rows.first.front() != 0 || rows.first.back() != entries ||
      rows.column.size() != rows.value.size() ||
      !std::is_sorted(rows.first.begin(), rows.first.end())) {
    throw InputError(concat("a sparse matrix has ", entries, " values, ", rows.column.size(),
                            " columns of entries and ", rows.first.size(),
                            " offsets (allowed: a column for each value, and offsets that ascend "
                            "from 0 to the number of values)"));
  }
  for (const int column : rows.column) {
    if (column >= 0 && column < rows.columns) continue;
    throw InputError(concat("a sparse matrix has an entry in column ", column, " (allowed: 0 to ",
                            rows.columns - 1, ")"));
  }
}

}  // namespace

void check_npz_size(std::size_t rows, std::size_t entries, const std::string& name,
                    const std::string& advice) {
  // numbers of all arrays, and their headers
  const double bytes = 12.0 * static_cast<double>(entries) + 8.0 * static_cast<double>(rows + 1);
  if (bytes + 4096.0 < 4294967296.0) return;
  throw InputError(
      concat(name, " would be larger than 4 GiB (allowed: less, as its format counts): ", advice));
}

void write_sparse_npz(const std::filesystem::path& path, const SparseRows& rows) {
  check_rows(rows);
  check_npz_size(rows.first.size() - 1, rows.value.size(), path.filename().string());
  Archive archive(path);
  const auto add = [&](const char* name, const char* type, const auto& values) {
    archive.add(name, type, concat(values.size(), ","), values.data(),
                values.size() * sizeof(values[0]));
  };
  const std::array<std::int64_t, 2> shape{static_cast<std::int64_t>(rows.first.size()) - 1,
                                          rows.columns};
  static_assert(sizeof(rows.column[0]) == 4);
  add("indices.npy", "<i4", rows.column);
  add("indptr.npy", "<i8", rows.first);
  archive.add("format.npy", "|S3", "", "csr", 3);
  add("shape.npy", "<i8", shape);
  add("data.npy", "<f8", rows.value);
  archive.commit();
}

void write_matrix_market(const std::filesystem::path& path, const SparseRows& rows,
                         const std::string& about) {
  check_rows(rows);
  if (about.find_first_of("\r\n") != std::string::npos) {
    throw InputError("about: the comment has a line break (allowed: one line)");
  }
  AtomicFile file(path);
  file.write(concat("%%MatrixMarket matrix coordinate real general\n% ", about, "\n",
                    rows.first.size() - 1, " ", rows.columns, " ", rows.value.size(), "\n"));
  std::string text;
  for (std::size_t row = 0; row + 1 < rows.first.size(); ++row) {
    text.clear();
    for (auto k = static_cast<std::size_t>(rows.first[row]);
         k < static_cast<std::size_t>(rows.first[row + 1]); ++k) {
      text += std::to_string(row + 1) + ' ' + std::to_string(rows.column[k] + 1) + ' ';
      append_number(text, rows.value[k]);
      text += '\n';
    }
    file.write(text);
  }
  file.commit();
}

}  // namespace moho::io
