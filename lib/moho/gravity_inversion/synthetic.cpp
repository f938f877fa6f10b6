// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/synthetic.hpp>

#include <moho/core/error.hpp>
#include <moho/gravity/ensemble.hpp>

#include <cmath>
#include <cstddef>
#include <random>

namespace moho::gravity_inversion {

DykeSurvey dyke_survey(double cell) {
  const auto across = std::llround(2000.0 / cell), down = std::llround(800.0 / cell);
  if (!(cell > 0.0) || static_cast<double>(down) * cell != 800.0 ||
      static_cast<double>(across) * cell != 2000.0 || cell > 400.0) {
    throw InputError(concat("cell: ", cell, " m (allowed: divisors of 400 m)"));
  }
  DykeSurvey survey;
  survey.mesh = {{across, across, down}, {0.0, 0.0, 0.0}, {2000.0, 2000.0, 800.0}};
  const double half = 0.5 * 150.0 * std::sqrt(2.0);  // half of the width along x
  for (std::int64_t k = 0; k < down; ++k) {
    for (std::int64_t j = 0; j < across; ++j) {
      for (std::int64_t i = 0; i < across; ++i) {
        const auto middle = [&](int axis, std::int64_t n) {
          return 0.5 * (survey.mesh.face(axis, n) + survey.mesh.face(axis, n + 1));
        };
        const double x = middle(0, i), y = middle(1, j), z = middle(2, k);
        const bool inside = z >= 100.0 && z <= 550.0 && std::abs(y - 1000.0) <= 500.0 &&
                            std::abs((x - 1000.0) - (z - 325.0)) <= half;
        survey.densities.push_back(inside ? dyke_density : 0.0);
      }
    }
  }
  survey.stations =
      gravity::station_grid(across, across, cell, cell, 0.5 * cell, 0.5 * cell, {20.0});
  return survey;
}

std::vector<double> synthetic_data(gravity::FieldOperator& field,
                                   const std::vector<double>& densities,
                                   const std::vector<double>& stations,
                                   const gravity::Components& components,
                                   const std::vector<double>& errors, std::uint64_t seed) {
  std::vector<double> data;
  field.apply(densities, data);
  std::mt19937_64 engine(seed);
  const auto uniform = [&] { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; };
  const std::size_t count = stations.size() / 3;
  for (std::size_t k = 0; k < data.size(); ++k) {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double turn = std::cos(6.283185307179586477 * uniform());
    data[k] += errors[k / count] * radius * turn;
    if (components[k / count] != gravity::Component::gz) continue;
    const std::size_t s = 3 * (k % count);
    data[k] += 3.0 + 1.5e-3 * stations[s] - 0.8e-3 * stations[s + 1];
  }
  return data;
}

double dip_of(const gravity::RegularMesh& mesh, const std::vector<double>& densities) {
  double mass = 0.0, x = 0.0, z = 0.0, xz = 0.0, zz = 0.0;
  const std::int64_t nx = mesh.cells[0], ny = mesh.cells[1];
  for (std::size_t at = 0; at < densities.size(); ++at) {
    if (!(densities[at] > 0.0)) continue;
    const auto n = static_cast<std::int64_t>(at);
    const std::int64_t i = n % nx, k = n / (nx * ny);
    const double px = 0.5 * (mesh.face(0, i) + mesh.face(0, i + 1));
    const double pz = 0.5 * (mesh.face(2, k) + mesh.face(2, k + 1));
    mass += densities[at];
    x += densities[at] * px;
    z += densities[at] * pz;
    xz += densities[at] * px * pz;
    zz += densities[at] * pz * pz;
  }
  if (mass == 0.0) return 0.0;
  const double variance = zz / mass - z / mass * (z / mass);
  return variance > 0.0 ? (xz / mass - x / mass * (z / mass)) / variance : 0.0;
}

double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!std::isfinite(a[k]) || !std::isfinite(b[k])) continue;
    ab += a[k] * b[k];
    aa += a[k] * a[k];
    bb += b[k] * b[k];
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

}  // namespace moho::gravity_inversion
