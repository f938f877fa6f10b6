// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/model.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/segy.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace moho::io {

template <class T>
LoadedModel<T> read_model(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  LoadedModel<T> model;
  if (extension == ".npy") {
    model.format = "npy";
    model.values = read_npy<T>(path);
    model.spacing.assign(model.values.shape.size(), 0.0);
    model.origin.assign(model.values.shape.size(), 0.0);
  } else if (extension == ".rsf") {
    model.format = "rsf";
    RsfData<T> data = read_rsf<T>(path);
    for (const RsfAxis& axis : data.axes) {
      if (axis.has_spacing && !(axis.spacing > 0.0)) {
        throw FileError(concat("'", path.string(), "' has a spacing of ", axis.spacing,
                               " (allowed for a model: positive): reverse or window the file"));
      }
      model.spacing.push_back(axis.has_spacing ? axis.spacing : 0.0);
      model.origin.push_back(axis.origin);
    }
    model.values = std::move(data.values);
  } else if (extension == ".sgy" || extension == ".segy") {
    model.format = "segy";
    SegyModel<T> data = read_segy_model<T>(path);
    model.spacing = std::move(data.spacing);
    model.origin = std::move(data.origin);
    model.values = std::move(data.values);
  } else {
    throw FileError(concat("cannot read '", path.string(), "' as a model (its name ends in '",
                           extension, "'; allowed: .npy, .rsf, .sgy, .segy)"));
  }
  if (model.values.rank() != 2 && model.values.rank() != 3) {
    throw FileError(concat("'", path.string(), "' has the shape ", shape_string(model.values.shape),
                           " (allowed for a model: 2 axes (x, z) or 3 axes (x, y, z))"));
  }
  return model;
}

template LoadedModel<float> read_model<float>(const std::filesystem::path&);
template LoadedModel<double> read_model<double>(const std::filesystem::path&);

}  // namespace moho::io
