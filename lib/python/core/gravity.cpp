// SPDX-License-Identifier: BSD-3-Clause
//
// Gravity of prisms for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "worker.hpp"

#include <moho/gravity/forward.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

namespace moho::python {

namespace {

namespace nb = nanobind;

// Prisms as rows, or a mesh with densities; checked for type and shape by the package.
struct Ensemble {
  std::optional<Input> prisms, densities;
  gravity::RegularMesh mesh;
};

// A mesh from nx, ny, nz, x1, x2, y1, y2, z1, z2.
gravity::RegularMesh mesh_of(const std::vector<double>& box) {
  gravity::RegularMesh mesh;
  for (std::size_t d = 0; d < 3; ++d) {
    mesh.cells[d] = static_cast<std::int64_t>(box.at(d));
    mesh.lower[d] = box.at(3 + 2 * d);
    mesh.upper[d] = box.at(4 + 2 * d);
  }
  return mesh;
}

gravity::Strategy strategy_of(const std::string& name) {
  using gravity::Strategy;
  for (const Strategy one :
       {Strategy::tiles, Strategy::by_stations, Strategy::by_prisms, Strategy::by_corners}) {
    if (gravity::to_string(one) == name) return one;
  }
  return Strategy::automatic;
}

template <class T>
void sum(const Ensemble& ensemble, const Input& stations, const gravity::Components& components,
         double* values, const gravity::Options& options) {
  const Exec exec{Kokkos::DefaultHostExecutionSpace()};
  const std::size_t count = stations.shape(0);
  const gravity::StationView<Memory> at(static_cast<const double*>(stations.data()), count);
  const gravity::ResultView<Memory> results(values, components.size(), count);
  if (ensemble.prisms) {
    const gravity::PrismView<Memory> prisms(static_cast<const double*>(ensemble.prisms->data()),
                                            ensemble.prisms->shape(0));
    gravity::forward<T>(exec, prisms, at, components, results, options);
  } else {
    const gravity::DensityView<Memory> densities(
        static_cast<const double*>(ensemble.densities->data()), ensemble.densities->size());
    gravity::forward<T>(exec, ensemble.mesh, densities, at, components, results, options);
  }
}

}  // namespace

void bind_gravity(nb::module_& m) {
  m.attr("gravitational_constant") = gravity::gravitational_constant;
  m.def(
      "gravity",
      [](const std::optional<Input>& prisms, const std::vector<double>& mesh,
         const std::optional<Input>& densities, const Input& stations, const std::string& names,
         bool single, const std::string& strategy, double constant, double far_tolerance,
         bool check_overlaps, std::size_t memory, const nb::object& progress) {
        Ensemble ensemble{prisms, densities, {}};
        if (densities) ensemble.mesh = mesh_of(mesh);
        const gravity::Components components = gravity::parse_components(names);
        gravity::Options options;
        options.strategy = strategy_of(strategy);
        options.constant = constant;
        options.far_tolerance = far_tolerance;
        options.check_overlaps = check_overlaps;
        options.memory_budget = memory;
        auto [values, array] = make_array<double>({components.size(), stations.shape(0)});
        run(progress, [&, out = values](Job& job) {
          options.progress = job.progress();
          if (single) {
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
      nb::arg("far_tolerance"), nb::arg("check_overlaps"), nb::arg("memory"),
      nb::arg("progress").none());
}

}  // namespace moho::python
