// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/columns.hpp>

#include <moho/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <optional>

namespace moho::gravity_inversion {

namespace {

using gravity::Component;

std::string in_lower_case(std::string text) {
  for (char& letter : text) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

// Words of letters and digits, in lower case.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char letter : in_lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      words.back() += letter;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

// The component that a word names, also with a unit at its end: gz, gzmgal.
std::optional<Component> component_in(const std::string& word) {
  for (const Component component : gravity::all_components()) {
    const std::string name = gravity::to_string(component);
    for (const char* unit : {"", "mgal", "eotvos", "e", "err", "error", "std"}) {
      if (word == name + unit) return component;
    }
  }
  return std::nullopt;
}

bool means_error(const std::string& word) {
  for (const char* part : {"err", "std", "sig", "unc", "dev"}) {
    if (word.find(part) != std::string::npos) return true;
  }
  return word == "sd";
}

// The name that a column should perhaps have; empty: none.
std::string suggestion_for(const io::Table& table, const std::string& name) {
  const std::vector<std::string> words = words_of(name);
  for (const std::string& word : words) {
    const auto component = component_in(word);
    if (!component) continue;
    const bool error = std::any_of(words.begin(), words.end(), means_error);
    const std::string right = error ? error_name(*component) : gravity::to_string(*component);
    if (column_of(table, right) >= 0) return "";
    return concat(right, ", in ", gravity::unit_of(*component));
  }
  return "";
}

}  // namespace

std::string error_name(Component component) {
  return std::string(gravity::to_string(component)) + "_error";
}

std::int64_t column_of(const io::Table& table, const std::string& name) {
  const auto found =
      std::find_if(table.names.begin(), table.names.end(),
                   [&](const std::string& other) { return in_lower_case(other) == name; });
  return found == table.names.end() ? -1 : found - table.names.begin();
}

std::string with_suggestions(const io::Table& table, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    const std::string right = suggestion_for(table, name);
    list += (list.empty() ? "" : ", ") + name;
    if (!right.empty()) list += concat(" (is it ", right, "?)");
  }
  return list;
}

std::string unused_columns(const io::Table& table, const std::vector<std::int64_t>& used) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    const auto position = static_cast<std::int64_t>(k);
    if (std::find(used.begin(), used.end(), position) != used.end()) continue;
    const std::string name = in_lower_case(table.names[k]);
    const auto components = gravity::all_components();
    const bool known = std::any_of(components.begin(), components.end(), [&](Component component) {
      return name == gravity::to_string(component) || name == error_name(component);
    });
    // twice in letters of another case: the second one is not used
    if (!known || column_of(table, name) != position) names.push_back(table.names[k]);
  }
  return with_suggestions(table, names);
}

}  // namespace moho::gravity_inversion
