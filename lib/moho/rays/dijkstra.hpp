// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sequential reference: Dijkstra's algorithm with the standard library's heap.

#include <moho/core/instances.hpp>
#include <moho/rays/sources.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace moho::rays {

/// Dijkstra's algorithm on the vertices of a host graph.
///
/// Reference of tests and benchmarks, optimised for a fair comparison. All weights of a vertex are
/// contiguous, and the binary heap skips stale entries. Weights of neighbours that cannot become
/// earlier are not read.
template <class T, int Dim>
class Dijkstra {
 public:
  /// Builds the table of weights by vertex, if it fits the graph's budget.
  /// \param graph the model \param others bytes of that budget that are not available
  explicit Dijkstra(const GridGraph<T, Dim, Kokkos::HostSpace>& graph, std::size_t others = 0);

  /// Returns the bytes of the table of weights by vertex, 0 if it does not fit.
  /// \param graph the model \param others bytes of the graph's budget that are not available
  static std::size_t table_bytes(const GridGraph<T, Dim, Kokkos::HostSpace>& graph,
                                 std::size_t others);
  /// Returns the bytes of a search: its heap, as many entries as half of the vertices, and marks.
  static std::size_t search_bytes(const GridGraph<T, Dim, Kokkos::HostSpace>& graph) {
    const auto padded_size = static_cast<std::size_t>(graph.data().grid.size);
    return padded_size + padded_size / 2 * sizeof(std::pair<T, std::int64_t>);
  }

  /// Computes traveltimes and predecessors on the padded grid from vertices with initial times.
  /// \param times seconds; infinite except at the seeds
  /// \param predecessors from_source at the seeds
  /// \param seeds indices of the vertices with initial times
  /// \param relaxations counts the relaxed edges
  void solve(T* times, std::int16_t* predecessors, const std::vector<std::int64_t>& seeds,
             std::int64_t& relaxations) const;

 private:
  T weight(int k, std::int64_t index) const;
  /// Calls visit(index, count) for runs of at most `max` contiguous vertices.
  template <class Visit>
  void for_each_run(std::int64_t max, Visit&& visit) const;

  const GridGraph<T, Dim, Kokkos::HostSpace>& m_graph;
  const detail::GraphData<T, Dim, Kokkos::HostSpace>& m_data;
  int m_directions = 0;
  bool m_table = false;
  std::vector<std::int64_t> m_offsets;
  std::vector<T> m_weights;
};

template <class T, int Dim>
std::size_t Dijkstra<T, Dim>::table_bytes(const GridGraph<T, Dim, Kokkos::HostSpace>& graph,
                                          std::size_t others) {
  const std::size_t bytes = static_cast<std::size_t>(graph.data().grid.size) *
                            static_cast<std::size_t>(graph.neighbours()) * sizeof(T);
  return bytes + search_bytes(graph) + others <= graph.solver_budget() ? bytes : 0;
}

template <class T, int Dim>
Dijkstra<T, Dim>::Dijkstra(const GridGraph<T, Dim, Kokkos::HostSpace>& graph, std::size_t others)
    : m_graph(graph), m_data(graph.data()) {
  const auto& grid = m_data.grid;
  m_directions = 2 * m_data.half;
  for (int k = 0; k < m_directions; ++k) m_offsets.push_back(m_data.direction(k));
  const std::size_t size = static_cast<std::size_t>(grid.size) * m_directions;
  m_table = table_bytes(graph, others) > 0;
  if (!m_table) return;
  m_weights.resize(size);
  // a few vertices per run: the graph's table is contiguous by edge, this one by vertex
  for_each_run(16, [&](std::int64_t index, int count) {
    for (int k = 0; k < m_directions; ++k) {
      for (int i = 0; i < count; ++i) {
        m_weights[static_cast<std::size_t>(index + i) * m_directions + k] = weight(k, index + i);
      }
    }
  });
}

template <class T, int Dim>
void Dijkstra<T, Dim>::solve(T* times, std::int16_t* predecessors,
                             const std::vector<std::int64_t>& seeds,
                             std::int64_t& relaxations) const {
  using Entry = std::pair<T, std::int64_t>;
  std::vector<Entry> storage;
  storage.reserve(static_cast<std::size_t>(m_data.grid.size) / 4 + 16);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue(std::greater<Entry>(),
                                                                            std::move(storage));
  std::vector<unsigned char> dummy(static_cast<std::size_t>(m_data.grid.size), 1);
  for_each_run(m_data.grid.extents[Dim - 1], [&](std::int64_t index, int count) {
    std::fill_n(dummy.begin() + index, count, static_cast<unsigned char>(0));
  });
  for (const std::int64_t seed : seeds) queue.emplace(times[seed], seed);
  const int half = m_data.half;
  while (!queue.empty()) {
    const auto [time, index] = queue.top();
    queue.pop();
    if (time > times[index]) continue;
    const T* const weights =
        m_table ? &m_weights[static_cast<std::size_t>(index) * m_directions] : nullptr;
    relaxations += m_directions;
    for (int k = 0; k < m_directions; ++k) {
      const std::int64_t other = index + m_offsets[k];
      if (times[other] <= time || dummy[static_cast<std::size_t>(other)]) continue;
      const T candidate = time + (weights ? weights[k] : weight(k, index));
      if (candidate < times[other]) {
        times[other] = candidate;
        predecessors[other] = static_cast<std::int16_t>(k < half ? k + half : k - half);
        queue.emplace(candidate, other);
      }
    }
  }
}

template <class T, int Dim>
inline T Dijkstra<T, Dim>::weight(int k, std::int64_t index) const {
  const int half = m_data.half;
  const int e = k < half ? k : k - half;
  const std::int64_t start = k < half ? index : index - m_data.offset(e);
  if (m_graph.storage() == WeightStorage::stored) return m_data.table(e, start);
  return detail::ComputedWeights<T, Dim, Kokkos::HostSpace>{m_data}(e, start);
}

template <class T, int Dim>
template <class Visit>
inline void Dijkstra<T, Dim>::for_each_run(std::int64_t max, Visit&& visit) const {
  const std::int64_t nodes = m_graph.grid().size();
  const std::int64_t width = m_data.grid.extents[Dim - 1];
  for (std::int64_t row = 0; row < nodes; row += width) {
    const std::int64_t index = m_data.grid.at(m_graph.grid().node(row));
    for (std::int64_t i = 0; i < width; i += max) {
      visit(index + i, static_cast<int>(std::min(max, width - i)));
    }
  }
}

/// \cond
#ifdef MOHO_RAYS_KERNELS
MOHO_FOR_TYPES(MOHO_CLASS, extern template class, Dijkstra)
#endif
/// \endcond

}  // namespace moho::rays
