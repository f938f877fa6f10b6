// SPDX-License-Identifier: BSD-3-Clause
//
// Inversion of gravity data for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "device.hpp"
#include "gravity_input.hpp"
#include "worker.hpp"

#include <moho/gravity/products.hpp>
#include <moho/gravity_inversion/inversion.hpp>
#include <moho/gravity_inversion/remarks.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;
using gravity_inversion::InversionProblem;

// Arguments of an inversion, checked for type and shape by the package.
struct GravityInput {
  Input data, errors, stations;  // components x stations, the same, rows
  std::string components;
  std::vector<int> trend;
  std::optional<Input> prisms;            // rows
  std::vector<double> mesh;               // nine numbers
  std::optional<Input> mask;              // uint8, nz x ny x nx
  std::optional<Input> elevation;         // ny x nx
  std::vector<double> ground;             // x0, y0, dx, dy
  std::optional<Input> reference, start;  // densities of all cells of the mesh or list
  std::vector<double> bounds;             // two densities, or none
  std::string weights;                    // "depth", "sensitivity", "none"
  std::optional<double> exponent;
  gravity::Products products = gravity::Products::automatic;
  double tolerance = 1e-9;  // of fmm
  std::size_t memory = 0;
  gravity_inversion::InversionOptions options;
};

template <class Value>
Value of(const nb::dict& options, const char* name) {
  return nb::cast<Value>(options[name]);
}

gravity_inversion::InversionOptions options_of(const nb::dict& o) {
  gravity_inversion::InversionOptions options;
  options.small = of<double>(o, "small");
  options.smooth = of<std::array<double, 3>>(o, "smooth");
  options.beta = of<double>(o, "beta");
  options.target = of<double>(o, "target");
  options.compact = of<double>(o, "compact");
  options.rounds = of<int>(o, "rounds");
  options.iterations = of<int>(o, "iterations");
  options.steps = of<int>(o, "minimisations");
  options.pairs = of<int>(o, "pairs");
  options.names = {{"automatic beta", "None"}, {"further rounds", "more rounds"}};
  const auto method = of<std::string>(o, "method");
  using gravity_inversion::Solver;
  options.solver = method == "lbfgs" ? Solver::lbfgs
                   : method == "cg"  ? Solver::conjugate_gradients
                                     : Solver::automatic;
  return options;
}

gravity::Products products_of(const std::string& name) {
  using gravity::Products;
  for (const Products one : {Products::direct, Products::lattice, Products::fmm}) {
    if (gravity::to_string(one) == name) return one;
  }
  return Products::automatic;
}

GravityInput gravity_input(const nb::dict& o) {
  GravityInput given{of<Input>(o, "data"),
                     of<Input>(o, "errors"),
                     of<Input>(o, "stations"),
                     of<std::string>(o, "components"),
                     of<std::vector<int>>(o, "trend"),
                     of<std::optional<Input>>(o, "prisms"),
                     of<std::vector<double>>(o, "mesh"),
                     of<std::optional<Input>>(o, "mask"),
                     of<std::optional<Input>>(o, "elevation"),
                     of<std::vector<double>>(o, "ground"),
                     of<std::optional<Input>>(o, "reference"),
                     of<std::optional<Input>>(o, "start"),
                     of<std::vector<double>>(o, "bounds"),
                     of<std::string>(o, "weights"),
                     of<std::optional<double>>(o, "exponent"),
                     products_of(of<std::string>(o, "operator")),
                     of<double>(o, "tolerance"),
                     of<std::size_t>(o, "memory"),
                     options_of(o)};
  return given;
}

// The problem of an inversion, and its operator. Members are used on the worker.
class HeldInversion : public Resource {
 public:
  void release() override {
    m_inversion.reset();
    m_field.reset();
  }

  void prepare(const GravityInput& given) {
    InversionProblem problem;
    problem.components = gravity::parse_components(given.components);
    problem.stations = vector_of(given.stations);
    problem.data = vector_of(given.data);
    problem.errors = vector_of(given.errors);
    problem.trend = given.trend;
    const std::optional<gravity_inversion::Ground> ground = ground_of(given);
    problem.cells = cells_of(given, ground ? &*ground : nullptr);
    m_whole =
        problem.cells.regular() && !ground && problem.cells.size() == problem.cells.mesh.size();
    const auto values_of = [&](const std::optional<Input>& field) {
      if (!field) return std::vector<double>{};
      const std::vector<double> all = vector_of(*field);
      return problem.cells.regular() ? problem.cells.from_mesh(all) : all;
    };
    problem.reference = values_of(given.reference);
    problem.start = values_of(given.start);
    if (!given.bounds.empty()) {
      const auto count = static_cast<std::size_t>(problem.cells.size());
      problem.lower.assign(count, given.bounds.at(0));
      problem.upper.assign(count, given.bounds.at(1));
    }
    const auto heights = gravity_inversion::station_heights(problem.cells, problem.stations,
                                                            ground ? &*ground : nullptr);
    m_remarks = gravity_inversion::remarks_on_stations(problem.cells, problem.stations, heights,
                                                       ground.has_value(), given.options.names);
    make_field(given, problem);
    set_weights(given, problem, heights.mean, ground ? &*ground : nullptr);
    for (const std::string& remark : gravity_inversion::remarks_on_options(problem, given.options))
      m_remarks.push_back(remark);
    m_inversion.emplace(*m_field, std::move(problem), given.options);
    m_state = m_inversion->begin();
  }

  bool advance(Job& job) {
    auto& inversion = opened();
    if (m_state.done) return false;
    gravity_inversion::InversionState state = m_state;  // a minimisation that ends early counts not
    inversion.advance(state, job.progress());
    m_state = std::move(state);
    return true;
  }

  gravity_inversion::Inversion& opened() {
    if (m_inversion) return *m_inversion;
    throw InputError("inversion: close() was called (allowed: before): begin another one");
  }
  const gravity_inversion::InversionState& state() const { return m_state; }
  // Remarks on stations and options, for warnings of the package.
  const std::vector<std::string>& remarks() const { return m_remarks; }
  gravity::Products products() const { return m_products; }

 private:
  static Exec instance() { return instance_in<Memory>(); }

  static std::optional<gravity_inversion::Ground> ground_of(const GravityInput& given) {
    if (!given.elevation) return std::nullopt;
    return gravity_inversion::Ground{static_cast<std::int64_t>(given.elevation->shape(1)),
                                     static_cast<std::int64_t>(given.elevation->shape(0)),
                                     given.ground.at(0),
                                     given.ground.at(1),
                                     given.ground.at(2),
                                     given.ground.at(3),
                                     vector_of(*given.elevation)};
  }
  static gravity_inversion::Cells cells_of(const GravityInput& given,
                                           const gravity_inversion::Ground* ground) {
    if (given.prisms) return gravity_inversion::list_cells(vector_of(*given.prisms));
    std::vector<unsigned char> mask;
    if (given.mask) {
      const auto* const first = static_cast<const unsigned char*>(given.mask->data());
      mask.assign(first, first + given.mask->size());
    }
    return gravity_inversion::mesh_cells(mesh_of(given.mesh), mask, ground);
  }
  // Fourier transforms or multipoles where they serve, as in the program.
  void make_field(const GravityInput& given, const InversionProblem& problem) {
    using gravity::Products;
    gravity::FmmOptions options;
    options.memory_budget = given.memory;
    options.tolerance = given.tolerance;
    const auto make = [&](Products products) {
      m_field =
          gravity::make_products(instance(), products, problem.cells.mesh, problem.cells.prisms,
                                 problem.stations, problem.components, options);
      m_products = products;
    };
    if (given.products == Products::direct) return make(Products::direct);
    const std::string why = m_whole
                                ? gravity::find_lattice(problem.cells.mesh, problem.stations).why
                                : std::string("the cells are no complete mesh");
    if (given.products == Products::lattice && !why.empty()) {
      throw InputError(concat("operator is 'lattice': ", why,
                              " (allowed: a whole mesh, and stations at one height above it, "
                              "whole steps of its cells apart): take fmm or automatic"));
    }
    const Products products = gravity::choose_products(
        given.products, why.empty(), problem.cells.size(),
        static_cast<std::int64_t>(problem.stations.size() / 3), problem.components, true);
    try {
      make(products);
    } catch (const MemoryError&) {
      if (given.products != Products::automatic || products == Products::direct) throw;
      make(Products::direct);
    }
  }
  void set_weights(const GravityInput& given, InversionProblem& problem, double height,
                   const gravity_inversion::Ground* ground) {
    if (given.weights == "depth") {
      const bool gradients =
          std::all_of(problem.components.begin(), problem.components.end(),
                      [](gravity::Component c) { return c >= gravity::Component::gxx; });
      problem.weights = gravity_inversion::depth_weights(
          problem.cells, height, given.exponent.value_or(gradients ? 3.0 : 2.0), ground);
    } else if (given.weights == "sensitivity") {
      std::vector<double> inverse(problem.data.size(), 0.0), squares;
      for (std::size_t k = 0; k < inverse.size(); ++k) {
        if (!std::isnan(problem.data[k])) inverse[k] = 1.0 / problem.errors[k];
      }
      m_field->column_squares(inverse, squares);
      problem.weights = gravity_inversion::sensitivity_weights(squares);
    }
  }

  std::unique_ptr<gravity::FieldOperator> m_field;
  std::optional<gravity_inversion::Inversion> m_inversion;
  gravity_inversion::InversionState m_state;
  std::vector<std::string> m_remarks;
  bool m_whole = false;
  gravity::Products m_products = gravity::Products::direct;
};

// An inversion of gravity data, one minimisation after the other.
class GravityInversion {
 public:
  GravityInversion(const nb::dict& options, const nb::object& progress)
      : m_held(std::make_shared<HeldInversion>()) {
    const GravityInput given = gravity_input(options);
    run(progress, [&](Job&) {
      own(m_held);
      m_held->prepare(given);
    });
  }
  GravityInversion(const GravityInversion&) = delete;
  GravityInversion& operator=(const GravityInversion&) = delete;
  ~GravityInversion() { disown(m_held); }

  // The next minimisation: stage, beta, chi2, regularisation, iterations, products; None: done.
  nb::object advance(const nb::object& progress) {
    bool goes_on = false;
    run(progress, [&](Job& job) { goes_on = m_held->advance(job); });
    if (!goes_on) return nb::none();
    const gravity_inversion::InversionStep& step = m_held->state().history.back();
    return nb::make_tuple(step.stage, step.beta, step.chi2, step.regularisation, step.iterations,
                          step.products);
  }

  std::vector<std::string> remarks() const { return m_held->remarks(); }

  nb::dict result() {
    gravity_inversion::Fit fit;
    std::vector<double> model, smooth, weights;
    std::string advice;
    run(nb::none(), [&](Job&) {
      auto& inversion = m_held->opened();
      const auto& state = m_held->state();
      const auto& cells = inversion.problem().cells;
      fit = inversion.fit(state.model);
      advice = gravity_inversion::advice_on(inversion.options(), state, fit.chi2_all);
      const auto shown = [&](const std::vector<double>& values) {
        return cells.regular() && !values.empty()
                   ? cells.on_mesh(values, std::numeric_limits<double>::quiet_NaN())
                   : values;
      };
      model = shown(state.model);
      smooth = shown(state.smooth_model);
      weights = shown(inversion.problem().weights);
    });
    nb::dict result;
    result["model"] = copy_of(model);
    result["smooth_model"] = copy_of(smooth);
    result["weights"] = copy_of(weights);
    result["field"] = copy_of(fit.field);
    result["trend"] = copy_of(fit.trend);
    result["residuals"] = copy_of(fit.residuals);
    result["coefficients"] = fit.coefficients;
    result["chi2"] = fit.chi2;
    result["chi2_all"] = fit.chi2_all;
    result["values"] = fit.values;
    result["reason"] = m_held->state().reason;
    result["advice"] = advice;
    result["operator"] = gravity::to_string(m_held->products());
    return result;
  }
  void close() {
    run(nb::none(), [&](Job&) { m_held->release(); });
  }

 private:
  std::shared_ptr<HeldInversion> m_held;
};

}  // namespace

void bind_gravity_inversion(nb::module_& m) {
  nb::class_<GravityInversion>(m, "GravityInversion")
      .def(nb::init<const nb::dict&, const nb::object&>(), nb::arg("options"),
           nb::arg("progress").none())
      .def("advance", &GravityInversion::advance, nb::arg("progress").none())
      .def("result", &GravityInversion::result)
      .def("remarks", &GravityInversion::remarks)
      .def("close", &GravityInversion::close);
}

}  // namespace moho::python
