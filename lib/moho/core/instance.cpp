// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/copy.hpp>
#include <moho/core/instance.hpp>
#include <moho/core/launch.hpp>
#include <moho/core/space.hpp>

#include <algorithm>

namespace moho {

const char* Instance<Kokkos::HostSpace>::name() const {
  return visit([](const auto& space) { return SpaceTraits<std::decay_t<decltype(space)>>::name; });
}

int Instance<Kokkos::HostSpace>::concurrency() const {
  return visit([](const auto& space) { return static_cast<int>(space.concurrency()); });
}

void Instance<Kokkos::HostSpace>::fence() const {
  visit([](const auto& space) { space.fence(); });
}

namespace detail {

namespace {
/// The functor of every host kernel.
struct Parts {
  HostPart part;
  const void* body;
  HostCut cut;
  void operator()(const std::int64_t n) const {
    const std::int64_t begin = n * cut.size;
    part(body, begin, std::min(begin + cut.size, cut.count));
  }
};
}  // namespace

HostCut cut(const Instance<Kokkos::HostSpace>& exec, std::int64_t count, std::int64_t chunk) {
  HostCut result;
  result.count = count;
  const std::int64_t threads = exec.concurrency();
  result.size = chunk > 0 ? chunk : std::max<std::int64_t>((count + threads - 1) / threads, 1);
  result.parts = (count + result.size - 1) / result.size;
  return result;
}

void run_parts(const Instance<Kokkos::HostSpace>& exec, const char* label, const HostCut& cut,
               bool dynamic, HostPart part, const void* body) {
  if (cut.parts <= 0) return;
  exec.visit([&](const auto& space) {
    using Exec = std::decay_t<decltype(space)>;
    using Index = Kokkos::IndexType<std::int64_t>;
    const Parts parts{part, body, cut};
    if (dynamic) {
      Kokkos::parallel_for(label,
                           Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>, Index>(
                               space, 0, cut.parts, Kokkos::ChunkSize(1)),
                           parts);
    } else {
      Kokkos::parallel_for(label,
                           Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Index>(
                               space, 0, cut.parts, Kokkos::ChunkSize(1)),
                           parts);
    }
  });
}

template void loop_part<FillElements<float>>(const void*, std::int64_t, std::int64_t);
template void loop_part<FillElements<double>>(const void*, std::int64_t, std::int64_t);
template void loop_part<FillElements<std::int64_t>>(const void*, std::int64_t, std::int64_t);
template void loop_part<CopyBytes>(const void*, std::int64_t, std::int64_t);

}  // namespace detail
}  // namespace moho
