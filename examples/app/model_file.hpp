// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reads a file of model values for an option.

#include <moho/io/model.hpp>

#include <string>
#include <vector>

namespace moho::examples {

/// \brief Reads a model. Signed integers of a .npy file are converted, with a note.
/// \param option name of the option for messages: "--vp"
/// \throws InputError, FileError with the option's name; InputError for integers that T does not
/// hold exactly
template <class T>
io::LoadedModel<T> read_model_file(const std::string& option, const std::string& path,
                                   std::vector<std::string>& notes);

}  // namespace moho::examples
