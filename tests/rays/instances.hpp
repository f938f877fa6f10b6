// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The ray module for tests: its templates are compiled elsewhere, once for all tests.

#include <moho/rays/rays.hpp>

#define MOHO_TEST_RAYS(prefix, T, Dim, Exec)                                               \
  prefix template class GridGraph<T, Dim, Exec>;                                           \
  prefix template TraceReport trace<T, Dim, Exec>(                                         \
      const Exec&, const GridGraph<T, Dim, Exec>&, const Points<Dim>&,                     \
      const FieldPerSource<T, Dim, Exec>&, const FieldPerSource<std::int16_t, Dim, Exec>&, \
      const TraceOptions&);                                                                \
  prefix template RayPaths<Dim> ray_paths<T, Dim, Exec>(                                   \
      const Exec&, const GridGraph<T, Dim, Exec>&, const Points<Dim>&,                     \
      const FieldPerSource<T, Dim, Exec>&, const FieldPerSource<std::int16_t, Dim, Exec>&, \
      const Points<Dim>&);

#ifndef MOHO_TEST_RAYS_INSTANCE
#define MOHO_TEST_RAYS_SPACE(Exec)        \
  MOHO_TEST_RAYS(extern, float, 2, Exec)  \
  MOHO_TEST_RAYS(extern, float, 3, Exec)  \
  MOHO_TEST_RAYS(extern, double, 2, Exec) \
  MOHO_TEST_RAYS(extern, double, 3, Exec)

namespace moho::rays {
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_TEST_RAYS_SPACE(Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_TEST_RAYS_SPACE(Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_TEST_RAYS_SPACE(Kokkos::Cuda)
#endif
}  // namespace moho::rays
#endif
