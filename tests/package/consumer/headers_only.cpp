// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel of the user on a field of moho.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/launch.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/core/space.hpp>

#include <cstdio>

struct Count {
  moho::Field<double, 2, Kokkos::DefaultExecutionSpace> field;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    field.data()[i] = static_cast<double>(i);
  }
};

struct Add {
  moho::Field<double, 2, Kokkos::DefaultExecutionSpace> field;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    sum += field.data()[i];
  }
};

int main(int argc, char** argv) {
  const moho::ScopeGuard guard(argc, argv);
  const moho::Grid<2> grid{{10, 10}, {1.0, 1.0}, {0.0, 0.0}};
  using Exec = Kokkos::DefaultExecutionSpace;
  const moho::Instance<Exec::memory_space> exec = Exec();
  const auto field = moho::make_field<double>(exec, grid, "numbers");
  moho::launch("count", exec, grid.size(), Count{field});
  std::printf("the sum is %g\n", moho::sum_of<double>("add", exec, grid.size(), Add{field}));
  return 0;
}
