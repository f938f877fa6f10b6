// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Points as texts: "0,20:3000,20:301", or the path of a table.

#include <moho/core/grid.hpp>
#include <moho/io/text_columns.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho::survey {

/// Values of one position, shape or spacing.
struct AxisValues {
  std::vector<std::string> texts;  ///< one value an axis: x, z or x, y, z
  std::string written;             ///< order of the axes in the text: "xz", "xyz", "zxy"
};

/// \brief Splits a text at its commas, and sorts named values into the order of the axes.
/// \param what name of the text in messages, such as "--source"
/// \param text "100,20" or "z=20,x=100"; without names the number of values is free
/// \throws InputError for names that are no axes, are repeated, or are missing for some values
AxisValues split_axes(const std::string& what, const std::string& text);

/// \brief Returns the points of a text, or of the table whose path it is.
///
/// "x,z" is one point (in 3D "x,y,z"), in m. "x,z:x,z:n" is a line of n points from the first to
/// the last. "x,y,z:x,y,z:nxmxk" (2D: "nxm") is a grid between two corners. Several of these are
/// joined by ";".
///
/// Coordinates may be named in any order, "z=20,x=100"; the counts of a grid then have the order of
/// its first corner. A line may also be written "x,z,x,z,n". Points of a grid run fastest along the
/// last axis, z.
///
/// A table is a .csv, .txt or .npy file with the columns x,z or x,y,z. If its first line names the
/// columns, their order is free and other columns may be present.
/// \param text the points, or the path
/// \param what name of the text in messages, such as "--receivers"
/// \param columns receives the columns of text in a table, one field for each point; may be null
/// \throws InputError with the unreadable piece and the allowed forms; FileError for the table
template <int Dim>
Points<Dim> points_from_text(const std::string& text, const std::string& what = "points",
                             std::vector<io::TextColumn>* columns = nullptr);

/// Returns the points of several texts, in their order. \see points_from_text()
template <int Dim>
Points<Dim> points_from_texts(const std::vector<std::string>& texts,
                              const std::string& what = "points");

/// Returns the number of points of several texts, at least 1, for estimates of memory.
///
/// A text or table that points_from_text() refuses counts as one point.
template <int Dim>
std::size_t count_points(const std::vector<std::string>& texts);

}  // namespace moho::survey
