// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The ray module for moho's own programs: its templates are compiled once, into the
/// library moho_rays_instances, and not by every program again.

#include <moho/rays/rays.hpp>

#define MOHO_RAYS_INSTANCE(prefix, T, Dim, Exec)                                           \
  prefix template class GridGraph<T, Dim, Exec>;                                           \
  prefix template TraceReport trace<T, Dim, Exec>(                                         \
      const Exec&, const GridGraph<T, Dim, Exec>&, const Points<Dim>&,                     \
      const FieldPerSource<T, Dim, Exec>&, const FieldPerSource<std::int16_t, Dim, Exec>&, \
      const TraceOptions&);                                                                \
  prefix template RayPaths<Dim> ray_paths<T, Dim, Exec>(                                   \
      const Exec&, const GridGraph<T, Dim, Exec>&, const Points<Dim>&,                     \
      const FieldPerSource<T, Dim, Exec>&, const FieldPerSource<std::int16_t, Dim, Exec>&, \
      const Points<Dim>&);

#ifndef MOHO_RAYS_INSTANCES
#define MOHO_RAYS_SPACE(Exec)                 \
  MOHO_RAYS_INSTANCE(extern, float, 2, Exec)  \
  MOHO_RAYS_INSTANCE(extern, float, 3, Exec)  \
  MOHO_RAYS_INSTANCE(extern, double, 2, Exec) \
  MOHO_RAYS_INSTANCE(extern, double, 3, Exec)

namespace moho::rays {
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_RAYS_SPACE(Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_RAYS_SPACE(Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_RAYS_SPACE(Kokkos::Cuda)
#endif
}  // namespace moho::rays
#endif
