// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Lists of the types for which the libraries of kernels are compiled.
///
/// These are both precisions, 2D and 3D, and every memory of the build. With MOHO_SINGLE_KERNELS
/// defined the libraries contain single precision only; double precision is then instantiated in
/// the source that uses it.
///
/// A program that links such a library defines its macro (for example MOHO_WAVE_KERNELS). The
/// headers then declare its templates `extern template`.

#include <moho/core/instance.hpp>

/// \def MOHO_FOR_TYPES
/// Expands each(prefix, T, Dim, Memory) for all types in one memory.
#ifdef MOHO_SINGLE_KERNELS
#define MOHO_FOR_TYPES(each, prefix, Memory) \
  each(prefix, float, 2, Memory) each(prefix, float, 3, Memory)
#else
#define MOHO_FOR_TYPES(each, prefix, Memory)                                                    \
  each(prefix, float, 2, Memory) each(prefix, float, 3, Memory) each(prefix, double, 2, Memory) \
      each(prefix, double, 3, Memory)
#endif

/// \def MOHO_FOR_DEVICES
/// Expands each(prefix, T, Dim, Exec) for all types of the device's execution
/// space, if enabled.
/// \def MOHO_FOR_ALL
/// Expands each(prefix, T, Dim, Memory) for all types in all memories.
#ifdef KOKKOS_ENABLE_CUDA
#define MOHO_FOR_DEVICES(each, prefix) MOHO_FOR_TYPES(each, prefix, ::Kokkos::Cuda)
#define MOHO_FOR_ALL(each, prefix)                  \
  MOHO_FOR_TYPES(each, prefix, ::Kokkos::HostSpace) \
  MOHO_FOR_TYPES(each, prefix, ::Kokkos::CudaSpace)
#else
#define MOHO_FOR_DEVICES(each, prefix)
#define MOHO_FOR_ALL(each, prefix) MOHO_FOR_TYPES(each, prefix, ::Kokkos::HostSpace)
#endif
