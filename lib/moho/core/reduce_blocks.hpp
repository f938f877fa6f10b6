// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reductions whose bits do not depend on the number of host threads.

#include <moho/core/launch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho {

namespace detail {

/// The reduction of blocks of 4096 elements, for hosts.
template <class Body>
struct ReduceBlock {
  static constexpr std::int64_t size = 4096;
  Body body;
  typename Body::value_type* results;
  std::int64_t count;
  void operator()(const std::int64_t block) const {
    typename Body::value_type result;
    body.init(result);
    const std::int64_t end = std::min(count, (block + 1) * size);
    for (std::int64_t i = block * size; i < end; ++i) body(i, result);
    results[block] = result;
  }
};

/// A sum of doubles whose body need not be callable on devices.
template <class Body>
struct HostSum {
  using value_type = double;
  Body body;
  void operator()(const std::int64_t i, double& sum) const { body(i, sum); }
  void init(double& sum) const { sum = 0.0; }
  void join(double& to, double from) const { to += from; }
};

}  // namespace detail

/// \brief reduce() in blocks that do not depend on the number of host threads; waits for exec.
///
/// A search resumed with another number of threads therefore has the same bits.
template <class Memory, class Body>
typename Body::value_type reduce_blocks(const char* label, const Instance<Memory>& exec,
                                        std::int64_t count, const Body& body) {
  if constexpr (is_host_memory<Memory>) {
    using Block = detail::ReduceBlock<Body>;
    const std::int64_t blocks = (count + Block::size - 1) / Block::size;
    std::vector<typename Body::value_type> results(static_cast<std::size_t>(blocks));
    launch(label, exec, blocks, Block{body, results.data(), count});
    typename Body::value_type sum;
    body.init(sum);
    for (const auto& result : results) body.join(sum, result);
    return sum;
  } else {
    return reduce(label, exec, count, body);
  }
}

/// Returns the sum over [0, count) of what body(i, sum) adds on a host, as reduce_blocks().
template <class Body>
double sum_of_blocks(const char* label, const Instance<Kokkos::HostSpace>& exec, std::int64_t count,
                     const Body& body) {
  return reduce_blocks(label, exec, count, detail::HostSum<Body>{body});
}

}  // namespace moho
