// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/text.hpp>
#include <moho/io/checksum.hpp>

#include <algorithm>

namespace moho::cluster {

std::string encode_word(std::string_view text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string word;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code <= 0x20 || code == 0x7f || c == '%') {
      word += '%';
      word += digits[code / 16];
      word += digits[code % 16];
    } else {
      word += c;
    }
  }
  return word.empty() ? "%" : word;
}

std::optional<std::string> decode_word(std::string_view word) {
  if (word == "%") return "";
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    unsigned code = 0;
    const char* begin = word.data() + i + 1;
    if (i + 2 >= word.size() || std::from_chars(begin, begin + 2, code, 16).ptr != begin + 2) {
      return std::nullopt;
    }
    text += static_cast<char>(code);
    i += 2;
  }
  return text;
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t blank = line.find(' ');
    words.push_back(line.substr(0, blank));
    line = blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
  }
  return words;
}

std::string join_words(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) {
    if (!line.empty()) line += ' ';
    line += encode_word(text);
  }
  return line;
}

std::optional<std::vector<std::string>> parse_line(std::string_view line) {
  std::vector<std::string> texts;
  for (const std::string_view word : split_words(line)) {
    auto text = decode_word(word);
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string add_checksum(const std::string& line) {
  return line + " *" + io::checksum_text(io::checksum(line)) + '\n';
}

std::optional<std::string_view> remove_checksum(std::string_view line) {
  const std::size_t star = line.rfind(" *");
  if (star == std::string_view::npos) return std::nullopt;
  const std::string_view content = line.substr(0, star);
  if (line.substr(star + 2) != io::checksum_text(io::checksum(content))) return std::nullopt;
  return content;
}

std::string format_number(double value) {
  char digits[64];
  const auto result = std::to_chars(digits, digits + sizeof(digits), value);
  return {digits, result.ptr};
}

bool read_hex(std::string_view word, std::uint32_t& number) {
  const auto result = std::from_chars(word.data(), word.data() + word.size(), number, 16);
  return result.ec == std::errc() && result.ptr == word.data() + word.size() && !word.empty();
}

namespace {
bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool only(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return plain(c) || more.find(c) != std::string_view::npos; });
}
}  // namespace

bool is_safe_name(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest && plain(text[0]) && only(text, "._-");
}

bool is_safe_path(std::string_view text) {
  return text.size() > 1 && text[0] == '/' && text.size() < 4096 && only(text, "/._-+=");
}

}  // namespace moho::cluster
