// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of numbers with columns of text.

#include <moho/io/csv.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace moho::io {

/// A column of a table that holds text.
struct TextColumn {
  std::string name;                 ///< as in the header line
  std::vector<std::string> fields;  ///< one for each row, without blanks around it
};

/// \brief Reads a table as read_csv() does. With a header line, columns may hold text.
///
/// Values of fields that are not finite numbers are NaN in the table. A field cannot contain the
/// separator of its line, also not within quotation marks. \param numbers names, in lower case, of
/// columns that hold numbers only \param texts receives the columns with a field that is not a
/// finite number, in the order of the file \throws FileError "FILE:LINE:COLUMN: ..." with the text
/// that was found
Table read_csv_with_texts(const std::filesystem::path& path,
                          const std::vector<std::string>& numbers, std::vector<TextColumn>& texts);

}  // namespace moho::io
