// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The method of Monsegny and Agudelo: kernels Relaxation and WriteBack over the model.
///
/// J. Monsegny and W. Agudelo, Shortest path ray tracing on parallel GPU devices, SEG Technical
/// Program Expanded Abstracts (2013), 3470-3474. Every vertex pulls the best traveltime over its
/// neighbours into an auxiliary array. No two threads write the same vertex, so no atomics are
/// needed. A second kernel writes back the times that decreased and clears the stop flag.

#include <moho/rays/detail/launch_parts.hpp>
#include <moho/rays/detail/thread_buffer.hpp>
#include <moho/rays/sources.hpp>

#include <algorithm>

namespace moho::rays::detail {

/// Traveltimes and predecessors with their auxiliary copies.
template <class T, class Memory>
struct RelaxationArrays {
  template <class Value>
  using Array = Kokkos::View<Value**, Kokkos::LayoutRight, Memory>;
  Array<T> times, auxiliary_times;
  Array<std::int16_t> predecessors, auxiliary_predecessors;
};

/// Algorithm 3, Relaxation: tiles and the relaxation of a vertex. In 2D tiles are the paper's
/// blocks of 16 x 16.
template <class T, int Dim, class Memory, class Weights>
struct Relaxation {
  static constexpr int shape[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 16 : 4, 16};
  static constexpr int vertices = shape[0] * shape[1] * (Dim == 3 ? shape[2] : 1);

  Weights weights;
  RelaxationArrays<T, Memory> arrays;
  TileBox<Dim> box;
  int tiles[Dim];
  int tile_count;

  /// Returns the first node of a tile.
  KOKKOS_INLINE_FUNCTION Index<Dim> origin(int tile) const {
    constexpr int extents[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 16 : 4, 16};
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = static_cast<std::int64_t>(tile % tiles[d]) * extents[d];
      tile /= tiles[d];
    }
    return result;
  }

  /// Returns the index of the first vertex of the box around a tile.
  KOKKOS_INLINE_FUNCTION std::int64_t box_index(const Index<Dim>& first) const {
    const auto& padded = weights.graph.grid;
    std::int64_t index = 0;
    for (int d = 0; d < Dim; ++d) {
      index += (first[d] - weights.graph.radius + padded.low[d]) * padded.strides[d];
    }
    return index;
  }

  /// Relaxes one vertex of a tile from the traveltimes of the box around it.
  KOKKOS_INLINE_FUNCTION void relax(const T* near, int source, const Index<Dim>& first,
                                    int vertex) const {
    constexpr int extents[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 16 : 4, 16};
    const auto& graph = weights.graph;
    Index<Dim> node{};
    int in_tile = 0;
    for (int d = Dim - 1; d >= 0; --d) {
      const int i = vertex % extents[d];
      vertex /= extents[d];
      node[d] = first[d] + i;
      in_tile += (i + graph.radius) * box.stride(d);
    }
    if (!graph.grid.inside(node)) return;
    const std::int64_t index = graph.grid.at(node);
    T best = arrays.auxiliary_times(source, index);
    std::int16_t best_direction = arrays.auxiliary_predecessors(source, index);
    for (int e = 0; e < graph.half; ++e) {
      int step = 0;
      for (int d = 0; d < Dim; ++d) step += graph.step(e, d) * box.stride(d);
      const T forward = near[in_tile + step] + weights(e, index);
      if (forward < best) {
        best = forward;
        best_direction = static_cast<std::int16_t>(e);
      }
      const T backward = near[in_tile - step] + weights(e, index - graph.offset(e));
      if (backward < best) {
        best = backward;
        best_direction = static_cast<std::int16_t>(e + graph.half);
      }
    }
    arrays.auxiliary_times(source, index) = best;
    arrays.auxiliary_predecessors(source, index) = best_direction;
  }
};

/// Relaxation on a host: one thread per tile.
template <class T, int Dim, class Weights>
struct RelaxationOnHost {
  const Relaxation<T, Dim, Kokkos::HostSpace, Weights>* tiles;

  void operator()(const std::int64_t number) const {
    const auto& all = *tiles;
    const int source = static_cast<int>(number / all.tile_count);
    const Index<Dim> first = all.origin(static_cast<int>(number % all.tile_count));
    T* const near =
        static_cast<T*>(thread_buffer(sizeof(T) * static_cast<std::size_t>(all.box.size())));
    load_box<false>(all.box, all.weights.graph.grid.strides,
                    &all.arrays.times(source, 0) + all.box_index(first), near);
    for (int vertex = 0; vertex < all.vertices; ++vertex) all.relax(near, source, first, vertex);
  }
};

/// Relaxation on a device: one team per tile; the traveltimes and their overlap are in scratch.
template <class T, int Dim, class Memory, class Weights>
struct RelaxationOnDevice {
  using Exec = DeviceOf<Memory>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;

  Relaxation<T, Dim, Memory, Weights> tiles;

  std::size_t scratch_bytes() const {
    return ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(tiles.box.size()));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto& padded = tiles.weights.graph.grid;
    const int source = member.league_rank() / tiles.tile_count;
    const Index<Dim> first = tiles.origin(member.league_rank() % tiles.tile_count);
    const ScratchView<T, Exec> scratch(member.team_scratch(0),
                                       static_cast<std::size_t>(tiles.box.size()));
    T* const near = scratch.data();
    const T* const times = &tiles.arrays.times(source, 0) + tiles.box_index(first);
    load_tile<Exec, Dim>(member, tiles.box, near, [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t index = 0;
      for (int d = 0; d < Dim; ++d) index += offset[d] * padded.strides[d];
      return times[index];
    });
    member.team_barrier();
    for (int vertex = member.team_rank(); vertex < tiles.vertices; vertex += member.team_size()) {
      tiles.relax(near, source, first, vertex);
    }
  }
};

/// Algorithm 4, WriteBack: stores the times that decreased and clears the stop flag.
template <class T, class Memory>
struct WriteBack {
  RelaxationArrays<T, Memory> arrays;
  std::int64_t padded_size;
  Kokkos::View<int*, Memory> stop;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t source = i / padded_size, index = i % padded_size;
    if (arrays.times(source, index) > arrays.auxiliary_times(source, index)) {
      arrays.times(source, index) = arrays.auxiliary_times(source, index);
      arrays.predecessors(source, index) = arrays.auxiliary_predecessors(source, index);
      relaxed_store(stop.data(), 0);  // all threads that reach this line store the same value
    }
    arrays.auxiliary_times(source, index) = arrays.times(source, index);
  }
};

/// Algorithm 2, the main function, for a batch of sources.
/// \return predecessors on the padded grid: directions, with from_source at the seeds
template <class T, int Dim, class Memory, class Weights>
typename RelaxationArrays<T, Memory>::template Array<std::int16_t> solve_relaxation(
    const Instance<Memory>& exec, const Weights& weights, const Batch<T, Dim, Memory>& batch,
    const TraceOptions& options, TraceReport& report) {
  const auto& graph = weights.graph;
  using Arrays = RelaxationArrays<T, Memory>;
  Arrays arrays;
  arrays.times = batch.times;
  const std::size_t sources = static_cast<std::size_t>(batch.sources);
  const std::size_t padded_size = static_cast<std::size_t>(graph.grid.size);
  using Times = typename Arrays::template Array<T>;
  using Predecessors = typename Arrays::template Array<std::int16_t>;
  arrays.auxiliary_times =
      allocate<Times>(exec, "moho::rays::auxiliary_times", sources, padded_size);
  arrays.predecessors =
      allocate<Predecessors>(exec, "moho::rays::predecessors", sources, padded_size);
  arrays.auxiliary_predecessors =
      allocate<Predecessors>(exec, "moho::rays::auxiliary_predecessors", sources, padded_size);
  copy(exec, arrays.auxiliary_times, arrays.times);
  fill(exec, arrays.predecessors, from_source);
  fill(exec, arrays.auxiliary_predecessors, from_source);

  using Tiles = Relaxation<T, Dim, Memory, Weights>;
  Tiles tiles;
  tiles.weights = weights;
  tiles.arrays = arrays;
  tiles.tile_count = 1;
  for (int d = 0; d < Dim; ++d) {
    tiles.box.extents[d] = Tiles::shape[d] + 2 * graph.radius;
    tiles.tiles[d] =
        static_cast<int>((graph.grid.extents[d] + Tiles::shape[d] - 1) / Tiles::shape[d]);
    tiles.tile_count *= tiles.tiles[d];
  }
  const int league = tiles.tile_count * batch.sources;
  const auto stop = allocate<Kokkos::View<int*, Memory>>(exec, "moho::rays::stop", 1);
  const WriteBack<T, Memory> write_back{arrays, graph.grid.size, stop};
  // expected rounds, for the progress: the longest side in edges, as for straight rays
  double expected = 1.0;
  for (int d = 0; d < Dim; ++d) {
    expected = std::max(expected, static_cast<double>(graph.grid.extents[d]) / graph.radius);
  }
  int stopped = 0;
  while (!stopped) {
    exec.check_stop();
    fill(exec, stop, 1);
    if constexpr (is_host_memory<Memory>) {
      launch_parts("moho::rays::relaxation", exec, league, Tiles::vertices * 2 * graph.half,
                   RelaxationOnHost<T, Dim, Weights>{&tiles});
    } else {
      using Kernel = RelaxationOnDevice<T, Dim, Memory, Weights>;
      const Kernel kernel{tiles};
      typename Kernel::Policy policy(exec.space(), league, Tiles::vertices);
      policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
      Kokkos::parallel_for("moho::rays::relaxation", policy, kernel);
    }
    launch("moho::rays::write_back", exec, graph.grid.size * batch.sources, write_back);
    read_counters(exec, stop, &stopped);
    ++report.rounds;
    if (options.progress) {
      const double rounds = static_cast<double>(report.rounds);
      options.progress(rounds / (rounds + expected), "relaxing the whole model");
    }
  }
  std::int64_t vertices = batch.sources;
  for (int d = 0; d < Dim; ++d) vertices *= graph.grid.extents[d];
  report.relaxations += report.rounds * vertices * 2 * graph.half;
  return arrays.predecessors;
}

}  // namespace moho::rays::detail
