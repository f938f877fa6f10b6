// SPDX-License-Identifier: BSD-3-Clause
//
// Uses each module once: a field on a grid, the traveltimes in it, and a file of them.

#include <moho/core/field.hpp>
#include <moho/io/npy.hpp>
#include <moho/rays/trace.hpp>

#include <cstdio>

// Seconds from the left end of the surface to its right end, in a model of 2000 m/s.
template <class Exec>
moho::io::Array<double> traveltimes(const Exec& exec, const moho::Grid<2>& grid) {
  const auto velocity = moho::make_field<double>(exec, grid, "velocity");
  Kokkos::deep_copy(exec, velocity, 2000.0);
  const moho::rays::GridGraph<double, 2, Exec> graph(exec, grid, velocity, {.radius = 2});
  const auto times = moho::make_field_per_source<double>(exec, 1, grid, "times");
  moho::rays::trace(exec, graph, {{0.0, 0.0}}, times, {});

  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), times);
  moho::io::Array<double> array;
  array.shape = {1, grid.extents[0], grid.extents[1]};
  array.data.assign(host.data(), host.data() + host.size());
  return array;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const moho::Grid<2> grid{{101, 51}, {10.0, 10.0}, {0.0, 0.0}};
  const auto times = traveltimes(Kokkos::DefaultExecutionSpace(), grid);
  moho::io::write_npy("times.npy", times);
  std::printf("a straight ray takes %.6g s\n", times.data[grid.flat({100, 0})]);
  return 0;
}
