// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Order of the coordinates of points in .sgt files.

#include <moho/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

namespace moho::tomography::detail {

/// Columns of the points in a .sgt file, by the names above them.
///
/// Names that include x, y or z are names of columns. In two columns y is the elevation. Without
/// such names the order is x, y, elevation.
class SgtColumns {
 public:
  SgtColumns() = default;
  explicit SgtColumns(const std::vector<std::string>& names) {
    bool found = false;
    for (const std::string& word : names) {
      std::string name = word;
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (name.size() == 3 && name.compare(1, 2, "/m") == 0) name.resize(1);
      found = found || name == "x" || name == "y" || name == "z";
      m_names.push_back(name);
    }
    if (!found) m_names.clear();
  }

  /// Sorts the coordinates of a point. Returns what is wrong, or an empty text.
  std::string sort(std::vector<double>& point) const {
    if (m_names.empty()) return {};
    const auto column = [&](const char* name) {
      const auto at = std::find(m_names.begin(), m_names.end(), name);
      return static_cast<std::size_t>(at - m_names.begin());
    };
    std::vector<double> sorted;
    for (const char* const name : {"x", "y", "z"}) {
      const std::size_t at = column(name);
      if (at < std::min(m_names.size(), point.size())) sorted.push_back(point[at]);
    }
    if (sorted.size() != point.size() || m_names.size() != point.size() ||
        column("x") == m_names.size()) {
      std::string list;
      for (const std::string& name : m_names) list += (list.empty() ? "" : " ") + name;
      return concat("a point has ", point.size(), " numbers, and the names of their columns are '",
                    list, "' (allowed: x z, x y or x y z, in any order): correct the names");
    }
    point = sorted;
    return {};
  }

 private:
  std::vector<std::string> m_names;
};

}  // namespace moho::tomography::detail
