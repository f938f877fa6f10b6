// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Messages of programs on standard error: one line each, whatever a name in them holds.

#include <string>
#include <string_view>

namespace moho::examples {

/// \brief A text without control characters: \n, \t, \r, or \x and two hexadecimal digits stand for
/// them. Ends of lines at the end of the text are left out.
std::string one_line(std::string_view text);

/// Prints "program: text" as one line on standard error.
void print_message(const std::string& program, std::string_view text);

}  // namespace moho::examples
