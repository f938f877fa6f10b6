// SPDX-License-Identifier: BSD-3-Clause
#include "bench_waves/runner_on.hpp"

#ifdef KOKKOS_ENABLE_CUDA
MOHO_WAVE_RUNNER_ON(Kokkos::Cuda);
#endif
