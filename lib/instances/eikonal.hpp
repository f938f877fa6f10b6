// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The eikonal module for moho's own programs: its solvers are compiled once, into the
/// library moho_eikonal_instances, and not by every program again.

#include <moho/eikonal/eikonal.hpp>

#define MOHO_EIKONAL_SOLVE(prefix, T, Dim, Exec)                                                  \
  prefix template double check_input<T, Dim, Exec>(const Exec&, const Grid<Dim>&,                 \
                                                   const Medium<T, Dim, Exec>&,                   \
                                                   const Points<Dim>&, const Options&);           \
  prefix template Report solve_all<T, Dim, Exec>(const Exec&, const Grid<Dim>&,                   \
                                                 const Medium<T, Dim, Exec>&, const Points<Dim>&, \
                                                 T*, bool, const Options&, double);

#define MOHO_EIKONAL_MARCH(prefix, T, Dim)                                         \
  prefix template Report march_any<T, Dim>(const Grid<Dim>&, const MediumData<T>&, \
                                           const Points<Dim>&, T*, const Options&);

#ifndef MOHO_EIKONAL_INSTANCES
#define MOHO_EIKONAL_SPACE(Exec)              \
  MOHO_EIKONAL_SOLVE(extern, float, 2, Exec)  \
  MOHO_EIKONAL_SOLVE(extern, float, 3, Exec)  \
  MOHO_EIKONAL_SOLVE(extern, double, 2, Exec) \
  MOHO_EIKONAL_SOLVE(extern, double, 3, Exec)

namespace moho::eikonal::detail {
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_EIKONAL_SPACE(Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_EIKONAL_SPACE(Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_EIKONAL_SPACE(Kokkos::Cuda)
#endif
MOHO_EIKONAL_MARCH(extern, float, 2)
MOHO_EIKONAL_MARCH(extern, float, 3)
MOHO_EIKONAL_MARCH(extern, double, 2)
MOHO_EIKONAL_MARCH(extern, double, 3)
}  // namespace moho::eikonal::detail
#endif
