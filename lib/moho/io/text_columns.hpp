// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of numbers with text columns.

#include <moho/io/csv.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::io {

/// A column of a table that contains text.
struct TextColumn {
  std::string name;                 ///< name in the header line
  std::vector<std::string> fields;  ///< one for each row, trimmed
};

/// \brief Reads a table as read_csv() does; with a header line, columns may contain text.
///
/// Fields that are not finite numbers are NaN in the table. A field cannot contain the separator of
/// its line, not even within quotation marks.
/// \param path path of the file
/// \param numbers names, in lower case, of columns that contain numbers only
/// \param texts receives the columns with at least one field that is not a finite number, in the
/// order of the file
/// \throws FileError "FILE:LINE:COLUMN: ..." with the offending text
Table read_csv_with_texts(const std::filesystem::path& path,
                          const std::vector<std::string>& numbers, std::vector<TextColumn>& texts);

/// Returns the names of text columns for the header line of a new table, each after a comma.
/// \param others names of the table's other columns: a column without a name, or with one of these,
/// gets "_name" at the end of its name
std::string header_of(const std::vector<TextColumn>& texts, const std::vector<std::string>& others);

/// Returns the fields of text columns in a row, each after a comma.
std::string fields_of(const std::vector<TextColumn>& texts, std::size_t row);

}  // namespace moho::io
