// SPDX-License-Identifier: BSD-3-Clause
//
// Uses the modules once with their compiled kernels, and writes a file.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/space.hpp>
#include <moho/eikonal/eikonal.hpp>
#include <moho/io/npy.hpp>
#include <moho/rays/rays.hpp>

#include <cstdio>

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

// A model of 2000 m/s: 0.5 s from the left end of the surface to its right end.
const moho::Grid<2> grid{{101, 51}, {10.0, 10.0}, {0.0, 0.0}};
constexpr double speed = 2000.0;

double rays(const moho::Instance<Memory>& exec, const moho::Field<double, 2, Memory>& velocity) {
  const moho::rays::GridGraph<double, 2, Memory> graph(exec, grid, velocity, {.radius = 2});
  const auto times = moho::make_field_per_source<double>(exec, 1, grid, "times");
  moho::rays::trace(exec, graph, {{0.0, 0.0}}, times, {});
  moho::io::Array<double> array;
  array.shape = {1, grid.extents[0], grid.extents[1]};
  array.data = moho::download(exec, times);
  moho::io::write_npy("times.npy", array);
  return array.data[grid.flat({100, 0})];
}

double front(const moho::Instance<Memory>& exec, const moho::Field<double, 2, Memory>& velocity) {
  const auto times = moho::make_field<double>(exec, grid, "times");
  moho::eikonal::solve(exec, grid, velocity, {{0.0, 0.0}}, times);
  return moho::value_at(exec, times.data() + grid.flat({100, 0}));
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const moho::Instance<Memory> exec = Exec();
  const auto velocity = moho::make_field<double>(exec, grid, "velocity");
  moho::fill(exec, velocity, speed);
  std::printf("a straight ray takes %.6g s\n", rays(exec, velocity));
  std::printf("a straight front takes %.6g s\n", front(exec, velocity));
  return 0;
}
