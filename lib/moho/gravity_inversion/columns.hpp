// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names of columns with components of gravity in a table.

#include <moho/gravity/types.hpp>
#include <moho/io/csv.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::gravity_inversion {

/// Returns the name of the column with a component's standard errors.
std::string error_name(gravity::Component component);

/// Returns the position of a column, in letters of any case, or -1.
std::int64_t column_of(const io::Table& table, const std::string& name);

/// \brief Returns a list of names with "(is it gz, in mGal?)" after those like a component's.
/// \param table its columns are not suggested
std::string with_suggestions(const io::Table& table, const std::vector<std::string>& names);

/// \brief Returns the list of the other columns, with suggestions.
///
/// Components that are not wanted and their errors are not listed.
std::string unused_columns(const io::Table& table, const std::vector<std::int64_t>& used);

}  // namespace moho::gravity_inversion
