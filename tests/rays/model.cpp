// SPDX-License-Identifier: BSD-3-Clause

#include "rays/model.hpp"

namespace moho::testing {

#define MOHO_RAYS_TEST_MODEL_IN(Memory)             \
  MOHO_RAYS_TEST_MODEL(template, float, 2, Memory)  \
  MOHO_RAYS_TEST_MODEL(template, float, 3, Memory)  \
  MOHO_RAYS_TEST_MODEL(template, double, 2, Memory) \
  MOHO_RAYS_TEST_MODEL(template, double, 3, Memory)

MOHO_RAYS_TEST_MODEL_IN(Kokkos::HostSpace)
#ifdef KOKKOS_ENABLE_CUDA
MOHO_RAYS_TEST_MODEL_IN(Kokkos::CudaSpace)
#endif
MOHO_RAYS_TEST_REFERENCE(template, float, 2)
MOHO_RAYS_TEST_REFERENCE(template, float, 3)
MOHO_RAYS_TEST_REFERENCE(template, double, 2)
MOHO_RAYS_TEST_REFERENCE(template, double, 3)

}  // namespace moho::testing
