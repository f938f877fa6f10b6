// SPDX-License-Identifier: BSD-3-Clause
#include "app/model_file.hpp"

#include <moho/core/error.hpp>

namespace moho::examples {

template <class T>
io::LoadedModel<T> read_model_file(const std::string& option, const std::string& path,
                                   std::vector<std::string>& notes) {
  try {
    io::LoadedModel<T> file = io::read_model<T>(path);
    for (const std::string& note : file.notes)
      notes.push_back(concat(option, " ", path, ": ", note));
    return file;
  } catch (const InputError& error) {
    throw InputError(concat(option, ": ", error.what()));
  } catch (const FileError& error) {
    throw FileError(concat(option, ": ", error.what()));
  }
}

template io::LoadedModel<float> read_model_file(const std::string&, const std::string&,
                                                std::vector<std::string>&);
template io::LoadedModel<double> read_model_file(const std::string&, const std::string&,
                                                 std::vector<std::string>&);

}  // namespace moho::examples
