// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/input_file.hpp>
#include <moho/io/model.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/segy.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

namespace moho::io {

namespace {

std::string extension_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

constexpr double foot = 0.3048;

// Returns the unit of length that a word in a file means: "m", "km", "ft"; empty if unknown.
std::string length_unit(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"m", "meter", "meters", "metre", "metres"}) {
    if (text == word) return "m";
  }
  for (const char* word : {"km", "kilometer", "kilometers", "kilometre", "kilometres"}) {
    if (text == word) return "km";
  }
  for (const char* word : {"ft", "foot", "feet"}) {
    if (text == word) return "ft";
  }
  return {};
}

double metres_in(const std::string& unit) { return unit == "km" ? 1e3 : unit == "ft" ? foot : 1.0; }

// Returns an integer of a SEG-Y file at a byte position counted from 0.
std::int64_t segy_number(const InputFile& file, std::uint64_t at, std::size_t width, bool little) {
  unsigned char bytes[4] = {};
  file.read(at, bytes, width);
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | bytes[little ? width - 1 - i : i];
  return width == 4 ? static_cast<std::int64_t>(static_cast<std::int32_t>(value))
                    : static_cast<std::int64_t>(value);
}

// Sets the shape: traces and samples, or lines if the traces of each line are consecutive.
template <class T>
void peek_segy(const std::filesystem::path& path, ModelHeader& header) {
  constexpr std::uint64_t text = 3200, headers = 3600, trace_header = 240;
  const InputFile file(path);
  const std::int64_t code = segy_number(file, text + 24, 2, false);
  const bool little = code < 1 || code > 16;
  const std::int64_t format = segy_number(file, text + 24, 2, little);
  const std::uint64_t width = format == 3 ? 2 : format == 8 ? 1 : 4;
  const std::int64_t extended = segy_number(file, text + 304, 2, little);
  const std::uint64_t first =
      headers + (extended < 32768 ? static_cast<std::uint64_t>(extended) * text : 0);
  std::int64_t samples = segy_number(file, text + 20, 2, little);
  if (samples == 0) samples = segy_number(file, first + 114, 2, little);
  const std::uint64_t step = trace_header + static_cast<std::uint64_t>(samples) * width;
  if (file.size() < first + step) return;
  const auto traces = static_cast<std::int64_t>((file.size() - first) / step);
  header.shape = {traces, samples};
  header.reading_bytes = static_cast<double>(traces) * (sizeof(SegyTrace) + 2 * sizeof(double));
  const auto line_of = [&](std::int64_t trace, std::uint64_t field) {
    return segy_number(file, first + static_cast<std::uint64_t>(trace) * step + field, 4, little);
  };
  for (const std::uint64_t field : {std::uint64_t{188}, std::uint64_t{192}}) {
    const std::int64_t line = line_of(0, field);
    std::int64_t count = 1;
    while (count < traces && line_of(count, field) == line) ++count;
    if (count < 2 || count == traces || traces % count != 0) continue;
    // x is the faster number where a row runs along x
    const auto difference = [&](std::uint64_t position) {
      return static_cast<double>(std::llabs(line_of(count - 1, position) - line_of(0, position)));
    };
    const std::uint64_t x = difference(180) + difference(184) > 0.0 ? 180 : 72;
    const double spacing = difference(x) / static_cast<double>(count - 1);
    const bool transposed = spacing > 0.0 && difference(x + 4) <= line_tolerance * spacing;
    header.shape = {traces / count, count, samples};
    if (transposed) std::swap(header.shape[0], header.shape[1]);
    return;
  }
}

// Returns the integers of a .npy file.
template <class T>
Array<T> read_integers(const std::filesystem::path& path) {
  const Array<std::int64_t> integers = read_npy<std::int64_t>(path);
  Array<T> values;
  constexpr auto limit = std::int64_t(1) << std::numeric_limits<T>::digits;
  values.shape = integers.shape;
  values.data.reserve(integers.data.size());
  for (const std::int64_t value : integers.data) {
    if (value < -limit || value > limit) {
      throw FileError(concat("'", path.string(), "' holds the integer ", value, " (allowed: up to ",
                             limit, ", which ", sizeof(T) == 4 ? "float" : "double",
                             " holds exactly): save it as floating-point numbers"));
    }
    values.data.push_back(static_cast<T>(value));
  }
  return values;
}

}  // namespace

template <class T>
ModelHeader peek_model(const std::filesystem::path& path) {
  const std::string extension = extension_of(path);
  ModelHeader header;
  header.files = {path};
  if (extension == ".npy") {
    const NpyLayout layout = peek_npy(path);
    header.shape = layout.shape;
    const std::int64_t count = shape_size(layout.shape);
    if (layout.fortran && count > 0) header.reading_bytes = static_cast<double>(count) * sizeof(T);
  } else if (extension == ".rsf") {
    const RsfLayout layout = peek_rsf(path);
    header.shape = layout.shape;
    if (layout.data != path) header.files.push_back(layout.data);
    header.reading_bytes = static_cast<double>(layout.text_bytes);
  } else if (extension == ".sgy" || extension == ".segy") {
    peek_segy<T>(path, header);
  }
  return header;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files{path};
  if (extension_of(path) != ".rsf") return files;
  try {
    const RsfLayout layout = peek_rsf(path);
    if (layout.data != path) files.push_back(layout.data);
  } catch (const Error&) {
    // reported by the reader of the file
  }
  return files;
}

template <class T>
LoadedModel<T> read_model(const std::filesystem::path& path) {
  const std::string extension = extension_of(path);
  LoadedModel<T> model;
  if (extension == ".npy") {
    model.format = "npy";
    if (peek_npy(path).integers) {
      model.values = read_integers<T>(path);
      model.notes.push_back(
          concat("the integers were converted to ", sizeof(T) == 4 ? "float" : "double"));
    } else {
      model.values = read_npy<T>(path);
    }
    model.spacing.assign(model.values.shape.size(), 0.0);
    model.origin.assign(model.values.shape.size(), 0.0);
    model.has_origin.assign(model.values.shape.size(), false);
  } else if (extension == ".rsf") {
    model.format = "rsf";
    RsfData<T> data = read_rsf<T>(path);
    model.value_unit = data.unit;
    for (std::size_t d = 0; d < data.axes.size(); ++d) {
      const RsfAxis& axis = data.axes[d];
      const std::string unit = length_unit(axis.unit);
      if (unit.empty() && !axis.unit.empty()) {
        throw FileError(concat("'", path.string(), "' has unit", data.axes.size() - d, "=",
                               axis.unit.substr(0, 20),
                               " (allowed for a model: m, km or ft): a model is given on lengths, "
                               "not on times; set the unit with sfput if it is a length"));
      }
      if (!unit.empty()) {
        const bool other = !model.length_unit.empty() && model.length_unit != unit;
        model.length_unit = other ? "mixed" : unit;
      }
      if (axis.has_spacing && !(axis.spacing > 0.0)) {
        throw FileError(concat("'", path.string(), "' has a spacing of ", axis.spacing,
                               " (allowed for a model: positive): reverse or window the file"));
      }
      model.spacing.push_back(axis.has_spacing ? axis.spacing * metres_in(unit) : 0.0);
      model.origin.push_back(axis.origin * metres_in(unit));
      model.has_origin.push_back(axis.has_origin);
    }
    model.values = std::move(data.values);
  } else if (extension == ".sgy" || extension == ".segy") {
    model.format = "segy";
    SegyModel<T> data = read_segy_model<T>(path);
    model.spacing = std::move(data.spacing);
    model.origin = std::move(data.origin);
    model.has_origin = std::move(data.has_origin);
    model.notes = std::move(data.notes);
    if (data.measurement_system == 1) model.length_unit = "m";
    if (data.measurement_system == 2) {
      model.length_unit = "ft";
      for (double& d : model.spacing) d *= foot;
      for (double& d : model.origin) d *= foot;
    }
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

template <class T>
void check_nodes(const std::string& what, const LoadedModel<T>& model, const ModelNodes& nodes,
                 const std::string& of, const std::string& advice) {
  if (model.values.shape != nodes.shape) {
    throw InputError(concat(what, ": its shape is ", shape_string(model.values.shape),
                            " (allowed: ", shape_string(nodes.shape), ", that of ", of,
                            "): ", advice));
  }
  for (std::size_t d = 0; d < nodes.shape.size(); ++d) {
    const char axis = d + 1 == nodes.shape.size() ? 'z' : "xy"[d];
    const double spacing = model.spacing[d] > 0.0 ? model.spacing[d] : nodes.spacing[d];
    if (nodes.spacing[d] > 0.0 && std::fabs(spacing - nodes.spacing[d]) > 1e-4 * nodes.spacing[d]) {
      throw InputError(concat(what, ": its nodes are ", spacing, " m apart along ", axis,
                              " (allowed: ", nodes.spacing[d], " m, as in ", of, "): ", advice));
    }
    // false where a number is NaN
    if (model.states_origin(d) && std::fabs(model.origin[d] - nodes.origin[d]) > 0.01 * spacing) {
      throw InputError(concat(what, ": its first node is at ", axis, " = ", model.origin[d],
                              " m (allowed: ", nodes.origin[d], " m, as in ", of, "): ", advice));
    }
  }
}

template void check_nodes(const std::string&, const LoadedModel<float>&, const ModelNodes&,
                          const std::string&, const std::string&);
template void check_nodes(const std::string&, const LoadedModel<double>&, const ModelNodes&,
                          const std::string&, const std::string&);

template ModelHeader peek_model<float>(const std::filesystem::path&);
template ModelHeader peek_model<double>(const std::filesystem::path&);
template LoadedModel<float> read_model<float>(const std::filesystem::path&);
template LoadedModel<double> read_model<double>(const std::filesystem::path&);

}  // namespace moho::io
