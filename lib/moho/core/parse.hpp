// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Strict parsing of numbers and names, with messages that name the text.
///
/// Each function throws InputError with the name `what`, the text and the allowed values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::text {

/// \brief Returns a complete text as a finite number.
/// \param what name of the text in messages, such as "--source"
/// \param text the number, without white space
/// \param form allowed texts, for messages: "x,z in metres"
double parse_number(const std::string& what, const std::string& text, const std::string& form);

/// Returns a complete text as a whole number from `lowest` to `highest`.
std::int64_t parse_count(const std::string& what, const std::string& text, std::int64_t lowest,
                         std::int64_t highest);

/// \brief Returns the position of a name in a list of allowed names.
///
/// The message proposes the allowed names that resemble the text (nearest_names()).
std::size_t parse_name(const std::string& what, const std::string& text,
                       const std::vector<std::string>& names);

/// \brief Checks an argument that is a word, another value or the name of a file.
///
/// A text of letters, digits, "-" and "_" that begins with a letter is invalid if it is neither one
/// of the words nor an existing file. The message proposes words that resemble it.
/// \param words allowed words \param form allowed texts, for messages: "auto|layers|v0,g|v|FILE"
void check_word_or_file(const std::string& what, const std::string& text,
                        const std::vector<std::string>& words, const std::string& form);

}  // namespace moho::text
