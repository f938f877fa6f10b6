// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The gravity module for moho's own programs: its templates are compiled once, into the
/// library moho_gravity_instances, and not by every program again.

#include <moho/gravity/gravity.hpp>

#define MOHO_GRAVITY_INSTANCE(prefix, T, Exec)                                             \
  prefix template Report forward<T, Exec>(const Exec&, const PrismView<Exec>&,             \
                                          const StationView<Exec>&, const Components&,     \
                                          const ResultView<Exec>&, const Options&);        \
  prefix template Report forward<T, Exec>(                                                 \
      const Exec&, const RegularMesh&, const DensityView<Exec>&, const StationView<Exec>&, \
      const Components&, const ResultView<Exec>&, const Options&);

#ifndef MOHO_GRAVITY_INSTANCES
#define MOHO_GRAVITY_SPACE(Exec)             \
  MOHO_GRAVITY_INSTANCE(extern, float, Exec) \
  MOHO_GRAVITY_INSTANCE(extern, double, Exec)

namespace moho::gravity {
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_GRAVITY_SPACE(Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_GRAVITY_SPACE(Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_GRAVITY_SPACE(Kokkos::Cuda)
#endif
}  // namespace moho::gravity
#endif
