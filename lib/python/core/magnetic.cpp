// SPDX-License-Identifier: BSD-3-Clause
//
// Magnetic anomalies of prisms for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "device.hpp"
#include "gravity_input.hpp"
#include "worker.hpp"

#include <moho/gravity/magnetic_job.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

// Computes the anomaly of a job, whose ensemble and stations are checked first.
void compute(gravity::MagneticJob& job, const std::vector<double>& uniform, bool single,
             double* values) {
  const gravity::HostEnsemble ensemble{job.regular ? &job.mesh : nullptr,
                                       job.regular ? job.densities : job.prisms};
  if (!uniform.empty()) {
    job.remanence =
        gravity::uniform_remanence(ensemble, uniform.at(0), uniform.at(1), uniform.at(2));
  }
  gravity::check_magnetic_input(ensemble, job.remanence, job.stations, job.ambient);
  const Exec exec = instance_in<Memory>();
  const gravity::FieldResult found = single ? gravity::compute_magnetic_field<float>(exec, job)
                                            : gravity::compute_magnetic_field<double>(exec, job);
  std::copy(found.results.begin(), found.results.end(), values);
}

// Magnetic anomaly, components x stations. uniform: A/m, inclination and declination of the
// remanence of all prisms, or empty.
nb::object magnetic_field(const std::optional<Input>& prisms, const std::vector<double>& mesh,
                          const std::optional<Input>& susceptibilities, const Input& stations,
                          const std::string& names, const std::vector<double>& ambient,
                          const std::optional<Input>& remanence, const std::vector<double>& uniform,
                          bool single, const std::string& strategy, double far_tolerance,
                          bool check_overlaps, std::size_t memory, const nb::object& progress) {
  gravity::MagneticJob field;
  set_masses(field, make_ensemble(prisms, mesh, susceptibilities), stations);
  field.magnetic_components = gravity::parse_magnetic_components(names);
  field.ambient = {ambient.at(0), ambient.at(1), ambient.at(2)};
  if (remanence) field.remanence = vector_of(*remanence);
  if (!uniform.empty()) gravity::check_direction("remanence", uniform.at(1), uniform.at(2));
  field.options.strategy = strategy_of(strategy);
  field.options.far_tolerance = far_tolerance;
  field.options.check_overlaps = check_overlaps;
  field.options.memory_budget = memory;
  auto [values, array] = make_array<double>({field.magnetic_components.size(), stations.shape(0)});
  run(progress, [&, out = values](Job& job) {
    field.options.progress = job.progress();
    compute(field, uniform, single, out);
  });
  return nb::cast(array);
}

}  // namespace

void bind_magnetic(nb::module_& m) {
  m.def("magnetic_field", &magnetic_field, nb::arg("prisms").noconvert().none(), nb::arg("mesh"),
        nb::arg("susceptibilities").noconvert().none(), nb::arg("stations").noconvert(),
        nb::arg("components"), nb::arg("field"), nb::arg("remanence").noconvert().none(),
        nb::arg("uniform_remanence"), nb::arg("single"), nb::arg("strategy"),
        nb::arg("far_tolerance"), nb::arg("check_overlaps"), nb::arg("memory"),
        nb::arg("progress").none());
}

}  // namespace moho::python
