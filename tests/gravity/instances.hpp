// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The gravity module for tests: its templates are compiled elsewhere, once for all tests.

#include <moho/gravity/gravity.hpp>

#define MOHO_TEST_GRAVITY(prefix, T, Exec)                                                 \
  prefix template Report forward<T, Exec>(const Exec&, const PrismView<Exec>&,             \
                                          const StationView<Exec>&, const Components&,     \
                                          const ResultView<Exec>&, const Options&);        \
  prefix template Report forward<T, Exec>(                                                 \
      const Exec&, const RegularMesh&, const DensityView<Exec>&, const StationView<Exec>&, \
      const Components&, const ResultView<Exec>&, const Options&);

#ifndef MOHO_TEST_GRAVITY_INSTANCE
#define MOHO_TEST_GRAVITY_SPACE(Exec)    \
  MOHO_TEST_GRAVITY(extern, float, Exec) \
  MOHO_TEST_GRAVITY(extern, double, Exec)

namespace moho::gravity {
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_TEST_GRAVITY_SPACE(Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_TEST_GRAVITY_SPACE(Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_TEST_GRAVITY_SPACE(Kokkos::Cuda)
#endif
}  // namespace moho::gravity
#endif
