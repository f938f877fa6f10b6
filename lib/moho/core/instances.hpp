// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit instantiations of templates, and loops over their arguments.
///
/// The libraries of kernels contain both precisions, 2D and 3D, and every memory of the build. With
/// MOHO_SINGLE_KERNELS defined the libraries of waves contain single precision only; double
/// precision is then instantiated in the source that uses it.
///
/// A program that links such a library defines its macro (for example MOHO_WAVE_KERNELS). The
/// headers then end with lines that declare its templates extern:
///
///     MOHO_FOR_ALL(MOHO_CLASS, extern template class, PointSet)
///     MOHO_FOR_ALL(MOHO_FUNCTION, extern template, check_model)
///
/// The sources of the library instantiate the same names without `extern`.
///
/// Loops append a template argument to their arguments and pass these to `each`, which may be
/// another loop: `MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_CLASS, extern template class, Lbfgs)`.

#include <moho/core/instance.hpp>

/// \def MOHO_CLASS
/// Instantiates a class template.
#define MOHO_CLASS(prefix, name, ...) prefix name<__VA_ARGS__>;

/// \def MOHO_FUNCTION
/// Instantiates a function template. Its overloads must have other template parameters; otherwise a
/// macro with the signature takes its place, for example MOHO_WAVE_MODEL_SHOT.
#define MOHO_FUNCTION(prefix, name, ...) prefix decltype(name<__VA_ARGS__>) name<__VA_ARGS__>;

/// \def MOHO_FOR_SCALARS
/// Appends both precisions.
#ifdef MOHO_SINGLE_KERNELS
#define MOHO_FOR_SCALARS(each, ...) each(__VA_ARGS__, float)
#else
#define MOHO_FOR_SCALARS(each, ...) each(__VA_ARGS__, float) each(__VA_ARGS__, double)
#endif

/// \def MOHO_FOR_DIMENSIONS
/// Appends 2 and 3.
#define MOHO_FOR_DIMENSIONS(each, ...) each(__VA_ARGS__, 2) each(__VA_ARGS__, 3)

/// \def MOHO_FOR_MEMORIES
/// Appends each memory of the build.
/// \def MOHO_FOR_DEVICES
/// Appends the device's execution space; expands to nothing in builds without a device.
#ifdef KOKKOS_ENABLE_CUDA
#define MOHO_FOR_MEMORIES(each, ...) \
  each(__VA_ARGS__, ::Kokkos::HostSpace) each(__VA_ARGS__, ::Kokkos::CudaSpace)
#define MOHO_FOR_DEVICES(each, ...) each(__VA_ARGS__, ::Kokkos::Cuda)
#else
#define MOHO_FOR_MEMORIES(each, ...) each(__VA_ARGS__, ::Kokkos::HostSpace)
#define MOHO_FOR_DEVICES(each, ...)
#endif

/// \def MOHO_FOR_TYPES
/// Appends each precision with each dimension.
#define MOHO_FOR_TYPES(each, ...) MOHO_FOR_SCALARS(MOHO_FOR_DIMENSIONS, each, __VA_ARGS__)

/// \def MOHO_FOR_ALL
/// Appends each precision with each dimension and memory.
#define MOHO_FOR_ALL(each, ...) MOHO_FOR_TYPES(MOHO_FOR_MEMORIES, each, __VA_ARGS__)
