// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Messages of programs on standard error: one line each, for any text.

#include <string>
#include <string_view>

namespace moho::examples {

/// Returns a text without control characters: \n, \t, \r, or \x and two hex digits.
/// Line ends at the end of the text are removed.
std::string one_line(std::string_view text);

/// Prints "program: text" as one line on standard error.
void print_message(const std::string& program, std::string_view text);

}  // namespace moho::examples
