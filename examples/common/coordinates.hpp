// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values along the axes as they are written: "x,z" in two dimensions, "x,y,z" in three, or
/// with names in any order, "x=100,z=20,y=50".

#include <string>
#include <vector>

namespace moho::examples {

/// Values of one place, shape or spacing.
struct AxisValues {
  std::vector<std::string> texts;  ///< a value an axis: x, z or x, y, z
  std::string written;             ///< the axes as they stand in the text: "xz", "xyz", "zxy"
};

/// \brief Splits a text at its commas, and brings named values into the order of the axes.
/// \param what what to call it in messages: "--source"
/// \param text "100,20" or "z=20,x=100"; without names there may be any number of values
/// \throws InputError for names that are no axes, twice there, or missing for some values
AxisValues split_axes(const std::string& what, const std::string& text);

}  // namespace moho::examples
