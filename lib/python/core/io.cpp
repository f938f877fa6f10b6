// SPDX-License-Identifier: BSD-3-Clause
//
// Files of models and gathers, and compressed fields, for the Python package.

#include "bindings.hpp"
#include "survey_input.hpp"
#include "worker.hpp"

#include <moho/core/arena.hpp>
#include <moho/io/model.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/segy.hpp>
#include <moho/snapshot/codec/codec.hpp>
#include <moho/snapshot/codec/container.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/segy_gather.hpp>
#include <moho/wave/layout.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

Exec instance() { return Kokkos::DefaultHostExecutionSpace(); }

template <class T>
nb::object to_array(const std::vector<T>& values, const std::vector<std::size_t>& shape) {
  auto [data, array] = make_array<T>(shape);
  std::copy(values.begin(), values.end(), data);
  return nb::cast(array);
}

template <int Dim>
nb::object rows_of(const Points<Dim>& points) {
  std::vector<double> values;
  for (const Point<Dim>& point : points) {
    for (int d = 0; d < Dim; ++d) values.push_back(point[d]);
  }
  return to_array(values, {points.size(), Dim});
}

// Values, spacing, origin, unit of lengths, unit of values and notes.
template <class T>
nb::object read_model(const std::string& path) {
  io::LoadedModel<T> model;
  run(nb::none(), [&](Job&) { model = io::read_model<T>(path); });
  std::vector<std::size_t> shape;
  for (const std::int64_t extent : model.values.shape) {
    shape.push_back(static_cast<std::size_t>(extent));
  }
  return nb::make_tuple(to_array(model.values.data, shape), model.spacing, model.origin,
                        model.length_unit, model.value_unit, model.notes);
}

template <class T>
void write_model(const std::string& path, const Input& field, const std::vector<double>& spacing,
                 const std::vector<double>& origin, bool segy) {
  io::Array<T> array;
  for (std::size_t d = 0; d < field.ndim(); ++d) {
    array.shape.push_back(static_cast<std::int64_t>(field.shape(d)));
  }
  const auto* const first = static_cast<const T*>(field.data());
  array.data.assign(first, first + field.size());
  if (segy) return io::write_segy_model<T>(path, array, spacing, origin);
  std::vector<io::RsfAxis> axes(field.ndim());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    axes[d].spacing = spacing.at(d);
    axes[d].origin = origin.at(d);
    axes[d].label = d + 1 == axes.size() ? "z" : d == 0 ? "x" : "y";
    axes[d].unit = "m";
  }
  io::write_rsf<T>(path, array, axes);
}

// Notes, and traces, sources, receivers, interval, start and number of each shot.
template <int Dim>
nb::object read_gathers(const std::string& path, const survey::SurveyOptions& options,
                        const std::vector<int>& chosen, bool all, const nb::object& progress) {
  std::vector<survey::ShotGather<Dim>> gathers;
  std::vector<std::string> notes;
  run(progress, [&](Job& job) {
    const survey::Survey<Dim> survey(path, options);
    // the first one is a summary, and gathers have the times of their first samples
    std::copy_if(survey.notes().begin() + 1, survey.notes().end(), std::back_inserter(notes),
                 [](const std::string& note) { return note.rfind("first samples are ", 0) != 0; });
    std::vector<std::size_t> positions;
    for (const int k : chosen) {
      if (k < 0 || static_cast<std::size_t>(k) >= survey.size()) {
        throw InputError(
            concat("shots: there is no shot ", k, " (allowed: 0 to ", survey.size() - 1, ")"));
      }
      positions.push_back(static_cast<std::size_t>(k));
    }
    for (std::size_t k = 0; all && k < survey.size(); ++k) positions.push_back(k);
    for (const std::size_t k : positions) {
      gathers.push_back(survey.read(k));
      for (const std::string& note : gathers.back().notes) {
        notes.push_back(concat("shot ", gathers.back().shot.number, ": ", note));
      }
      job.report(static_cast<double>(gathers.size()) / static_cast<double>(positions.size()),
                 "reading");
    }
  });
  nb::list list;
  for (const auto& gather : gathers) {
    const std::size_t receivers = gather.shot.receivers.size();
    list.append(nb::make_tuple(
        to_array(gather.samples, {receivers, static_cast<std::size_t>(gather.count)}),
        rows_of<Dim>(gather.shot.sources), rows_of<Dim>(gather.shot.receivers), gather.dt,
        gather.t0, gather.shot.number));
  }
  return nb::make_tuple(list, notes);
}

template <int Dim>
void write_gathers(const std::string& path, const std::vector<GatherInput>& given) {
  std::vector<io::Gather<float>> gathers;
  for (const GatherInput& one : given) {
    gathers.push_back(survey::segy_gather<float, Dim>(
        shot_of<Dim>(one), one.interval, static_cast<const float*>(one.traces.data()),
        static_cast<std::int64_t>(one.traces.shape(1))));
    gathers.back().delay = one.start;
  }
  io::write_gathers<float>(path, gathers);
}

template <int Dim>
std::vector<std::uint8_t> compressed(const Input& field, const std::string& error) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = static_cast<std::int64_t>(field.shape(static_cast<std::size_t>(d)));
    grid.spacing[d] = 1.0;
  }
  const auto layout = wave::make_layout<float, Dim>(grid, 1);
  const auto padded = wave::make_storage<float>(instance(), layout, "moho::python::padded");
  const auto* value = static_cast<const float*>(field.data());
  const Box<Dim> box = layout.box();
  for (std::int64_t n = 0; n < box.size(); ++n) padded(layout.flat(box.node(n))) = *value++;
  snapshot::Codec<float, Dim, Memory> codec(snapshot::parse_codec(error));
  snapshot::Packed<Dim, Memory> packed;
  codec.encode(instance(), layout, padded, box, packed);
  return snapshot::to_container<Dim>(packed, {grid, 0, 0.0});
}

template <int Dim>
std::pair<std::vector<float>, Index<Dim>> decompressed(const std::uint8_t* data,
                                                       std::size_t bytes) {
  snapshot::SnapshotLabel<Dim> label;
  const auto packed = snapshot::from_container<Dim>(data, bytes, "data", label);
  const auto layout = wave::make_layout<float, Dim>(label.grid, 1);
  const auto padded = wave::make_storage<float>(instance(), layout, "moho::python::padded");
  const Box<Dim> box = layout.box();
  snapshot::Codec<float, Dim, Memory>().decode(instance(), packed, layout, padded, box);
  instance().fence();
  std::vector<float> values(static_cast<std::size_t>(box.size()));
  for (std::int64_t n = 0; n < box.size(); ++n) {
    values[static_cast<std::size_t>(n)] = padded(layout.flat(box.node(n)));
  }
  return {std::move(values), label.grid.extents};
}

template <int Dim>
nb::object decompress(const nb::bytes& data) {
  std::pair<std::vector<float>, Index<Dim>> found;
  const auto* const first = static_cast<const std::uint8_t*>(data.data());
  const std::size_t bytes = data.size();
  run(nb::none(), [&](Job&) { found = decompressed<Dim>(first, bytes); });
  std::vector<std::size_t> shape;
  for (int d = 0; d < Dim; ++d) shape.push_back(static_cast<std::size_t>(found.second[d]));
  return to_array(found.first, shape);
}

}  // namespace

void bind_io(nb::module_& m) {
  m.def(
      "read_model",
      [](const std::string& path, bool doubles) {
        return doubles ? read_model<double>(path) : read_model<float>(path);
      },
      nb::arg("path"), nb::arg("doubles"));
  m.def(
      "write_model",
      [](const std::string& path, const Input& field, const std::vector<double>& spacing,
         const std::vector<double>& origin, bool segy) {
        const bool single = field.dtype() == nb::dtype<float>();
        run(nb::none(), [&](Job&) {
          single ? write_model<float>(path, field, spacing, origin, segy)
                 : write_model<double>(path, field, spacing, origin, segy);
        });
      },
      nb::arg("path"), nb::arg("field").noconvert(), nb::arg("spacing"), nb::arg("origin"),
      nb::arg("segy"));
  m.def(
      "read_gathers",
      [](const std::string& path, int dim, const std::string& elevations, const std::string& unit,
         const std::string& line, const std::vector<double>& origin, double interval,
         bool keep_zero_traces, const std::vector<int>& shots, bool all,
         const nb::object& progress) {
        survey::SurveyOptions options;
        options.elevations = survey::parse_elevations(elevations);
        options.unit = survey::parse_length_unit(unit);
        options.line = survey::parse_survey_line(line);
        for (std::size_t d = 0; d < 3; ++d) options.origin[d] = origin.at(d);
        options.interval = interval;
        options.keep_zero_traces = keep_zero_traces;
        return dim == 2 ? read_gathers<2>(path, options, shots, all, progress)
                        : read_gathers<3>(path, options, shots, all, progress);
      },
      nb::arg("path"), nb::arg("dim"), nb::arg("elevations"), nb::arg("unit"), nb::arg("line"),
      nb::arg("origin"), nb::arg("interval"), nb::arg("keep_zero_traces"), nb::arg("shots"),
      nb::arg("all"), nb::arg("progress").none());
  m.def(
      "write_gathers",
      [](const std::string& path, int dim, const std::vector<Input>& traces,
         const std::vector<Input>& sources, const std::vector<Input>& receivers,
         const std::vector<double>& intervals, const std::vector<double>& starts) {
        const auto gathers = make_gathers(traces, sources, receivers, intervals, starts);
        run(nb::none(), [&](Job&) {
          dim == 2 ? write_gathers<2>(path, gathers) : write_gathers<3>(path, gathers);
        });
      },
      nb::arg("path"), nb::arg("dim"), nb::arg("traces"), nb::arg("sources"), nb::arg("receivers"),
      nb::arg("intervals"), nb::arg("starts"));
  m.def(
      "compress",
      [](const Input& field, const std::string& error) {
        std::vector<std::uint8_t> bytes;
        run(nb::none(), [&](Job&) {
          bytes = field.ndim() == 2 ? compressed<2>(field, error) : compressed<3>(field, error);
        });
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("field").noconvert(), nb::arg("error"));
  m.def(
      "decompress",
      [](const nb::bytes& data, int dim) {
        return dim == 2 ? decompress<2>(data) : decompress<3>(data);
      },
      nb::arg("data"), nb::arg("dim"));
}

}  // namespace moho::python
