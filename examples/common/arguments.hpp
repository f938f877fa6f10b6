// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of command line options: numbers, lists of numbers, bytes and names, read
/// strictly, and the rules of options with such values.
///
/// Every function and rule throws InputError with a message that names the option, what was given,
/// what is allowed and what to do.

#include "common/option_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// Position of a name in a list of allowed names.
std::size_t parse_name(const std::string& what, const std::string& text,
                       const std::vector<std::string>& names);

/// Metres between nodes, "d", "dx,dz" or "dx,dy,dz", or with names, in the order of the axes; all
/// positive. A value may end in its unit, "10m" or "0.01km".
std::vector<double> parse_spacing(const std::string& text);

/// Position of the first node, "x,z" or "x,y,z", or with names, in the order of the axes.
std::vector<double> parse_origin(const std::string& text);

/// A whole number from `lowest` to `highest`.
Rule<std::int64_t> count(std::int64_t lowest, std::int64_t highest);
/// An even number from 2 to `highest`.
Rule<std::int64_t> even(std::int64_t highest);
/// A number above `lowest`, or from it. \param form what is allowed, for messages
Rule<double> number(const std::string& form, double lowest, bool include_lowest);
/// A number above 0. \param form what is allowed, for messages
Rule<double> positive(const std::string& form);
/// Bytes: "512M", "8G", "1.5GiB" or a plain number; the units are powers of 1024.
Rule<std::size_t> bytes();
/// The position of one of several names; the summary shows the name.
Rule<std::size_t> one_of(const std::vector<std::string>& names);
/// Nodes along each axis, "nx,nz" or "nx,ny,nz", or with names, in the order of the axes.
/// \param most nodes along an axis
Rule<std::vector<std::int64_t>> nodes_of_axes(std::int64_t most = std::int64_t(1) << 40);
/// A text that is not empty. \param allowed,instead for the message of an empty one
Rule<std::string> nonempty(const std::string& allowed, const std::string& instead);
/// One of several names.
Rule<std::string> name_of(const std::vector<std::string>& names);
/// What a function makes of the text.
template <class Parse, class V = std::decay_t<std::invoke_result_t<Parse, const std::string&>>>
Rule<V> parsed(Parse parse) {
  return {[parse](const std::string&, const std::string& text) { return parse(text); }};
}
/// \overload \param show the member of the summary
template <class Parse, class Show>
auto parsed(Parse parse, Show show) {
  auto rule = parsed(parse);
  rule.show = [show](const auto& value) { return Json(show(value)); };
  return rule;
}

}  // namespace moho::examples
