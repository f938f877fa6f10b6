// SPDX-License-Identifier: BSD-3-Clause
#include "first_arrivals/solve_on_impl.hpp"

#ifdef KOKKOS_ENABLE_CUDA
namespace moho::examples::first_arrivals {
MOHO_FIRST_ARRIVALS_ON(Kokkos::Cuda);
}
#endif
