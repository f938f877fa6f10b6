// SPDX-License-Identifier: BSD-3-Clause
#include "app/message.hpp"

#include <cstdio>

namespace moho::examples {

std::string one_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  constexpr const char* digits = "0123456789abcdef";
  std::string line;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    // U+0080 to U+009f in UTF-8: terminals also obey some of these
    const bool second = byte == 0xc2 && k + 1 < text.size() &&
                        (static_cast<unsigned char>(text[k + 1]) & 0xe0) == 0x80;
    if (byte == '\n') {
      line += "\\n";
    } else if (byte == '\t') {
      line += "\\t";
    } else if (byte == '\r') {
      line += "\\r";
    } else if (byte < 0x20 || byte == 0x7f || second) {
      const auto code = second ? static_cast<unsigned char>(text[++k]) : byte;
      line += "\\x";
      line += digits[code >> 4];
      line += digits[code & 15];
    } else {
      line += text[k];
    }
  }
  return line;
}

void print_message(const std::string& program, std::string_view text) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), one_line(text).c_str());
}

}  // namespace moho::examples
