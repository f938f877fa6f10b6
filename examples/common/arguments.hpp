// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of command line options: numbers, lists of numbers, bytes and names, read
/// strictly.
///
/// Every function throws InputError with a message that names the option, what was given, what is
/// allowed and what to do.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moho::examples {

/// Pieces of a text between separators, blanks at their ends cut off. "a,,b" has three pieces.
std::vector<std::string> split(std::string_view text, char separator = ',');

/// The whole text as a finite number.
/// \param what what to call it in the message: "--source"
/// \param form how the option is written: "x,z in metres"
double parse_number(const std::string& what, const std::string& text, const std::string& form);

/// Numbers separated by commas.
/// \param counts how many there may be
std::vector<double> parse_numbers(const std::string& what, const std::string& text,
                                  const std::vector<std::size_t>& counts, const std::string& form);

/// A number of things: a whole number from `lowest` to `highest`.
std::int64_t parse_count(const std::string& what, const std::string& text, std::int64_t lowest,
                         std::int64_t highest);

/// Bytes: "512M", "8G", "1.5GiB" or a plain number; the units are powers of 1024.
std::size_t parse_bytes(const std::string& what, const std::string& text);

/// Position of a name in a list of allowed names.
std::size_t parse_name(const std::string& what, const std::string& text,
                       const std::vector<std::string>& names);

/// \brief Nodes along each axis, "nx,nz" or "nx,ny,nz", or with names, in the order of the axes.
/// \param most nodes along an axis
std::vector<std::int64_t> parse_shape(const std::string& text, std::int64_t most);

/// Metres between nodes, "d", "dx,dz" or "dx,dy,dz", or with names, in the order of the axes; all
/// positive. A value may end in its unit, "10m" or "0.01km".
std::vector<double> parse_spacing(const std::string& text);

/// Position of the first node, "x,z" or "x,y,z", or with names, in the order of the axes.
std::vector<double> parse_origin(const std::string& text);

}  // namespace moho::examples
