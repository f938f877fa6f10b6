// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Lines of words that any text can be put into and read back from, each with a checksum:
/// what journals, jobs and messages between programs consist of.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace moho::cluster {

/// Blanks, ends of lines, control characters and % as %20 and so on: a word of a line. A lone % is
/// the empty text.
std::string encode_word(std::string_view text);
/// What encode_word() made a word of, or nothing.
std::optional<std::string> decode_word(std::string_view word);
/// The parts of a line between single blanks.
std::vector<std::string_view> split_words(std::string_view line);
/// Texts as the words of a line.
std::string join_words(const std::vector<std::string>& texts);
/// The texts that join_words() made a line of, or nothing.
std::optional<std::vector<std::string>> parse_line(std::string_view line);
/// Lines of a text; the last one may lack its end.
std::vector<std::string_view> split_lines(std::string_view text);
/// A line with its checksum and its end.
std::string add_checksum(const std::string& line);
/// The line without its checksum, or nothing for a damaged one.
std::optional<std::string_view> remove_checksum(std::string_view line);
/// A number in the fewest digits that give the same double when read.
std::string format_number(double value);

/// Reads a word that is a number and nothing else. \returns whether it was one
template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
  return result.ec == std::errc() && result.ptr == word.data() + word.size() && !word.empty();
}
/// The same for hexadecimal digits.
bool read_hex(std::string_view word, std::uint32_t& number);

/// \brief Can this be a name in files, commands and addresses of any program?
///
/// Letters, digits, points, underscores and dashes only, a letter or digit first, and no more than
/// `longest` of them.
bool is_safe_name(std::string_view text, std::size_t longest = 64);
/// The same for a path from the root, which may have slashes, plus and equal signs besides.
bool is_safe_path(std::string_view text);

}  // namespace moho::cluster
