// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading of velocity models from files of any supported kind.

#include <moho/core/grid.hpp>
#include <moho/io/array.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::io {

/// A model and the geometry that its file states.
template <class T>
struct LoadedModel {
  Array<T> values;  ///< axes (x, z) or (x, y, z)
  /// One per axis; 0 if the file does not state it (as in .npy files).
  std::vector<double> spacing;
  std::vector<double> origin;  ///< one per axis; 0 if the file does not state it
  std::string format;          ///< "npy", "rsf" or "segy"
  /// Unit of lengths in the file: "m", "km", "ft" or "mixed".
  ///
  /// Spacing and origin are converted to metres. Empty: the file states no unit, and metres are
  /// assumed.
  std::string length_unit{};
  std::string value_unit{};        ///< unit of the values in an RSF file; values are not converted
  std::vector<bool> has_origin{};  ///< one per axis: true if the file states the origin
  std::vector<std::string> notes{};  ///< changes of the order of the file, as SegyModel::notes

  /// Returns true if the file states the origin along an axis.
  bool states_origin(std::size_t axis) const {
    return axis < has_origin.size() && has_origin[axis];
  }
  /// Returns true if the file states the spacing along every axis.
  bool has_spacing() const {
    for (const double h : spacing) {
      if (!(h > 0.0)) return false;
    }
    return true;
  }
};

/// Nodes on which files have to be.
struct ModelNodes {
  std::vector<std::int64_t> shape;  ///< number of nodes, one per axis
  std::vector<double> spacing;      ///< one per axis, m; 0: not compared
  std::vector<double> origin;       ///< one per axis, m; NaN: not compared
};

/// Returns the nodes of a file, with requested spacings and origins along axes without these.
/// \param spacing empty, or one value, or one for each axis
/// \param origin empty, or one value for each axis
template <class T>
ModelNodes nodes_of(const LoadedModel<T>& model, const std::vector<double>& spacing,
                    const std::vector<double>& origin) {
  ModelNodes nodes{model.values.shape, model.spacing, model.origin};
  for (std::size_t d = 0; d < nodes.shape.size(); ++d) {
    const std::size_t k = spacing.size() == 1 ? 0 : d;
    if (!(nodes.spacing[d] > 0.0) && k < spacing.size()) nodes.spacing[d] = spacing[k];
    if (!model.states_origin(d) && d < origin.size()) nodes.origin[d] = origin[d];
  }
  return nodes;
}

/// \brief Checks that a file is on given nodes.
///
/// The shape has to be equal. Along axes whose spacing the file states, that has to agree to 1e-4,
/// and the origin, where stated, to 0.01 of the spacing.
/// \param what names the file in messages: "--rho rho.rsf"
/// \param of names the nodes in messages: "as in --vp vp.rsf"
/// \param advice last part of messages: what to do
/// \throws InputError
template <class T>
void check_nodes(const std::string& what, const LoadedModel<T>& model, const ModelNodes& nodes,
                 const std::string& of, const std::string& advice);

/// Contents of the headers of a model file.
struct ModelHeader {
  std::vector<std::int64_t> shape;  ///< axes (x, z) or (x, y, z)
  /// The file, and the file of its data if that is separate.
  std::vector<std::filesystem::path> files;
  /// Memory that read_model() needs in addition to the values, in bytes.
  double reading_bytes = 0.0;
};

/// \brief Reads the headers of a model file, but no values.
///
/// The result is unspecified for files that read_model() rejects. A SEG-Y file is recognised as a
/// volume by the headers up to the first one of another line.
/// \throws FileError
template <class T>
ModelHeader peek_model(const std::filesystem::path& path);

/// Returns the files that the reader of a model or a table opens.
///
/// These are the file itself, and the data file of an RSF header. Unreadable files are ignored.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& path);

/// Reads a model; the extension determines the kind of file: .npy, .rsf, .sgy, .segy (any case).
///
/// The model must have 2 or 3 axes. In an RSF file axis 1 is depth, and the slowest axis longer
/// than 1 is x. SEG-Y files are read as in read_segy_model(). Spacing and origin are converted to
/// metres: unit1, unit2, unit3 of an RSF file may be m, km or ft (or words for them). The
/// measurement system of a SEG-Y file may be feet of 0.3048 m. Values are not converted. T: float
/// or double.
/// \throws FileError for an unknown extension (the message lists the known ones), another number of
/// axes, a spacing that is not positive, or a unit that is not a length. Errors of the reader of
/// that kind are passed on.
template <class T>
LoadedModel<T> read_model(const std::filesystem::path& path);

/// Returns the grid of a model.
///
/// `spacing` is used for all axes of which the file states no spacing; 0 means not given.
/// \throws InputError if the model has another number of axes, or if a spacing is missing
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
