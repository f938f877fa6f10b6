// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers as text for people.

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>

#include <iomanip>
#include <sstream>
#include <string>

namespace moho::examples {

using text::counted;
using text::significant;

/// Returns the text of an interval: "every step", "every 5 steps".
template <class Count>
std::string every(Count count, const std::string& unit) {
  return count == Count(1) ? "every " + unit : "every " + counted(count, unit);
}

/// Returns the text of a number with `digits` decimals: "0.012".
inline std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

}  // namespace moho::examples
