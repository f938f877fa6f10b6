// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Predecessors on a device without a table of weights: a team per tile computes the weights
/// of its vertices from the slowness in scratch.

#include <moho/rays/detail/active_tiles_device.hpp>

#include <algorithm>
#include <utility>

namespace moho::rays::detail {

/// The predecessors of FindPredecessors, tile by tile.
template <class T, class Memory, class FixedStar>
struct FindPredecessorsInTiles {
  using Exec = DeviceOf<Memory>;
  static constexpr int threads = tile_volume<Memory, 2>();
  static constexpr int width = tile_extent<Memory, 2>(1);
  static constexpr int directions = 2 * FixedStar::half;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using Member = typename Policy::member_type;

  GraphData<T, 2, Memory> graph;
  Grid<2> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  std::int16_t* out;
  TileBox<2> box;
  std::int64_t items;  ///< sources times tiles
  VertexWeights<T, FixedStar, width> vertex;

  std::size_t scratch_bytes() const {
    return 2 * ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(box.size()));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::size_t size = static_cast<std::size_t>(box.size());
    T* const near = ScratchView<T, Exec>(member.team_scratch(0), size).data();
    T* const slowness = ScratchView<T, Exec>(member.team_scratch(0), size).data();
    const int tiles = static_cast<int>(graph.grid.tile_count());
    for (std::int64_t item = member.league_rank(); item < items; item += member.league_size()) {
      const Index<2> origin = graph.grid.template tile_origin<Memory>(item % tiles);
      const std::int64_t source = item / tiles;
      const T* const time = &times(source, 0);
      member.team_barrier();  // the team has finished the previous tile
      load_tile<Exec, 2>(member, box, near, [&](const Kokkos::Array<int, 2>& offset) {
        return time[index_of(origin, offset)];
      });
      load_tile<Exec, 2>(member, box, slowness, [&](const Kokkos::Array<int, 2>& offset) {
        return graph.medium(index_of(origin, offset));
      });
      member.team_barrier();
      const int row = member.team_rank() / width, column = member.team_rank() % width;
      const Index<2> node{origin[0] + row, origin[1] + column};
      if (!graph.grid.inside(node)) continue;
      const int here = (row + FixedStar::radius) * box.extents[1] + column + FixedStar::radius;
      T w[directions];
      vertex.compute(w, slowness + here);
      T best = infinity<T>();
      int direction = unreached;
      consider_all(near + here, w, near[here], best, direction,
                   std::make_index_sequence<FixedStar::half>());
      out[source * graph.grid.template nodes<Memory>() + grid.flat(node) -
          graph.grid.first * graph.grid.plane()] = static_cast<std::int16_t>(direction);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION std::int64_t index_of(const Index<2>& origin,
                                               const Kokkos::Array<int, 2>& offset) const {
    std::int64_t index = 0;
    for (int d = 0; d < 2; ++d) {
      index += (origin[d] + offset[d] - graph.radius + graph.grid.low[d]) * graph.grid.strides[d];
    }
    return index;
  }

  template <std::size_t E>
  static constexpr int step_of =
      FixedStar::offsets[E][0] * (width + 2 * FixedStar::radius) + FixedStar::offsets[E][1];

  /// Takes the neighbour with time `other` in direction k if it is earlier and the best so far.
  static KOKKOS_FORCEINLINE_FUNCTION void consider(T other, T weight, int k, T own, T& best,
                                                   int& direction) {
    const T candidate = other + weight;
    if (!(other < own) || !(candidate < best)) return;
    best = candidate;
    direction = k;
  }

  template <std::size_t... E>
  static KOKKOS_FORCEINLINE_FUNCTION void consider_all(const T* near, const T (&w)[directions],
                                                       T own, T& best, int& direction,
                                                       std::index_sequence<E...>) {
    ((consider(near[step_of<E>], w[E], static_cast<int>(E), own, best, direction),
      consider(near[-step_of<E>], w[FixedStar::half + E], FixedStar::half + static_cast<int>(E),
               own, best, direction)),
     ...);
  }
};

/// Finds the predecessors of a batch tile by tile, if a kernel exists for the graph; returns
/// whether it did.
template <class T, int Dim, class Memory, class Weights>
bool find_predecessors_by_tiles(const Instance<Memory>& exec,
                                const GridGraph<T, Dim, Memory>& graph, const Weights&,
                                const Batch<T, Dim, Memory>& batch, std::int16_t* predecessors) {
  bool done = false;
  if constexpr (Dim == 2 && !Weights::stored && !is_host_memory<Memory>) {
    if (graph.options().rule != WeightRule::slowness) return false;
    with_fixed_star<T>(graph.radius(), graph.options().star, [&](auto star) {
      using Kernel = FindPredecessorsInTiles<T, Memory, decltype(star)>;
      Kernel kernel;
      kernel.graph = graph.data();
      kernel.grid = graph.grid();
      kernel.times = batch.times;
      kernel.out = predecessors;
      for (int d = 0; d < 2; ++d) {
        kernel.box.extents[d] = tile_extent<Memory, 2>(d) + 2 * graph.radius();
      }
      kernel.items = graph.data().grid.tile_count() * batch.sources;
      if (!kernel.vertex.set(graph.coefficients())) return;
      const int league = static_cast<int>(std::min<std::int64_t>(
          kernel.items, 4 * std::max(1, exec.concurrency() / Kernel::threads)));
      typename Kernel::Policy policy(exec.space(), league, Kernel::threads);
      policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
      Kokkos::parallel_for("moho::rays::find_predecessors", light_weight(policy), kernel);
      done = true;
    });
  }
  return done;
}

}  // namespace moho::rays::detail
