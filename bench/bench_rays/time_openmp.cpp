// SPDX-License-Identifier: BSD-3-Clause
#include "bench_rays/time_trace.hpp"

#ifdef KOKKOS_ENABLE_OPENMP
MOHO_TIME_TRACE_ON(Kokkos::OpenMP);
#else
MOHO_TIME_TRACE_ON(Kokkos::Serial);
#endif
