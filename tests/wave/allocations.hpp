// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Counts the memory that Kokkos allocates.

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdint>

namespace moho::testing {

/// Counts Kokkos's allocations during its lifetime, over all spaces.
struct Allocations {
  static inline std::atomic<std::int64_t> now{0}, max{0};
  static void add(Kokkos_Profiling_SpaceHandle, const char*, const void*, std::uint64_t bytes) {
    const std::int64_t sum = now += static_cast<std::int64_t>(bytes);
    std::int64_t before = max;
    while (before < sum && !max.compare_exchange_weak(before, sum)) {
    }
  }
  static void remove(Kokkos_Profiling_SpaceHandle, const char*, const void*, std::uint64_t bytes) {
    now -= static_cast<std::int64_t>(bytes);
  }
  Allocations() {
    now = max = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(add);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(remove);
  }
  ~Allocations() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }
};

}  // namespace moho::testing
