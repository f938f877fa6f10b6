// SPDX-License-Identifier: BSD-3-Clause
#include "common/copy.hpp"

#include "common/program.hpp"

#include <moho/core/space.hpp>

#include <map>

namespace moho::bench {

std::int64_t copy_size(bool host) {
  if (smoke()) return std::int64_t(1) << 24;
  return std::int64_t(1) << (host ? 28 : 30);
}

double copy_bandwidth(const std::string& space) {
  static std::map<std::string, double> known;
  double& bandwidth = known[space];
  if (bandwidth == 0.0) {
    with_space(space, [&](const auto& exec) {
      bandwidth = 2.0 * static_cast<double>(copy_size(on_host(space))) / copy_seconds(exec);
    });
  }
  return bandwidth;
}

void add_copy(const std::string& space) {
  // The array is far larger than any cache; the result is the best of ten copies.
  add("copy/" + space, 1, [space](benchmark::State& state) {
    const double bytes = 2.0 * static_cast<double>(copy_size(on_host(space)));
    for (auto _ : state) state.SetIterationTime(bytes / copy_bandwidth(space));
    state.counters["copy_GBps"] = copy_bandwidth(space) * 1e-9;
  });
}

}  // namespace moho::bench
