// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One round over the active tiles on a device: a thread per vertex, times in scratch.
///
/// Two kernels exist. For a star known at compile time with at most 96 words of weights, each
/// thread loads or computes its vertex's weights once per visit and holds them in registers. Every
/// relaxation is then one scratch read, one addition and one minimum. Otherwise weights are read
/// from the table or the tile's block, or computed, at every relaxation.

#include <moho/rays/detail/vertex_weights.hpp>
#include <moho/rays/detail/work_list.hpp>

#include <utility>

namespace moho::rays::detail {

/// Returns the smaller of two numbers; if one is NaN, the other one.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T smaller(T a, T b) {
#if defined(__CUDA_ARCH__)
  return fmin(a, b);
#else
  return b < a ? b : a;
#endif
}

/// Placeholder for a star that is known at run time only.
struct RuntimeStar {
  static constexpr int half = 1;
  static constexpr int radius = 1;
};

/// Placeholder for the weights of a vertex in kernels that do not compute all of them at once.
struct NoVertexWeights {};

/// One round over the active tiles.
/// \tparam Vertex VertexWeights, or NoVertexWeights. A kernel with the former calls no function
///         that is not inlined, because its arguments would then be copied to local memory.
template <class T, int Dim, class Memory, class Weights, class FixedStar, class Vertex>
struct RelaxTilesOnDevice {
  using Exec = DeviceOf<Memory>;
  static constexpr int threads = tile_volume<Memory, Dim>();
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using Member = typename Policy::member_type;
  static constexpr bool fixed = !std::is_same_v<FixedStar, RuntimeStar>;
  /// Weights are computed by `vertex` from the slowness in scratch.
  static constexpr bool at_once = !std::is_same_v<Vertex, NoVertexWeights>;

  Weights weights;
  WorkList<T, Dim, Memory> list;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  Kokkos::View<int*, Memory> tile_step;  ///< offsets of the half star within the box
  TileBox<Dim> box;
  int sweeps;
  int repeats;  ///< relaxations of a vertex between two barriers
  int round;
  Vertex vertex;

  // In 2D a team monitors bands of rows. A row checks its neighbours only if a band within its
  // reach has changed.
  static constexpr int width = tile_extent<Memory, Dim>(Dim - 1);
  static constexpr int band_rows = 4;
  static constexpr int bands = Dim == 2 ? tile_extent<Memory, Dim>(0) / band_rows : 1;

  /// Data shared by the threads of a team.
  struct Shared {
    T* near;         ///< traveltimes of the tile and its overlap
    T* slowness;     ///< slowness of the tile and its overlap, if weights are computed at once
    T* block;        ///< block of the tile's weights, or nullptr
    bool filled;     ///< the block has the weights
    T* side_keys;    ///< earliest changed time near each side
    int* band;       ///< sweep of the last change of each band, counted from 1
    unsigned* word;  ///< the item's changed sides; whether it waits; sides to notify; rows relaxed
  };

  std::size_t scratch_bytes() const {
    return (at_once ? 2 : 1) *
               ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(box.size())) +
           ScratchView<T, Exec>::shmem_size(side_count<Dim>) +
           ScratchView<int, Exec>::shmem_size(bands) + ScratchView<unsigned, Exec>::shmem_size(4) +
           ScratchView<std::int64_t, Exec>::shmem_size(2);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int count = list.counts(round % 3);
    if (member.league_rank() == 0 && member.team_rank() == 0) list.turn_over(round);
    // once per team, not per visit: scratch memory allocated to a view cannot be freed
    Shared shared;
    shared.near =
        ScratchView<T, Exec>(member.team_scratch(0), static_cast<std::size_t>(box.size())).data();
    shared.slowness =
        at_once ? ScratchView<T, Exec>(member.team_scratch(0), static_cast<std::size_t>(box.size()))
                      .data()
                : nullptr;
    shared.block = nullptr;
    shared.filled = false;
    std::int64_t* const found = ScratchView<std::int64_t, Exec>(member.team_scratch(0), 2).data();
    shared.side_keys = ScratchView<T, Exec>(member.team_scratch(0), side_count<Dim>).data();
    shared.band = ScratchView<int, Exec>(member.team_scratch(0), bands).data();
    shared.word = ScratchView<unsigned, Exec>(member.team_scratch(0), 4).data();
    for (int i = member.league_rank(); i < count; i += member.league_size()) {
      const int item = list.items(round & 1, i);
      member.team_barrier();  // the team has finished the previous item
      if (member.team_rank() == 0) {
        shared.word[1] = list.take(round, item, shared.word[0]) ? 1u : 0u;
        shared.word[2] = shared.word[3] = 0u;
        if constexpr (!Weights::stored) {
          if (shared.word[1] == 0u) find_block(item % list.tile_count, found);
        }
      }
      member.team_barrier();
      if (shared.word[1] != 0u) continue;
      if constexpr (!Weights::stored) {
        shared.block = reinterpret_cast<T*>(found[0]);
        shared.filled = found[1] != 0;
      }
      visit(member, shared, item);
    }
  }

  /// Finds or claims the block of a tile: its address, and whether it has the weights. Called by
  /// one thread.
  KOKKOS_INLINE_FUNCTION void find_block(std::int64_t tile, std::int64_t* found) const {
    T* const known = weights.blocks.find(tile, round);
    T* const block = known != nullptr ? known : weights.blocks.claim(tile);
    found[0] = reinterpret_cast<std::int64_t>(block);
    found[1] = known != nullptr ? 1 : 0;
  }

  KOKKOS_INLINE_FUNCTION void visit(const Member& member, const Shared& shared, int item) const {
    const auto& graph = weights.graph;
    const auto& padded = graph.grid;
    const int source = static_cast<int>(item / list.tile_count);
    const Index<Dim> origin = padded.template tile_origin<Memory>(item % list.tile_count);
    T* const global = &times(source, 0);
    const unsigned news = shared.word[0];

    int local[Dim];
    int in_tile = 0;
    std::int64_t index = 0;
    {
      int left = member.team_rank();
      for (int d = Dim - 1; d >= 0; --d) {
        local[d] = left % tile_extent<Memory, Dim>(d);
        left /= tile_extent<Memory, Dim>(d);
        in_tile += (local[d] + graph.radius) * box.stride(d);
        index += (origin[d] + local[d] + padded.low[d]) * padded.strides[d];
      }
    }
    if (member.team_rank() == 0) list.count_visit(item);
    begin_visit(member, shared, origin, global);

    int relaxed = 0;
    T mine, before;
    bool unfinished;
    T* const near = shared.near + in_tile;
    if constexpr (fixed) {
      T w[2 * FixedStar::half];
      if constexpr (Weights::stored) {
        fetch(w, index, std::make_index_sequence<FixedStar::half>());
        member.team_barrier();
      } else {
        member.team_barrier();
        compute_weights(member, shared, w, in_tile, index);
      }
      mine = before = *near;
      unfinished = sweep_all(member, shared, local, news, near, mine, relaxed, [&](T best) {
        return best_of(near, w, best, std::make_index_sequence<FixedStar::half>());
      });
    } else {
      if constexpr (!Weights::stored) fill_block(member, shared, index);
      member.team_barrier();
      mine = before = *near;
      unfinished = sweep_all(member, shared, local, news, near, mine, relaxed, [&](T best) {
        if constexpr (!Weights::stored) {
          if (shared.block != nullptr) return best_from_block(member, shared, near, best);
        }
        return best_from_weights(near, index, best);
      });
    }
    if constexpr (!Weights::stored) {
      // after the barriers of the sweeps: all threads have stored their part
      if (member.team_rank() == 0 && shared.block != nullptr && !shared.filled) {
        weights.blocks.publish(item % list.tile_count, shared.block, round);
      }
    }

    if (mine < before) {
      relaxed_store(global + index, mine);
      unsigned sides = sides_near<Memory, Dim>(local, graph.radius);
      if (unfinished) sides |= 1u << side_self<Dim>;
      if (sides != 0u) Kokkos::atomic_fetch_or(&shared.word[2], sides);
      for (int side = 0; side < side_count<Dim>; ++side) {
        if (((sides >> side) & 1u) && mine < shared.side_keys[side]) {
          atomic_minimum(&shared.side_keys[side], mine);
        }
      }
    }
    if (local[Dim - 1] == 0)
      Kokkos::atomic_fetch_add(&shared.word[3], static_cast<unsigned>(relaxed));
    member.team_barrier();
    if (member.team_rank() == 0) {
      Kokkos::atomic_fetch_add(&list.statistics(2), shared.word[3]);
    }
    for (int side = member.team_rank(); side < side_count<Dim>; side += member.team_size()) {
      if ((shared.word[2] >> side) & 1u) list.tell(round, item, side, shared.side_keys[side]);
    }
  }

 private:
  /// Clears the shared data of the previous visit, and loads the tile and its overlap.
  KOKKOS_INLINE_FUNCTION void begin_visit(const Member& member, const Shared& shared,
                                          const Index<Dim>& origin, const T* global) const {
    const auto& padded = weights.graph.grid;
    for (int i = member.team_rank(); i < side_count<Dim>; i += member.team_size()) {
      shared.side_keys[i] = infinity<T>();
    }
    for (int i = member.team_rank(); i < bands; i += member.team_size()) shared.band[i] = 0;
    load_tile<Exec, Dim>(member, box, shared.near, [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t from = 0;
      for (int d = 0; d < Dim; ++d) {
        from += (origin[d] + offset[d] - weights.graph.radius + padded.low[d]) * padded.strides[d];
      }
      return relaxed_load(global + from);
    });
    if constexpr (at_once) {
      if (!shared.filled) load_slowness(member, shared.slowness, origin);
    }
  }

  /// Loads the slowness of a tile and its overlap.
  KOKKOS_INLINE_FUNCTION void load_slowness(const Member& member, T* slowness,
                                            const Index<Dim>& origin) const {
    const auto& graph = weights.graph;
    load_tile<Exec, Dim>(member, box, slowness, [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t from = 0;
      for (int d = 0; d < Dim; ++d) {
        from += (origin[d] + offset[d] - graph.radius + graph.grid.low[d]) * graph.grid.strides[d];
      }
      return graph.medium(from);
    });
  }

  /// Sets all weights of a vertex: from the tile's block, or computed (at once from the slowness in
  /// scratch, or one by one) and stored in the block.
  template <int directions>
  KOKKOS_FORCEINLINE_FUNCTION void compute_weights(const Member& member, const Shared& shared,
                                                   T (&w)[directions], int in_tile,
                                                   std::int64_t index) const {
    T* const block = shared.block == nullptr ? nullptr : shared.block + member.team_rank();
    using All = std::make_index_sequence<static_cast<std::size_t>(directions)>;
    if (shared.filled) {
      load_block(w, block, All());
      return;
    }
    if constexpr (at_once) {
      vertex.compute(w, shared.slowness + in_tile);
    } else {
      fetch(w, index, std::make_index_sequence<FixedStar::half>());
    }
    if (block != nullptr) store_block(w, block, All());
  }
  template <int directions, std::size_t... K>
  static KOKKOS_FORCEINLINE_FUNCTION void load_block(T (&w)[directions], const T* block,
                                                     std::index_sequence<K...>) {
    ((w[K] = block[K * threads]), ...);
  }
  template <int directions, std::size_t... K>
  static KOKKOS_FORCEINLINE_FUNCTION void store_block(const T (&w)[directions], T* block,
                                                      std::index_sequence<K...>) {
    ((block[K * threads] = w[K]), ...);
  }

  /// Computes the weights of a vertex into the tile's block, if it is new.
  KOKKOS_INLINE_FUNCTION void fill_block(const Member& member, const Shared& shared,
                                         std::int64_t index) const {
    if (shared.block == nullptr || shared.filled) return;
    const auto& graph = weights.graph;
    T* const block = shared.block + member.team_rank();
    for (int e = 0; e < graph.half; ++e) {
      block[e * threads] = weights(e, index);
      block[(graph.half + e) * threads] = weights(e, index - graph.offset(e));
    }
  }

  /// Returns the best time over the neighbours with weights of the table, or computed.
  KOKKOS_INLINE_FUNCTION T best_from_weights(const T* near, std::int64_t index, T best) const {
    const auto& graph = weights.graph;
    for (int e = 0; e < graph.half; ++e) {
      const int step = tile_step(e);
      best = smaller(best, relaxed_load(near + step) + weights(e, index));
      best = smaller(best, relaxed_load(near - step) + weights(e, index - graph.offset(e)));
    }
    return best;
  }

  /// Returns the best time over the neighbours with the weights of the tile's block.
  KOKKOS_INLINE_FUNCTION T best_from_block(const Member& member, const Shared& shared,
                                           const T* near, T best) const {
    const auto& graph = weights.graph;
    const T* const block = shared.block + member.team_rank();
    for (int e = 0; e < graph.half; ++e) {
      const int step = tile_step(e);
      best = smaller(best, relaxed_load(near + step) + block[e * threads]);
      best = smaller(best, relaxed_load(near - step) + block[(graph.half + e) * threads]);
    }
    return best;
  }

  /// Relaxes the tile until nothing changes; returns true if the sweeps are used up before.
  ///
  /// Vertices relax in place: a thread may read a time while another writes it, without a barrier.
  /// Both access single words as relaxed atomics, and times only decrease. A thread that writes
  /// marks its band before the next barrier. Threads that may have missed the change then relax
  /// once more.
  ///
  /// The mark is the number of the sweep. A late thread may read the mark of the next sweep
  /// instead. That mark exists only if the team continues, so all threads of the team decide alike.
  template <class Best>
  KOKKOS_INLINE_FUNCTION bool sweep_all(const Member& member, const Shared& shared,
                                        const int (&local)[Dim], unsigned news, T* near, T& mine,
                                        int& relaxed, const Best& best_of_neighbours) const {
    int first_band = 0, last_band = bands - 1;
    bool stale = true;
    if constexpr (Dim == 2) {
      const int radius = weights.graph.radius;
      const int low = local[0] - radius, high = local[0] + radius;
      first_band = low < 0 ? 0 : low / band_rows;
      last_band = high >= bands * band_rows ? bands - 1 : high / band_rows;
      // whether rows of the box before the tile, in its range or after it have changed
      stale = (low < 0 && (news & 0007u)) || (news & 0070u) ||
              (high >= bands * band_rows && (news & 0700u));
    }
    for (int sweep = 1; sweep <= sweeps; ++sweep) {
      if (stale) {
        bool changed = false;
        for (int repeat = 0; repeat < repeats; ++repeat) {
          const T best = best_of_neighbours(mine);
          ++relaxed;
          if (best < mine) {
            mine = best;
            relaxed_store(near, best);
            changed = true;
          }
        }
        if (changed) relaxed_store(&shared.band[Dim == 2 ? local[0] / band_rows : 0], sweep);
      }
      member.team_barrier();
      bool any = false;
      stale = false;
      for (int b = 0; b < bands; ++b) {
        const bool changed = relaxed_load(&shared.band[b]) >= sweep;
        any = any || changed;
        stale = stale || (changed && b >= first_band && b <= last_band);
      }
      if (!any) return false;
    }
    return true;
  }

  // separate constants become immediate operands
  template <std::size_t E>
  static constexpr int step_0 = FixedStar::offsets[E][0];
  template <std::size_t E>
  static constexpr int step_1 = FixedStar::offsets[E][1];
  template <std::size_t E>
  static constexpr int scratch_step =
      step_0<E>*(RayTile<Memory, Dim>::extents[1] + 2 * FixedStar::radius) + step_1<E>;

  template <std::size_t... E>
  KOKKOS_FORCEINLINE_FUNCTION void fetch(T (&w)[2 * FixedStar::half], std::int64_t index,
                                         std::index_sequence<E...>) const {
    const std::int64_t stride = weights.graph.grid.strides[0];
    ((w[E] = weights(static_cast<int>(E), index)), ...);
    ((w[FixedStar::half + E] =
          weights(static_cast<int>(E), index - step_0<E> * stride - step_1<E>)),
     ...);
  }

  template <std::size_t... E>
  KOKKOS_FORCEINLINE_FUNCTION T best_of(const T* near, const T (&w)[2 * FixedStar::half], T best,
                                        std::index_sequence<E...>) const {
    T other[4] = {best, best, best, best};  // four independent chains of minima
    ((other[E & 1] = smaller(other[E & 1], relaxed_load(near + scratch_step<E>) + w[E]),
      other[2 + (E & 1)] = smaller(other[2 + (E & 1)],
                                   relaxed_load(near - scratch_step<E>) + w[FixedStar::half + E])),
     ...);
    return smaller(smaller(other[0], other[1]), smaller(other[2], other[3]));
  }
};

}  // namespace moho::rays::detail
