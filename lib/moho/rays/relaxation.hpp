// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shortest paths as the paper prints them: Relaxation and WriteBack over the whole model.
///
/// J. Monsegny and W. Agudelo, Shortest path ray tracing on parallel GPU devices, SEG Technical
/// Program Expanded Abstracts (2013), 3470-3474. Every vertex pulls the best traveltime over its
/// neighbours into an auxiliary array, so no two threads write the same vertex and no atomics are
/// needed; a second kernel writes back what became smaller and clears the stop flag.

#include <moho/rays/sources.hpp>

namespace moho::rays::detail {

/// Blocks of the two kernels: the paper's 16 x 16 in 2D.
template <int Dim>
struct RelaxationTile {
  static constexpr int extents[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 16 : 4, 16};
};

/// Traveltimes and predecessors with their auxiliary copies.
template <class T, class Exec>
struct RelaxationArrays {
  template <class Value>
  using Array = Kokkos::View<Value**, Kokkos::LayoutRight, typename Exec::memory_space>;
  Array<T> times, auxiliary_times;
  Array<std::int16_t> predecessors, auxiliary_predecessors;
};

/// Algorithm 3, Relaxation. One team a tile; the traveltimes with their overlap are in scratch.
template <class T, int Dim, class Exec, class Weights>
struct Relaxation {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;

  Weights weights;
  RelaxationArrays<T, Exec> arrays;
  TileBox<Dim> box;
  int tiles[Dim];
  int tile_count;

  static constexpr int extent(int d) { return RelaxationTile<Dim>::extents[d]; }
  static constexpr int volume() { return extent(0) * extent(1) * (Dim == 3 ? extent(2) : 1); }
  std::size_t scratch_bytes() const {
    return ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(box.size()));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int shape[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 16 : 4, 16};
    const auto& graph = weights.graph;
    const auto& padded = graph.grid;
    const int source = member.league_rank() / tile_count;
    Index<Dim> origin{};
    int rest = member.league_rank() % tile_count;
    for (int d = Dim - 1; d >= 0; --d) {
      origin[d] = static_cast<std::int64_t>(rest % tiles[d]) * shape[d];
      rest /= tiles[d];
    }
    const ScratchView<T, Exec> scratch(member.team_scratch(0),
                                       static_cast<std::size_t>(box.size()));
    T* const near = scratch.data();
    const T* const times = &arrays.times(source, 0);
    load_tile<Exec, Dim>(member, box, near, [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t place = 0;
      for (int d = 0; d < Dim; ++d) {
        place += (origin[d] + offset[d] - graph.radius + padded.low[d]) * padded.strides[d];
      }
      return times[place];
    });
    member.team_barrier();
    constexpr int vertices = shape[0] * shape[1] * (Dim == 3 ? shape[2] : 1);
    for (int vertex = member.team_rank(); vertex < vertices; vertex += member.team_size()) {
      Index<Dim> node{};
      int in_tile = 0;
      int left = vertex;
      for (int d = Dim - 1; d >= 0; --d) {
        const int i = left % shape[d];
        left /= shape[d];
        node[d] = origin[d] + i;
        in_tile += (i + graph.radius) * box.stride(d);
      }
      if (!padded.inside(node)) continue;
      const std::int64_t place = padded.at(node);
      T best = arrays.auxiliary_times(source, place);
      std::int16_t best_direction = arrays.auxiliary_predecessors(source, place);
      for (int e = 0; e < graph.half; ++e) {
        int step = 0;
        for (int d = 0; d < Dim; ++d) step += graph.step(e, d) * box.stride(d);
        const T forward = near[in_tile + step] + weights(e, place);
        if (forward < best) {
          best = forward;
          best_direction = static_cast<std::int16_t>(e);
        }
        const T backward = near[in_tile - step] + weights(e, place - graph.offset(e));
        if (backward < best) {
          best = backward;
          best_direction = static_cast<std::int16_t>(e + graph.half);
        }
      }
      arrays.auxiliary_times(source, place) = best;
      arrays.auxiliary_predecessors(source, place) = best_direction;
    }
  }
};

/// Algorithm 4, WriteBack.
template <class T, int Dim, class Exec>
struct WriteBack {
  RelaxationArrays<T, Exec> arrays;
  std::int64_t places;
  Kokkos::View<int, typename Exec::memory_space> stop;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t source = i / places, place = i % places;
    if (arrays.times(source, place) > arrays.auxiliary_times(source, place)) {
      arrays.times(source, place) = arrays.auxiliary_times(source, place);
      arrays.predecessors(source, place) = arrays.auxiliary_predecessors(source, place);
      relaxed_store(stop.data(), 0);  // every thread that comes here stores the same
    }
    arrays.auxiliary_times(source, place) = arrays.times(source, place);
  }
};

/// Algorithm 2, the main function, for a batch of sources at once.
/// \return predecessors on the padded grid (directions; the seeds hold from_source)
template <class T, int Dim, class Exec, class Weights>
typename RelaxationArrays<T, Exec>::template Array<std::int16_t> solve_relaxation(
    const Exec& exec, const Weights& weights, const Batch<T, Dim, Exec>& batch,
    const TraceOptions& options, TraceReport& report) {
  const auto& graph = weights.graph;
  using Arrays = RelaxationArrays<T, Exec>;
  Arrays arrays;
  arrays.times = batch.times;
  const std::size_t sources = static_cast<std::size_t>(batch.sources);
  const std::size_t places = static_cast<std::size_t>(graph.grid.size);
  using Times = typename Arrays::template Array<T>;
  using Predecessors = typename Arrays::template Array<std::int16_t>;
  arrays.auxiliary_times = allocate<Times>(exec, "moho::rays::auxiliary_times", sources, places);
  arrays.predecessors = allocate<Predecessors>(exec, "moho::rays::predecessors", sources, places);
  arrays.auxiliary_predecessors =
      allocate<Predecessors>(exec, "moho::rays::auxiliary_predecessors", sources, places);
  Kokkos::deep_copy(exec, arrays.auxiliary_times, arrays.times);
  Kokkos::deep_copy(exec, arrays.predecessors, from_source);
  Kokkos::deep_copy(exec, arrays.auxiliary_predecessors, from_source);

  using Kernel = Relaxation<T, Dim, Exec, Weights>;
  Kernel relaxation;
  relaxation.weights = weights;
  relaxation.arrays = arrays;
  relaxation.tile_count = 1;
  for (int d = 0; d < Dim; ++d) {
    relaxation.box.extents[d] = Kernel::extent(d) + 2 * graph.radius;
    relaxation.tiles[d] =
        static_cast<int>((graph.grid.extents[d] + Kernel::extent(d) - 1) / Kernel::extent(d));
    relaxation.tile_count *= relaxation.tiles[d];
  }
  const auto stop =
      allocate<Kokkos::View<int, typename Exec::memory_space>>(exec, "moho::rays::stop");
  const WriteBack<T, Dim, Exec> write_back{arrays, graph.grid.size, stop};
  typename Kernel::Policy policy(exec, relaxation.tile_count * batch.sources,
                                 is_host_space<Exec> ? 1 : Kernel::volume());
  policy.set_scratch_size(0, Kokkos::PerTeam(relaxation.scratch_bytes()));
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> all(
      exec, 0, graph.grid.size * batch.sources);
  // What remains is unknown; the longest side in hops is what a model without detours takes.
  double expected = 1.0;
  for (int d = 0; d < Dim; ++d) {
    expected = std::max(expected, static_cast<double>(graph.grid.extents[d]) / graph.radius);
  }
  int stopped = 0;
  while (!stopped) {
    Kokkos::deep_copy(exec, stop, 1);
    Kokkos::parallel_for("moho::rays::relaxation", policy, relaxation);
    Kokkos::parallel_for("moho::rays::write_back", all, write_back);
    Kokkos::View<int, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(&stopped);
    Kokkos::deep_copy(exec, host, stop);
    exec.fence();
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
