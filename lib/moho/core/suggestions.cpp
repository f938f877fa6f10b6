// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/suggestions.hpp>

#include <algorithm>
#include <numeric>

namespace moho::text {

namespace {
constexpr std::size_t max_distance = 3, max_names = 3, min_prefix = 3;
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows of the distances between the first i letters of a and the first j of b
  std::vector<std::size_t> older(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], older[j - 2] + 1);
      }
    }
    older.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(const std::string& misspelt,
                                       const std::vector<std::string>& names) {
  // a long text is no misspelt name, and comparing it is slow
  if (misspelt.size() > 64) return {};
  std::size_t nearest = std::min((misspelt.size() + 2) / 3, max_distance);
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name == misspelt) continue;
    std::size_t distance = edit_distance(misspelt, name);
    const bool begins = misspelt.size() >= min_prefix && name.rfind(misspelt, 0) == 0;
    if (begins) distance = std::min<std::size_t>(distance, 1);
    // names that differ in every letter do not resemble each other
    if (distance > nearest || distance >= std::max(misspelt.size(), name.size())) continue;
    if (distance < nearest) found.clear();
    nearest = distance;
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  if (found.size() > max_names) found.resize(max_names);
  return found;
}

std::string suggestion(const std::vector<std::string>& names, const std::string& prefix) {
  if (names.empty()) return {};
  std::string text = "did you mean ";
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k > 0) text += k + 1 == names.size() ? " or " : ", ";
    text += prefix + names[k];
  }
  return text + "?";
}

}  // namespace moho::text
