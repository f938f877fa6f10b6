// SPDX-License-Identifier: BSD-3-Clause
#include "model_waves/compute_on_impl.hpp"

#ifdef KOKKOS_ENABLE_SERIAL
namespace moho::examples::model_waves {
MOHO_COMPUTE_ON(Kokkos::Serial);
}
#endif
