// SPDX-License-Identifier: BSD-3-Clause
//
// Shortest-path rays for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "device.hpp"
#include "worker.hpp"

#include <moho/rays/rows.hpp>
#include <moho/rays/trace_sources.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace moho::python {

namespace {

namespace nb = nanobind;

// An enumerator by its name, as to_string() writes it.
template <class Enum>
Enum named(const std::string& name, std::initializer_list<Enum> known, const char* argument) {
  std::string list;
  for (const Enum one : known) {
    if (rays::to_string(one) == name) return one;
    list += (list.empty() ? "" : ", ") + rays::to_string(one);
  }
  throw InputError(concat(argument, " is '", name, "' (allowed: ", list, ")"));
}

// Rays of all sources and receivers, on the host; arrays refer to this object.
class Paths {
  template <int Dim>
  using Rays = std::pair<Grid<Dim>, rays::RayPaths<Dim>>;

  template <class Function>
  auto visit(const Function& function) const {
    return std::visit([&](const auto& rays) { return function(rays.first, rays.second); }, m_rays);
  }
  template <class T>
  static nb::object array(const std::vector<T>& values, nb::handle self) {
    return nb::cast(
        nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, self));
  }

 public:
  template <int Dim>
  Paths(const Grid<Dim>& grid, rays::RayPaths<Dim>&& paths)
      : m_rays(std::make_pair(grid, std::move(paths))) {}

  // Grid and paths for copies in other processes.
  nb::tuple state() const {
    return visit([&](const auto& grid, const auto& paths) {
      std::vector<double> points;
      points.reserve(paths.points.size() * grid.extents.size());
      for (const auto& point : paths.points) {
        for (std::size_t d = 0; d < grid.extents.size(); ++d) points.push_back(point[d]);
      }
      std::vector<std::int64_t> extents;
      std::vector<double> spacing, origin;
      for (std::size_t d = 0; d < grid.extents.size(); ++d) {
        extents.push_back(grid.extents[d]);
        spacing.push_back(grid.spacing[d]);
        origin.push_back(grid.origin[d]);
      }
      return nb::make_tuple(extents, spacing, origin, paths.sources, paths.receivers,
                            copy_of(paths.first), copy_of(points), copy_of(paths.traveltime));
    });
  }
  static Paths from(const nb::tuple& state) {
    return nb::cast<std::vector<double>>(state[1]).size() == 2 ? from_state<2>(state)
                                                               : from_state<3>(state);
  }

  // Arrays of the paths. self: the object of Python that keeps them.
  nb::object first(nb::handle self) const {
    return visit([&](const auto&, const auto& paths) { return array(paths.first, self); });
  }
  nb::object traveltimes(nb::handle self) const {
    return visit([&](const auto&, const auto& paths) { return array(paths.traveltime, self); });
  }
  nb::object points(nb::handle self) const {
    return visit([&](const auto& grid, const auto& paths) {
      const std::size_t columns = grid.extents.size();
      return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(
          paths.points.data(), {paths.points.size(), columns}, self));
    });
  }
  // Parts of the matrix: offsets of rows, columns, values, number of columns.
  nb::object rows(const std::string& basis, const nb::object& progress) const {
    rays::RayRows rows;
    run(progress, [&](Job&) {
      visit([&](const auto& grid, const auto& paths) {
        rows =
            rays::ray_rows(grid, paths, basis == "cells" ? rays::Basis::cells : rays::Basis::nodes);
      });
    });
    return nb::make_tuple(to_numpy(std::move(rows.first)), to_numpy(std::move(rows.column)),
                          to_numpy(std::move(rows.value)), rows.columns);
  }

 private:
  template <int Dim>
  static Paths from_state(const nb::tuple& state) {
    const auto extents = nb::cast<std::vector<std::int64_t>>(state[0]);
    const auto spacing = nb::cast<std::vector<double>>(state[1]);
    const auto origin = nb::cast<std::vector<double>>(state[2]);
    Grid<Dim> grid;
    for (std::size_t d = 0; d < static_cast<std::size_t>(Dim); ++d) {
      grid.extents[d] = extents.at(d);
      grid.spacing[d] = spacing.at(d);
      grid.origin[d] = origin.at(d);
    }
    grid.check();
    rays::RayPaths<Dim> paths;
    paths.sources = nb::cast<std::int64_t>(state[3]);
    paths.receivers = nb::cast<std::int64_t>(state[4]);
    const auto first = nb::cast<Input>(state[5]), points = nb::cast<Input>(state[6]);
    const auto times = nb::cast<Input>(state[7]);
    const auto* const offsets = static_cast<const std::int64_t*>(first.data());
    paths.first.assign(offsets, offsets + first.size());
    const auto* value = static_cast<const double*>(points.data());
    paths.points.resize(points.size() / static_cast<std::size_t>(Dim));
    for (Point<Dim>& point : paths.points) {
      for (int d = 0; d < Dim; ++d) point[d] = *value++;
    }
    const auto* const seconds = static_cast<const double*>(times.data());
    paths.traveltime.assign(seconds, seconds + times.size());
    return Paths(grid, std::move(paths));
  }

  std::variant<Rays<2>, Rays<3>> m_rays;
};

// Options of trace_rays() besides the model.
struct Tracing {
  Input velocity;
  std::vector<double> spacing, origin;
  Input sources;
  std::optional<Input> receivers;
  rays::GraphOptions graph;
  rays::Method method;
  std::size_t memory;
  int devices, slabs;  // slabs 0: chosen
};

template <class T, int Dim>
nb::object trace_in(const Tracing& given, const nb::object& progress) {
  rays::TraceJob<T, Dim> work;
  work.grid = grid_of<Dim>(given.velocity, given.spacing, given.origin);
  work.borrowed_velocity = static_cast<const T*>(given.velocity.data());
  work.sources = points_of<Dim>(given.sources);
  if (given.receivers) work.receivers = points_of<Dim>(*given.receivers);
  work.graph = given.graph;
  work.method = given.method;
  work.memory = given.memory;
  work.devices = given.devices;
  work.slabs = given.slabs;
  std::vector<std::size_t> shape{work.sources.size()};
  for (std::size_t d = 0; d < Dim; ++d) shape.push_back(given.velocity.shape(d));
  auto [times, array] = make_array<T>(shape);
  work.borrowed_times = times;
  rays::RayPaths<Dim> paths;
  rays::TraceSummary summary;
  run(progress, [&](Job& job) {
    work.progress = job.progress();
    const Exec exec = instance_in<Memory>();
    rays::TraceResult<T, Dim> found = rays::trace_sources(exec, work);
    paths = std::move(found.paths);
    summary = found;
  });
  return nb::make_tuple(array, Paths(work.grid, std::move(paths)), rays::to_string(summary.storage),
                        summary.devices, summary.slabs);
}

}  // namespace

void bind_rays(nb::module_& m) {
  nb::class_<Paths>(m, "Paths")
      .def_prop_ro("first",
                   [](nb::handle self) { return nb::cast<const Paths&>(self).first(self); })
      .def_prop_ro("traveltimes",
                   [](nb::handle self) { return nb::cast<const Paths&>(self).traveltimes(self); })
      .def_prop_ro("points",
                   [](nb::handle self) { return nb::cast<const Paths&>(self).points(self); })
      .def("__getstate__", &Paths::state)
      .def("__setstate__",
           [](Paths& self, const nb::tuple& state) { new (&self) Paths(Paths::from(state)); })
      .def("rows", &Paths::rows, nb::arg("basis"), nb::arg("progress").none());
  m.def(
      "trace_rays",
      [](const Input& velocity, const std::vector<double>& spacing,
         const std::vector<double>& origin, const Input& sources,
         const std::optional<Input>& receivers, int radius, const std::string& star,
         const std::string& weights, const std::string& method, const std::string& storage,
         int devices, int slabs, std::size_t memory, const nb::object& progress) {
        using rays::Method;
        using rays::Star;
        using rays::WeightRule;
        using rays::WeightStorage;
        Tracing given{velocity, spacing, origin, sources, receivers,
                      {},       {},      memory, devices, slabs};
        given.graph.radius = radius;
        given.graph.star = named(star, {Star::coprime, Star::full}, "star");
        given.graph.rule = named(
            weights,
            {WeightRule::slowness, WeightRule::velocity, WeightRule::cells, WeightRule::sampled},
            "weights");
        given.graph.storage = named(storage,
                                    {WeightStorage::automatic, WeightStorage::stored,
                                     WeightStorage::on_the_fly, WeightStorage::fragments},
                                    "storage");
        given.method = named(method,
                             {Method::active_tiles, Method::relaxation, Method::push,
                              Method::near_far, Method::dijkstra},
                             "method");
        return with_kind(velocity.dtype(), velocity.ndim(), [&](auto kind) {
          using T = typename decltype(kind)::Scalar;
          return trace_in<T, decltype(kind)::dim>(given, progress);
        });
      },
      nb::arg("velocity").noconvert(), nb::arg("spacing"), nb::arg("origin"),
      nb::arg("sources").noconvert(), nb::arg("receivers").noconvert().none(), nb::arg("radius"),
      nb::arg("star"), nb::arg("weights"), nb::arg("method"), nb::arg("storage"),
      nb::arg("devices"), nb::arg("slabs"), nb::arg("memory"), nb::arg("progress").none());
}

}  // namespace moho::python
