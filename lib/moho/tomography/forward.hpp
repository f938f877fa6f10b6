// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Times of picks and their derivative by the logarithm of the slowness.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/positions.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/wrap.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/rays/graph.hpp>
#include <moho/rays/paths.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/trace.hpp>
#include <moho/tomography/interpolation.hpp>
#include <moho/tomography/jacobian.hpp>
#include <moho/tomography/types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace moho::tomography {

/// Predicted times, and their derivative.
template <int Dim>
struct Prediction {
  std::vector<double> times;     ///< s, one for each pick
  SparseRows rows;               ///< derivative of times by the unknowns, s; a row for each pick
  std::vector<double> coverage;  ///< metres of rays at each model node, by its shape function
  rays::RayPaths<Dim> paths;     ///< all rays if requested: one source, a receiver for each pick
};

/// Options of Forward.
template <int Dim>
struct ForwardOptions {
  int coarsening = 1;             ///< model nodes between unknowns, 1 or more
  int radius = Dim == 2 ? 8 : 3;  ///< of the graph's neighbourhood
  bool eikonal = false;           ///< times of the eikonal equation; rows are scaled to them
  std::size_t memory = 0;         ///< bytes allowed in the space; 0: what is free
};

namespace detail {
/// Gathers elements of an array.
template <class T>
struct GatherTimes {
  const T* times;
  const std::int64_t* nodes;
  T* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { out[i] = times[nodes[i]]; }
};

/// Returns the times of a source at receivers. The time over that of a homogeneous medium is
/// interpolated linearly, so that the source's singularity does no harm.
template <class T, int Dim, class Memory>
std::vector<double> times_at(const Instance<Memory>& exec, const Grid<Dim>& grid, const T* times,
                             const Point<Dim>& source, const Points<Dim>& receivers) {
  constexpr int corners = 1 << Dim;
  std::vector<std::int64_t> nodes;
  std::vector<double> weights, distances;
  const auto distance = [&](const Point<Dim>& p) {
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) square += (p[d] - source[d]) * (p[d] - source[d]);
    return std::sqrt(square);
  };
  for (const Point<Dim>& receiver : receivers) {
    const Point<Dim> q = grid.to_index_space(receiver);
    for (int corner = 0; corner < corners; ++corner) {
      Index<Dim> node{};
      double weight = 1.0;
      for (int d = 0; d < Dim; ++d) {
        const double last = static_cast<double>(grid.extents[d] - 1);
        const double at = std::clamp(q[d], 0.0, last);
        const double lower = std::min(std::floor(at), std::max(last - 1.0, 0.0));
        const bool upper = ((corner >> d) & 1) != 0;
        weight *= upper ? at - lower : 1.0 - (at - lower);
        node[d] = std::min(static_cast<std::int64_t>(lower) + (upper ? 1 : 0), grid.extents[d] - 1);
      }
      nodes.push_back(grid.flat(node));
      weights.push_back(weight);
      distances.push_back(distance(grid.position(node)));
    }
  }
  const auto list = upload(exec, nodes, "moho::tomography::nodes");
  const auto found =
      allocate<Kokkos::View<T*, Memory>>(exec, "moho::tomography::found", nodes.size());
  launch("moho::tomography::gather_times", exec, static_cast<std::int64_t>(nodes.size()),
         GatherTimes<T>{times, list.data(), found.data()});
  const std::vector<T> values = download(exec, found);
  std::vector<double> result;
  for (std::size_t r = 0; r < receivers.size(); ++r) {
    double sum = 0.0, weight = 0.0;  // slowness seen from the source; corners at it do not count
    for (std::size_t k = r * corners; k < (r + 1) * corners; ++k) {
      if (!(distances[k] > 0.0)) continue;
      sum += weights[k] * static_cast<double>(values[k]) / distances[k];
      weight += weights[k];
    }
    result.push_back(weight > 0.0 ? distance(receivers[r]) * sum / weight : 0.0);
  }
  return result;
}
}  // namespace detail

/// \brief The forward problem of first arrivals: shortest paths over a grid graph.
///
/// All sources of a batch are traced together; only rows of picks are kept. With eikonal times each
/// row of a graph ray is scaled so that it sums to the time of the eikonal equation, which is not
/// late as paths that turn at nodes are.
template <class T, int Dim, class Memory>
class Forward {
 public:
  /// \param grid nodes of the model
  /// \param picks points inside of the grid, and their picks sorted by source
  /// \param mask 1 for nodes of the ground, 0 for air; empty: no air
  /// \param options coarsening, radius and memory
  Forward(const Grid<Dim>& grid, PickSet<Dim> picks, std::vector<unsigned char> mask,
          const ForwardOptions<Dim>& options);

  /// Returns the grid of the unknowns.
  const Grid<Dim>& unknowns() const { return m_coarse.grid(); }
  /// Returns the interpolation from unknowns to model nodes.
  const Interpolation<Dim>& interpolation() const { return m_coarse; }

  /// \brief Traces all sources through a model.
  /// \param exec all work is submitted to this instance; the function returns when it is complete
  /// \param velocity m/s, one positive number for each model node; values of air are ignored
  /// \param keep_rays true: the rays are part of the result
  /// \param progress of the sources
  /// \throws InputError for a pick that only a path through air connects
  Prediction<Dim> evaluate(const Instance<Memory>& exec, const std::vector<double>& velocity,
                           bool keep_rays = false, const Progress& progress = {}) const;

 private:
  Field<T, Dim, Memory> send_velocity(const Instance<Memory>& exec,
                                      const std::vector<double>& velocity,
                                      std::vector<double>& slowness) const;
  std::int64_t batch_size(const rays::GridGraph<T, Dim, Memory>& graph) const;
  void add_source(const Instance<Memory>& exec, const rays::RayPaths<Dim>& paths,
                  const std::vector<double>& slowness, const std::vector<double>& times,
                  std::size_t first_pick, Prediction<Dim>& result) const;

  Grid<Dim> m_grid;
  PickSet<Dim> m_picks;
  std::vector<unsigned char> m_mask;
  ForwardOptions<Dim> m_options;
  Interpolation<Dim> m_coarse;
  std::vector<std::size_t> m_first;  // picks of each source
};

template <class T, int Dim, class Memory>
Forward<T, Dim, Memory>::Forward(const Grid<Dim>& grid, PickSet<Dim> picks,
                                 std::vector<unsigned char> mask,
                                 const ForwardOptions<Dim>& options)
    : m_grid(grid),
      m_picks(std::move(picks)),
      m_mask(std::move(mask)),
      m_options(options),
      m_coarse(grid, options.coarsening) {
  check_positions<Dim>(grid, m_picks.sources, "source");
  check_positions<Dim>(grid, m_picks.receivers, "receiver");
  m_first.assign(m_picks.sources.size() + 1, 0);
  for (const Pick& pick : m_picks.picks) ++m_first[static_cast<std::size_t>(pick.source) + 1];
  for (std::size_t s = 1; s < m_first.size(); ++s) m_first[s] += m_first[s - 1];
}

template <class T, int Dim, class Memory>
std::int64_t Forward<T, Dim, Memory>::batch_size(
    const rays::GridGraph<T, Dim, Memory>& graph) const {
  const auto nodes = static_cast<double>(m_grid.size());
  // times and predecessors of the result, and times of the solver
  const double each = nodes * (sizeof(T) * (m_options.eikonal ? 3 : 1) + sizeof(std::int16_t)) +
                      static_cast<double>(graph.data().grid.size) * sizeof(T);
  const double room = 0.5 * static_cast<double>(graph.solver_budget());
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / each), 1, 64);
}

// Copies a velocity to the memory of the space, with that of air; also returns its slowness.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> Forward<T, Dim, Memory>::send_velocity(const Instance<Memory>& exec,
                                                             const std::vector<double>& velocity,
                                                             std::vector<double>& slowness) const {
  const auto nodes = static_cast<std::size_t>(m_grid.size());
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < nodes; ++i) {
    if (m_mask.empty() || m_mask[i] != 0) slowest = std::min(slowest, velocity[i]);
  }
  // paths through air take 10,000 times as long
  std::vector<T> values(nodes);
  slowness.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const bool air = !m_mask.empty() && m_mask[i] == 0;
    values[i] = static_cast<T>(air ? 1e-4 * slowest : velocity[i]);
    slowness[i] = 1.0 / static_cast<double>(values[i]);
  }
  const auto field = make_field<T>(exec, m_grid, "moho::tomography::velocity");
  copy(exec, Kokkos::View<T*, Memory>(field.data(), nodes),
       HostElements<const T>(values.data(), nodes));
  exec.fence();
  return field;
}

template <class T, int Dim, class Memory>
Prediction<Dim> Forward<T, Dim, Memory>::evaluate(const Instance<Memory>& exec,
                                                  const std::vector<double>& velocity,
                                                  bool keep_rays, const Progress& progress) const {
  const auto nodes = static_cast<std::size_t>(m_grid.size());
  std::vector<double> slowness;
  const Field<T, Dim, Memory> field = send_velocity(exec, velocity, slowness);
  rays::GraphOptions graph_options;
  graph_options.radius = m_options.radius;
  graph_options.memory_budget = m_options.memory;
  graph_options.sources = static_cast<std::int64_t>(m_picks.sources.size());
  const rays::GridGraph<T, Dim, Memory> graph(exec, m_grid, field, graph_options);

  Prediction<Dim> result;
  result.rows.columns = unknowns().size();
  result.coverage.assign(nodes, 0.0);
  result.paths.sources = 1;
  result.paths.first.assign(1, 0);
  const auto sources = static_cast<std::int64_t>(m_picks.sources.size());
  const std::int64_t batch = std::min(batch_size(graph), sources);
  const auto times = make_field_per_source<T>(exec, batch, m_grid, "moho::tomography::times");
  const auto predecessors =
      make_field_per_source<std::int16_t>(exec, batch, m_grid, "moho::tomography::predecessors");
  FieldPerSource<T, Dim, Memory> arrivals;
  if (m_options.eikonal) {
    arrivals = make_field_per_source<T>(exec, batch, m_grid, "moho::tomography::arrivals");
  }
  const auto part = [&](const auto& fields, std::int64_t begin, std::int64_t count) {
    using View = std::decay_t<decltype(fields)>;
    return wrap_field_per_source<View>(fields.data() + begin * m_grid.size(), count, m_grid);
  };
  for (std::int64_t begin = 0; begin < sources; begin += batch) {
    const std::int64_t count = std::min(batch, sources - begin);
    if (progress) {
      progress(static_cast<double>(begin) / static_cast<double>(sources), "rays");
    }
    const Points<Dim> group(m_picks.sources.begin() + begin,
                            m_picks.sources.begin() + begin + count);
    rays::trace<T, Dim, Memory>(exec, graph, group, part(times, 0, count),
                                part(predecessors, 0, count));
    if (m_options.eikonal) {
      eikonal::solve_each(exec, m_grid, eikonal::Model<T, Dim, Memory>{field, {}, {}}, group,
                          part(arrivals, 0, count));
    }
    for (std::int64_t s = 0; s < count; ++s) {
      const auto source = static_cast<std::size_t>(begin + s);
      Points<Dim> receivers;
      for (std::size_t k = m_first[source]; k < m_first[source + 1]; ++k) {
        receivers.push_back(m_picks.receivers[static_cast<std::size_t>(m_picks.picks[k].receiver)]);
      }
      if (receivers.empty()) continue;
      const auto paths =
          rays::ray_paths<T, Dim, Memory>(exec, graph, {m_picks.sources[source]}, part(times, s, 1),
                                          part(predecessors, s, 1), receivers);
      std::vector<double> exact;
      if (m_options.eikonal) {
        exact = detail::times_at<T, Dim, Memory>(exec, m_grid, arrivals.data() + s * m_grid.size(),
                                                 m_picks.sources[source], receivers);
      }
      add_source(exec, paths, slowness, exact, m_first[source], result);
      if (!keep_rays) continue;
      const auto shift = static_cast<std::int64_t>(result.paths.points.size());
      for (std::size_t k = 1; k < paths.first.size(); ++k) {
        result.paths.first.push_back(paths.first[k] + shift);
      }
      result.paths.points.insert(result.paths.points.end(), paths.points.begin(),
                                 paths.points.end());
      result.paths.traveltime.insert(result.paths.traveltime.end(), paths.traveltime.begin(),
                                     paths.traveltime.end());
    }
  }
  if (keep_rays) result.paths.receivers = static_cast<std::int64_t>(m_picks.picks.size());
  return result;
}

// Appends the rows of one source. The time of a path is its row times the slowness.
template <class T, int Dim, class Memory>
void Forward<T, Dim, Memory>::add_source(const Instance<Memory>& exec,
                                         const rays::RayPaths<Dim>& paths,
                                         const std::vector<double>& slowness,
                                         const std::vector<double>& times, std::size_t first_pick,
                                         Prediction<Dim>& result) const {
  rays::RayRows rows;
  if constexpr (is_host_memory<Memory>) {
    rows = rays::ray_rows_on<Dim>(exec, m_grid, paths, rays::Basis::nodes);
  } else {
    rows = rays::ray_rows<Dim>(m_grid, paths, rays::Basis::nodes);
  }
  std::vector<std::pair<int, double>> row;
  for (std::size_t r = 0; r + 1 < rows.first.size(); ++r) {
    double ground = 0.0, air = 0.0;
    row.clear();
    for (auto k = static_cast<std::size_t>(rows.first[r]);
         k < static_cast<std::size_t>(rows.first[r + 1]); ++k) {
      const auto node = static_cast<std::size_t>(rows.column[k]);
      const double time = rows.value[k] * slowness[node];
      if (!m_mask.empty() && m_mask[node] == 0) {
        air += time;
        continue;
      }
      ground += time;
      result.coverage[node] += rows.value[k];
      row.emplace_back(rows.column[k], time);
    }
    if (air > 0.05 * ground || !(ground > 0.0)) {
      const Pick& pick = m_picks.picks[first_pick + r];
      throw InputError(concat(
          "the pick from ", format_point(m_picks.sources[static_cast<std::size_t>(pick.source)]),
          " to ", format_point(m_picks.receivers[static_cast<std::size_t>(pick.receiver)]),
          " m has no path through the ground (the topography puts air around a point, or "
          "both points are one): correct the topography or leave the pick out"));
    }
    const double time = times.empty() ? ground + air : times[r];
    const double scale = times.empty() ? 1.0 : time / (ground + air);
    result.times.push_back(time);
    m_coarse.spread(row);
    for (const auto& [column, value] : row) {
      result.rows.column.push_back(column);
      result.rows.value.push_back(scale * value);
    }
    result.rows.first.push_back(static_cast<std::int64_t>(result.rows.column.size()));
  }
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Forward)
#endif
/// \endcond

}  // namespace moho::tomography
