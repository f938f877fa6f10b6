// SPDX-License-Identifier: BSD-3-Clause
#include "bench_gravity/problem.hpp"

#include <moho/core/error.hpp>
#include <moho/core/launch.hpp>
#include <moho/gravity/ensemble.hpp>
#include <moho/gravity/prism.hpp>
#include <moho/gravity/synthetic.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace moho::bench {

namespace {

using gravity::component_count;

/// Computes the textbook's closed forms (Nagy et al. 2000) in long double, corner by corner.
void textbook_long_double(const double* prism, const double* station, long double constant,
                          long double (&out)[component_count]) {
  using Real = long double;
  Real sum[component_count] = {};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        const Real x = Real(prism[i]) - Real(station[0]);
        const Real y = Real(prism[2 + j]) - Real(station[1]);
        const Real z = Real(prism[4 + k]) - Real(station[2]);
        const Real r = std::sqrt(x * x + y * y + z * z);
        // for negative a the form ln((r^2 - a^2) / (r - a)) of ln(a + r) avoids cancellation
        const auto log_of = [&](Real a, Real b, Real c) {
          return a >= 0 ? std::log(a + r) : std::log((b * b + c * c) / (r - a));
        };
        const auto atan_of = [&](Real a, Real b, Real c) {
          return a == 0 ? Real(0) : std::atan(b * c / (a * r));
        };
        const Real lx = log_of(x, y, z), ly = log_of(y, z, x), lz = log_of(z, x, y);
        const Real ax = atan_of(x, y, z), ay = atan_of(y, z, x), az = atan_of(z, x, y);
        // indices from 1, as printed: (-1)^(1 + 1 + 1) for the first corner
        const Real sign = (i + j + k) % 2 == 0 ? Real(-1) : Real(1);
        const Real terms[component_count] = {
            x * y * lz + y * z * lx + z * x * ly - (x * x * ax + y * y * ay + z * z * az) / 2,
            -(y * lz + z * ly - x * ax),
            -(z * lx + x * lz - y * ay),
            -(x * ly + y * lx - z * az),
            -ax,
            -ay,
            -az,
            lz,
            ly,
            lx};
        for (int c = 0; c < component_count; ++c) sum[c] += sign * terms[c];
      }
    }
  }
  const Real mass = constant * Real(prism[6]);
  for (int c = 0; c < component_count; ++c) {
    const Real unit = c == 0 ? Real(1) : c < 4 ? Real(gravity::milligal) : Real(gravity::eotvos);
    out[c] = mass * unit * sum[c];
  }
}

template <class Real>
struct SumInOrder {
  const GravityProblem* problem;
  const std::int64_t* stations;
  std::array<Real, component_count>* out;
  double constant;

  void operator()(const std::int64_t i) const {
    const double* const at = problem->stations.data() + 3 * stations[i];
    const double station[3] = {at[0], at[1], at[2]};
    std::array<Real, component_count> sum{};
    const std::int64_t count = problem->prism_count();
    for (std::int64_t p = 0; p < count; ++p) {
      double prism[7];
      std::copy_n(problem->prisms.data() + 7 * p, 7, prism);
      Real field[component_count];
      if constexpr (std::is_same_v<Real, double>) {
        gravity::prism_reference(prism, station, constant, field);
      } else {
        textbook_long_double(prism, station, constant, field);
      }
      for (int c = 0; c < component_count; ++c) sum[static_cast<std::size_t>(c)] += field[c];
    }
    out[i] = sum;
  }
};

template <class Real>
std::vector<std::array<Real, component_count>> sums(const GravityProblem& problem,
                                                    const std::vector<std::int64_t>& stations,
                                                    double constant) {
  std::vector<std::array<Real, component_count>> out(stations.size());
  const SumInOrder<Real> kernel{&problem, stations.data(), out.data(), constant};
  const Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  // one station at a time: an idle thread takes the next one
  launch_dynamic("moho::bench::textbook", exec, static_cast<std::int64_t>(stations.size()), kernel);
  exec.fence();
  return out;
}

}  // namespace

std::vector<double> pick_rows(const std::vector<double>& table, std::int64_t columns,
                              std::int64_t count) {
  const std::int64_t rows = static_cast<std::int64_t>(table.size()) / columns;
  if (count <= 0 || count >= rows) return table;
  std::vector<double> picked;
  picked.reserve(static_cast<std::size_t>(count * columns));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = table.begin() + static_cast<std::ptrdiff_t>(i * rows / count * columns);
    picked.insert(picked.end(), row, row + static_cast<std::ptrdiff_t>(columns));
  }
  return picked;
}

GravityProblem make_problem(const ProblemSize& size) {
  GravityProblem problem;
  problem.name = size.name;
  problem.stations = pick_rows(gravity::seven_sphere_stations(), 3, size.stations);
  if (size.name == "dense") {
    problem.regular = true;
    problem.mesh = gravity::seven_spheres().mesh;
    for (int axis = 0; axis < 3; ++axis) {
      problem.mesh.cells[axis] = size.cells[static_cast<std::size_t>(axis)];
    }
    // engines give the same numbers on every platform; distributions may differ
    std::mt19937 engine(7);
    problem.densities.resize(static_cast<std::size_t>(problem.mesh.size()));
    for (double& density : problem.densities) {
      density = 100.0 + 900.0 * static_cast<double>(engine()) / 4294967296.0;
    }
    problem.prisms = gravity::mesh_prisms(problem.mesh, problem.densities);
    return problem;
  }
  const bool mesh = size.name == "spheres_mesh";
  if (!mesh && size.name != "spheres") {
    throw InputError(concat("there is no problem '", size.name,
                            "' (there are: spheres, spheres_mesh, dense): choose one of these"));
  }
  gravity::SevenSpheres spheres = gravity::seven_spheres();
  problem.prisms = gravity::mesh_prisms(spheres.mesh, spheres.densities);
  if (mesh) {
    problem.regular = true;
    problem.mesh = spheres.mesh;
    problem.densities = std::move(spheres.densities);
  } else {
    problem.prisms = pick_rows(problem.prisms, 7, size.prisms);
  }
  return problem;
}

std::vector<std::array<double, component_count>> textbook_field(
    const GravityProblem& problem, const std::vector<std::int64_t>& stations, double constant) {
  return sums<double>(problem, stations, constant);
}

std::vector<std::array<long double, component_count>> long_double_field(
    const GravityProblem& problem, const std::vector<std::int64_t>& stations, double constant) {
  return sums<long double>(problem, stations, constant);
}

}  // namespace moho::bench
