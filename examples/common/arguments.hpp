// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of command line options: numbers, lists of numbers, bytes and names, read
/// strictly.
///
/// Every function throws InputError with a message that names the option, what was given, what is
/// allowed and what to do.

#include <moho/core/error.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace moho::examples {

/// Pieces of a text between separators, blanks at their ends cut off. "a,,b" has three pieces.
inline std::vector<std::string> split(std::string_view text, char separator = ',') {
  std::vector<std::string> pieces;
  const auto trimmed = [](std::string_view piece) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto begin = piece.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return std::string();
    return std::string(piece.substr(begin, piece.find_last_not_of(blanks) - begin + 1));
  };
  for (;;) {
    const auto at = text.find(separator);
    pieces.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

/// The whole text as a finite number.
/// \param what what to call it in the message: "--source"
/// \param form how the option is written: "x,z in metres"
inline double parse_number(const std::string& what, const std::string& text,
                           const std::string& form) {
  double value = 0.0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    throw InputError(concat(what, ": '", text, "' is not a number (allowed: ", form, ")"));
  }
  return value;
}

/// Numbers separated by commas.
/// \param counts how many there may be
inline std::vector<double> parse_numbers(const std::string& what, const std::string& text,
                                         const std::vector<std::size_t>& counts,
                                         const std::string& form) {
  const std::vector<std::string> pieces = split(text);
  bool allowed = false;
  for (const std::size_t count : counts) allowed = allowed || count == pieces.size();
  if (!allowed) {
    throw InputError(concat(what, ": '", text, "' has ", pieces.size(),
                            pieces.size() == 1 ? " value" : " values", " (allowed: ", form, ")"));
  }
  std::vector<double> values;
  for (const std::string& piece : pieces) {
    if (pieces.size() == 1 || !piece.empty()) {
      try {
        values.push_back(parse_number(what, piece, form));
      } catch (const InputError&) {
        throw InputError(pieces.size() == 1
                             ? concat(what, ": '", text, "' is not a number (allowed: ", form, ")")
                             : concat(what, ": '", piece, "' in '", text,
                                      "' is not a number (allowed: ", form, ")"));
      }
    } else {
      throw InputError(concat(what, ": a value is missing in '", text, "' (allowed: ", form, ")"));
    }
  }
  return values;
}

/// A number of things: a whole number from `lowest` to `highest`.
inline std::int64_t parse_count(const std::string& what, const std::string& text,
                                std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < lowest || value > highest) {
    throw InputError(concat(
        what, " is '", text, "' (allowed: whole numbers from ", lowest,
        highest == std::numeric_limits<std::int64_t>::max() ? " up" : concat(" to ", highest),
        ")"));
  }
  return value;
}

/// Bytes: "512M", "8G", "1.5GiB" or a plain number; the units are powers of 1024.
inline std::size_t parse_bytes(const std::string& what, const std::string& text) {
  const std::string form = "bytes such as 512M, 8G, or a plain number of them";
  std::string digits = text;
  while (!digits.empty() && (digits.back() == 'B' || digits.back() == 'b')) digits.pop_back();
  if (!digits.empty() && (digits.back() == 'i')) digits.pop_back();
  double unit = 1.0;
  if (!digits.empty()) {
    const std::string letters = "KMGT";
    const char last =
        digits.back() >= 'a' ? static_cast<char>(digits.back() - 'a' + 'A') : digits.back();
    const auto power = letters.find(last);
    if (power != std::string::npos) {
      unit = std::pow(1024.0, static_cast<double>(power + 1));
      digits.pop_back();
    }
  }
  double value = 0.0;
  try {
    value = parse_number(what, digits, form);
  } catch (const InputError&) {
    throw InputError(concat(what, ": '", text, "' is no amount of memory (allowed: ", form, ")"));
  }
  if (!(value * unit >= 1.0) || value * unit > 9.0e18) {
    throw InputError(concat(what, ": '", text, "' is no amount of memory (allowed: ", form, ")"));
  }
  return static_cast<std::size_t>(value * unit);
}

/// Position of a name in a list of allowed names.
inline std::size_t parse_name(const std::string& what, const std::string& text,
                              const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
    list += (i ? ", " : "") + names[i];
  }
  throw InputError(concat(what, " '", text, "' is unknown (allowed: ", list, ")"));
}

}  // namespace moho::examples
