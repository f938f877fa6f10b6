// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The wave module for moho's own programs: its kernels are compiled once, into the library
/// moho_wave_instances, and not by every program again.

#include <moho/wave/propagator.hpp>

#define MOHO_WAVE_SCHEMES(instance, T, Dim)                                            \
  instance(isotropic, T, Dim) instance(variable_density, T, Dim) instance(vti, T, Dim) \
      instance(tti, T, Dim) instance(vti_fletcher, T, Dim) instance(tti_fletcher, T, Dim)
#define MOHO_WAVE_TYPES(instance, ...)                                                             \
  instance(float, 2, __VA_ARGS__) instance(float, 3, __VA_ARGS__) instance(double, 2, __VA_ARGS__) \
      instance(double, 3, __VA_ARGS__)

#ifndef MOHO_WAVE_INSTANCES
namespace moho::wave {
#define MOHO_WAVE_HOST(scheme, T, Dim) \
  extern template detail::HostWork<T> detail::host_work_of<detail::Scheme::scheme, T, Dim>(int);
#define MOHO_WAVE_LAYERS(scheme)                                                                   \
  extern template detail::LayerWork<float> detail::host_layer_of<detail::Scheme::scheme, float>(   \
      int);                                                                                        \
  extern template detail::LayerWork<double> detail::host_layer_of<detail::Scheme::scheme, double>( \
      int);
MOHO_WAVE_LAYERS(isotropic)
MOHO_WAVE_LAYERS(variable_density)
MOHO_WAVE_LAYERS(vti)
MOHO_WAVE_LAYERS(vti_fletcher)
#define MOHO_WAVE_HOST_SCHEMES(T, Dim, ...) MOHO_WAVE_SCHEMES(MOHO_WAVE_HOST, T, Dim)
MOHO_WAVE_TYPES(MOHO_WAVE_HOST_SCHEMES, )
#define MOHO_WAVE_HOST_SLOPES(T, Dim, ...) \
  extern template detail::HostWork<T> detail::host_slopes_of<T, Dim>(int);
MOHO_WAVE_TYPES(MOHO_WAVE_HOST_SLOPES, )
#define MOHO_WAVE_PROPAGATOR(T, Dim, Exec) extern template class Propagator<T, Dim, Exec>;
#ifdef KOKKOS_ENABLE_SERIAL
MOHO_WAVE_TYPES(MOHO_WAVE_PROPAGATOR, Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
MOHO_WAVE_TYPES(MOHO_WAVE_PROPAGATOR, Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
MOHO_WAVE_TYPES(MOHO_WAVE_PROPAGATOR, Kokkos::Cuda)
#define MOHO_WAVE_DEVICE(scheme, T, Dim)          \
  extern template detail::Launch<T, Kokkos::Cuda> \
  detail::device_launch_of<detail::Scheme::scheme, T, Dim, Kokkos::Cuda>(int);
#define MOHO_WAVE_DEVICE_LAYERS(scheme)                                      \
  extern template detail::LayerLaunch<float, Kokkos::Cuda>                   \
  detail::device_layer_of<detail::Scheme::scheme, float, Kokkos::Cuda>(int); \
  extern template detail::LayerLaunch<double, Kokkos::Cuda>                  \
  detail::device_layer_of<detail::Scheme::scheme, double, Kokkos::Cuda>(int);
MOHO_WAVE_DEVICE_LAYERS(isotropic)
MOHO_WAVE_DEVICE_LAYERS(variable_density)
MOHO_WAVE_DEVICE_LAYERS(vti)
MOHO_WAVE_DEVICE_LAYERS(vti_fletcher)
#define MOHO_WAVE_DEVICE_SLOPES(T, Dim, ...)                                                      \
  extern template detail::Launch<T, Kokkos::Cuda> detail::device_slopes_of<T, Dim, Kokkos::Cuda>( \
      int);
MOHO_WAVE_TYPES(MOHO_WAVE_DEVICE_SLOPES, )
#define MOHO_WAVE_DEVICE_SCHEMES(T, Dim, ...) MOHO_WAVE_SCHEMES(MOHO_WAVE_DEVICE, T, Dim)
MOHO_WAVE_TYPES(MOHO_WAVE_DEVICE_SCHEMES, )
#endif
}  // namespace moho::wave
#endif
