// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of command line options: numbers, lists of numbers, bytes and names.
///
/// Values are read strictly; rules describe options with such values. Every function and rule
/// throws InputError. Its message names the option, the given text, the allowed values and the
/// remedy.

#include "app/option_table.hpp"

#include <moho/core/parse.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::examples {

/// Splits a text at separators and trims each piece. "a,,b" has three pieces.
std::vector<std::string> split(std::string_view text, char separator = ',');

using text::parse_count;
using text::parse_name;
using text::parse_number;

/// Reads numbers separated by commas.
/// \param what name of the option in messages: "--source"
/// \param counts allowed numbers of values \param form how the option is written: "x,z in metres"
/// \param lengths the values are metres and may end in their unit: "12.5m", "0.0125km"
std::vector<double> parse_numbers(const std::string& what, const std::string& text,
                                  const std::vector<std::size_t>& counts, const std::string& form,
                                  bool lengths = false);

/// Reads metres between nodes: "d", "dx,dz" or "dx,dy,dz", or with names; all positive.
/// The result is in the order of the axes. A value may end in its unit, "10m" or "0.01km".
std::vector<double> parse_spacing(const std::string& text);

/// Reads the position of the first node in metres, "x,z" or "x,y,z", or with names.
/// The result is in the order of the axes. A value may end in its unit, "10m" or "0.01km".
std::vector<double> parse_origin(const std::string& text);

/// Returns a rule of a whole number from `lowest` to `highest`.
Rule<std::int64_t> count(std::int64_t lowest, std::int64_t highest);
/// Returns a rule of an even number from 2 to `highest`.
Rule<std::int64_t> even(std::int64_t highest);
/// Returns a rule of a number above `lowest`, or from it, and below `limit`.
/// \param form allowed values, for messages
Rule<double> number(const std::string& form, double lowest, bool include_lowest,
                    double limit = std::numeric_limits<double>::infinity());
/// Returns a rule of a number above 0. \param form allowed values, for messages
Rule<double> positive(const std::string& form);
/// Returns a rule of bytes: "512M", "8G", "1.5GiB" or a plain number; units are powers of 1024.
Rule<std::size_t> bytes();
/// Returns a rule of one of several names: the value is its position, the summary shows the name.
Rule<std::size_t> one_of(const std::vector<std::string>& names);
/// Returns a rule of nodes along each axis, "nx,nz" or "nx,ny,nz", or with names.
/// The value is in the order of the axes.
/// \param max largest number of nodes along an axis
Rule<std::vector<std::int64_t>> nodes_of_axes(std::int64_t max = std::int64_t(1) << 40);
/// Returns a rule of a text that is not empty.
/// \param allowed,instead allowed values and remedy, for the message of an empty text
Rule<std::string> nonempty(const std::string& allowed, const std::string& instead);
/// Returns a rule of one of several names.
Rule<std::string> name_of(const std::vector<std::string>& names);
/// Returns the rule of a value that a function makes of the text.
template <class Parse, class V = std::decay_t<std::invoke_result_t<Parse, const std::string&>>>
Rule<V> parsed(Parse parse) {
  return {[parse](const std::string&, const std::string& text) { return parse(text); }};
}
/// \overload \param show makes the member of the summary
template <class Parse, class Show>
auto parsed(Parse parse, Show show) {
  auto rule = parsed(parse);
  rule.show = [show](const auto& value) { return Json(show(value)); };
  return rule;
}

}  // namespace moho::examples
