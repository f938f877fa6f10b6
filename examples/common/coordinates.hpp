// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values along the axes as they are written: "x,z" in two dimensions, "x,y,z" in three, or
/// with names in any order, "x=100,z=20,y=50".
///
/// Former releases took x,z,y in three dimensions. For one release three numbers without names are
/// therefore refused where both orders are possible, unless --coordinates xyz was given.

#include <string>
#include <vector>

namespace moho::examples {

/// Values of one place, shape or spacing.
struct AxisValues {
  std::vector<std::string> texts;  ///< a value an axis: x, z or x, y, z
  std::string written;             ///< the axes as they stand in the text: "xz", "xyz", "zxy"
  bool named = false;              ///< did the text name them?
};

/// \brief Splits a text at its commas, and brings named values into the order of the axes.
/// \param what what to call it in messages: "--source"
/// \param text "100,20" or "z=20,x=100"; without names there may be any number of values
/// \throws InputError for names that are no axes, twice there, or missing for some values
AxisValues split_axes(const std::string& what, const std::string& text);

/// \brief The text with a name before each of its three numbers, which is what a message proposes.
/// \param axes in the order in which the numbers are meant: "xyz"
std::string with_names(const std::string& text, const std::string& axes);

/// The refusal of three numbers that may be meant in either order.
/// \param example of the text, a piece that differs \param why what makes both possible
std::string two_orders(const std::string& what, const std::string& example, const std::string& why);

}  // namespace moho::examples
