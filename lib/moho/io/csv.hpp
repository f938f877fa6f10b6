// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of numbers in text files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace moho::io {

/// A table of numbers.
struct Table {
  std::vector<std::string> names;  ///< column names; empty if the file has no header line
  std::int64_t columns = 0;        ///< number of columns
  std::vector<double> values;      ///< the numbers, row by row

  /// Returns the number of rows.
  std::int64_t rows() const {
    return columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns;
  }
  /// Returns the number in a row and a column, both counted from 0.
  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Options of read_csv().
struct CsvOptions {
  std::int64_t columns = 0;      ///< required numbers per row; 0: as many as in the first row
  bool allow_nonfinite = false;  ///< accepts nan and inf
  bool allow_empty = false;      ///< accepts a file without rows
};

/// Reads a table whose separators are commas, semicolons or white space.
///
/// The first line may be a header: a line without numbers. Text after # and empty lines are
/// ignored.
/// \throws FileError "FILE:LINE:COLUMN: ..." with the offending text
Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// Returns the position of the column with a name in lower case; -1 if no column has it.
/// \param what names the table in messages
/// \throws InputError if several columns have the name
std::int64_t find_column(const std::string& what, const Table& table, const std::string& name);

/// Returns the names of columns that are not at the given positions, after commas.
std::string other_columns(const Table& table, const std::vector<std::int64_t>& positions);

/// Writes a table with commas and, if it has names, a header line.
///
/// Each number has the fewest digits from which the same double is read.
/// \throws FileError; InputError if names, columns and values do not agree or a name is not allowed
/// in a header
void write_csv(const std::filesystem::path& path, const Table& table);

/// Writes rows of numbers below a header line, without a table of them in memory.
///
/// Each number has the fewest digits from which the same double is read; NaN is "nan".
/// \param path the file, which is replaced when it is complete
/// \param names of the columns
/// \param rows number of rows
/// \param value called with row and column, counted from 0
/// \throws FileError
void write_rows(const std::filesystem::path& path, const std::vector<std::string>& names,
                std::size_t rows, const std::function<double(std::size_t, std::size_t)>& value);

}  // namespace moho::io
