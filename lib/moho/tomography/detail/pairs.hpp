// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Launches that make rays, times and rows of pairs of sources and receivers (internal).

#include <moho/tomography/detail/descend.hpp>
#include <moho/tomography/detail/ray_rows.hpp>
#include <moho/tomography/jacobian.hpp>

#include <cstdint>
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
Pairs<Dim, Memory> make_pairs(const Instance<Memory>& exec, const std::vector<std::int64_t>& place,
                              const Points<Dim>& sources, const Points<Dim>& receivers) {
  Pairs<Dim, Memory> pairs;
  pairs.count = static_cast<std::int64_t>(place.size());
  pairs.source = upload(exec, place, "moho::tomography::source_of_pair");
  pairs.sources = rays::detail::upload_points<Dim>(exec, sources);
  pairs.receivers = rays::detail::upload_points<Dim>(exec, receivers);
  return pairs;
}

/// Rays of pairs in the memory of an instance, source first.
template <int Dim, class Memory>
struct PairRays {
  rays::detail::PointView<Dim, Memory> points;
  Kokkos::View<std::int64_t*, Memory> first;  ///< of each ray, and the number of all points
  std::vector<std::int64_t> first_on_host;
};

/// Turns counts into offsets; returns the total.
inline std::int64_t counts_to_offsets(std::vector<std::int64_t>& counts) {
  std::int64_t total = 0;
  for (std::int64_t& value : counts) {
    const std::int64_t count = value;
    value = total;
    total += count;
  }
  return total;
}

/// Returns what the times of pairs are computed from.
template <class T, int Dim, class Memory>
TimeOfPair<T, Dim, Memory> time_of_pair(const Medium<T, Dim>& medium,
                                        const Pairs<Dim, Memory>& pairs, const T* times) {
  return {medium, times, pairs.source.data(), pairs.sources, pairs.receivers, nullptr};
}

/// Follows rays of a batch from the receivers of pairs to their sources: along the predecessors of
/// the graph, or, with times of the eikonal equation in `descent`, against their gradient.
template <class T, int Dim, class Memory>
PairRays<Dim, Memory> follow_pairs(const Instance<Memory>& exec,
                                   const rays::GridGraph<T, Dim, Memory>& graph,
                                   const Pairs<Dim, Memory>& pairs, const T* times,
                                   const std::int16_t* predecessors,
                                   const TimeOfPair<T, Dim, Memory>* descent) {
  using Integers = Kokkos::View<std::int64_t*, Memory>;
  FollowPair<T, Dim, Memory> follow;
  follow.graph = graph.data();
  follow.grid = graph.grid();
  follow.times = times;
  follow.predecessors = predecessors;
  follow.sources = pairs.sources;
  follow.receivers = pairs.receivers;
  follow.source = pairs.source.data();
  follow.last_vertex = allocate<Integers>(exec, "moho::tomography::last_vertex", pairs.count);
  follow.traveltime =
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::traveltime", pairs.count);
  follow.first = allocate<Integers>(exec, "moho::tomography::first_point", pairs.count + 1);
  fill(exec, follow.first, std::int64_t(0));
  launch("moho::tomography::find_ray_ends", exec, pairs.count, follow);
  DescendPair<T, Dim, Memory> descend;
  if (descent != nullptr) {
    descend.times = *descent;
    descend.first = follow.first;
    descend.last_vertex = follow.last_vertex;
    launch("moho::tomography::count_descents", exec, pairs.count, descend);
  }
  PairRays<Dim, Memory> rays;
  rays.first_on_host = download(exec, follow.first);
  const std::int64_t total = counts_to_offsets(rays.first_on_host);
  copy(exec, follow.first,
       HostElements<const std::int64_t>(rays.first_on_host.data(), rays.first_on_host.size()));
  rays.first = follow.first;
  if (total > 0) {
    follow.points = allocate<moho::rays::detail::PointView<Dim, Memory>>(
        exec, "moho::tomography::ray_points", total);
    launch("moho::tomography::follow_rays", exec, pairs.count, follow);
    if (descent != nullptr) {
      descend.points = follow.points;
      launch("moho::tomography::descend", exec, pairs.count, descend);
    }
  }
  exec.fence();
  rays.points = follow.points;
  return rays;
}

/// Returns the times of pairs, s.
template <class T, int Dim, class Memory>
std::vector<double> times_of_pairs(const Instance<Memory>& exec, TimeOfPair<T, Dim, Memory> times,
                                   std::int64_t pairs) {
  const auto result =
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::arrivals", pairs);
  times.result = result.data();
  launch("moho::tomography::times_of_pairs", exec, pairs, times);
  return download(exec, result);
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

/// Sizes and times of rows, on the host.
struct CountedRows {
  std::vector<std::int64_t> count;
  std::vector<double> ground, air;  ///< s
};

/// Counts the entries of rows. \param row model and rays
template <int Dim, class Memory>
CountedRows count_rows(const Instance<Memory>& exec, RowOfRay<Dim, Memory> row, std::int64_t rays) {
  using Doubles = Kokkos::View<double*, Memory>;
  const auto count =
      allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::tomography::entries_of_row", rays);
  const auto ground = allocate<Doubles>(exec, "moho::tomography::time_in_ground", rays);
  const auto air = allocate<Doubles>(exec, "moho::tomography::time_in_air", rays);
  row.count = count.data();
  row.ground = ground.data();
  row.air = air.data();
  launch("moho::tomography::count_rows", exec, rays, row);
  return {download(exec, count), download(exec, ground), download(exec, air)};
}

/// Makes rows and appends them. \param row model and rays \param scale factor of each row
template <int Dim, class Memory>
void append_rows(const Instance<Memory>& exec, RowOfRay<Dim, Memory> row,
                 const CountedRows& counted, const std::vector<double>& scale, SparseRows& result) {
  std::vector<std::int64_t> first = counted.count;
  const std::int64_t total = counts_to_offsets(first);
  const auto before = static_cast<std::int64_t>(result.column.size());
  for (std::size_t k = 0; k < first.size(); ++k) {
    result.first.push_back(before + first[k] + counted.count[k]);
  }
  if (total == 0) return;
  const auto places = upload(exec, first, "moho::tomography::first_entry");
  const auto factors = upload(exec, scale, "moho::tomography::scale_of_row");
  const auto column = allocate<Kokkos::View<int*, Memory>>(exec, "moho::tomography::column", total);
  const auto value =
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::value", total);
  row.first = places.data();
  row.scale = factors.data();
  row.column = column.data();
  row.value = value.data();
  launch("moho::tomography::make_rows", exec, static_cast<std::int64_t>(first.size()), row);
  const auto size = static_cast<std::size_t>(before + total);
  result.column.resize(size);
  result.value.resize(size);
  copy(exec, HostElements<int>(result.column.data() + before, static_cast<std::size_t>(total)),
       column);
  copy(exec, HostElements<double>(result.value.data() + before, static_cast<std::size_t>(total)),
       value);
  exec.fence();
}

/// Appends rays as polylines. \param seconds times of the rays
template <int Dim, class Memory>
void append_rays(const Instance<Memory>& exec, const PairRays<Dim, Memory>& rays,
                 const std::vector<double>& seconds, moho::rays::RayPaths<Dim>& result) {
  const auto shift = static_cast<std::int64_t>(result.points.size());
  const auto total = static_cast<std::size_t>(rays.first_on_host.back());
  result.points.resize(static_cast<std::size_t>(shift) + total);
  if (total > 0) {
    const Kokkos::View<double* [Dim], Kokkos::LayoutRight, Kokkos::HostSpace,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        host((result.points.data() + shift)->data(), total);
    copy(exec, host, rays.points);
    exec.fence();
  }
  for (std::size_t k = 1; k < rays.first_on_host.size(); ++k) {
    result.first.push_back(rays.first_on_host[k] + shift);
  }
  result.traveltime.insert(result.traveltime.end(), seconds.begin(), seconds.end());
}

}  // namespace moho::tomography::detail
