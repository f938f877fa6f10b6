// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names that resemble a misspelt one.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace moho::examples {

/// Edit distance of two texts (optimal string alignment). The smallest number of letters inserted,
/// deleted, replaced, or exchanged with their neighbour that turns one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the names closest to a misspelt one, at most three, in the order of the list. A name is
/// close if its edit distance is at most a third of the misspelt name's letters, and at most 3. A
/// name that begins with the misspelt one (of three letters or more) counts as distance 1.
std::vector<std::string> nearest_names(const std::string& misspelt,
                                       const std::vector<std::string>& names);

/// \brief "did you mean --receivers?", or "did you mean --a, --b or --c?"; empty without names.
/// \param prefix precedes each name: "--"
std::string suggestion(const std::vector<std::string>& names, const std::string& prefix = "");

}  // namespace moho::examples
