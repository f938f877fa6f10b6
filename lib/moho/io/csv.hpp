// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of numbers as text.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::io {

/// A table of numbers.
struct Table {
  std::vector<std::string> names;  ///< column names, empty when the file has no header line
  std::int64_t columns = 0;        ///< numbers in every row
  std::vector<double> values;      ///< row after row

  /// Number of rows.
  std::int64_t rows() const {
    return columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns;
  }
  /// One number.
  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Options of read_csv().
struct CsvOptions {
  std::int64_t columns = 0;  ///< numbers that every row must have; 0: as many as the first row has
  bool allow_nonfinite = false;  ///< accept nan and inf
  bool allow_empty = false;      ///< accept a file without a row
};

/// Reads a table separated by commas, semicolons or white space. The first line may be a header
/// (none of its fields is a number); text after # and empty lines are skipped. \throws FileError
/// "FILE:LINE:COLUMN: ..." with the text that was found
Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// Writes a table with commas and, when there are names, a header line; every number has the fewest
/// digits that give the same double when read. \throws FileError, InputError when names, columns
/// and values do not agree or a name would break the header
void write_csv(const std::filesystem::path& path, const Table& table);

}  // namespace moho::io
