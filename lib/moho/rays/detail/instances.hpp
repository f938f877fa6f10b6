// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit instantiations: float and double, 2D and 3D, every memory of the build.
///
/// A header with templates ends with a macro that names them, which MOHO_RAYS_EACH() expands where
/// the program links the library. The library's sources expand the macro without `extern`.

#include <moho/core/instance.hpp>

/// \cond
#define MOHO_RAYS_EACH_IN(instances, Memory)                                                \
  instances(extern template, float, 2, Memory) instances(extern template, float, 3, Memory) \
      instances(extern template, double, 2, Memory) instances(extern template, double, 3, Memory)

#ifdef KOKKOS_ENABLE_CUDA
#define MOHO_RAYS_EACH(instances)                 \
  MOHO_RAYS_EACH_IN(instances, Kokkos::HostSpace) \
  MOHO_RAYS_EACH_IN(instances, Kokkos::CudaSpace)
#else
#define MOHO_RAYS_EACH(instances) MOHO_RAYS_EACH_IN(instances, Kokkos::HostSpace)
#endif
/// \endcond
