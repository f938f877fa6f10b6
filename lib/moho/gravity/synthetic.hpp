// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The synthetic problem of Couder-Castaneda et al. (2013): seven spheres of prisms.

#include <moho/gravity/types.hpp>

#include <vector>

namespace moho::gravity {

/// A sphere with a density contrast.
struct Sphere {
  double x;        ///< centre, metres
  double y;        ///< centre, metres
  double z;        ///< centre, metres, down
  double radius;   ///< metres
  double density;  ///< contrast, kg/m^3
};

/// Seven spheres in a regular mesh.
struct SevenSpheres {
  RegularMesh mesh;               ///< 700 x 700 x 50 prisms over 22 km x 22 km x 8 km
  std::vector<Sphere> spheres;    ///< positions and sizes are moho's; the paper gives neither
  std::vector<double> densities;  ///< densities of the mesh's prisms, kg/m^3; 0 outside the spheres
  std::int64_t prisms = 0;        ///< prisms in spheres; the paper has 251,946
};

/// Returns the seven spheres of the problem.
inline std::vector<Sphere> seven_sphere_bodies() {
  return {{5000.0, 5000.0, 2000.0, 800.0, 300.0},    {16500.0, 5500.0, 2500.0, 1035.0, -250.0},
          {11000.0, 11000.0, 4000.0, 1510.0, 400.0}, {5000.0, 16500.0, 3000.0, 1115.0, 200.0},
          {17000.0, 16000.0, 2200.0, 955.0, 350.0},  {11000.0, 4000.0, 5500.0, 1098.0, -150.0},
          {10500.0, 18000.0, 5000.0, 955.0, 500.0}};
}

/// Returns the problem: prisms whose centre lies in a sphere have its density.
inline SevenSpheres seven_spheres() {
  SevenSpheres problem;
  problem.mesh = {{700, 700, 50}, {0.0, 0.0, 0.0}, {22000.0, 22000.0, 8000.0}};
  problem.spheres = seven_sphere_bodies();
  problem.densities.assign(static_cast<std::size_t>(problem.mesh.size()), 0.0);
  const auto& mesh = problem.mesh;
  std::size_t at = 0;
  for (std::int64_t k = 0; k < mesh.cells[2]; ++k) {
    const double z = 0.5 * (mesh.face(2, k) + mesh.face(2, k + 1));
    for (std::int64_t j = 0; j < mesh.cells[1]; ++j) {
      const double y = 0.5 * (mesh.face(1, j) + mesh.face(1, j + 1));
      for (std::int64_t i = 0; i < mesh.cells[0]; ++i, ++at) {
        const double x = 0.5 * (mesh.face(0, i) + mesh.face(0, i + 1));
        for (const Sphere& s : problem.spheres) {
          const double dx = x - s.x, dy = y - s.y, dz = z - s.z;
          if (dx * dx + dy * dy + dz * dz > s.radius * s.radius) continue;
          problem.densities[at] = s.density;
          ++problem.prisms;
          break;
        }
      }
    }
  }
  return problem;
}

/// Returns 150 x 100 stations over the mesh at 100 m elevation, x fastest, as rows x, y, z.
inline std::vector<double> seven_sphere_stations() {
  std::vector<double> rows;
  for (int j = 0; j < 100; ++j) {
    for (int i = 0; i < 150; ++i) {
      rows.insert(rows.end(), {22000.0 * (i + 0.5) / 150.0, 22000.0 * (j + 0.5) / 100.0, -100.0});
    }
  }
  return rows;
}

}  // namespace moho::gravity
