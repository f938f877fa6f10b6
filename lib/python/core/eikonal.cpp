// SPDX-License-Identifier: BSD-3-Clause
//
// First-arrival traveltimes for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "worker.hpp"

#include <moho/eikonal/adjoint.hpp>
#include <moho/eikonal/fast_marching.hpp>
#include <moho/eikonal/solve.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
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

// A field on a grid in an array that is only read.
template <class T, int Dim>
Field<T, Dim, Memory> wrap_input(const Input& field, const Grid<Dim>& grid) {
  return wrap_field<Field<T, Dim, Memory>>(const_cast<T*>(static_cast<const T*>(field.data())),
                                           grid);
}

// A field for each source in an array that is only read.
template <class T, int Dim>
FieldPerSource<T, Dim, Memory> wrap_each(const void* data, std::int64_t sources,
                                         const Grid<Dim>& grid) {
  return wrap_field_per_source<FieldPerSource<T, Dim, Memory>>(
      const_cast<T*>(static_cast<const T*>(data)), sources, grid);
}

template <class T, int Dim>
eikonal::Model<T, Dim, Memory> model_of(const Arrivals& given, const Grid<Dim>& grid) {
  eikonal::Model<T, Dim, Memory> model;
  model.velocity = wrap_input<T, Dim>(given.velocity, grid);
  if (given.epsilon) model.epsilon = wrap_input<T, Dim>(*given.epsilon, grid);
  // without delta the medium is elliptical
  model.delta = given.delta ? wrap_input<T, Dim>(*given.delta, grid) : model.epsilon;
  return model;
}

eikonal::Options options_of(Job& job, const Arrivals& given) {
  eikonal::Options options = given.options;
  options.progress = job.progress();
  options.method =
      given.method == "sweeping" ? eikonal::Method::sweeping : eikonal::Method::active_tiles;
  return options;
}

template <class T, int Dim>
void solve_in(Job& job, const Arrivals& given, T* times) {
  using Field = moho::Field<T, Dim, Memory>;
  const Grid<Dim> grid = grid_of<Dim>(given.velocity, given.spacing, given.origin);
  const eikonal::Model<T, Dim, Memory> model = model_of<T, Dim>(given, grid);
  const eikonal::Options options = options_of(job, given);
  const Points<Dim> sources = points_of<Dim>(given.sources);
  const Exec exec{Kokkos::DefaultHostExecutionSpace()};
  if (given.each) {
    const auto out = wrap_each<T, Dim>(times, static_cast<std::int64_t>(sources.size()), grid);
    eikonal::solve_each(exec, grid, model, sources, out, options);
  } else if (given.method == "fast_marching") {
    eikonal::fast_marching(exec, grid, model, sources, wrap_field<Field>(times, grid), options);
  } else {
    eikonal::solve(exec, grid, model, sources, wrap_field<Field>(times, grid), options);
  }
}

// Returns the shape of a field of the model, with an axis of sources before it if `each`.
std::vector<std::size_t> shape_of(const Arrivals& given, bool each) {
  std::vector<std::size_t> shape;
  if (each) shape.push_back(given.sources.shape(0));
  for (std::size_t d = 0; d < given.velocity.ndim(); ++d) shape.push_back(given.velocity.shape(d));
  return shape;
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
      auto made = make_array<T>(shape_of(given, given.each));
      times = made.first;
      result = nb::cast(made.second);
    }
    run(progress, [&](Job& job) { solve_in<T, dim>(job, given, times); });
    return result;
  });
}

// Derivatives by velocity of a function of the times, from those by the times.
nb::object arrivals_gradient(const Arrivals& given, const Input& by_times,
                             const nb::object& progress) {
  return with_kind(given.velocity.dtype(), given.velocity.ndim(), [&](auto kind) -> nb::object {
    using T = typename decltype(kind)::Scalar;
    constexpr int dim = decltype(kind)::dim;
    const auto made = make_array<T>(shape_of(given, false));
    run(progress, [&, out = made.first](Job& job) {
      const Grid<dim> grid = grid_of<dim>(given.velocity, given.spacing, given.origin);
      const Exec exec{Kokkos::DefaultHostExecutionSpace()};
      const Points<dim> sources = points_of<dim>(given.sources);
      const auto count = static_cast<std::int64_t>(sources.size());
      eikonal::transpose_times<T, dim, Memory>(exec, grid, model_of<T, dim>(given, grid), sources,
                                               wrap_each<T, dim>(by_times.data(), count, grid),
                                               wrap_field<Field<T, dim, Memory>>(out, grid),
                                               options_of(job, given));
    });
    return nb::cast(made.second);
  });
}

// TimeDerivatives in a precision and dimension; used on the worker.
class AnyDerivatives : public Resource {
 public:
  virtual void prepare(Job& job, const Arrivals& given, void* times) = 0;
  virtual void apply(const void* change, void* of_times) = 0;
  virtual void transpose(const void* by_times, void* by_velocity) = 0;
};

template <class T, int Dim>
class DerivativesOf : public AnyDerivatives {
 public:
  void release() override { m_held.reset(); }
  void prepare(Job& job, const Arrivals& given, void* times) override {
    const Grid<Dim> grid = grid_of<Dim>(given.velocity, given.spacing, given.origin);
    const Points<Dim> sources = points_of<Dim>(given.sources);
    m_held.emplace(instance(), grid, model_of<T, Dim>(given, grid), sources,
                   wrap_each<T, Dim>(times, static_cast<std::int64_t>(sources.size()), grid),
                   options_of(job, given));
  }
  void apply(const void* change, void* of_times) override {
    const auto& held = opened();
    held.apply(instance(), field(change), each(of_times));
  }
  void transpose(const void* by_times, void* by_velocity) override {
    const auto& held = opened();
    held.apply_transpose(instance(), each(by_times), field(by_velocity));
  }

 private:
  using Derivatives = eikonal::TimeDerivatives<T, Dim, Memory>;
  static Exec instance() { return Kokkos::DefaultHostExecutionSpace(); }
  const Derivatives& opened() const {
    if (m_held) return *m_held;
    throw InputError("operator: close() was called (allowed: before): make another one");
  }
  Field<T, Dim, Memory> field(const void* data) const {
    return wrap_field<Field<T, Dim, Memory>>(const_cast<T*>(static_cast<const T*>(data)),
                                             m_held->grid());
  }
  FieldPerSource<T, Dim, Memory> each(const void* data) const {
    return wrap_each<T, Dim>(data, m_held->sources(), m_held->grid());
  }
  std::optional<Derivatives> m_held;
};

// The derivative of first-arrival times, a linear map, and its transpose.
class TimeDerivatives {
 public:
  TimeDerivatives(const Arrivals& given, const nb::object& progress)
      : m_double(given.velocity.dtype() == nb::dtype<double>()),
        m_field(shape_of(given, false)),
        m_each(shape_of(given, true)) {
    m_held = with_kind(given.velocity.dtype(), given.velocity.ndim(),
                       [](auto kind) -> std::shared_ptr<AnyDerivatives> {
                         using Kind = decltype(kind);
                         return std::make_shared<DerivativesOf<typename Kind::Scalar, Kind::dim>>();
                       });
    const auto [data, array] = result(m_each);
    run(progress, [&, out = data](Job& job) {
      own(m_held);
      m_held->prepare(job, given, out);
    });
    m_times = array;
  }
  TimeDerivatives(const TimeDerivatives&) = delete;
  TimeDerivatives& operator=(const TimeDerivatives&) = delete;
  ~TimeDerivatives() { disown(m_held); }

  nb::object times() const { return m_times; }
  nb::object apply(const Input& change) {
    const auto [data, array] = result(m_each);
    run(nb::none(), [&, out = data](Job&) { m_held->apply(change.data(), out); });
    return array;
  }
  nb::object transpose(const Input& by_times) {
    const auto [data, array] = result(m_field);
    run(nb::none(), [&, out = data](Job&) { m_held->transpose(by_times.data(), out); });
    return array;
  }
  void close() {
    run(nb::none(), [&](Job&) { m_held->release(); });
  }

 private:
  std::pair<void*, nb::object> result(const std::vector<std::size_t>& shape) const {
    if (m_double) {
      const auto made = make_array<double>(shape);
      return {made.first, nb::cast(made.second)};
    }
    const auto made = make_array<float>(shape);
    return {made.first, nb::cast(made.second)};
  }

  bool m_double;
  std::vector<std::size_t> m_field, m_each;
  std::shared_ptr<AnyDerivatives> m_held;
  nb::object m_times;
};

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
  const auto each_of = [](const Input& velocity, const std::optional<Input>& epsilon,
                          const std::optional<Input>& delta, const std::vector<double>& spacing,
                          const std::vector<double>& origin, const Input& sources, int order,
                          bool factored, std::size_t memory) {
    Arrivals given{velocity, epsilon, delta, spacing, origin, sources, true, "active_tiles", {}};
    given.options.order = order;
    given.options.factored = factored;
    given.options.memory_budget = memory;
    return given;
  };
  m.def(
      "first_arrivals_gradient",
      [each_of](const Input& velocity, const std::optional<Input>& epsilon,
                const std::optional<Input>& delta, const std::vector<double>& spacing,
                const std::vector<double>& origin, const Input& sources, int order, bool factored,
                std::size_t memory, const Input& by_times, const nb::object& progress) {
        return arrivals_gradient(
            each_of(velocity, epsilon, delta, spacing, origin, sources, order, factored, memory),
            by_times, progress);
      },
      nb::arg("velocity").noconvert(), nb::arg("epsilon").noconvert().none(),
      nb::arg("delta").noconvert().none(), nb::arg("spacing"), nb::arg("origin"),
      nb::arg("sources").noconvert(), nb::arg("order"), nb::arg("factored"), nb::arg("memory"),
      nb::arg("by_times").noconvert(), nb::arg("progress").none());
  nb::class_<TimeDerivatives>(m, "TimeDerivatives")
      .def("times", &TimeDerivatives::times)
      .def("apply", &TimeDerivatives::apply, nb::arg("change").noconvert())
      .def("transpose", &TimeDerivatives::transpose, nb::arg("by_times").noconvert())
      .def("close", &TimeDerivatives::close);
  m.def(
      "time_derivatives",
      [each_of](const Input& velocity, const std::optional<Input>& epsilon,
                const std::optional<Input>& delta, const std::vector<double>& spacing,
                const std::vector<double>& origin, const Input& sources, int order, bool factored,
                std::size_t memory, const nb::object& progress) {
        return new TimeDerivatives(
            each_of(velocity, epsilon, delta, spacing, origin, sources, order, factored, memory),
            progress);
      },
      nb::arg("velocity").noconvert(), nb::arg("epsilon").noconvert().none(),
      nb::arg("delta").noconvert().none(), nb::arg("spacing"), nb::arg("origin"),
      nb::arg("sources").noconvert(), nb::arg("order"), nb::arg("factored"), nb::arg("memory"),
      nb::arg("progress").none(), nb::rv_policy::take_ownership);
}

}  // namespace moho::python
