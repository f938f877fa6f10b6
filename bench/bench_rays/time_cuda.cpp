// SPDX-License-Identifier: BSD-3-Clause
#include "bench_rays/time_trace.hpp"

#ifdef KOKKOS_ENABLE_CUDA
MOHO_TIME_TRACE_ON(Kokkos::Cuda);
#endif
