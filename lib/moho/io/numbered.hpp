// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbered file names.

#include <cstdint>
#include <string>

namespace moho::io {

/// Returns a name with a number of at least four digits: "shot_0012.npy". \param number 0 or more
inline std::string numbered(const std::string& stem, std::int64_t number,
                            const std::string& end = ".npy") {
  std::string digits = std::to_string(number);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return stem + "_" + digits + end;
}

}  // namespace moho::io
