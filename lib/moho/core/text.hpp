// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers and lists in short texts, such as wavelets and geometries.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace moho::text {

/// Returns the text without white space at its ends.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Splits a text at separators and trims the pieces; "a,,b" has three.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (;;) {
    const auto at = text.find(separator);
    pieces.emplace_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

/// Returns the complete text as a finite number, or nothing.
inline std::optional<double> to_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// Returns a number with `digits` significant digits: "0.0123", "1.5e+09".
inline std::string significant(double value, int digits) {
  std::ostringstream out;
  out.precision(digits);
  out << value;
  return out.str();
}

/// Returns a count with its unit: "1 shot", "2 shots", "0 shots".
/// \param unit in the singular \param units its plural; empty: ends in s
template <class Count>
std::string counted(Count count, const std::string& unit, const std::string& units = {}) {
  std::ostringstream out;
  out.precision(10);
  out << count << ' ' << (count == Count(1) ? unit : units.empty() ? unit + "s" : units);
  return out.str();
}

/// Returns a time with two significant digits, from 100 s on in whole seconds: "0.012", "161".
inline std::string seconds(double value) {
  return value < 99.5 ? significant(value, 2) : std::to_string(std::llround(value));
}

/// \brief Returns a message that ends with "(allowed: ...)" with another allowed word.
///
/// Other messages, and those with the word, are returned unchanged.
inline std::string also_allowed(std::string message, const std::string& word) {
  if (!message.ends_with(')') || message.find(word) != std::string::npos) return message;
  return message.insert(message.size() - 1, ", or " + word);
}

/// Returns the complete text as a non-negative integer, or nothing.
inline std::optional<std::int64_t> to_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace moho::text
