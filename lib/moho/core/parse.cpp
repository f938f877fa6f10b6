// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/core/suggestions.hpp>
#include <moho/core/text.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <limits>

namespace moho::text {

double parse_number(const std::string& what, const std::string& text, const std::string& form) {
  if (const auto value = to_number(text)) return *value;
  throw InputError(concat(what, ": '", text, "' is not a number (allowed: ", form, ")"));
}

std::int64_t parse_count(const std::string& what, const std::string& text, std::int64_t lowest,
                         std::int64_t highest) {
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

std::size_t parse_name(const std::string& what, const std::string& text,
                       const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
    list += (i ? ", " : "") + names[i];
  }
  const std::string near = suggestion(nearest_names(text, names));
  throw InputError(concat(what, " '", text, "' is unknown (allowed: ", list, ")",
                          near.empty() ? "" : ": ", near));
}

void check_word_or_file(const std::string& what, const std::string& text,
                        const std::vector<std::string>& words, const std::string& form) {
  const auto in_words = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0])) ||
      !std::all_of(text.begin(), text.end(), in_words) ||
      std::find(words.begin(), words.end(), text) != words.end()) {
    return;
  }
  std::error_code error;
  if (std::filesystem::exists(text, error)) return;
  const std::string near = suggestion(nearest_names(text, words));
  throw InputError(concat(what, " '", text, "' is unknown, and no such file exists (allowed: ",
                          form, ")", near.empty() ? "" : ": ", near));
}

}  // namespace moho::text
