// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/gravity/types.hpp>

#include <algorithm>

namespace moho::gravity {

Components parse_components(std::string_view names) {
  std::string known;
  for (const Component c : all_components())
    known += std::string(known.empty() ? "" : ", ") + to_string(c);
  const std::string allowed = " (allowed: all, or some of " + known + ", separated by commas)";
  Components components;
  std::string_view rest = names;
  for (;;) {
    const auto comma = rest.find(',');
    std::string_view piece = rest.substr(0, comma);
    while (!piece.empty() && piece.front() == ' ') piece.remove_prefix(1);
    while (!piece.empty() && piece.back() == ' ') piece.remove_suffix(1);
    if (piece.empty()) {
      throw InputError(concat("components: a name is missing in '", names, "'", allowed));
    }
    if (piece == "all" && comma == std::string_view::npos && components.empty()) {
      return all_components();
    }
    bool found = false;
    for (const Component c : all_components()) {
      if (piece != to_string(c)) continue;
      found = true;
      if (std::find(components.begin(), components.end(), c) != components.end()) {
        throw InputError(concat("components: '", piece, "' is named twice in '", names,
                                "' (allowed: each once): leave one out"));
      }
      components.push_back(c);
    }
    if (piece == "all") {
      throw InputError(
          concat("components: 'all' stands beside others in '", names, "' (allowed: all alone)"));
    }
    if (!found) throw InputError(concat("components: '", piece, "' is unknown", allowed));
    if (comma == std::string_view::npos) return components;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace moho::gravity
