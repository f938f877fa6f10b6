// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers, texts and sums as bytes (internal), for messages and files.

#include <moho/core/binned_sum.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace moho::rtm::detail {

/// Returns the error for bytes that pack() did not write.
inline InputError damaged_sums() {
  return InputError(
      "array sums: the bytes are damaged (allowed: bytes of pack()): make the sums again");
}

/// Appends a number.
inline void put(std::string& bytes, std::int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

/// Appends a text with its length.
inline void put(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::int64_t>(text.size()));
  bytes += text;
}

/// Appends numbers with the length of their bytes.
inline void put(std::string& bytes, const std::vector<std::int64_t>& numbers) {
  put(bytes, static_cast<std::int64_t>(numbers.size() * sizeof(std::int64_t)));
  bytes.append(reinterpret_cast<const char*>(numbers.data()),
               numbers.size() * sizeof(std::int64_t));
}

/// Appends the content of a sum.
inline void put(std::string& bytes, const BinnedSumState& sum) {
  put(bytes, sum.terms);
  put(bytes, static_cast<std::int64_t>(sum.finite ? 1 : 0));
  put(bytes, static_cast<std::int64_t>(sum.top));
  put(bytes, sum.upper);
  put(bytes, sum.lower);
}

/// Appends the checksum of all bytes before.
inline void put_checksum(std::string& bytes) {
  put(bytes, static_cast<std::int64_t>(io::crc32c(bytes.data(), bytes.size())));
}

/// Reads what put() wrote. All functions throw damaged_sums() for too few bytes.
class SumReader {
 public:
  /// \param bytes bytes to read, which must outlive the reader
  /// \param checked true: put_checksum() ended the bytes, and the checksum is compared
  SumReader(const std::string& bytes, bool checked) : m_bytes(bytes), m_end(bytes.size()) {
    if (!checked) return;
    std::int64_t checksum = -1;
    if (m_end < sizeof(checksum)) throw damaged_sums();
    m_end -= sizeof(checksum);
    std::memcpy(&checksum, bytes.data() + m_end, sizeof(checksum));
    if (checksum != static_cast<std::int64_t>(io::crc32c(bytes.data(), m_end))) {
      throw damaged_sums();
    }
  }
  /// Returns the next number.
  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, take(sizeof(value)), sizeof(value));
    return value;
  }
  /// Returns the next text.
  std::string text() {
    const std::int64_t size = number();
    if (size < 0) throw damaged_sums();
    const auto count = static_cast<std::size_t>(size);
    return {take(count), count};
  }
  /// Returns the next numbers.
  std::vector<std::int64_t> numbers() {
    const std::int64_t size = number();
    if (size < 0 || size % 8 != 0) throw damaged_sums();
    const auto count = static_cast<std::size_t>(size);
    const char* const from = take(count);
    std::vector<std::int64_t> values(count / 8);
    if (count > 0) std::memcpy(values.data(), from, count);
    return values;
  }
  /// Returns the content of the next sum.
  BinnedSumState sum() {
    BinnedSumState sum;
    sum.terms = number();
    sum.finite = number() != 0;
    sum.top = static_cast<int>(number());
    sum.upper = numbers();
    sum.lower = numbers();
    return sum;
  }
  /// Returns true if all bytes are read.
  bool at_end() const { return m_at == m_end; }

 private:
  const char* take(std::size_t count) {
    if (count > m_end - m_at) throw damaged_sums();
    m_at += count;
    return m_bytes.data() + (m_at - count);
  }
  const std::string& m_bytes;
  std::size_t m_at = 0, m_end;
};

}  // namespace moho::rtm::detail
