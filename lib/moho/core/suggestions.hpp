// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names that resemble a misspelt one.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace moho::text {

/// Returns the edit distance of two texts (optimal string alignment).
///
/// It is the smallest number of changes that turn one text into the other. A change inserts,
/// deletes or replaces a letter, or exchanges two adjacent ones.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the names closest to a misspelt one, at most three, in the order of the list.
///
/// A name is close if its edit distance is at most 3 and at most a third of the misspelt name's
/// letters. A name that begins with the misspelt one (of three letters or more) has distance 1.
std::vector<std::string> nearest_names(const std::string& misspelt,
                                       const std::vector<std::string>& names);

/// \brief Returns "did you mean --receivers?", or with more names; empty without names.
/// \param prefix precedes each name: "--"
std::string suggestion(const std::vector<std::string>& names, const std::string& prefix = "");

}  // namespace moho::text
