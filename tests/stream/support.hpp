// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Helpers of the tests of streams.

#include <moho/core/instance.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>

namespace moho::testing {

/// Returns a random integer from low to high, both included.
inline int draw(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

/// Number type of executed schedules: planes hold numbers modulo a prime.
using Number = std::uint64_t;
/// The prime.
inline constexpr Number prime = 2147483647;

/// Error: a schedule violated its rules.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the devices of a chain in a test: hosts simulate three.
inline int available_devices(const Instance<Kokkos::HostSpace>&) { return 3; }
#ifdef KOKKOS_ENABLE_CUDA
/// \copydoc available_devices()
inline int available_devices(const Instance<Kokkos::CudaSpace>&) {
  int count = 0;
  cudaGetDeviceCount(&count);
  return std::min(count, 3);
}
#endif

}  // namespace moho::testing
