// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sources and receivers between nodes: virtual vertices joined to the nodes around them.

#include <moho/core/positions.hpp>
#include <moho/rays/graph.hpp>

#include <algorithm>
#include <vector>

namespace moho::rays {

namespace detail {

/// Returns a position in index space, moved onto a grid line if closer than 1e-6 of the spacing.
template <int Dim>
KOKKOS_INLINE_FUNCTION Kokkos::Array<double, Dim> snap(const Grid<Dim>& grid, const Point<Dim>& p) {
  using std::floor;
  Kokkos::Array<double, Dim> q = grid.to_index_space(p);
  for (int d = 0; d < Dim; ++d) {
    const double last = static_cast<double>(grid.extents[d] - 1);
    const double nearest = floor(q[d] + 0.5);
    if (q[d] - nearest < 1e-6 && nearest - q[d] < 1e-6) q[d] = nearest;
    q[d] = q[d] < 0.0 ? 0.0 : q[d] > last ? last : q[d];
  }
  return q;
}

/// Returns true if the position is a node.
template <int Dim>
KOKKOS_INLINE_FUNCTION bool on_node(const Kokkos::Array<double, Dim>& q) {
  using std::floor;
  for (int d = 0; d < Dim; ++d) {
    if (q[d] != floor(q[d])) return false;
  }
  return true;
}

/// The nodes joined to a position: the node at it, or else all within `radius` along every axis.
template <int Dim>
struct NodeBox {
  Index<Dim> first{}, last{};
  KOKKOS_INLINE_FUNCTION NodeBox(const Kokkos::Array<double, Dim>& q, int radius,
                                 const Index<Dim>& extents) {
    using std::ceil;
    using std::floor;
    const bool node = on_node<Dim>(q);
    for (int d = 0; d < Dim; ++d) {
      const double reach = node ? 0.0 : static_cast<double>(radius);
      const double low = ceil(q[d] - reach), high = floor(q[d] + reach);
      const double end = static_cast<double>(extents[d] - 1);
      first[d] = static_cast<std::int64_t>(low < 0.0 ? 0.0 : low);
      last[d] = static_cast<std::int64_t>(high > end ? end : high);
    }
  }
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= last[d] - first[d] + 1;
    return n;
  }
  KOKKOS_INLINE_FUNCTION Index<Dim> node(std::int64_t i) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      const std::int64_t n = last[d] - first[d] + 1;
      result[d] = first[d] + i % n;
      i /= n;
    }
    return result;
  }
};

/// A node joined to a source.
template <class T, int Dim>
struct Seed {
  int source;                           ///< index within the batch
  std::int64_t index;                   ///< index of the node in the padded grid
  Kokkos::Array<double, Dim> position;  ///< position of the source in index space
  T time;                               ///< seconds from the source to the node
};

/// Sets the traveltimes of the seeds.
template <class T, int Dim, class Memory>
struct PlantSeeds {
  GraphData<T, Dim, Memory> graph;
  Point<Dim> spacing;
  Kokkos::View<Seed<T, Dim>*, Memory> seeds;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Seed<T, Dim> seed = seeds(i);
    const Index<Dim> node = graph.grid.node(seed.index);
    Kokkos::Array<double, Dim> end;
    for (int d = 0; d < Dim; ++d) end[d] = static_cast<double>(node[d]);
    const T time =
        static_cast<T>(straight_time<T, Dim, Memory>(graph, spacing, seed.position, end));
    seeds(i).time = time;
    times(seed.source, seed.index) = time;
  }
};

/// A batch of sources: traveltimes on the padded grid, and the seeds.
template <class T, int Dim, class Memory>
struct Batch {
  int sources = 0;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;  ///< (source, index in the padded grid)
  Kokkos::View<Seed<T, Dim>*, Memory> seeds;
  std::vector<NodeBox<Dim>> boxes;  ///< nodes joined to each source
};

/// Returns the batch of sources[begin] ... sources[end - 1]: times infinite except at the seeds.
template <class T, int Dim, class Memory>
Batch<T, Dim, Memory> start_batch(const Instance<Memory>& exec,
                                  const GridGraph<T, Dim, Memory>& graph,
                                  const Points<Dim>& sources, std::size_t begin, std::size_t end) {
  Batch<T, Dim, Memory> batch;
  batch.sources = static_cast<int>(end - begin);
  batch.times = allocate<decltype(batch.times)>(exec, "moho::rays::times", end - begin,
                                                graph.data().grid.size);
  fill(exec, batch.times, infinity<T>());
  const PaddedGrid<Dim>& padded = graph.data().grid;
  std::vector<Seed<T, Dim>> seeds;
  for (std::size_t s = begin; s < end; ++s) {
    const Kokkos::Array<double, Dim> q = snap<Dim>(graph.grid(), sources[s]);
    batch.boxes.emplace_back(q, graph.radius(), graph.grid().extents);
    for (std::int64_t i = 0; i < batch.boxes.back().size(); ++i) {
      const Index<Dim> node = batch.boxes.back().node(i);
      // a slab receives the others with the times of the adjacent slabs
      if (node[0] < padded.first || node[0] >= padded.template last<Memory>()) continue;
      seeds.push_back({static_cast<int>(s - begin), padded.at(node), q, T(0)});
    }
  }
  batch.seeds = upload(exec, seeds, "moho::rays::seeds");
  launch("moho::rays::plant_seeds", exec, static_cast<std::int64_t>(seeds.size()),
         PlantSeeds<T, Dim, Memory>{graph.data(), graph.grid().spacing, batch.seeds, batch.times});
  return batch;
}

/// Copies a few counters to the host after all previous work of the instance, and waits for it.
template <class Value, class Memory>
void read_counters(const Instance<Memory>& exec, const Kokkos::View<Value*, Memory>& counters,
                   Value* to) {
  if constexpr (is_host_memory<Memory>) {
    exec.fence();
    std::copy_n(counters.data(), counters.extent(0), to);
  } else {
    copy(exec, HostElements<Value>(to, counters.extent(0)), counters);
    exec.fence();
  }
}

/// Copies a few counters from the host, and waits for the instance.
template <class Value, class Memory>
void write_counters(const Instance<Memory>& exec, const Kokkos::View<Value*, Memory>& counters,
                    const Value* from) {
  if constexpr (is_host_memory<Memory>) {
    exec.fence();
    std::copy_n(from, counters.extent(0), counters.data());
  } else {
    copy(exec, counters, HostElements<const Value>(from, counters.extent(0)));
    exec.fence();
  }
}

}  // namespace detail

}  // namespace moho::rays
