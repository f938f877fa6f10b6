// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The timed call of trace(), compiled once for each memory.

#include "bench_rays/mutex.hpp"
#include "bench_rays/run.hpp"
#include "common/copy.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/device_instances.hpp>
#include <moho/core/phases.hpp>
#include <moho/rays/rays.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace moho::bench {

/// Host memory with the fastest transfers to and from a space: pinned memory for CUDA.
template <class Memory>
struct Staging {
  using memory = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <>
struct Staging<Kokkos::CudaSpace> {
  using memory = Kokkos::CudaHostPinnedSpace;
};
/// \endcond
#endif

/// Host and device arrays of a case, and one timed pass.
template <class T, class Memory>
class TraceRun {
 public:
  TraceRun(const Instance<Memory>& exec, const RayCase& what)
      : m_exec(exec), m_case(what), m_grid(model_grid(what.n)) {
    const std::size_t n = static_cast<std::size_t>(what.n);
    const std::size_t sources = static_cast<std::size_t>(what.sources);
    m_host_velocity = HostVelocity("moho::bench::velocity", n, n);
    for (int i = 0; i < what.n; ++i) {
      for (int k = 0; k < what.n; ++k) {
        m_host_velocity(i, k) = static_cast<T>(model_velocity(k, what.n));
      }
    }
    m_host_times = HostOutput<T>("moho::bench::host_times", sources, n, n);
    m_host_predecessors = HostOutput<std::int16_t>("moho::bench::host_predecessors", sources, n, n);
    if constexpr (is_host_memory<Memory>) {
      m_velocity = m_host_velocity;
      m_times = m_host_times;
      m_predecessors = m_host_predecessors;
    } else {
      if (!what.split()) allocate_fields();  // otherwise the devices hold slabs alone
    }
    for (int s = 0; s < what.sources; ++s) {
      m_sources.push_back(m_grid.position({source_column(s, what.sources, what.n), 0}));
    }
  }

  /// Runs one pass and adds to the phases and the work. The time includes allocations of trace(),
  /// but not those of the caller's arrays.
  void pass(RayPhases& phases, RayWork& work) {
    if (m_case.split()) return split_pass(phases, work);
    rays::GraphOptions options;
    options.radius = m_case.radius;
    options.storage = m_case.storage;
    options.star = m_case.star;
    options.rule = m_case.rule;
    options.sources = m_case.sources;
    rays::TraceOptions trace_options;
    trace_options.method = m_case.method;
    // Transfers immediately after a large table is freed are slower by up to a millisecond. A
    // single call has no such delay, so wait until it is over.
    if constexpr (!is_host_memory<Memory>)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    m_exec.fence();
    const auto begin = now();
    if constexpr (!is_host_memory<Memory>) copy(m_exec, m_velocity, m_host_velocity);
    m_exec.fence();
    const auto moved = now();
    options.memory_budget = budget(options);
    const rays::GridGraph<T, 2, Memory> graph(m_exec, m_grid, m_velocity, options);
    m_exec.fence();
    const auto weighed = now();
    const rays::TraceReport report =
        m_case.mutex
            ? trace_with_mutexes(m_exec, graph, {0, 0}, m_times, m_predecessors)
            : rays::trace(m_exec, graph, m_sources, m_times, m_predecessors, trace_options);
    m_exec.fence();
    const auto traced = now();
    if constexpr (!is_host_memory<Memory>) {
      copy(m_exec, m_host_times, m_times);
      copy(m_exec, m_host_predecessors, m_predecessors);
    }
    m_exec.fence();
    const auto back = now();

    const double predecessors = report.times.seconds("rays::predecessors");
    phases.transfer += seconds(begin, moved) + seconds(traced, back);
    phases.weights += seconds(moved, weighed);
    phases.trace += seconds(weighed, traced) - predecessors;
    phases.predecessors += predecessors;
    count_work(graph, report, work);
  }

  /// Runs one pass with the model split among instances. The time includes what pass() includes.
  void split_pass(RayPhases& phases, RayWork& work) {
    rays::GraphOptions options;
    options.radius = m_case.radius;
    options.storage = m_case.storage;
    options.star = m_case.star;
    options.rule = m_case.rule;
    options.sources = m_case.sources;
    std::vector<Instance<Memory>> instances{m_exec};
    if (m_case.devices > 0) {
      instances = instances_on_devices(m_exec, m_case.devices);
    } else {
      for (int k = 1; k < m_case.instances; ++k) instances.push_back(new_instance(m_exec));
    }
    m_exec.fence();
    const auto begin = now();
    const rays::SplitGraph<T, 2, Memory> graph(instances, m_grid, m_host_velocity.data(), options,
                                               m_case.slabs);
    const auto weighed = now();
    const rays::TraceReport report =
        graph.trace(m_sources, m_host_times.data(), m_host_predecessors.data());
    const auto traced = now();
    const double predecessors = report.times.seconds("rays::predecessors");
    const double transfer = report.times.seconds("rays::transfer");
    phases.transfer += transfer;
    phases.weights += seconds(begin, weighed);  // with the model to the device
    phases.trace += seconds(weighed, traced) - predecessors - transfer;
    phases.predecessors += predecessors;
    count_work(graph.slab(0), report, work);
  }

  /// Overwrites the outputs on the host, so that check() sees only those of the next pass.
  void spoil() {
    std::fill_n(m_host_times.data(), m_host_times.size(), T(-1));
    std::fill_n(m_host_predecessors.data(), m_host_predecessors.size(), rays::unreached);
  }

  /// Compares the first and the last source with Dijkstra's algorithm.
  void check(RayCheck& result) {
    if (m_case.large()) return check_bits(result);
    const std::int64_t last = m_case.sources - 1;
    for (std::int64_t s = 0; s <= last; s += std::max<std::int64_t>(last, 1)) {
      const int column = source_column(static_cast<int>(s), m_case.sources, m_case.n);
      check_source(reference_times<T>(m_case, column), m_host_times.data() + s * m_grid.size(),
                   m_host_predecessors.data() + s * m_grid.size(), m_step, result);
    }
  }

 private:
  /// Compares with trace() of a complete table on this space: the difference is 0 or infinite.
  void check_bits(RayCheck& result) {
    const std::vector<T> times(m_host_times.data(), m_host_times.data() + m_host_times.size());
    const std::vector<std::int16_t> predecessors(
        m_host_predecessors.data(), m_host_predecessors.data() + m_host_predecessors.size());
    RayCase what = m_case;
    what.instances = what.devices = 0;
    what.table = 0.0;
    what.storage = rays::WeightStorage::stored;
    std::swap(what, m_case);
    spoil();
    RayPhases phases;
    RayWork work;
    if constexpr (!is_host_memory<Memory>) {
      if (m_velocity.size() == 0) allocate_fields();
    }
    pass(phases, work);
    std::swap(what, m_case);
    const bool same =
        std::equal(times.begin(), times.end(), m_host_times.data()) &&
        std::equal(predecessors.begin(), predecessors.end(), m_host_predecessors.data());
    result.max_relative_difference = same ? 0.0 : infinity<double>();
  }

  void allocate_fields() {
    m_velocity = make_field<T>(m_exec, m_grid, "moho::bench::velocity");
    m_times = make_field_per_source<T>(m_exec, m_case.sources, m_grid, "moho::bench::times");
    m_predecessors = make_field_per_source<std::int16_t>(m_exec, m_case.sources, m_grid,
                                                         "moho::bench::predecessors");
  }

  /// Returns the bytes for a graph whose weights have a part of their table; 0: all that is free.
  std::size_t budget(const rays::GraphOptions& options) const {
    if (m_case.table == 0.0) return 0;
    const auto padded_size =
        static_cast<std::size_t>(rays::PaddedGrid<2>::make<Memory>(m_grid, options.radius).size);
    const auto nodes = static_cast<std::size_t>(m_grid.size());
    const double words =
        2.0 +
        m_case.table * static_cast<double>(rays::half_star<2>(options.radius, options.star).size());
    return nodes * (sizeof(T) + sizeof(std::int16_t)) +
           static_cast<std::size_t>(words * static_cast<double>(padded_size * sizeof(T)));
  }

  void count_work(const rays::GridGraph<T, 2, Memory>& graph, const rays::TraceReport& report,
                  RayWork& work) {
    work.relaxations += static_cast<double>(report.relaxations);
    work.rounds += static_cast<double>(report.rounds);
    work.fragments += static_cast<double>(report.fragments);
    work.exchanges += static_cast<double>(report.exchanges);
    work.vertices = static_cast<double>(m_grid.size());
    work.sources = m_case.sources;
    work.neighbours = graph.neighbours();
    work.stencil_terms = static_cast<double>(graph.data().terms.extent(0));
    work.scalar_bytes = sizeof(T);
    work.storage = graph.storage();
    if (!m_step.empty()) return;
    for (int k = 0; k < graph.neighbours(); ++k) {
      m_step.push_back(std::int64_t(graph.neighbour(k)[0]) * m_case.n + graph.neighbour(k)[1]);
    }
  }

  using Clock = std::chrono::steady_clock;
  using HostMemory = typename Staging<Memory>::memory;
  using HostVelocity = Kokkos::View<T**, Kokkos::LayoutRight, HostMemory>;
  template <class Value>
  using HostOutput = Kokkos::View<Value***, Kokkos::LayoutRight, HostMemory>;

  static Clock::time_point now() { return Clock::now(); }
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  Instance<Memory> m_exec;
  RayCase m_case;
  Grid<2> m_grid;
  HostVelocity m_host_velocity;
  HostOutput<T> m_host_times;
  HostOutput<std::int16_t> m_host_predecessors;
  Field<T, 2, Memory> m_velocity;
  FieldPerSource<T, 2, Memory> m_times;
  FieldPerSource<std::int16_t, 2, Memory> m_predecessors;
  std::vector<Point<2>> m_sources;
  std::vector<std::int64_t> m_step;
};

namespace detail {

template <class T, class Memory>
void time_trace(const Instance<Memory>& exec, benchmark::State& state, const RayCase& what) {
  RayPhases sum;
  RayWork work;
  RayCheck check;
  double best = infinity<double>();
  TraceRun<T, Memory> run(exec, what);
  {
    RayPhases first;  // loads code and touches memory; excluded from the time
    RayWork unused;
    run.pass(first, unused);
  }
  run.spoil();
  for (auto _ : state) {
    const double before = sum.total();
    run.pass(sum, work);
    const double took = sum.total() - before;
    state.SetIterationTime(took);
    best = std::min(best, took);
  }
  run.check(check);
  work.bandwidth = copy_bandwidth(what.space);
  // The reference uses the coprime star. Long edges of the full star replace sums of short ones.
  // Rounding differs by up to one addition per vertex of the path: 1600 x 2^-24 is 1e-4.
  const bool same_sums = what.star == rays::Star::coprime || what.radius == 1;
  report(state, sum, best, work, check, same_sums ? 1e-5 : 1e-4);
}

}  // namespace detail

template <class Memory>
void time_trace(const Instance<Memory>& exec, benchmark::State& state, const RayCase& what) {
  if (what.single) return detail::time_trace<float>(exec, state, what);
  detail::time_trace<double>(exec, state, what);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_RAYS(Memory) \
  template void time_trace<Memory>(const Instance<Memory>&, benchmark::State&, const RayCase&)

}  // namespace moho::bench
