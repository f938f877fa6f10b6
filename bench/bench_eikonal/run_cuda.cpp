// SPDX-License-Identifier: BSD-3-Clause
#include "bench_eikonal/run_on.hpp"

#ifdef KOKKOS_ENABLE_CUDA
MOHO_TIME_EIKONAL_ON(Kokkos::Cuda);
#endif
