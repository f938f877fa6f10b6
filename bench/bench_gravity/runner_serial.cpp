// SPDX-License-Identifier: BSD-3-Clause
#include "bench_gravity/runner_on.hpp"

#ifdef KOKKOS_ENABLE_SERIAL
MOHO_GRAVITY_RUNNER_ON(Kokkos::Serial);
#endif
