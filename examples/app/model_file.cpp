// SPDX-License-Identifier: BSD-3-Clause
#include "app/model_file.hpp"

#include <moho/core/error.hpp>
#include <moho/io/npy.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>

namespace moho::examples {

namespace {

// Reads whole numbers of a .npy file as a model; returns false for other values.
// \throws InputError for a number that T does not hold exactly
template <class T>
bool read_integers(const std::string& path, io::LoadedModel<T>& model) {
  io::Array<std::int64_t> integers;
  try {
    integers = io::read_npy<std::int64_t>(path);
  } catch (const FileError&) {
    return false;
  }
  if (integers.rank() != 2 && integers.rank() != 3) return false;
  constexpr auto limit = std::int64_t(1) << std::numeric_limits<T>::digits;
  model.format = "npy";
  model.values.shape = integers.shape;
  model.spacing.assign(integers.shape.size(), 0.0);
  model.origin.assign(integers.shape.size(), 0.0);
  model.has_origin.assign(integers.shape.size(), false);
  model.values.data.reserve(integers.data.size());
  for (const std::int64_t value : integers.data) {
    if (value < -limit || value > limit) {
      throw InputError(concat("'", path, "' holds the integer ", value, " (allowed: up to ", limit,
                              ", which ", sizeof(T) == 4 ? "float" : "double",
                              " holds exactly): save it as floating-point numbers"));
    }
    model.values.data.push_back(static_cast<T>(value));
  }
  return true;
}

}  // namespace

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
    io::LoadedModel<T> file;
    bool read = false;
    try {
      read = std::filesystem::path(path).extension() == ".npy" && read_integers(path, file);
    } catch (const InputError& too_large) {
      throw InputError(concat(option, ": ", too_large.what()));
    }
    if (!read) throw FileError(concat(option, ": ", error.what()));
    notes.push_back(concat(option, " ", path, " holds integers: converted to ",
                           sizeof(T) == 4 ? "float" : "double"));
    return file;
  }
}

template io::LoadedModel<float> read_model_file(const std::string&, const std::string&,
                                                std::vector<std::string>&);
template io::LoadedModel<double> read_model_file(const std::string&, const std::string&,
                                                 std::vector<std::string>&);

}  // namespace moho::examples
