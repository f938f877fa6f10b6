// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Launches that make rays, times and rows of pairs of sources and receivers (internal).

#include <moho/tomography/detail/descend.hpp>
#include <moho/tomography/detail/ray_rows.hpp>
#include <moho/tomography/sparse_rows.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace moho::tomography::detail {

/// Pairs of a batch, in the memory of an instance.
template <int Dim, class Memory>
struct Pairs {
  std::int64_t count = 0;                          ///< number of pairs
  Kokkos::View<std::int64_t*, Memory> source;      ///< of each pair, its place in `sources`
  rays::detail::PointView<Dim, Memory> sources;    ///< of the batch
  rays::detail::PointView<Dim, Memory> receivers;  ///< of each pair
};

/// Copies pairs to the memory of an instance.
template <int Dim, class Memory>
Pairs<Dim, Memory> make_pairs(const Instance<Memory>& exec, const std::vector<std::int64_t>& index,
                              const Points<Dim>& sources, const Points<Dim>& receivers) {
  Pairs<Dim, Memory> pairs;
  pairs.count = static_cast<std::int64_t>(index.size());
  pairs.source = upload(exec, index, "moho::tomography::source_of_pair");
  pairs.sources = rays::detail::upload_points<Dim>(exec, sources);
  pairs.receivers = rays::detail::upload_points<Dim>(exec, receivers);
  return pairs;
}

/// Rays of pairs in the memory of an instance, source first.
template <int Dim, class Memory>
struct PairRays {
  rays::detail::PointView<Dim, Memory> points;
  Kokkos::View<std::int64_t*, Memory> first;  ///< of each ray, and the number of all points
};

/// Replaces counts by the sum of those before, in place.
struct CountsToOffsets {
  std::int64_t* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& sum,
                                         const bool final) const {
    const std::int64_t count = values[i];
    if (final) values[i] = sum;
    sum += count;
  }
};

/// Turns counts, whose last one is 0, into offsets; returns the total. Waits for the instance.
template <class Memory>
std::int64_t counts_to_offsets(const Instance<Memory>& exec,
                               const Kokkos::View<std::int64_t*, Memory>& counts) {
  return scan<std::int64_t>("moho::tomography::count_to_offset", exec,
                            static_cast<std::int64_t>(counts.extent(0)),
                            CountsToOffsets{counts.data()});
}

/// Returns what the times of pairs are computed from. \param ratios of TimesToRatios
template <class T, int Dim, class Memory>
TimeOfPair<T, Dim, Memory> time_of_pair(const Medium<T, Dim>& medium,
                                        const Pairs<Dim, Memory>& pairs, const T* ratios) {
  return {medium, ratios, pairs.source.data(), pairs.sources, pairs.receivers, nullptr};
}

/// Shortest paths of a batch of sources.
template <class T, int Dim, class Memory>
struct GraphPaths {
  const rays::GridGraph<T, Dim, Memory>* graph = nullptr;
  const T* times = nullptr;
  const std::int16_t* predecessors = nullptr;
};

/// True for a ray without points.
struct HasNoPoints {
  const std::int64_t* count;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const { return count[i] == 0; }
};

/// Follows rays of a batch from the receivers of pairs to their sources: along the predecessors of
/// the graph, or, with times of the eikonal equation in `descent`, against their gradient. Without
/// a graph the result is empty where a ray does not reach its source.
template <class T, int Dim, class Memory>
PairRays<Dim, Memory> follow_pairs(const Instance<Memory>& exec, const Pairs<Dim, Memory>& pairs,
                                   const GraphPaths<T, Dim, Memory>& paths,
                                   const TimeOfPair<T, Dim, Memory>* descent) {
  using Integers = Kokkos::View<std::int64_t*, Memory>;
  PairRays<Dim, Memory> rays;
  rays.first = allocate<Integers>(exec, "moho::tomography::first_point", pairs.count + 1);
  fill(exec, rays.first, std::int64_t(0));
  const auto last_vertex = allocate<Integers>(exec, "moho::tomography::last_vertex", pairs.count);
  FollowPair<T, Dim, Memory> follow;
  if (paths.graph != nullptr) {
    follow.graph = paths.graph->data();
    follow.grid = paths.graph->grid();
    follow.times = paths.times;
    follow.predecessors = paths.predecessors;
    follow.sources = pairs.sources;
    follow.receivers = pairs.receivers;
    follow.source = pairs.source.data();
    follow.last_vertex = last_vertex;
    follow.traveltime =
        allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::traveltime", pairs.count);
    follow.first = rays.first;
    launch("moho::tomography::find_ray_ends", exec, pairs.count, follow);
  }
  DescendPair<T, Dim, Memory> descend;
  if (descent != nullptr) {
    descend.times = *descent;
    descend.first = rays.first;
    descend.last_vertex = last_vertex;
    launch("moho::tomography::count_descents", exec, pairs.count, descend);
    if (paths.graph == nullptr &&
        find_first("moho::tomography::find_ray_without_end", exec, pairs.count,
                   HasNoPoints{rays.first.data()}) != none_found) {
      return {};
    }
  }
  const std::int64_t total = counts_to_offsets(exec, rays.first);
  rays.points = allocate<moho::rays::detail::PointView<Dim, Memory>>(
      exec, "moho::tomography::ray_points", total);
  if (total == 0) return rays;
  if (paths.graph != nullptr) {
    follow.points = rays.points;
    launch("moho::tomography::follow_rays", exec, pairs.count, follow);
  }
  if (descent != nullptr) {
    descend.points = rays.points;
    launch("moho::tomography::descend", exec, pairs.count, descend);
  }
  return rays;
}

/// Returns the times of pairs, s.
template <class T, int Dim, class Memory>
Kokkos::View<double*, Memory> times_of_pairs(const Instance<Memory>& exec,
                                             TimeOfPair<T, Dim, Memory> times, std::int64_t pairs) {
  const auto result =
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::arrivals", pairs);
  times.result = result.data();
  launch("moho::tomography::times_of_pairs", exec, pairs, times);
  return result;
}

/// Returns the times at the points of rays, s.
template <class T, int Dim, class Memory>
Kokkos::View<double*, Memory> times_at_points(const Instance<Memory>& exec,
                                              const TimeOfPair<T, Dim, Memory>& times,
                                              const PairRays<Dim, Memory>& rays,
                                              std::int64_t pairs) {
  const auto result = allocate<Kokkos::View<double*, Memory>>(
      exec, "moho::tomography::arrivals_at_points", rays.points.extent(0));
  launch("moho::tomography::arrivals_at_points", exec, pairs,
         ArrivalAtPoints<T, Dim, Memory>{times, rays.points, rays.first.data(), result.data()});
  return result;
}

/// Returns the derivatives of the times of pairs by the positions of their sources, s/m.
/// \param reach length of the chord that gives the direction of a ray, m
template <class T, int Dim, class Memory>
std::vector<double> departures_of_rays(const Instance<Memory>& exec, const Medium<T, Dim>& medium,
                                       const PairRays<Dim, Memory>& rays, std::int64_t pairs,
                                       double reach) {
  const auto result =
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::departures", pairs * Dim);
  launch(
      "moho::tomography::departures", exec, pairs,
      DepartureOfRay<T, Dim, Memory>{medium, rays.points, rays.first.data(), reach, result.data()});
  return download(exec, result);
}

/// Places and times of rows, in the memory of an instance.
template <class Memory>
struct CountedRows {
  Kokkos::View<std::int64_t*, Memory> first;  ///< offsets of the entries, one more than rows
  Kokkos::View<double*, Memory> ground, air;  ///< s
  std::int64_t entries = 0;
};

/// Counts the entries of rows; waits for the instance. \param row model and rays
template <int Dim, class Memory>
CountedRows<Memory> count_rows(const Instance<Memory>& exec, RowOfRay<Dim, Memory> row,
                               std::int64_t rays) {
  using Doubles = Kokkos::View<double*, Memory>;
  CountedRows<Memory> counted{allocate<Kokkos::View<std::int64_t*, Memory>>(
                                  exec, "moho::tomography::first_entry", rays + 1),
                              allocate<Doubles>(exec, "moho::tomography::time_in_ground", rays),
                              allocate<Doubles>(exec, "moho::tomography::time_in_air", rays)};
  fill(exec, counted.first, std::int64_t(0));
  row.count = counted.first.data();
  row.ground = counted.ground.data();
  row.air = counted.air.data();
  launch("moho::tomography::count_rows", exec, rays, row);
  counted.entries = counts_to_offsets(exec, counted.first);
  return counted;
}

/// Sets the time of each pair, and the factor that makes its row sum to it.
struct ScaleRow {
  const double *ground, *air;
  const double* arrival;  ///< s; null: the times of the rays
  double *time, *scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const double own = ground[i] + air[i];
    time[i] = arrival == nullptr ? own : arrival[i];
    scale[i] = arrival == nullptr ? 1.0 : arrival[i] / own;
  }
};

/// True for a ray through air, or without a length.
struct IsInAir {
  const double *ground, *air;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return air[i] > 0.05 * ground[i] || !(ground[i] > 0.0);
  }
};

/// Makes rows. \param row model and rays \param scale factor of each row; empty: 1
template <int Dim, class Memory>
CompressedRows<Memory> make_rows(const Instance<Memory>& exec, RowOfRay<Dim, Memory> row,
                                 const CountedRows<Memory>& counted,
                                 const Kokkos::View<double*, Memory>& scale, std::int64_t columns) {
  CompressedRows<Memory> rows{
      columns, counted.first,
      allocate<Kokkos::View<int*, Memory>>(exec, "moho::tomography::column", counted.entries),
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::value", counted.entries)};
  row.first = rows.first.data();
  row.scale = scale.data();
  row.column = rows.column.data();
  row.value = rows.value.data();
  launch("moho::tomography::make_rows", exec, rows.rows(), row);
  return rows;
}

/// Copies entries and offsets of rows behind those of others.
struct AppendEntries {
  const int* column;
  const double* value;
  int* column_out;
  double* value_out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    column_out[i] = column[i];
    value_out[i] = value[i];
  }
};
struct AppendOffsets {
  const std::int64_t* first;
  std::int64_t shift;
  std::int64_t* first_out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    first_out[i] = first[i] + shift;
  }
};

/// Returns parts of a matrix as one; the parts are released.
template <class Memory>
CompressedRows<Memory> join_rows(const Instance<Memory>& exec,
                                 std::vector<CompressedRows<Memory>>& parts, std::int64_t columns) {
  if (parts.size() == 1) return std::move(parts.front());
  std::int64_t rows = 0, entries = 0;
  for (const CompressedRows<Memory>& part : parts) {
    rows += part.rows();
    entries += part.entries();
  }
  CompressedRows<Memory> all{
      columns,
      allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::tomography::first", rows + 1),
      allocate<Kokkos::View<int*, Memory>>(exec, "moho::tomography::column", entries),
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::value", entries)};
  if (parts.empty()) fill(exec, all.first, std::int64_t(0));
  std::int64_t row = 0, entry = 0;
  for (const CompressedRows<Memory>& part : parts) {
    launch("moho::tomography::append_offsets", exec, part.rows() + 1,
           AppendOffsets{part.first.data(), entry, all.first.data() + row});
    launch("moho::tomography::append_entries", exec, part.entries(),
           AppendEntries{part.column.data(), part.value.data(), all.column.data() + entry,
                         all.value.data() + entry});
    row += part.rows();
    entry += part.entries();
  }
  exec.fence();
  parts.clear();
  return all;
}

/// Appends rays as polylines. \param seconds times of the rays
template <int Dim, class Memory>
void append_rays(const Instance<Memory>& exec, const PairRays<Dim, Memory>& rays,
                 const std::vector<double>& seconds, moho::rays::RayPaths<Dim>& result) {
  const auto shift = static_cast<std::int64_t>(result.points.size());
  const std::vector<std::int64_t> first = download(exec, rays.first);
  const auto total = static_cast<std::size_t>(first.back());
  result.points.resize(static_cast<std::size_t>(shift) + total);
  if (total > 0) {
    const Kokkos::View<double* [Dim], Kokkos::LayoutRight, Kokkos::HostSpace,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        host((result.points.data() + shift)->data(), total);
    copy(exec, host, rays.points);
    exec.fence();
  }
  for (std::size_t k = 1; k < first.size(); ++k) result.first.push_back(first[k] + shift);
  result.traveltime.insert(result.traveltime.end(), seconds.begin(), seconds.end());
}

}  // namespace moho::tomography::detail
