// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers as people read them, and lines on standard output.

#include <moho/core/error.hpp>

#include <cstdio>
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

/// Prints its arguments and ends the line.
template <class... Args>
void say(const Args&... args) {
  std::puts(concat(args...).c_str());
}

}  // namespace moho::examples
