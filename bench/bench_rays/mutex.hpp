// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Push with a mutex for each vertex: the variant that Monsegny and Agudelo (2013) discuss.
///
/// Harish and Narayanan (2007) update neighbours with an atomic minimum, which writes one value. To
/// write traveltime and predecessor together, a thread locks the neighbour. This is measured here
/// for comparison only; the library has no such method.

#include <moho/core/instance.hpp>
#include <moho/core/launch.hpp>
#include <moho/rays/rays.hpp>

#include <cstdint>

namespace moho::bench {

/// Arrays of the method, by index in the padded grid.
template <class T, class Memory>
struct MutexState {
  Kokkos::View<T*, Memory> times;                    ///< traveltimes, s
  Kokkos::View<T*, Memory> previous;                 ///< time at the vertex's last push, s
  Kokkos::View<std::int16_t*, Memory> predecessors;  ///< direction towards the predecessor
  Kokkos::View<int*, Memory> locks;                  ///< 1: locked
  Kokkos::View<int*, Memory> listed;                 ///< 1: the vertex pushes in the next sweep
};

/// One sweep: listed vertices push traveltimes and predecessors to their neighbours.
template <class T, class Memory>
struct MutexSweep {
  rays::detail::GraphData<T, 2, Memory> graph;  ///< with a table of weights
  MutexState<T, Memory> state;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t index) const {
    if (!state.listed(index)) return;
    state.listed(index) = 0;
    const T time = state.previous(index);
    for (int e = 0; e < graph.half; ++e) {
      push(index + graph.offset(e), time + graph.table(e, index), e + graph.half);
      const std::int64_t before = index - graph.offset(e);
      push(before, time + graph.table(e, before), e);
    }
  }
  /// Locks a vertex and writes both values if the time is earlier.
  KOKKOS_INLINE_FUNCTION void push(std::int64_t to, T time, int back) const {
    if (!(time < relaxed_load(&state.times(to)))) return;
    for (bool done = false; !done;) {
      if (Kokkos::atomic_compare_exchange(&state.locks(to), 0, 1) != 0) continue;
      Kokkos::memory_fence();
      if (time < relaxed_load(&state.times(to))) {
        Kokkos::atomic_exchange(&state.times(to), time);
        state.predecessors(to) = static_cast<std::int16_t>(back);
      }
      Kokkos::memory_fence();
      Kokkos::atomic_exchange(&state.locks(to), 0);
      done = true;
    }
  }
};

/// Lists the vertices that became earlier, and counts them.
template <class T, class Memory>
struct MutexMask {
  MutexState<T, Memory> state;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t index, std::int64_t& changed) const {
    if (!(state.times(index) < state.previous(index))) return;
    state.previous(index) = state.times(index);
    state.listed(index) = 1;
    ++changed;
  }
};

/// Copies results from the padded grid.
template <class T, class Memory>
struct MutexResult {
  rays::PaddedGrid<2> grid;
  MutexState<T, Memory> state;
  Kokkos::View<T***, Kokkos::LayoutRight, Memory> times;
  Kokkos::View<std::int16_t***, Kokkos::LayoutRight, Memory> predecessors;
  int rows;  ///< nodes along z
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t i = n / rows, k = n % rows, index = grid.at({i, k});
    times(0, i, k) = state.times(index);
    predecessors(0, i, k) = state.predecessors(index);
  }
};

/// \brief Computes traveltimes and predecessors from one vertex.
/// \param exec execution instance
/// \param graph with stored weights
/// \param source vertex
/// \param times,predecessors of one source, 1 x nodes along x x nodes along z
template <class T, class Memory, class Times, class Predecessors>
rays::TraceReport trace_with_mutexes(const Instance<Memory>& exec,
                                     const rays::GridGraph<T, 2, Memory>& graph,
                                     const Index<2>& source, const Times& times,
                                     const Predecessors& predecessors) {
  const auto& data = graph.data();
  const auto size = static_cast<std::size_t>(data.grid.size);
  MutexState<T, Memory> state;
  state.times = allocate<decltype(state.times)>(exec, "moho::bench::times", size);
  state.previous = allocate<decltype(state.previous)>(exec, "moho::bench::previous", size);
  state.predecessors =
      allocate<decltype(state.predecessors)>(exec, "moho::bench::predecessors", size);
  state.locks = allocate<decltype(state.locks)>(exec, "moho::bench::locks", size);
  state.listed = allocate<decltype(state.listed)>(exec, "moho::bench::listed", size);
  fill(exec, state.times, infinity<T>());
  fill(exec, state.previous, infinity<T>());
  fill(exec, state.predecessors, rays::from_source);
  fill(exec, state.locks, 0);
  fill(exec, state.listed, 0);
  const auto first = static_cast<std::size_t>(data.grid.at(source));
  fill(exec, Kokkos::subview(state.times, std::pair<std::size_t, std::size_t>(first, first + 1)),
       T(0));
  rays::TraceReport report;
  for (;;) {
    const std::int64_t changed = sum_of<std::int64_t>("moho::bench::mutex_mask", exec,
                                                      data.grid.size, MutexMask<T, Memory>{state});
    if (changed == 0) break;
    launch("moho::bench::mutex_push", exec, data.grid.size, MutexSweep<T, Memory>{data, state});
    ++report.rounds;
    report.relaxations += changed * 2 * data.half;
  }
  const auto rows = static_cast<int>(times.extent(2));
  launch("moho::bench::mutex_result", exec,
         static_cast<std::int64_t>(times.extent(1)) * static_cast<std::int64_t>(rows),
         MutexResult<T, Memory>{data.grid, state, times, predecessors, rows});
  exec.fence();
  return report;
}

}  // namespace moho::bench
