// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values along the axes: "x,z" in 2D, "x,y,z" in 3D, or named, "x=100,z=20,y=50".
///
/// Named values may have any order.

#include <string>
#include <vector>

namespace moho::examples {

/// Values of one position, shape or spacing.
struct AxisValues {
  std::vector<std::string> texts;  ///< one value an axis: x, z or x, y, z
  std::string written;             ///< order of the axes in the text: "xz", "xyz", "zxy"
};

/// \brief Splits a text at its commas, and sorts named values into the order of the axes.
/// \param what name of the option in messages: "--source"
/// \param text "100,20" or "z=20,x=100"; without names the number of values is free
/// \throws InputError for names that are no axes, are repeated, or are missing for some values
AxisValues split_axes(const std::string& what, const std::string& text);

}  // namespace moho::examples
