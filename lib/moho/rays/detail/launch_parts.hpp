// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Long kernels of hosts in parts, between which a stop on request takes effect (internal).

#include <moho/core/instance.hpp>
#include <moho/core/launch.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::rays::detail {

/// The positions of a body from `first` on. It must not outlive the body.
template <class Body>
struct PartOfBody {
  const Body* body;    ///< of all positions
  std::int64_t first;  ///< position of this part

  void operator()(const std::int64_t i) const { (*body)(first + i); }
};

/// \brief Calls submit(body, count) for consecutive parts of [0, count), each after check_stop().
///
/// A part has about 2^26 relaxations, whose cost is much larger than that of a launch.
/// \param relaxations of a position, at least 1
template <class Body, class Submit>
void in_parts(const Instance<Kokkos::HostSpace>& exec, std::int64_t count, std::int64_t relaxations,
              const Body& body, const Submit& submit) {
  constexpr std::int64_t part_relaxations = std::int64_t(1) << 26;
  const std::int64_t max =
      std::max<std::int64_t>(exec.concurrency(), part_relaxations / relaxations);
  for (std::int64_t first = 0; first < count; first += max) {
    exec.check_stop();
    submit(PartOfBody<Body>{&body, first}, std::min(max, count - first));
  }
}

/// Like launch(), in parts on hosts. \throws Stopped, see StopFlag
template <class Memory, class Body>
void launch_parts(const char* label, const Instance<Memory>& exec, std::int64_t count,
                  std::int64_t relaxations, const Body& body) {
  if constexpr (is_host_memory<Memory>) {
    in_parts(exec, count, relaxations, body, [&](const auto& part, std::int64_t positions) {
      launch(label, exec, positions, part);
    });
  } else {
    exec.check_stop();
    launch(label, exec, count, body);
  }
}

/// Like launch_dynamic(), in parts. \throws Stopped, see StopFlag
template <class Body>
void launch_dynamic_parts(const char* label, const Instance<Kokkos::HostSpace>& exec,
                          std::int64_t count, std::int64_t relaxations, const Body& body) {
  in_parts(exec, count, relaxations, body, [&](const auto& part, std::int64_t positions) {
    launch_dynamic(label, exec, positions, part);
  });
}

}  // namespace moho::rays::detail
