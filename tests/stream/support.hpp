// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What tests of streams have in common.

#include <moho/core/instance.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>

namespace moho::testing {

/// An integer from low to high, both included.
inline int draw(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

/// Planes of schedules that are executed hold numbers modulo a prime.
using Number = std::uint64_t;
/// That prime.
inline constexpr Number prime = 2147483647;

/// What a schedule did wrong.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Devices of a chain that a test may have: hosts stand in for three.
inline int devices_there(const Instance<Kokkos::HostSpace>&) { return 3; }
#ifdef KOKKOS_ENABLE_CUDA
/// \copydoc devices_there()
inline int devices_there(const Instance<Kokkos::CudaSpace>&) {
  int count = 0;
  cudaGetDeviceCount(&count);
  return std::min(count, 3);
}
#endif

}  // namespace moho::testing
