// SPDX-License-Identifier: BSD-3-Clause
//
// First-arrival traveltimes for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "worker.hpp"

#include <moho/eikonal/fast_marching.hpp>
#include <moho/eikonal/solve.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

namespace moho::python {

namespace {

namespace nb = nanobind;

// Arguments of first_arrivals(), all checked for type and shape by the package.
struct Arrivals {
  Input velocity;
  std::optional<Input> epsilon, delta;
  std::vector<double> spacing, origin;
  Input sources;
  bool each;
  std::string method;
  eikonal::Options options;
};

template <class T, int Dim>
void solve_in(Job& job, const Arrivals& given, T* times) {
  using Field = moho::Field<T, Dim, Memory>;
  const Grid<Dim> grid = grid_of<Dim>(given.velocity, given.spacing, given.origin);
  const auto wrap = [&](const Input& field) {
    return wrap_field<Field>(const_cast<T*>(static_cast<const T*>(field.data())), grid);
  };
  eikonal::Model<T, Dim, Memory> model;
  model.velocity = wrap(given.velocity);
  if (given.epsilon) model.epsilon = wrap(*given.epsilon);
  // without delta the medium is elliptical
  model.delta = given.delta ? wrap(*given.delta) : model.epsilon;
  eikonal::Options options = given.options;
  options.progress = job.progress();
  options.method =
      given.method == "sweeping" ? eikonal::Method::sweeping : eikonal::Method::active_tiles;
  const Points<Dim> sources = points_of<Dim>(given.sources);
  const Exec exec{Kokkos::DefaultHostExecutionSpace()};
  if (given.each) {
    using FieldPerSource = moho::FieldPerSource<T, Dim, Memory>;
    const auto out = wrap_field_per_source<FieldPerSource>(
        times, static_cast<std::int64_t>(sources.size()), grid);
    eikonal::solve_each(exec, grid, model, sources, out, options);
  } else if (given.method == "fast_marching") {
    eikonal::fast_marching(exec, grid, model, sources, wrap_field<Field>(times, grid), options);
  } else {
    eikonal::solve(exec, grid, model, sources, wrap_field<Field>(times, grid), options);
  }
}

nb::object first_arrivals(const Arrivals& given, const std::optional<Output>& out,
                          const nb::object& progress) {
  return with_kind(given.velocity.dtype(), given.velocity.ndim(), [&](auto kind) -> nb::object {
    using T = typename decltype(kind)::Scalar;
    constexpr int dim = decltype(kind)::dim;
    T* times = nullptr;
    nb::object result = nb::none();
    if (out) {
      times = static_cast<T*>(out->data());
    } else {
      std::vector<std::size_t> shape;
      if (given.each) shape.push_back(given.sources.shape(0));
      for (std::size_t d = 0; d < dim; ++d) shape.push_back(given.velocity.shape(d));
      auto made = make_array<T>(shape);
      times = made.first;
      result = nb::cast(made.second);
    }
    run(progress, [&](Job& job) { solve_in<T, dim>(job, given, times); });
    return result;
  });
}

}  // namespace

void bind_eikonal(nb::module_& m) {
  m.def(
      "first_arrivals",
      [](const Input& velocity, const std::optional<Input>& epsilon,
         const std::optional<Input>& delta, const std::vector<double>& spacing,
         const std::vector<double>& origin, const Input& sources, bool each, int order,
         bool factored, const std::string& method, std::size_t memory,
         const std::optional<Output>& out, const nb::object& progress) {
        Arrivals given{velocity, epsilon, delta, spacing, origin, sources, each, method, {}};
        given.options.order = order;
        given.options.factored = factored;
        given.options.memory_budget = memory;
        return first_arrivals(given, out, progress);
      },
      nb::arg("velocity").noconvert(), nb::arg("epsilon").noconvert().none(),
      nb::arg("delta").noconvert().none(), nb::arg("spacing"), nb::arg("origin"),
      nb::arg("sources").noconvert(), nb::arg("each"), nb::arg("order"), nb::arg("factored"),
      nb::arg("method"), nb::arg("memory"), nb::arg("out").noconvert().none(),
      nb::arg("progress").none());
}

}  // namespace moho::python
