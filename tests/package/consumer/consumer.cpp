// SPDX-License-Identifier: BSD-3-Clause
//
// Uses one thing of each module: a field on a grid, a file, and the types of the ray tracer.

#include <moho/core/field.hpp>
#include <moho/core/space.hpp>
#include <moho/io/npy.hpp>
#include <moho/rays/types.hpp>

#include <cstdio>

// Traveltime along the first axis of a constant model: the sum of spacing / velocity over its
// cells.
template <class Exec>
double straight_ray(const Exec& exec, const moho::Grid<2>& grid, double velocity) {
  const auto field = moho::make_field<double>(exec, grid, "velocity");
  Kokkos::deep_copy(exec, field, velocity);
  double seconds = 0.0;
  const double step = grid.spacing[0];
  Kokkos::parallel_reduce(
      "consumer::straight_ray", Kokkos::RangePolicy<Exec>(exec, 0, grid.extents[0] - 1),
      KOKKOS_LAMBDA(int i, double& sum) { sum += step / field(i, 0); }, seconds);
  return seconds;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const moho::Grid<2> grid{{101, 51}, {10.0, 10.0}, {0.0, 0.0}};
  grid.check();
  double seconds = 0.0;
  moho::with_space(moho::default_space_name(),
                   [&](const auto& exec) { seconds = straight_ray(exec, grid, 2000.0); });

  moho::io::Array<double> times;
  times.shape = {1};
  times.data = {seconds};
  moho::io::write_npy("consumer_times.npy", times);

  std::printf("a straight ray takes %g s (rays of radius %d would be %s)\n", seconds,
              moho::rays::GraphOptions().radius,
              moho::rays::to_string(moho::rays::Method::active_tiles).c_str());
  return 0;
}
