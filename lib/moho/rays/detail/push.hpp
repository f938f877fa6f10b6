// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Two push methods for comparison: vertices push traveltimes to neighbours with atomics.
///
/// - push: P. Harish and P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA
///   (2007). Every vertex that became earlier pushes to all its neighbours with an atomic minimum.
/// - near-far: A. Davidson and others, Work-efficient parallel GPU methods for single-source
///   shortest paths (2014). Vertices wait in a worklist while their times exceed a moving
///   threshold.
///
/// An atomic holds only the time, so predecessors are computed afterwards.

#include <moho/rays/detail/launch_parts.hpp>
#include <moho/rays/sources.hpp>

namespace moho::rays::detail {

/// State of the push methods, by source and vertex.
template <class T, class Memory>
struct PushState {
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> previous;  ///< time at the vertex's last push
  Kokkos::View<int**, Kokkos::LayoutRight, Memory>
      listed;  ///< (source, vertex) whether a list holds it; near-far: bit 0 near, bit 1 far
  Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Memory>
      lists;                               ///< near, next near, far and next far
  Kokkos::View<unsigned*, Memory> counts;  ///< lengths of the lists
};

/// One sweep of push: vertices with a set mask push to their neighbours.
template <class T, int Dim, class Memory, class Weights>
struct PushSweep {
  Weights weights;
  PushState<T, Memory> state;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const auto& graph = weights.graph;
    const std::int64_t source = i / graph.grid.size, index = i % graph.grid.size;
    if (!state.listed(source, index)) return;
    state.listed(source, index) = 0;
    const T time = state.previous(source, index);
    for (int e = 0; e < graph.half; ++e) {
      for (int sign = 0; sign < 2; ++sign) {
        const std::int64_t other = sign ? index - graph.offset(e) : index + graph.offset(e);
        const T candidate = time + weights(e, sign ? other : index);
        if (candidate < relaxed_load(&state.times(source, other))) {
          atomic_minimum(&state.times(source, other), candidate);
        }
      }
    }
  }
};

/// The second kernel of push: sets the mask of vertices that became earlier.
template <class T, class Memory>
struct PushMask {
  PushState<T, Memory> state;
  std::int64_t padded_size;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& changed) const {
    const std::int64_t source = i / padded_size, index = i % padded_size;
    if (state.times(source, index) < state.previous(source, index)) {
      state.previous(source, index) = state.times(source, index);
      state.listed(source, index) = 1;
      ++changed;
    }
  }
};

/// Solves a batch by Harish and Narayanan's method. Dummies need no test: edges to them have
/// infinite weight.
template <class T, int Dim, class Memory, class Weights>
void solve_push(const Instance<Memory>& exec, const Weights& weights,
                const Batch<T, Dim, Memory>& batch, const TraceOptions& options,
                TraceReport& report) {
  const auto& graph = weights.graph;
  const std::size_t sources = static_cast<std::size_t>(batch.sources);
  const std::size_t padded_size = static_cast<std::size_t>(graph.grid.size);
  PushState<T, Memory> state;
  state.times = batch.times;
  state.previous =
      allocate<decltype(state.previous)>(exec, "moho::rays::previous", sources, padded_size);
  state.listed = allocate<decltype(state.listed)>(exec, "moho::rays::mask", sources, padded_size);
  fill(exec, state.previous, infinity<T>());
  fill(exec, state.listed, 0);
  const std::int64_t all = batch.sources * graph.grid.size;
  const PushSweep<T, Dim, Memory, Weights> sweep{weights, state};
  const PushMask<T, Memory> mask{state, graph.grid.size};
  while (true) {
    const std::int64_t changed = sum_of<std::int64_t>("moho::rays::push_mask", exec, all, mask);
    if (changed == 0) break;
    launch_parts("moho::rays::push", exec, all, 2 * graph.half, sweep);
    ++report.rounds;
    report.relaxations += changed * 2 * graph.half;
    if (options.progress) {
      const double rounds = static_cast<double>(report.rounds);
      options.progress(rounds / (rounds + 100.0), "pushing");
    }
  }
}

/// First half of a near-far step: vertices leave the near list and store their pushed times.
template <class T, class Memory>
struct NearFarTake {
  PushState<T, Memory> state;
  std::int64_t padded_size;
  int near;  ///< 0 or 1: current near list
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t entry = state.lists(near, i);
    const std::int64_t source = entry / padded_size, index = entry % padded_size;
    state.listed(source, index) &= ~1;
    const T time = state.times(source, index);
    const bool news = time < state.previous(source, index);
    state.previous(source, index) = time;
    if (!news) state.lists(near, i) = -1;  // the vertex has already pushed this time
  }
};

/// Second half of a near-far step: one thread per edge; appends vertices that became earlier.
template <class T, int Dim, class Memory, class Weights>
struct NearFarPush {
  Weights weights;
  PushState<T, Memory> state;
  T threshold;
  int near;  ///< 0 or 1: current near list
  int far;   ///< 2 or 3: list that collects far vertices
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const auto& graph = weights.graph;
    const int directions = 2 * graph.half;
    const std::int64_t entry = state.lists(near, i / directions);
    if (entry < 0) return;
    const int k = static_cast<int>(i % directions);
    const std::int64_t source = entry / graph.grid.size, index = entry % graph.grid.size;
    const std::int64_t other = index + graph.direction(k);
    const T candidate = state.previous(source, index) +
                        (k < graph.half ? weights(k, index) : weights(k - graph.half, other));
    if (!(candidate < relaxed_load(&state.times(source, other)))) return;
    if (!(candidate < atomic_minimum(&state.times(source, other), candidate))) return;
    const int target = candidate < threshold ? 1 : 2;
    if (Kokkos::atomic_fetch_or(&state.listed(source, other), target) & target) return;
    const int list = target == 1 ? 1 - near : far;
    state.lists(list, Kokkos::atomic_fetch_add(&state.counts(list), 1u)) =
        source * graph.grid.size + other;
  }
};

/// Splits the far list at a new threshold into the near list and the next stage's far list.
template <class T, class Memory>
struct NearFarSplit {
  PushState<T, Memory> state;
  std::int64_t padded_size;
  T threshold;
  int near, from, to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t entry = state.lists(from, i);
    const std::int64_t source = entry / padded_size, index = entry % padded_size;
    int list = to, bit = 2;
    if (state.times(source, index) < threshold) {
      // it may be in the near list already, or have pushed since it was listed
      list = near;
      bit = state.times(source, index) < state.previous(source, index) ? 1 : 0;
    }
    const int was = state.listed(source, index);
    state.listed(source, index) = (was & ~2) | bit;
    if (bit == 0 || (was & bit & 1)) return;
    state.lists(list, Kokkos::atomic_fetch_add(&state.counts(list), 1u)) = entry;
  }
};

/// Makes the seeds the first near list.
template <class T, int Dim, class Memory>
struct NearFarStart {
  PushState<T, Memory> state;
  Kokkos::View<Seed<T, Dim>*, Memory> seeds;
  std::int64_t padded_size;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Seed<T, Dim> seed = seeds(i);
    state.lists(0, i) = seed.source * padded_size + seed.index;
    state.listed(seed.source, seed.index) = 1;
  }
};

/// Solves a batch by the near-far method; consecutive thresholds differ by `delta` seconds.
template <class T, int Dim, class Memory, class Weights>
void solve_near_far(const Instance<Memory>& exec, const Weights& weights,
                    const Batch<T, Dim, Memory>& batch, T delta, const TraceOptions& options,
                    TraceReport& report) {
  const auto& graph = weights.graph;
  const std::size_t sources = static_cast<std::size_t>(batch.sources);
  const std::size_t padded_size = static_cast<std::size_t>(graph.grid.size);
  PushState<T, Memory> state;
  state.times = batch.times;
  state.previous =
      allocate<decltype(state.previous)>(exec, "moho::rays::previous", sources, padded_size);
  state.listed = allocate<decltype(state.listed)>(exec, "moho::rays::listed", sources, padded_size);
  state.lists =
      allocate<decltype(state.lists)>(exec, "moho::rays::lists", 4, sources * padded_size);
  state.counts = allocate<decltype(state.counts)>(exec, "moho::rays::counts", 4);
  fill(exec, state.previous, infinity<T>());
  fill(exec, state.listed, 0);
  unsigned counts[4] = {static_cast<unsigned>(batch.seeds.extent(0)), 0, 0, 0};
  write_counters(exec, state.counts, counts);
  launch("moho::rays::near_far_start", exec, static_cast<std::int64_t>(counts[0]),
         NearFarStart<T, Dim, Memory>{state, batch.seeds, graph.grid.size});
  int near = 0, far = 2;
  T threshold = delta;
  while (true) {
    while (counts[near] > 0) {
      exec.check_stop();
      const std::int64_t vertices = static_cast<std::int64_t>(counts[near]);
      launch("moho::rays::near_far_take", exec, vertices,
             NearFarTake<T, Memory>{state, graph.grid.size, near});
      launch("moho::rays::near_far_push", exec, vertices * 2 * graph.half,
             NearFarPush<T, Dim, Memory, Weights>{weights, state, threshold, near, far});
      report.relaxations += vertices * 2 * graph.half;
      read_counters(exec, state.counts, counts);
      counts[near] = 0;
      write_counters(exec, state.counts, counts);
      near = 1 - near;
      ++report.rounds;
    }
    if (counts[far] == 0) break;
    threshold += delta;
    launch("moho::rays::near_far_split", exec, static_cast<std::int64_t>(counts[far]),
           NearFarSplit<T, Memory>{state, graph.grid.size, threshold, near, far, 5 - far});
    read_counters(exec, state.counts, counts);
    counts[far] = 0;
    write_counters(exec, state.counts, counts);
    far = 5 - far;
    if (options.progress) {
      const double rounds = static_cast<double>(report.rounds);
      options.progress(rounds / (rounds + 1000.0), "pushing near vertices");
    }
  }
}

}  // namespace moho::rays::detail
