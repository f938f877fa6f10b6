// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One round over the active tiles on a device: a thread a vertex, traveltimes in scratch.
///
/// Two forms. With a star known at compile time and at most 96 words of weights, each thread loads the
/// weights of its vertex into registers once per visit, and every relaxation is one scratch read, one
/// addition and one minimum. Otherwise weights are read (or computed) at every relaxation.

#include <moho/rays/work_list.hpp>

#include <utility>

namespace moho::rays::detail {

/// The smaller of two numbers; a NaN never wins.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T smaller(T a, T b) {
#if defined(__CUDA_ARCH__)
  return fmin(a, b);
#else
  return b < a ? b : a;
#endif
}

/// Stands for a star known only at run time.
struct RuntimeStar {
  static constexpr int half = 1;
  static constexpr int radius = 1;
};

template <class T, int Dim, class Exec, class Weights, class FixedStar>
struct RelaxTilesOnDevice {
  static constexpr int threads = tile_volume<Exec, Dim>();
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using Member = typename Policy::member_type;
  static constexpr bool fixed = !std::is_same_v<FixedStar, RuntimeStar>;

  Weights weights;
  WorkList<Dim, Exec> list;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> times;
  Kokkos::View<int*, typename Exec::memory_space> tile_step;  ///< of the half star, within the box
  TileBox<Dim> box;
  int sweeps;
  int round;

  std::size_t scratch_bytes() const {
    return ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(box.size())) +
           ScratchView<unsigned, Exec>::shmem_size(4);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int count = list.counts(round % 3);
    if (member.league_rank() == 0) {
      Kokkos::single(Kokkos::PerTeam(member), [&]() {
        list.turn_over(round);
        Kokkos::atomic_add(&list.statistics(0), static_cast<unsigned long long>(count));
      });
    }
    // Once a team, not once a visit: every view takes its share of the scratch for good.
    const ScratchView<T, Exec> scratch(member.team_scratch(0), static_cast<std::size_t>(box.size()));
    // [0], [1]: did anything change in an even, odd sweep; [2]: sides to tell
    const ScratchView<unsigned, Exec> flags(member.team_scratch(0), 4);
    for (int i = member.league_rank(); i < count; i += member.league_size()) {
      visit(member, scratch.data(), flags, list.items(round & 1, i));
    }
  }

  KOKKOS_INLINE_FUNCTION void visit(const Member& member, T* near,
                                    const ScratchView<unsigned, Exec>& flags, int item) const {
    const auto& graph = weights.graph;
    const auto& padded = graph.grid;
    const int source = static_cast<int>(item / list.tile_count);
    const Index<Dim> origin = padded.template tile_origin<Exec>(item % list.tile_count);
    T* const global = &times(source, 0);

    int local[Dim];
    int in_tile = 0;
    std::int64_t place = 0;
    {
      int left = member.team_rank();
      for (int d = Dim - 1; d >= 0; --d) {
        local[d] = left % tile_extent<Exec, Dim>(d);
        left /= tile_extent<Exec, Dim>(d);
        in_tile += (local[d] + graph.radius) * box.stride(d);
        place += (origin[d] + local[d] + padded.low[d]) * padded.strides[d];
      }
    }
    member.team_barrier();  // the scratch of the visit before is free
    if (member.team_rank() == 0) {
      flags(0) = flags(1) = flags(2) = 0u;
      list.news(round & 1, item) = 0u;
      if (!list.seen(item)) {
        list.seen(item) = 1;
        Kokkos::atomic_add(&list.statistics(1), 1ull);
      }
    }
    load_tile<Exec, Dim>(member, box, near, [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t from = 0;
      for (int d = 0; d < Dim; ++d) {
        from += (origin[d] + offset[d] - graph.radius + padded.low[d]) * padded.strides[d];
      }
      return relaxed_load(global + from);
    });

    int sweeps_done = 0;
    T mine;
    T before;
    bool unfinished;
    if constexpr (fixed) {
      T w[2 * FixedStar::half];
      fetch(w, place, std::make_index_sequence<FixedStar::half>());
      member.team_barrier();
      mine = before = near[in_tile];
      unfinished = sweep_all(member, near, flags, in_tile, mine, sweeps_done, [&](T best) {
        return best_of(near + in_tile, w, best, std::make_index_sequence<FixedStar::half>());
      });
    } else {
      member.team_barrier();
      mine = before = near[in_tile];
      unfinished = sweep_all(member, near, flags, in_tile, mine, sweeps_done, [&](T best) {
        for (int e = 0; e < graph.half; ++e) {
          const int step = tile_step(e);
          best = smaller(best, near[in_tile + step] + weights(e, place));
          best = smaller(best, near[in_tile - step] + weights(e, place - graph.offset(e)));
        }
        return best;
      });
    }

    if (mine < before) {
      relaxed_store(global + place, mine);
      const unsigned sides = sides_near<Exec, Dim>(local, graph.radius);
      if (sides != 0u) Kokkos::atomic_fetch_or(&flags(2), sides);
    }
    member.team_barrier();
    if (member.team_rank() == 0) {
      Kokkos::atomic_add(&list.statistics(2), static_cast<unsigned long long>(sweeps_done));
    }
    const unsigned sides = flags(2) | (unfinished ? 1u << side_self<Dim> : 0u);
    for (int side = member.team_rank(); side < side_count<Dim>; side += member.team_size()) {
      if ((sides >> side) & 1u) list.tell(round, item, side);
    }
  }

 private:
  /// Relaxes the tile until nothing changes or the sweeps are used up; true in the latter case.
  template <class Best>
  KOKKOS_INLINE_FUNCTION bool sweep_all(const Member& member, T* near,
                                        const ScratchView<unsigned, Exec>& flags, int in_tile,
                                        T& mine, int& done, const Best& best_of_neighbours) const {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const T best = best_of_neighbours(mine);
      ++done;
      member.team_barrier();  // everyone has read
      if (member.team_rank() == 0) flags((sweep + 1) & 1) = 0u;
      if (best < mine) {
        mine = best;
        near[in_tile] = best;
        relaxed_store(&flags(sweep & 1), 1u);  // all store the same
      }
      member.team_barrier();  // everyone has written
      if (flags(sweep & 1) == 0u) return false;
    }
    return true;
  }

  // Offsets as constants of their own, so that they end up in the instructions.
  template <std::size_t E>
  static constexpr int step_0 = FixedStar::offsets[E][0];
  template <std::size_t E>
  static constexpr int step_1 = FixedStar::offsets[E][1];
  template <std::size_t E>
  static constexpr int scratch_step =
      step_0<E> * (RayTile<Exec, Dim>::extents[1] + 2 * FixedStar::radius) + step_1<E>;

  template <std::size_t... E>
  KOKKOS_FORCEINLINE_FUNCTION void fetch(T (&w)[2 * FixedStar::half], std::int64_t place,
                                         std::index_sequence<E...>) const {
    const std::int64_t stride = weights.graph.grid.strides[0];
    ((w[E] = weights(static_cast<int>(E), place)), ...);
    ((w[FixedStar::half + E] =
          weights(static_cast<int>(E), place - step_0<E> * stride - step_1<E>)),
     ...);
  }

  template <std::size_t... E>
  KOKKOS_FORCEINLINE_FUNCTION T best_of(const T* near, const T (&w)[2 * FixedStar::half], T best,
                                        std::index_sequence<E...>) const {
    T other[4] = {best, best, best, best};  // four chains of minima
    ((other[E & 1] = smaller(other[E & 1], near[scratch_step<E>] + w[E]),
      other[2 + (E & 1)] =
          smaller(other[2 + (E & 1)], near[-scratch_step<E>] + w[FixedStar::half + E])),
     ...);
    return smaller(smaller(other[0], other[1]), smaller(other[2], other[3]));
  }
};

}  // namespace moho::rays::detail
