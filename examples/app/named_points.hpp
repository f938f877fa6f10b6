// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Named points of a table.

#include "app/survey_text.hpp"

#include <moho/io/text_columns.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho::examples {

/// Reads points as read_points() does.
/// The columns of text are stored in the last argument, one field for each point.
template <int Dim>
Points<Dim> read_named_points(const std::string& what, const std::string& text,
                              std::vector<io::TextColumn>& texts);

/// Names of text columns for a header line after other columns: ",station".
/// A name that is empty or one of the others gets "_name" at its end.
std::string text_header(const std::vector<io::TextColumn>& texts,
                        const std::vector<std::string>& others);

/// Fields of the text columns in one row, each after a comma.
std::string text_fields(const std::vector<io::TextColumn>& texts, std::size_t row);

}  // namespace moho::examples
