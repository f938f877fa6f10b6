// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers as people read them.

#include <iomanip>
#include <sstream>
#include <string>

namespace moho::examples {

/// A number with so many significant digits: "0.0123", "1.5e+09".
inline std::string significant(double value, int digits) {
  std::ostringstream out;
  out << std::setprecision(digits) << value;
  return out.str();
}

/// A number with so many digits behind the point: "0.012".
inline std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

}  // namespace moho::examples
