// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Host memory for fast transfers to and from devices.

#include <moho/core/kokkos.hpp>

namespace moho {

/// \cond
namespace detail {
template <class Memory>
struct StagingOf {
  using type = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct StagingOf<Kokkos::CudaSpace> {
  using type = Kokkos::CudaHostPinnedSpace;
};
#endif
}  // namespace detail
/// \endcond

/// Host memory for transfers to and from `Memory`.
///
/// For a device it is page-locked, so that transfers run concurrently with the work of other
/// instances. For the host it is Kokkos::HostSpace.
template <class Memory>
using StagingMemory = typename detail::StagingOf<Memory>::type;

}  // namespace moho
