// SPDX-License-Identifier: BSD-3-Clause
#include "bench_waves/runner_on.hpp"

#ifdef KOKKOS_ENABLE_OPENMP
MOHO_WAVE_RUNNER_ON(Kokkos::OpenMP);
#endif
