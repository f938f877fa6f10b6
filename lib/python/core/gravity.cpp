// SPDX-License-Identifier: BSD-3-Clause
//
// Gravity of prisms for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "device.hpp"
#include "gravity_input.hpp"
#include "worker.hpp"

#include <moho/gravity/fmm.hpp>
#include <moho/gravity/forward.hpp>
#include <moho/gravity/operator.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

template <class T>
void sum(const Ensemble& ensemble, const Input& stations, const gravity::Components& components,
         double* values, const gravity::Options& options) {
  const Exec exec = instance_in<Memory>();
  const std::size_t count = stations.shape(0);
  const gravity::StationView<Memory> at(static_cast<const double*>(stations.data()), count);
  const gravity::ResultView<Memory> results(values, components.size(), count);
  if (ensemble.prisms) {
    const gravity::PrismView<Memory> prisms(static_cast<const double*>(ensemble.prisms->data()),
                                            ensemble.prisms->shape(0));
    gravity::forward<T>(exec, prisms, at, components, results, options);
  } else {
    const gravity::DensityView<Memory> densities(
        static_cast<const double*>(ensemble.values->data()), ensemble.values->size());
    gravity::forward<T>(exec, ensemble.mesh, densities, at, components, results, options);
  }
}

// True for lattice and fmm, and where the automatic strategy may take fmm.
bool takes_operator(const Ensemble& ensemble, const Input& stations,
                    const gravity::Components& components, const gravity::Options& options,
                    bool single) {
  using gravity::Strategy;
  if (options.strategy != Strategy::automatic) {
    return options.strategy == Strategy::lattice || options.strategy == Strategy::fmm;
  }
  const std::size_t prisms = ensemble.prisms ? ensemble.prisms->shape(0) : ensemble.values->size();
  return !single &&
         gravity::fmm_pays(static_cast<std::int64_t>(prisms),
                           static_cast<std::int64_t>(stations.shape(0)), components, true);
}

// As sum(), by an operator where the strategy takes one.
template <class T>
void sum_by_operator(const Ensemble& ensemble, const Input& stations,
                     const gravity::Components& components, double* values,
                     const gravity::Options& options) {
  gravity::FieldJob job;
  set_masses(job, ensemble, stations);
  job.components = components;
  job.options = options;
  const gravity::FieldResult found = gravity::compute_field<T>(instance_in<Memory>(), job);
  std::copy(found.results.begin(), found.results.end(), values);
}

// The linear map from densities to the field, and its transpose.
class GravityOperator {
  using Inner = gravity::Operator<Memory>;

  class Held : public Resource {
   public:
    void release() override { field.reset(); }
    Inner& opened() {
      if (field) return *field;
      throw InputError("operator: close() was called (allowed: before): make another one");
    }
    std::optional<Inner> field;
  };

 public:
  GravityOperator(const std::optional<Input>& prisms, const std::vector<double>& box,
                  const Input& stations, const std::string& names, double constant,
                  double far_tolerance, std::size_t memory)
      : m_components(gravity::parse_components(names)),
        m_stations(stations.shape(0)),
        m_held(std::make_shared<Held>()) {
    gravity::OperatorOptions options;
    options.constant = constant;
    options.far_tolerance = far_tolerance;
    options.memory_budget = memory;
    run(nb::none(), [&](Job&) {
      own(m_held);
      const gravity::StationView<Memory> at(static_cast<const double*>(stations.data()),
                                            m_stations);
      if (prisms) {
        const gravity::PrismView<Memory> rows(static_cast<const double*>(prisms->data()),
                                              prisms->shape(0));
        m_held->field.emplace(instance(), rows, at, m_components, options);
      } else {
        m_held->field.emplace(instance(), mesh_of(box), at, m_components, options);
      }
      m_prisms = static_cast<std::size_t>(m_held->field->prisms());
    });
  }
  GravityOperator(const GravityOperator&) = delete;
  GravityOperator& operator=(const GravityOperator&) = delete;
  ~GravityOperator() { disown(m_held); }

  std::size_t values() const { return m_components.size() * m_stations; }
  std::size_t prisms() const { return m_prisms; }
  nb::object apply(const Input& densities) {
    auto [data, array] = make_array<double>({values()});
    run(nb::none(), [&, out = data](Job&) {
      const gravity::DensityView<Memory> given(static_cast<const double*>(densities.data()),
                                               m_prisms);
      const gravity::ResultView<Memory> results(out, m_components.size(), m_stations);
      m_held->opened().apply(instance(), given, results);
      instance().fence();
    });
    return nb::cast(array);
  }
  nb::object adjoint(const Input& weights) { return transposed(weights, false); }
  nb::object column_squares(const Input& weights) { return transposed(weights, true); }
  void close() {
    run(nb::none(), [&](Job&) { m_held->release(); });
  }

 private:
  static Exec instance() { return instance_in<Memory>(); }
  nb::object transposed(const Input& weights, bool squares) {
    auto [data, array] = make_array<double>({m_prisms});
    run(nb::none(), [&, out = data](Job&) {
      const typename Inner::ConstResultView given(static_cast<const double*>(weights.data()),
                                                  m_components.size(), m_stations);
      const typename Inner::Vector results(out, m_prisms);
      if (squares) {
        m_held->opened().column_squares(instance(), given, results);
      } else {
        m_held->opened().adjoint(instance(), given, results);
      }
      instance().fence();
    });
    return nb::cast(array);
  }

  gravity::Components m_components;
  std::size_t m_stations, m_prisms = 0;
  std::shared_ptr<Held> m_held;
};

}  // namespace

void bind_gravity(nb::module_& m) {
  m.attr("gravitational_constant") = gravity::gravitational_constant;
  nb::class_<GravityOperator>(m, "GravityOperator")
      .def(nb::init<const std::optional<Input>&, const std::vector<double>&, const Input&,
                    const std::string&, double, double, std::size_t>(),
           nb::arg("prisms").noconvert().none(), nb::arg("mesh"), nb::arg("stations").noconvert(),
           nb::arg("components"), nb::arg("constant"), nb::arg("far_tolerance"), nb::arg("memory"))
      .def_prop_ro("values", &GravityOperator::values)
      .def_prop_ro("prisms", &GravityOperator::prisms)
      .def("apply", &GravityOperator::apply, nb::arg("densities").noconvert())
      .def("adjoint", &GravityOperator::adjoint, nb::arg("weights").noconvert())
      .def("column_squares", &GravityOperator::column_squares, nb::arg("weights").noconvert())
      .def("close", &GravityOperator::close);
  m.def(
      "gravity",
      [](const std::optional<Input>& prisms, const std::vector<double>& mesh,
         const std::optional<Input>& densities, const Input& stations, const std::string& names,
         bool single, const std::string& strategy, double constant, double far_tolerance,
         double tolerance, bool check_overlaps, std::size_t memory, const nb::object& progress) {
        const Ensemble ensemble = make_ensemble(prisms, mesh, densities);
        const gravity::Components components = gravity::parse_components(names);
        gravity::Options options;
        options.strategy = strategy_of(strategy);
        options.constant = constant;
        options.far_tolerance = far_tolerance;
        options.tolerance = tolerance;
        options.check_overlaps = check_overlaps;
        options.memory_budget = memory;
        auto [values, array] = make_array<double>({components.size(), stations.shape(0)});
        run(progress, [&, out = values](Job& job) {
          options.progress = job.progress();
          if (takes_operator(ensemble, stations, components, options, single)) {
            single ? sum_by_operator<float>(ensemble, stations, components, out, options)
                   : sum_by_operator<double>(ensemble, stations, components, out, options);
          } else if (single) {
            sum<float>(ensemble, stations, components, out, options);
          } else {
            sum<double>(ensemble, stations, components, out, options);
          }
        });
        return nb::cast(array);
      },
      nb::arg("prisms").noconvert().none(), nb::arg("mesh"),
      nb::arg("densities").noconvert().none(), nb::arg("stations").noconvert(),
      nb::arg("components"), nb::arg("single"), nb::arg("strategy"), nb::arg("constant"),
      nb::arg("far_tolerance"), nb::arg("tolerance"), nb::arg("check_overlaps"), nb::arg("memory"),
      nb::arg("progress").none());
}

}  // namespace moho::python
