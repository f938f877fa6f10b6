// SPDX-License-Identifier: BSD-3-Clause
#include "model_gravity/compute_on_impl.hpp"

#ifdef KOKKOS_ENABLE_SERIAL
namespace moho::examples::model_gravity {
MOHO_COMPUTE_ON(Kokkos::Serial);
}
#endif
