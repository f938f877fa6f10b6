// SPDX-License-Identifier: BSD-3-Clause
#include "bench_gravity/runner_on.hpp"

#ifdef KOKKOS_ENABLE_OPENMP
MOHO_GRAVITY_RUNNER_ON(Kokkos::OpenMP);
#endif
