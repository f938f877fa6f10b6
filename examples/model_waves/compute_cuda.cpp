// SPDX-License-Identifier: BSD-3-Clause
#include "model_waves/compute_on_impl.hpp"

#ifdef KOKKOS_ENABLE_CUDA
namespace moho::examples::model_waves {
MOHO_COMPUTE_ON(Kokkos::Cuda);
}
#endif
