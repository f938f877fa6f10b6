// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A velocity model out of a file of any kind that moho reads.

#include <moho/core/grid.hpp>
#include <moho/io/array.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::io {

/// A model and what its file says about where it is.
template <class T>
struct LoadedModel {
  Array<T> values;              ///< axes (x, z) or (x, y, z)
  std::vector<double> spacing;  ///< one per axis; 0 where the file does not say (a .npy never does)
  std::vector<double> origin;   ///< one per axis; 0 where the file does not say
  std::string format;           ///< "npy", "rsf" or "segy"
  /// In which the file has lengths, which are metres here: "m", "km", "ft", "mixed"; empty: the
  /// file does not say, and they are taken for metres.
  std::string length_unit{};
  std::string value_unit{};  ///< of the values as an RSF file says it; they are as in the file

  /// Does the file say the spacing along every axis?
  bool has_spacing() const {
    for (const double h : spacing) {
      if (!(h > 0.0)) return false;
    }
    return true;
  }
};

/// What the headers of a model's file say.
struct ModelHeader {
  std::vector<std::int64_t> shape;           ///< axes (x, z) or (x, y, z)
  std::vector<std::filesystem::path> files;  ///< the file, and that of its data if it is another
  double reading_bytes = 0.0;  ///< what read_model() takes for a while beside the values
};

/// \brief Reads the headers of a model's file and no values.
///
/// For files that read_model() refuses the answer may be anything. Whether a SEG-Y file is a volume
/// is judged by the headers up to the first that begins another line.
/// \throws FileError
template <class T>
ModelHeader peek_model(const std::filesystem::path& path);

/// The files that reading a model or a table opens: the file itself, and for a header of RSF that
/// of the data. What cannot be read is passed over.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& path);

/// Reads a model; the file's kind follows from its name: .npy, .rsf, .sgy or .segy (any case).
///
/// The model must have 2 or 3 axes. An RSF file has depth on its axis 1, x on the slowest axis that
/// is longer than 1; SEG-Y files are read as read_segy_model() does. Spacing and origin come in
/// metres: unit1, unit2, unit3 of an RSF file may be m, km or ft (or words for them), and a SEG-Y
/// file may have the measurement system of feet of 0.3048 m. Values are taken as they are. T: float
/// or double. \throws FileError for an unknown extension (the text lists those known), another
/// number of axes, a spacing that is not positive, an axis that is no length, and whatever the
/// reader of that kind refuses
template <class T>
LoadedModel<T> read_model(const std::filesystem::path& path);

/// The grid of a model. Where the file does not say the spacing, `spacing` is used (one number for
/// all axes); 0 means that none was given. \throws InputError when the model has another number of
/// axes, or a spacing is missing
template <int Dim, class T>
Grid<Dim> model_grid(const LoadedModel<T>& model, double spacing = 0.0) {
  if (model.values.rank() != Dim) {
    throw InputError(concat("the model has ", model.values.rank(), " axes, ",
                            shape_string(model.values.shape), " (", Dim, " wanted)"));
  }
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    grid.extents[d] = model.values.shape[at];
    grid.spacing[d] = model.spacing[at] > 0.0 ? model.spacing[at] : spacing;
    grid.origin[d] = model.origin[at];
    if (!(grid.spacing[d] > 0.0)) {
      throw InputError(concat("the model's file does not say the spacing along ", axis_name<Dim>(d),
                              ": give the distance between nodes"));
    }
  }
  grid.check();
  return grid;
}

}  // namespace moho::io
