// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The eikonal module for tests: its templates are compiled elsewhere, once for all tests.

#include <moho/eikonal/eikonal.hpp>

namespace moho::testing {

/// The space of the sequential reference.
using Host = Kokkos::DefaultHostExecutionSpace;

}  // namespace moho::testing

#define MOHO_TEST_EIKONAL(prefix, T, Dim, Exec)                                               \
  prefix template Report solve<T, Dim, Exec>(const Exec&, const Grid<Dim>&,                   \
                                             const Medium<T, Dim, Exec>&, const Points<Dim>&, \
                                             const Field<T, Dim, Exec>&, const Options&);     \
  prefix template Report solve_each<T, Dim, Exec>(                                            \
      const Exec&, const Grid<Dim>&, const Medium<T, Dim, Exec>&, const Points<Dim>&,         \
      const FieldPerSource<T, Dim, Exec>&, const Options&);

#define MOHO_TEST_MARCHING(prefix, T, Dim)                                          \
  prefix template Report fast_marching<T, Dim, testing::Host>(                      \
      const testing::Host&, const Grid<Dim>&, const Medium<T, Dim, testing::Host>&, \
      const Points<Dim>&, const Field<T, Dim, testing::Host>&, const Options&);

#ifndef MOHO_TEST_EIKONAL_INSTANCE
#define MOHO_TEST_EIKONAL_SPACE(Exec)        \
  MOHO_TEST_EIKONAL(extern, float, 2, Exec)  \
  MOHO_TEST_EIKONAL(extern, float, 3, Exec)  \
  MOHO_TEST_EIKONAL(extern, double, 2, Exec) \
  MOHO_TEST_EIKONAL(extern, double, 3, Exec)

namespace moho::eikonal {
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_TEST_EIKONAL_SPACE(Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_TEST_EIKONAL_SPACE(Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_TEST_EIKONAL_SPACE(Kokkos::Cuda)
#endif
MOHO_TEST_MARCHING(extern, float, 2)
MOHO_TEST_MARCHING(extern, float, 3)
MOHO_TEST_MARCHING(extern, double, 2)
MOHO_TEST_MARCHING(extern, double, 3)
}  // namespace moho::eikonal
#endif
