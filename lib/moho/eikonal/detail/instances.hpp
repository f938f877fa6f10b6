// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit instantiations in the library of compiled kernels.
///
/// Headers declare them extern where MOHO_EIKONAL_KERNELS is defined; linking that library defines
/// it.

#include <moho/core/instance.hpp>

/// \cond
#define MOHO_EIKONAL_SOLVE(prefix, T, Dim, Memory)                                                 \
  prefix template double detail::check_input<T, Dim, Memory>(                                      \
      const Instance<Memory>&, const Grid<Dim>&, const Model<T, Dim, Memory>&, const Points<Dim>&, \
      const Options&);                                                                             \
  prefix template Report detail::solve_all<T, Dim, Memory>(                                        \
      const Instance<Memory>&, const Grid<Dim>&, const Model<T, Dim, Memory>&, const Points<Dim>&, \
      T*, bool, const Options&, double);                                                           \
  prefix template void detail::velocity_across<T, Dim, Memory>(                                    \
      const Instance<Memory>&, const Grid<Dim>&, const Model<T, Dim, Memory>&, T*);

#define MOHO_EIKONAL_MARCH(prefix, T, Dim)                                                        \
  prefix template Report detail::march_all<T, Dim>(const Grid<Dim>&, const detail::ModelData<T>&, \
                                                   const Points<Dim>&, T*, const Options&);

#define MOHO_EIKONAL_NUMBERS(what, prefix, ...)              \
  what(prefix, float, 2 __VA_OPT__(, ) __VA_ARGS__)          \
      what(prefix, float, 3 __VA_OPT__(, ) __VA_ARGS__)      \
          what(prefix, double, 2 __VA_OPT__(, ) __VA_ARGS__) \
              what(prefix, double, 3 __VA_OPT__(, ) __VA_ARGS__)

#ifdef KOKKOS_ENABLE_CUDA
#define MOHO_EIKONAL_EACH(what, prefix)                 \
  MOHO_EIKONAL_NUMBERS(what, prefix, Kokkos::HostSpace) \
  MOHO_EIKONAL_NUMBERS(what, prefix, Kokkos::CudaSpace)
#else
#define MOHO_EIKONAL_EACH(what, prefix) MOHO_EIKONAL_NUMBERS(what, prefix, Kokkos::HostSpace)
#endif
/// \endcond
