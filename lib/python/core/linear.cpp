// SPDX-License-Identifier: BSD-3-Clause
//
// Linear maps with exact transposes on the nodes of a grid, for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "wave_input.hpp"
#include "worker.hpp"

#include <moho/fwi/extended_image.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/points.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;
using Values = wave::Storage<double, Memory>;

Exec instance() { return instance_in<Memory>(); }

// A linear map between arrays of doubles. Its members are used on the worker.
class LinearMap : public Resource {
 public:
  std::size_t rows = 0, columns = 0;
  virtual void apply(const double* from, double* to) = 0;
  virtual void adjoint(const double* from, double* to) = 0;
};

// Values at points from values at nodes.
template <int Dim>
class PointMap : public LinearMap {
 public:
  PointMap(const Grid<Dim>& grid, const Points<Dim>& positions, int radius, bool free_surface)
      : m_grid(grid), m_layout(wave::make_layout<double>(grid, 1)) {
    wave::PointOptions<Dim> options;
    options.radius = radius;
    options.free_lower[Dim - 1] = free_surface;
    m_points.emplace(instance(), grid, m_layout, positions, options);
    m_field = wave::make_storage<double>(instance(), m_layout, "moho::python::field");
    rows = positions.size();
    columns = static_cast<std::size_t>(grid.size());
  }
  void release() override {
    m_points.reset();
    m_field = {};
  }
  void apply(const double* from, double* to) override {
    using Dense = Field<const double, Dim, Memory>;
    wave::copy_in<double, Dim, Memory>(instance(), m_layout, wrap_field<Dense>(from, m_grid),
                                       m_field);
    m_points->record(instance(), m_field, Values(to, rows));
    instance().fence();
  }
  void adjoint(const double* from, double* to) override {
    fill(instance(), m_field, 0.0);
    const wave::Storage<const double, Memory> amplitudes(from, rows);
    m_points->inject(instance(), m_field, amplitudes);
    using Dense = Field<double, Dim, Memory>;
    wave::copy_out<double, Dim, Memory>(instance(), m_layout, m_field,
                                        wrap_field<Dense>(to, m_grid));
    instance().fence();
  }

 private:
  Grid<Dim> m_grid;
  wave::Layout<Dim> m_layout;
  std::optional<wave::PointSet<double, Dim, Memory>> m_points;
  Values m_field;
};

// Extended image of a field c with a fixed source field p: c(x + h) p(x - h), nodes x lags.
template <int Dim>
class ExtendedMap : public LinearMap {
 public:
  ExtendedMap(const Grid<Dim>& grid, const double* source, const fwi::Lags& lags)
      : m_grid(grid), m_box(whole_box(grid)), m_lags(lags) {
    fwi::ExtendedImage<double, Dim, Memory>::check(m_box, lags);
    m_layout = wave::make_layout<double>(grid, 1);
    m_field = wave::make_storage<double>(instance(), m_layout, "moho::python::field");
    columns = static_cast<std::size_t>(grid.size());
    rows = columns * static_cast<std::size_t>(lags.count());
    m_source = allocate<Values>(instance(), "moho::python::source", columns);
    std::copy_n(source, columns, m_source.data());
  }
  void release() override { m_source = m_field = {}; }
  void apply(const double* from, double* to) override {
    using Dense = Field<const double, Dim, Memory>;
    wave::copy_in<double, Dim, Memory>(instance(), m_layout, wrap_field<Dense>(from, m_grid),
                                       m_field);
    fwi::ExtendedImage<double, Dim, Memory> image(m_box, m_lags, Values(to, rows));
    image.clear(instance());
    image.add(instance(), m_source.data(), m_box, m_layout, m_field, 1.0);
    image.flush(instance());
    instance().fence();
  }
  void adjoint(const double* from, double* to) override {
    const Values result(to, columns);
    fill(instance(), result, 0.0);
    // the image is only read
    const Values values(const_cast<double*>(from), rows);
    const fwi::ExtendedImage<double, Dim, Memory> image(m_box, m_lags, values);
    image.scatter(instance(), m_source, result, 1.0);
    instance().fence();
  }

 private:
  Grid<Dim> m_grid;
  Box<Dim> m_box;
  fwi::Lags m_lags;
  wave::Layout<Dim> m_layout;
  Values m_field, m_source;
};

// Owner of a map on the side of Python.
class MapHandle {
 public:
  using Make = std::function<std::shared_ptr<LinearMap>()>;

  explicit MapHandle(const Make& make) {
    run(nb::none(), [&](Job&) {
      m_map = make();
      own(m_map);
    });
  }
  MapHandle(const MapHandle&) = delete;
  MapHandle& operator=(const MapHandle&) = delete;
  ~MapHandle() { disown(m_map); }

  std::size_t rows() const { return m_map->rows; }
  std::size_t columns() const { return m_map->columns; }
  nb::object apply(const Input& from) {
    auto [data, array] = make_array<double>({rows()});
    run(nb::none(),
        [&, to = data](Job&) { opened().apply(static_cast<const double*>(from.data()), to); });
    return nb::cast(array);
  }
  nb::object adjoint(const Input& from) {
    auto [data, array] = make_array<double>({columns()});
    run(nb::none(),
        [&, to = data](Job&) { opened().adjoint(static_cast<const double*>(from.data()), to); });
    return nb::cast(array);
  }
  void close() {
    run(nb::none(), [&](Job&) {
      if (!m_closed) m_map->release();
      m_closed = true;
    });
  }

 private:
  LinearMap& opened() {
    if (!m_closed) return *m_map;
    throw InputError("operator: close() was called (allowed: before): make another one");
  }
  std::shared_ptr<LinearMap> m_map;
  bool m_closed = false;
};

template <int Dim>
Grid<Dim> grid_of_shape(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing,
                        const std::vector<double>& origin) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    const auto k = static_cast<std::size_t>(d);
    grid.extents[d] = shape.at(k);
    grid.spacing[d] = spacing.at(k);
    grid.origin[d] = origin.at(k);
  }
  grid.check();
  return grid;
}

MapHandle* make_point_map(const std::vector<std::int64_t>& shape,
                          const std::vector<double>& spacing, const std::vector<double>& origin,
                          const Input& positions, int radius, bool free_surface) {
  return new MapHandle([&]() -> std::shared_ptr<LinearMap> {
    refuse_missing_kernels<double>();
    if constexpr (has_wave_kernels<double>) {
      if (shape.size() == 2) {
        return std::make_shared<PointMap<2>>(grid_of_shape<2>(shape, spacing, origin),
                                             points_of<2>(positions), radius, free_surface);
      }
      return std::make_shared<PointMap<3>>(grid_of_shape<3>(shape, spacing, origin),
                                           points_of<3>(positions), radius, free_surface);
    } else {
      return nullptr;
    }
  });
}

MapHandle* make_extended_map(const Input& source, std::int64_t lags_x, std::int64_t lags_y) {
  return new MapHandle([&]() -> std::shared_ptr<LinearMap> {
    refuse_missing_kernels<double>();
    if constexpr (has_wave_kernels<double>) {
      const auto* const values = static_cast<const double*>(source.data());
      const std::vector<double> unit(source.ndim(), 1.0), zero(source.ndim(), 0.0);
      const fwi::Lags lags{lags_x, lags_y};
      if (source.ndim() == 2) {
        return std::make_shared<ExtendedMap<2>>(grid_of<2>(source, unit, zero), values, lags);
      }
      return std::make_shared<ExtendedMap<3>>(grid_of<3>(source, unit, zero), values, lags);
    } else {
      return nullptr;
    }
  });
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<MapHandle>(m, "LinearMap")
      .def_prop_ro("rows", &MapHandle::rows)
      .def_prop_ro("columns", &MapHandle::columns)
      .def("apply", &MapHandle::apply, nb::arg("values").noconvert())
      .def("adjoint", &MapHandle::adjoint, nb::arg("values").noconvert())
      .def("close", &MapHandle::close);
  m.def("make_point_map", &make_point_map, nb::arg("shape"), nb::arg("spacing"), nb::arg("origin"),
        nb::arg("positions").noconvert(), nb::arg("radius"), nb::arg("free_surface"),
        nb::rv_policy::take_ownership);
  m.def("make_extended_map", &make_extended_map, nb::arg("source").noconvert(), nb::arg("lags_x"),
        nb::arg("lags_y"), nb::rv_policy::take_ownership);
}

}  // namespace moho::python
