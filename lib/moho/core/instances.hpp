// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Lists of the types that libraries of compiled kernels hold: both precisions, 2D and 3D,
/// every memory of the build.
///
/// Where MOHO_SINGLE_KERNELS is defined the libraries hold single precision only; double precision
/// is then compiled by whoever uses it.
///
/// Where the macro of such a library is defined (MOHO_WAVE_KERNELS and so on), because a program
/// links it, the headers declare its templates `extern template`.

#include <moho/core/instance.hpp>

/// \def MOHO_FOR_TYPES
/// each(prefix, T, Dim, Memory) for all types in one memory.
#ifdef MOHO_SINGLE_KERNELS
#define MOHO_FOR_TYPES(each, prefix, Memory) \
  each(prefix, float, 2, Memory) each(prefix, float, 3, Memory)
#else
#define MOHO_FOR_TYPES(each, prefix, Memory)                                                    \
  each(prefix, float, 2, Memory) each(prefix, float, 3, Memory) each(prefix, double, 2, Memory) \
      each(prefix, double, 3, Memory)
#endif

/// \def MOHO_FOR_DEVICES
/// each(prefix, T, Dim, Exec) for all types of the device's execution space, if there is one.
/// \def MOHO_FOR_ALL
/// each(prefix, T, Dim, Memory) for all types in all memories.
#ifdef KOKKOS_ENABLE_CUDA
#define MOHO_FOR_DEVICES(each, prefix) MOHO_FOR_TYPES(each, prefix, ::Kokkos::Cuda)
#define MOHO_FOR_ALL(each, prefix)                  \
  MOHO_FOR_TYPES(each, prefix, ::Kokkos::HostSpace) \
  MOHO_FOR_TYPES(each, prefix, ::Kokkos::CudaSpace)
#else
#define MOHO_FOR_DEVICES(each, prefix)
#define MOHO_FOR_ALL(each, prefix) MOHO_FOR_TYPES(each, prefix, ::Kokkos::HostSpace)
#endif
