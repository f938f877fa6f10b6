// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Bodies of fast multipole kernels with more shared memory than Kokkos gives to a team.

#include <moho/core/cuda.hpp>
#include <moho/core/instances.hpp>

#include <cstdint>
#include <type_traits>

namespace moho::gravity::detail {

#ifdef KOKKOS_ENABLE_CUDA
/// The threads of a block.
struct BlockTeam {
  __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ static int size() { return static_cast<int>(blockDim.x); }
  __device__ __forceinline__ static void barrier() { __syncthreads(); }
};

/// Kernel of a block for each item.
template <class Body>
__global__ void __launch_bounds__(Body::threads, Body::blocks) block_items(const Body body) {
  extern __shared__ __align__(16) double block_shared[];
  body(BlockTeam(), static_cast<std::int64_t>(blockIdx.x), block_shared);
}

#endif

/// \brief Calls body(team, item, scratch) for items with a block of CUDA each.
///
/// A body has scratch(), the number of doubles in shared memory, threads, those of a block, and
/// blocks, the least number that a multiprocessor takes at a time by its registers.
template <class Memory, class Body>
void launch_cuda_blocks(const char* label, const Instance<Memory>& exec, std::int64_t items,
                        const Body& body) {
#ifdef KOKKOS_ENABLE_CUDA
  if (items <= 0) return;
  launch_native(label, exec.space(), block_items<Body>, static_cast<unsigned>(items), Body::threads,
                8 * body.scratch(), body);
#else
  static_assert(!std::is_same_v<Memory, Memory>, "needs CUDA");
#endif
}

}  // namespace moho::gravity::detail
