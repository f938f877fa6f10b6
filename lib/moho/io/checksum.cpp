// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>

#include <boost/crc.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace moho::io {

void Checksum::add(const void* data, std::size_t bytes) {
  // Neither inverted at the end nor at the beginning: value() and the member's initial value are.
  boost::crc_optimal<32, 0x1EDC6F41, 0, 0, true, true> sum(m_remainder);
  sum.process_bytes(data, bytes);
  m_remainder = sum.checksum();
}

std::uint32_t checksum(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes.data(), bytes.size());
  return sum.value();
}

FileIdentity identify_file(const std::filesystem::path& path) {
  const InputFile file(path);
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::vector<char> buffer(static_cast<std::size_t>(std::min(piece, file.size())));
  Checksum sum;
  for (std::uint64_t offset = 0; offset < file.size(); offset += piece) {
    const auto bytes = static_cast<std::size_t>(std::min(piece, file.size() - offset));
    file.read(offset, buffer.data(), bytes);
    sum.add(buffer.data(), bytes);
  }
  return {file.size(), sum.value()};
}

std::string checksum_text(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", checksum);
  return text;
}

}  // namespace moho::io
