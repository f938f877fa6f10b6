// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of points and arrays of values in .csv, .txt and .npy files.

#include <moho/io/csv.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::io {

/// Returns true for .csv and .txt, false for .npy.
/// \param what argument and file, for messages
/// \throws InputError for other kinds of files
bool is_text_table(const std::string& what, const std::string& file);

/// Column of a table with one coordinate or value.
struct TableColumn {
  std::int64_t position = 0;  ///< counted from 0
  bool upwards = false;       ///< has heights; z is their negative
};

/// \brief Returns the positions of the wanted columns in a table.
///
/// Alternative names of axes (north, easting, depth, elevation, ...) add a note.
/// \param what argument and file, for messages
/// \throws InputError for a column that is missing or occurs twice
std::vector<TableColumn> find_columns(const std::string& what, const Table& table,
                                      const std::vector<std::string>& names,
                                      std::vector<std::string>& notes);

/// Returns rows of named numbers from a file, in one vector. A note lists unused axes.
/// \param option name of the argument that names the file, for messages
/// \throws InputError for another shape or other columns, FileError
std::vector<double> read_rows(const std::string& option, const std::string& file,
                              const std::vector<std::string>& names,
                              std::vector<std::string>& notes);

/// Returns an array of a given shape, one number for each element, x fastest.
/// \param shape with x last, also flat \param axes names of the shape's axes: "nz x ny x nx"
/// \param mask true: a .npy file may also have booleans, which become 0 and 1, and signed integers
/// of 16 to 64 bits
/// \throws InputError for another shape, FileError
std::vector<double> read_values(const std::string& option, const std::string& file,
                                const std::vector<std::int64_t>& shape, const std::string& axes,
                                bool mask = false);

}  // namespace moho::io
