// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Times of picks and their derivative by the logarithm of the slowness.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/positions.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/ranks.hpp>
#include <moho/core/space.hpp>
#include <moho/core/wrap.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/rays/graph.hpp>
#include <moho/rays/paths.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/trace.hpp>
#include <moho/tomography/detail/pairs.hpp>
#include <moho/tomography/detail/places.hpp>
#include <moho/tomography/interpolation.hpp>
#include <moho/tomography/jacobian.hpp>
#include <moho/tomography/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::tomography {

/// Predicted times, and their derivative.
template <int Dim, class Memory>
struct Prediction {
  std::vector<double> times;     ///< s, one for each pick
  CompressedRows<Memory> rows;   ///< derivative of times by the unknowns, s; a row for each pick
  std::vector<double> coverage;  ///< of Inversion::rays(): metres of the rays at each node
  rays::RayPaths<Dim> paths;     ///< all rays if requested: one source, a receiver for each pick
  /// With ForwardOptions::departures: derivative of times by the position of the source, s/m, an
  /// entry for each axis of each pick.
  std::vector<double> departures;
};

/// Options of Forward.
template <int Dim>
struct ForwardOptions {
  int coarsening = 1;                ///< model nodes between unknowns, 1 or more
  int radius = Dim == 2 ? 8 : 3;     ///< of the graph's neighbourhood
  bool eikonal = false;              ///< times of the eikonal equation, and rays through them
  std::size_t memory = 0;            ///< bytes allowed in the space; 0: what is free
  bool departures = false;           ///< derivatives by the positions of sources as well
  std::vector<double> epsilon = {};  ///< of a VTI medium, at the model nodes
  std::vector<double> delta = {};    ///< of a VTI medium, at the model nodes
  Exchange exchange = {};            ///< with other processes
};

/// Returns the options of the forward problem of an inversion. \param eikonal as uses_eikonal()
template <int Dim>
ForwardOptions<Dim> forward_options(const Options<Dim>& o, bool eikonal) {
  return {o.coarsening,       o.radius,  eikonal, o.memory,
          o.location.unknown, o.epsilon, o.delta, o.exchange};
}

namespace detail {

/// Appends the elements of a list to bytes.
template <class Value>
void pack_list(const std::vector<Value>& list, std::vector<char>& bytes) {
  const std::uint64_t size = list.size();
  const char* const head = reinterpret_cast<const char*>(&size);
  bytes.insert(bytes.end(), head, head + sizeof size);
  const char* const data = reinterpret_cast<const char*>(list.data());
  bytes.insert(bytes.end(), data, data + size * sizeof(Value));
}

/// Reads the elements of a list from bytes and moves `at` beyond them.
template <class Value>
std::vector<Value> unpack_list(const std::vector<char>& bytes, std::size_t& at) {
  std::uint64_t size = 0;
  if (at + sizeof size > bytes.size()) throw Error("tomography: a message of a rank is incomplete");
  std::memcpy(&size, bytes.data() + at, sizeof size);
  at += sizeof size;
  if ((bytes.size() - at) / sizeof(Value) < size) {
    throw Error("tomography: a message of a rank is incomplete");
  }
  std::vector<Value> list(size);
  if (size > 0) std::memcpy(list.data(), bytes.data() + at, size * sizeof(Value));
  at += size * sizeof(Value);
  return list;
}

/// Returns a prediction as bytes, for another process.
template <int Dim, class Memory>
std::vector<char> pack(const Instance<Memory>& exec, const Prediction<Dim, Memory>& part) {
  std::vector<char> bytes;
  const SparseRows rows = download_rows(exec, part.rows);
  pack_list(part.times, bytes);
  pack_list(rows.first, bytes);
  pack_list(rows.column, bytes);
  pack_list(rows.value, bytes);
  pack_list(part.departures, bytes);
  pack_list(part.paths.first, bytes);
  pack_list(part.paths.points, bytes);
  pack_list(part.paths.traveltime, bytes);
  return bytes;
}

/// Appends the picks of a packed prediction; its rows to `rows`.
template <int Dim, class Memory>
void append(const std::vector<char>& bytes, Prediction<Dim, Memory>& all, SparseRows& rows) {
  std::size_t at = 0;
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto add_offsets = [](std::vector<std::int64_t>& to,
                              const std::vector<std::int64_t>& from) {
    const std::int64_t shift = to.back();
    for (std::size_t k = 1; k < from.size(); ++k) to.push_back(from[k] + shift);
  };
  add(all.times, unpack_list<double>(bytes, at));
  add_offsets(rows.first, unpack_list<std::int64_t>(bytes, at));
  add(rows.column, unpack_list<int>(bytes, at));
  add(rows.value, unpack_list<double>(bytes, at));
  add(all.departures, unpack_list<double>(bytes, at));
  add_offsets(all.paths.first, unpack_list<std::int64_t>(bytes, at));
  add(all.paths.points, unpack_list<Point<Dim>>(bytes, at));
  add(all.paths.traveltime, unpack_list<double>(bytes, at));
}

}  // namespace detail

/// \brief The forward problem of first arrivals: shortest paths over a grid graph, or times of the
/// eikonal equation and rays that descend through them.
///
/// All sources of a batch are traced together; only rows of picks are kept. Rows are made on the
/// instance, directly for the unknowns. Rows of graph paths are the exact derivative of their
/// times; rows of rays that descend through eikonal times are scaled to sum to them, and are their
/// derivative to second order in the spacing. A ray that does not reach its source is replaced by
/// the shortest path. With ForwardOptions::exchange each process traces a part of the sources, and
/// all have all rows.
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
  /// \param sources their positions; empty: those of the picks
  /// \throws InputError for a pick that only a path through air connects
  Prediction<Dim, Memory> evaluate(const Instance<Memory>& exec,
                                   const std::vector<double>& velocity, bool keep_rays = false,
                                   const Progress& progress = {},
                                   const Points<Dim>& sources = {}) const;

  /// Returns the metres of rays at each model node, by its shape function. \param exec as in
  /// evaluate() \param paths one source, a receiver for each pick
  std::vector<double> coverage(const Instance<Memory>& exec,
                               const rays::RayPaths<Dim>& paths) const;

 private:
  // Fields of the sources that are traced together.
  struct Batch {
    detail::GraphPaths<T, Dim, Memory> paths;
    const T* ratios = nullptr;  // of times of the eikonal equation
    std::function<detail::GraphPaths<T, Dim, Memory>()> trace;
    std::int64_t first_source = 0;
    Points<Dim> sources;
    detail::RowModel<Dim> model;
    detail::Medium<T, Dim> medium;
  };

  Field<T, Dim, Memory> send_velocity(const Instance<Memory>& exec,
                                      const std::vector<double>& velocity,
                                      std::vector<double>& slowness) const;
  std::int64_t batch_size(std::size_t room, std::int64_t vertices) const;
  bool vti() const { return !m_options.epsilon.empty() || !m_options.delta.empty(); }
  Field<T, Dim, Memory> send(const Instance<Memory>& exec, const std::vector<double>& values) const;
  std::vector<double> horizontal(std::vector<double> velocity) const;
  void evaluate_sources(const Instance<Memory>& exec, const std::vector<double>& velocity,
                        const Points<Dim>& sources, std::int64_t first, std::int64_t last,
                        bool keep_rays, const Progress& progress,
                        Prediction<Dim, Memory>& result) const;
  CompressedRows<Memory> add_picks(const Instance<Memory>& exec, Batch& batch,
                                   std::size_t first_pick, std::size_t last_pick, bool keep_rays,
                                   Prediction<Dim, Memory>& result) const;
  [[noreturn]] void refuse(const Pick& pick) const;
  template <class Fields>
  Fields first_of(const Fields& fields, std::int64_t count) const {
    return wrap_field_per_source<Fields>(fields.data(), count, m_grid);
  }

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

// Number of sources that are traced together. \param room bytes \param vertices of the graph, 0
// without one
template <class T, int Dim, class Memory>
std::int64_t Forward<T, Dim, Memory>::batch_size(std::size_t room, std::int64_t vertices) const {
  const auto nodes = static_cast<double>(m_grid.size());
  // times of the result and of the solver of the eikonal equation; times and predecessors of the
  // graph, and times of its solver
  const double each = (m_options.eikonal ? nodes * (sizeof(T) * (vti() ? 6 : 3) + 2.0) : 0.0) +
                      (vertices > 0 ? nodes * (sizeof(T) + sizeof(std::int16_t)) +
                                          static_cast<double>(vertices) * sizeof(T)
                                    : 0.0);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(0.5 * static_cast<double>(room) / each),
                                  1, 64);
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

// Copies values of the model nodes to the memory of the space; no field for an empty list.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> Forward<T, Dim, Memory>::send(const Instance<Memory>& exec,
                                                    const std::vector<double>& values) const {
  if (values.empty()) return {};
  const std::vector<T> cast(values.begin(), values.end());
  const auto field = make_field<T>(exec, m_grid, "moho::tomography::parameter");
  copy(exec, Kokkos::View<T*, Memory>(field.data(), cast.size()),
       HostElements<const T>(cast.data(), cast.size()));
  exec.fence();
  return field;
}

// Returns the horizontal velocity of a VTI medium, which is that of the graph.
template <class T, int Dim, class Memory>
std::vector<double> Forward<T, Dim, Memory>::horizontal(std::vector<double> velocity) const {
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    velocity[i] *= std::sqrt(1.0 + 2.0 * m_options.epsilon[i]);
  }
  return velocity;
}

template <class T, int Dim, class Memory>
Prediction<Dim, Memory> Forward<T, Dim, Memory>::evaluate(const Instance<Memory>& exec,
                                                          const std::vector<double>& velocity,
                                                          bool keep_rays, const Progress& progress,
                                                          const Points<Dim>& sources) const {
  const Points<Dim>& positions = sources.empty() ? m_picks.sources : sources;
  const auto count = static_cast<std::int64_t>(positions.size());
  Prediction<Dim, Memory> result;
  const auto begin = [&](Prediction<Dim, Memory>& part) {
    part.paths.sources = 1;
    part.paths.first.assign(1, 0);
  };
  begin(result);
  const Exchange& exchange = m_options.exchange;
  if (exchange.ranks > 1) {
    const std::vector<std::vector<char>> parts = exchange.gather([&] {
      Prediction<Dim, Memory> part;
      begin(part);
      const mpi::Part mine = mpi::part_of(count, exchange.ranks, exchange.rank);
      evaluate_sources(exec, velocity, positions, mine.first, mine.last, keep_rays, progress, part);
      return detail::pack<Dim>(exec, part);
    });
    SparseRows rows;
    rows.columns = unknowns().size();
    for (const std::vector<char>& bytes : parts) detail::append<Dim>(bytes, result, rows);
    result.rows = upload_rows(exec, rows);
  } else {
    evaluate_sources(exec, velocity, positions, 0, count, keep_rays, progress, result);
  }
  if (keep_rays) result.paths.receivers = static_cast<std::int64_t>(m_picks.picks.size());
  return result;
}

// Traces sources from `first` to `last` - 1 and appends their picks.
template <class T, int Dim, class Memory>
void Forward<T, Dim, Memory>::evaluate_sources(const Instance<Memory>& exec,
                                               const std::vector<double>& velocity,
                                               const Points<Dim>& sources, std::int64_t first,
                                               std::int64_t last, bool keep_rays,
                                               const Progress& progress,
                                               Prediction<Dim, Memory>& result) const {
  std::vector<CompressedRows<Memory>> parts;
  if (first == last) {
    result.rows = detail::join_rows(exec, parts, unknowns().size());
    return;
  }
  std::vector<double> slowness;
  const Field<T, Dim, Memory> field = send_velocity(exec, velocity, slowness);
  const Field<T, Dim, Memory> epsilon = send(exec, m_options.epsilon);
  const Field<T, Dim, Memory> delta = send(exec, m_options.delta);
  const Field<T, Dim, Memory> fastest =
      m_options.epsilon.empty() ? field : send(exec, horizontal(velocity));
  const auto device_slowness = upload(exec, slowness, "moho::tomography::slowness");
  const auto device_mask = upload(exec, m_mask, "moho::tomography::mask");
  Batch now;
  now.model = {m_grid, unknowns().extents, m_options.coarsening, device_slowness.data(),
               m_mask.empty() ? nullptr : device_mask.data()};
  now.medium = {m_grid, field.data(), epsilon.data(), delta.data()};
  const eikonal::Model<T, Dim, Memory> medium{field, epsilon, delta};

  std::optional<rays::GridGraph<T, Dim, Memory>> graph;
  FieldPerSource<T, Dim, Memory> times, ratios;
  FieldPerSource<std::int16_t, Dim, Memory> predecessors;
  std::int64_t batch = 0;
  const auto make_graph = [&] {
    rays::GraphOptions options;
    options.radius = m_options.radius;
    options.memory_budget = m_options.memory;
    options.sources = last - first;
    graph.emplace(exec, m_grid, fastest, options);
    if (batch == 0) {
      batch = std::min(batch_size(graph->solver_budget(), graph->data().grid.size), last - first);
    }
    times = make_field_per_source<T>(exec, batch, m_grid, "moho::tomography::times");
    predecessors =
        make_field_per_source<std::int16_t>(exec, batch, m_grid, "moho::tomography::predecessors");
  };
  if (m_options.eikonal) {
    batch = std::min(batch_size(memory_budget(exec, m_options.memory), 0), last - first);
    ratios = make_field_per_source<T>(exec, batch, m_grid, "moho::tomography::ratios");
    now.ratios = ratios.data();
  } else {
    make_graph();
  }
  const auto trace = [&] {
    if (!graph) make_graph();
    const auto count = static_cast<std::int64_t>(now.sources.size());
    rays::trace<T, Dim, Memory>(exec, *graph, now.sources, first_of(times, count),
                                first_of(predecessors, count));
    return detail::GraphPaths<T, Dim, Memory>{&*graph, times.data(), predecessors.data()};
  };
  for (std::int64_t begin = first; begin < last; begin += batch) {
    const std::int64_t count = std::min(batch, last - begin);
    if (progress) {
      progress(static_cast<double>(begin - first) / static_cast<double>(last - first), "rays");
    }
    now.first_source = begin;
    now.sources.assign(sources.begin() + begin, sources.begin() + begin + count);
    now.paths = {};
    now.trace = trace;
    if (m_options.eikonal) {
      const auto part = first_of(ratios, count);
      eikonal::solve_each(exec, m_grid, medium, now.sources, part,
                          {.memory_budget = m_options.memory});
      launch("moho::tomography::times_to_ratios", exec, count * m_grid.size(),
             detail::TimesToRatios<T, Dim, Memory>{
                 now.medium, rays::detail::upload_points<Dim>(exec, now.sources), ratios.data()});
    } else {
      now.paths = trace();
    }
    const std::size_t end = m_first[static_cast<std::size_t>(begin + count)];
    constexpr std::size_t group = 65536;  // picks of a launch
    for (std::size_t k = m_first[static_cast<std::size_t>(begin)]; k < end; k += group) {
      parts.push_back(add_picks(exec, now, k, std::min(k + group, end), keep_rays, result));
    }
  }
  result.rows = detail::join_rows(exec, parts, unknowns().size());
}

// Appends times and rays of picks of a batch and returns their rows.
template <class T, int Dim, class Memory>
CompressedRows<Memory> Forward<T, Dim, Memory>::add_picks(const Instance<Memory>& exec,
                                                          Batch& batch, std::size_t first_pick,
                                                          std::size_t last_pick, bool keep_rays,
                                                          Prediction<Dim, Memory>& result) const {
  std::vector<std::int64_t> index;
  Points<Dim> receivers;
  index.reserve(last_pick - first_pick);
  receivers.reserve(last_pick - first_pick);
  for (std::size_t k = first_pick; k < last_pick; ++k) {
    const Pick& pick = m_picks.picks[k];
    index.push_back(pick.source - batch.first_source);
    receivers.push_back(m_picks.receivers[static_cast<std::size_t>(pick.receiver)]);
  }
  const detail::Pairs<Dim, Memory> pairs =
      detail::make_pairs<Dim>(exec, index, batch.sources, receivers);
  const auto field = detail::time_of_pair<T, Dim, Memory>(batch.medium, pairs, batch.ratios);
  const auto follow = [&] {
    return detail::follow_pairs<T, Dim, Memory>(exec, pairs, batch.paths,
                                                m_options.eikonal ? &field : nullptr);
  };
  detail::PairRays<Dim, Memory> rays = follow();
  if (rays.first.extent(0) == 0) {  // a ray does not reach its source
    batch.paths = batch.trace();
    rays = follow();
  }
  Vector<Memory> arrivals, at_points;
  if (m_options.eikonal) {
    arrivals = detail::times_of_pairs<T, Dim, Memory>(exec, field, pairs.count);
  }
  detail::RowOfRay<Dim, Memory> row;
  row.model = batch.model;
  row.points = rays.points;
  row.first_point = rays.first.data();
  if (vti()) {
    at_points = detail::times_at_points<T, Dim, Memory>(exec, field, rays, pairs.count);
    row.arrival = at_points.data();
  }
  const detail::CountedRows<Memory> counted =
      detail::count_rows<Dim, Memory>(exec, row, pairs.count);
  const std::int64_t bad = find_first("moho::tomography::find_ray_in_air", exec, pairs.count,
                                      detail::IsInAir{counted.ground.data(), counted.air.data()});
  if (bad != none_found) refuse(m_picks.picks[first_pick + static_cast<std::size_t>(bad)]);
  const auto times = allocate<Vector<Memory>>(exec, "moho::tomography::time", pairs.count);
  const auto scale = allocate<Vector<Memory>>(exec, "moho::tomography::scale_of_row", pairs.count);
  launch("moho::tomography::scale_rows", exec, pairs.count,
         detail::ScaleRow{counted.ground.data(), counted.air.data(), arrivals.data(), times.data(),
                          scale.data()});
  const CompressedRows<Memory> rows =
      detail::make_rows<Dim, Memory>(exec, row, counted, scale, unknowns().size());
  const std::vector<double> seconds = download(exec, times);
  result.times.insert(result.times.end(), seconds.begin(), seconds.end());
  if (m_options.departures) {
    const std::vector<double> more = detail::departures_of_rays<T, Dim, Memory>(
        exec, batch.medium, rays, pairs.count, m_options.radius * m_grid.spacing[0]);
    result.departures.insert(result.departures.end(), more.begin(), more.end());
  }
  if (keep_rays) {
    std::vector<double> along = download(exec, counted.ground);
    const std::vector<double> air = download(exec, counted.air);
    for (std::size_t k = 0; k < along.size(); ++k) along[k] += air[k];
    detail::append_rays<Dim>(exec, rays, along, result.paths);
  }
  return rows;
}

// Refuses a pick without a path through the ground.
template <class T, int Dim, class Memory>
void Forward<T, Dim, Memory>::refuse(const Pick& pick) const {
  throw InputError(
      concat(detail::pick_text<Dim>(m_picks, pick),
             " has no path through the ground (the topography puts air around a point, or "
             "both points are one): correct the topography or leave the pick out"));
}

// Sums the metres in the order of the picks.
template <class T, int Dim, class Memory>
std::vector<double> Forward<T, Dim, Memory>::coverage(const Instance<Memory>& exec,
                                                      const rays::RayPaths<Dim>& all) const {
  const auto mask = upload(exec, m_mask, "moho::tomography::mask");
  const auto coverage = allocate<Vector<Memory>>(exec, "moho::tomography::coverage", m_grid.size());
  const auto ones = allocate<Vector<Memory>>(exec, "moho::tomography::ones",
                                             static_cast<std::int64_t>(all.first.size()));
  fill(exec, coverage, 0.0);
  fill(exec, ones, 1.0);
  constexpr std::size_t group = 65536;
  for (std::size_t begin = 0; begin + 1 < all.first.size(); begin += group) {
    const std::size_t end = std::min(begin + group, all.first.size() - 1);
    const Points<Dim> points(all.points.begin() + all.first[begin],
                             all.points.begin() + all.first[end]);
    std::vector<std::int64_t> first;
    for (std::size_t k = begin; k <= end; ++k) first.push_back(all.first[k] - all.first[begin]);
    detail::RowOfRay<Dim, Memory> row;
    row.model = {m_grid, m_grid.extents, 1, nullptr, m_mask.empty() ? nullptr : mask.data()};
    row.points = rays::detail::upload_points<Dim>(exec, points);
    const auto first_point = upload(exec, first, "moho::tomography::first_point");
    row.first_point = first_point.data();
    const auto count = static_cast<std::int64_t>(end - begin);
    const detail::CountedRows<Memory> counted = detail::count_rows<Dim, Memory>(exec, row, count);
    const RayJacobian<Memory> metres(
        exec, detail::make_rows<Dim, Memory>(exec, row, counted, {}, m_grid.size()));
    metres.add_product_transposed(exec, ones, coverage);
  }
  return download(exec, coverage);
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Forward)
#endif
/// \endcond

}  // namespace moho::tomography
