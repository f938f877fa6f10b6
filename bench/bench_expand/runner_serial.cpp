// SPDX-License-Identifier: BSD-3-Clause
#include "bench_expand/runner_on.hpp"

#ifdef KOKKOS_ENABLE_SERIAL
MOHO_EXPAND_RUNNER_ON(Kokkos::Serial);
#endif
