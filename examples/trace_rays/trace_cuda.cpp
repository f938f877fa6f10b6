// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/trace_on_impl.hpp"

#ifdef KOKKOS_ENABLE_CUDA
namespace moho::examples::trace_rays {
MOHO_TRACE_ON(Kokkos::Cuda);
}
#endif
