// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Text lines of encoded words with a checksum, used in journals, jobs and messages.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace moho::cluster {

/// Encodes a text as a word: blanks, line ends, control characters and % become %20 etc. The empty
/// text becomes a single %.
std::string encode_word(std::string_view text);
/// Decodes a word of encode_word(); empty for other words.
std::optional<std::string> decode_word(std::string_view word);
/// Splits a line at single blanks.
std::vector<std::string_view> split_words(std::string_view line);
/// Encodes texts as the words of a line.
std::string join_words(const std::vector<std::string>& texts);
/// Decodes a line of join_words(); empty for other lines.
std::optional<std::vector<std::string>> parse_line(std::string_view line);
/// Splits a text into lines; the last one may lack its line end.
std::vector<std::string_view> split_lines(std::string_view text);
/// Appends the checksum and a line end.
std::string add_checksum(const std::string& line);
/// Returns a line without its checksum; empty if the line is damaged.
std::optional<std::string_view> remove_checksum(std::string_view line);
/// Formats a number with the fewest digits that reproduce it exactly.
std::string format_number(double value);

/// Parses a word that is a number. \returns false for other words
template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
  return result.ec == std::errc() && result.ptr == word.data() + word.size() && !word.empty();
}
/// Parses a word of hexadecimal digits. \returns false for other words
bool read_hex(std::string_view word, std::uint32_t& number);

/// \brief Returns true if a text is safe as a name of files, in commands and in addresses.
///
/// Allowed are up to `longest` letters, digits, points, underscores and dashes; the first character
/// is a letter or digit.
bool is_safe_name(std::string_view text, std::size_t longest = 64);
/// Returns true for an absolute path of letters, digits and . _ - / + = with fewer than 4096
/// characters.
bool is_safe_path(std::string_view text);

}  // namespace moho::cluster
