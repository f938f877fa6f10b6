// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gravity and gravity gradient of ensembles of prisms at many stations.

#include <moho/gravity/by_prisms.hpp>
#include <moho/gravity/corners.hpp>
#include <moho/gravity/overlap.hpp>
#include <moho/gravity/tiles.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace moho::gravity {

namespace detail {

/// The kernel that serves a request, and how its axes and components belong to the request's.
struct Plan {
  unsigned mask = 0;
  Kokkos::Array<int, 3> axis{0, 1, 2};              ///< kernel axis n is input axis axis[n]
  Kokkos::Array<int, component_count> place{};      ///< of a requested component
  Kokkos::Array<double, component_count> factor{};  ///< of a requested component
  int count = 0;
};

/// A component alone has a kernel of its own, with axes turned so that three kernels serve nine.
inline Plan make_plan(const Components& components, double constant, double scale) {
  if (components.empty()) {
    throw InputError("components: none is named (allowed: 1 to 10 different ones)");
  }
  Plan plan;
  unsigned wanted = 0;
  for (const Component c : components) {
    if ((wanted & bit(c)) != 0) {
      throw InputError(concat("components: ", to_string(c),
                              " is named twice (allowed: each once): leave one out"));
    }
    wanted |= bit(c);
  }
  if (components.size() == 1 && components[0] != Component::potential) {
    const int c = static_cast<int>(components[0]);
    int turn = 0;  // the kernel's z, or its x and y, is this many axes ahead of the input's
    if (c < 4) {
      plan.mask = mask_gz;
      turn = c % 3;
    } else if (c < 7) {
      plan.mask = mask_gzz;
      turn = (c - 3) % 3;
    } else {
      plan.mask = mask_gxy;
      turn = c == 7 ? 0 : c == 9 ? 1 : 2;
    }
    for (int n = 0; n < 3; ++n) plan.axis[n] = (n + turn) % 3;
  } else {
    for (const unsigned mask : {1u, mask_attraction, mask_gradient, mask_nine, mask_ten}) {
      plan.mask = mask;
      if ((wanted & ~mask) == 0) break;
    }
  }
  plan.count = static_cast<int>(components.size());
  for (int i = 0; i < plan.count; ++i) {
    const Component c = components[static_cast<std::size_t>(i)];
    const int index = static_cast<int>(c);
    const bool alone = count_of(plan.mask) == 1;
    plan.place[i] = alone ? 0 : place_of(plan.mask, index);
    // lengths carry a scale: attraction comes out times it, the potential times its square
    const double unit = index == 0 ? 1.0 / (scale * scale) : index < 4 ? milligal / scale : eotvos;
    plan.factor[i] = 2.0 * constant * unit;
  }
  return plan;
}

/// Calls function(integral constant of the mask).
template <class Function>
void with_mask(unsigned mask, const Function& function) {
  const auto attempt = [&](auto constant) {
    if (mask == decltype(constant)::value) function(constant);
  };
  attempt(std::integral_constant<unsigned, 1u>());
  attempt(std::integral_constant<unsigned, mask_gz>());
  attempt(std::integral_constant<unsigned, mask_gzz>());
  attempt(std::integral_constant<unsigned, mask_gxy>());
  attempt(std::integral_constant<unsigned, mask_attraction>());
  attempt(std::integral_constant<unsigned, mask_gradient>());
  attempt(std::integral_constant<unsigned, mask_nine>());
  attempt(std::integral_constant<unsigned, mask_ten>());
}

/// Bytes that may still be allocated in the space, when some have been allocated already.
template <class Exec>
double budget_of(const Exec& exec, const Options& options, std::size_t allocated) {
  const double free_bytes = 0.9 * static_cast<double>(available_memory(exec));
  if (options.memory_budget == 0) return free_bytes;
  return std::min(free_bytes,
                  static_cast<double>(options.memory_budget) - static_cast<double>(allocated));
}

/// Throws MemoryError if the bytes do not fit.
inline void check_budget(double bytes, double budget, const std::string& what) {
  if (bytes <= budget) return;
  throw MemoryError(concat(what, " take ", format_bytes(bytes),
                           " (allowed: ", format_bytes(budget < 0.0 ? 0.0 : budget),
                           "): allow more memory, or take fewer stations at a time"));
}

/// Pairs after which a callback is told how far the work is: some tenths of a second.
template <class Exec>
std::int64_t pairs_per_report(const Exec& exec) {
  return is_host_space<Exec> ? std::int64_t(4000000) * static_cast<std::int64_t>(exec.concurrency())
                             : std::int64_t(20000000000);
}

/// Everything that the strategies share.
template <class T, class Exec, class Item>
struct Job {
  Kokkos::View<const Item*, typename Exec::memory_space> records;
  StationView<Exec> stations;
  ResultView<Exec> results;
  Frame frame;
  Plan plan;
  Distances<T> limits;
};

template <class Exec>
void finish(const Exec& exec, const PartialSums<Exec>& sums, const Plan& plan,
            const ResultView<Exec>& results) {
  const std::int64_t stations = static_cast<std::int64_t>(results.extent(1));
  Kokkos::parallel_for("moho::gravity::add_chunks", LongRange<Exec>(exec, 0, stations * plan.count),
                       AddChunks<Exec>{sums, results, plan.place, plan.factor, stations});
}

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <unsigned Mask, class T, class Exec, class Item>
void run_tiles(const Exec& exec, const Job<T, Exec, Item>& job, const Options& options,
               Report& report) {
  using Shape = TileShape<T, Exec>;
  const std::int64_t prisms = static_cast<std::int64_t>(job.records.extent(0));
  const std::int64_t padded = round_up(report.stations, Shape::padding());
  const int block = Shape::block(options);
  TileData<T, Exec, Item> data;
  data.records = job.records;
  data.limits = job.limits;
  data.blocks = static_cast<int>((padded + block - 1) / block);
  data.chunks =
      report.strategy == Strategy::by_stations ? 1 : Shape::chunks(exec, prisms, data.blocks);
  if (static_cast<double>(data.blocks) * data.chunks > 2147483647.0) {
    throw InputError(concat("stations: ", report.stations, " in teams of ", block,
                            " are more teams than a launch can have: take a larger team_size, or "
                            "fewer stations at a time"));
  }
  const double a_chunk = 8.0 * count_of(Mask) * static_cast<double>(padded);
  const double packed = 3.0 * parts<T> * sizeof(T) * static_cast<double>(padded);
  const double left = budget_of(exec, options, report.memory) - packed;
  check_budget(a_chunk, left, concat("sums at ", report.stations, " stations"));
  data.chunks =
      static_cast<int>(std::max(1.0, std::min<double>(data.chunks, std::floor(left / a_chunk))));
  {
    const ScopedPhase<Exec> phase(exec, report.times, "prepare");
    data.stations = pack_stations<T>(exec, job.stations, job.frame, padded);
    data.sums = allocate<PartialSums<Exec>>(exec, "moho::gravity::sums", data.chunks,
                                            count_of(Mask), padded);
    Kokkos::deep_copy(exec, data.sums, 0.0);
  }
  report.private_grids = data.chunks;
  report.memory += static_cast<std::size_t>(packed + a_chunk * data.chunks);
  const std::int64_t per_pass =
      options.progress
          ? std::max<std::int64_t>(static_cast<std::int64_t>(data.chunks) * Shape::default_team,
                                   pairs_per_report(exec) / report.stations)
          : prisms;
  report.passes = (prisms + per_pass - 1) / per_pass;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "sum");
    for (std::int64_t first = 0; first < prisms; first += per_pass) {
      data.first = first;
      data.last = std::min(prisms, first + per_pass);
      sum_tiles<Mask>(exec, data, block);
      if (options.progress) {
        exec.fence();
        options.progress(
            0.99 * static_cast<double>(data.last) / static_cast<double>(prisms),
            report.strategy == Strategy::by_corners ? "summing corners" : "summing prisms");
      }
    }
  }
  const ScopedPhase<Exec> phase(exec, report.times, "reduce");
  finish<Exec>(exec, data.sums, job.plan, job.results);
}

/// Threads of the paper's scheme: what was asked for, or what suits the space and its memory.
template <class T, class Exec>
std::pair<int, int> private_threads(const Exec& exec, const Options& options, std::int64_t prisms,
                                    double bytes_a_grid, double left) {
  const int threads = static_cast<int>(exec.concurrency());
  const std::int64_t fit =
      static_cast<std::int64_t>(std::max(0.0, std::floor(left / bytes_a_grid)));
  const auto no_room = [&](std::int64_t wanted) {
    return MemoryError(concat("by_prisms: ", wanted,
                              wanted == 1 ? " private grid takes " : " private grids take ",
                              format_bytes(bytes_a_grid * static_cast<double>(wanted)), ", ",
                              format_bytes(std::max(0.0, left)), " are allowed, in which ", fit,
                              fit == 1 ? " fits" : " fit",
                              ": take fewer teams or a smaller team size, or another strategy"));
  };
  int team_size = options.team_size, teams = options.teams;
  if (is_host_space<Exec>) {
    if (team_size <= 0) team_size = 1;
    if (teams <= 0) {
      const std::int64_t most =
          std::min<std::int64_t>({threads, prisms, std::max<std::int64_t>(fit, 1)});
      teams = static_cast<int>(std::max<std::int64_t>(1, most / team_size));
    }
  } else {
    if (team_size <= 0) team_size = 128;
    if (teams <= 0) {
      const std::int64_t most = std::min<std::int64_t>({threads / 16, prisms, fit});
      if (most < 1) throw no_room(1);
      if (most < team_size) team_size = static_cast<int>(most);
      teams = static_cast<int>(most / team_size);
    }
  }
  const std::int64_t wanted = static_cast<std::int64_t>(teams) * team_size;
  if (wanted > fit) throw no_room(wanted);
  return {teams, team_size};
}

template <unsigned Mask, class T, class Exec>
void run_by_prisms(const Exec& exec, const Job<T, Exec, Record<T>>& job, const Options& options,
                   Report& report) {
  constexpr int count = count_of(Mask);
  const std::int64_t prisms = static_cast<std::int64_t>(job.records.extent(0));
  const std::int64_t padded = round_up(report.stations, TileShape<T, Exec>::padding());
  const double a_grid = static_cast<double>(sizeof(T)) * count * static_cast<double>(padded);
  const double others = (3.0 * parts<T> * sizeof(T) + 8.0 * count) * static_cast<double>(padded);
  const double left = budget_of(exec, options, report.memory) - others;
  if (static_cast<double>(count) * static_cast<double>(padded) > 2147483647.0) {
    throw InputError(
        concat("by_prisms: ", count, " components at ", report.stations,
               " stations are more than 2147483647 sums (allowed: fewer): take another "
               "strategy, or fewer stations at a time"));
  }
  const auto [teams, team_size] = private_threads<T>(exec, options, prisms, a_grid, left);
  const std::int64_t threads = static_cast<std::int64_t>(teams) * team_size;
  PackedStations<T, Exec> stations;
  PrivateGrids<T, Exec> grids;
  PartialSums<Exec> sums;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "prepare");
    stations = pack_stations<T>(exec, job.stations, job.frame, padded);
    sums = allocate<PartialSums<Exec>>(exec, "moho::gravity::sums", 1, count, padded);
    grids = is_host_space<Exec> ? allocate<PrivateGrids<T, Exec>>(
                                      exec, "moho::gravity::private_grids", threads, count, padded)
                                : allocate<PrivateGrids<T, Exec>>(
                                      exec, "moho::gravity::private_grids", count, padded, threads);
    Kokkos::deep_copy(exec, grids, T(0));
  }
  report.private_grids = threads;
  report.passes = (prisms + threads - 1) / threads;
  report.memory += static_cast<std::size_t>(others + a_grid * static_cast<double>(threads));
  {
    const ScopedPhase<Exec> phase(exec, report.times, "sum");
    const std::int64_t passes_per_report =
        std::max<std::int64_t>(1, pairs_per_report(exec) / (threads * padded));
    for (std::int64_t pass = 0; pass < report.passes; ++pass) {
      sum_prisms<Mask, T>(exec, job.records, stations, grids, job.limits, pass * threads, teams,
                          team_size);
      if (options.progress && (pass + 1) % passes_per_report == 0) {
        exec.fence();
        options.progress(0.99 * static_cast<double>(pass + 1) / static_cast<double>(report.passes),
                         "summing prisms");
      }
    }
  }
  const ScopedPhase<Exec> phase(exec, report.times, "reduce");
  add_grids<T, Exec>(exec, grids, sums);
  finish<Exec>(exec, sums, job.plan, job.results);
}

template <class T, class Exec, class Source>
Report sum_prisms_of(const Exec& exec, const Source& source, const StationView<Exec>& stations,
                     const Components& components, const ResultView<Exec>& results,
                     const Options& options, Report report) {
  Job<T, Exec, Record<T>> job;
  job.stations = stations;
  job.results = results;
  std::int64_t count = 0;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "prepare");
    Kokkos::parallel_reduce("moho::gravity::count_prisms", LongRange<Exec>(exec, 0, source.size()),
                            CountPrisms<Source>{source}, Kokkos::Sum<std::int64_t>(count));
    exec.fence();
    job.plan = make_plan(components, options.constant, 1.0);
    job.frame = make_frame<T>(exec, source, job.plan.axis);
    job.plan = make_plan(components, options.constant, job.frame.scale);
    const double bytes = static_cast<double>(sizeof(Record<T>)) * static_cast<double>(count);
    check_budget(bytes, budget_of(exec, options, 0), concat(count, " prisms"));
    report.memory = static_cast<std::size_t>(bytes);
    job.records = pack_prisms<T>(exec, source, job.frame, count);
  }
  report.prisms = count;
  const double tolerance =
      options.far_tolerance < 0.0 ? default_far_tolerance<T> : options.far_tolerance;
  const double far = far_distance(job.plan.mask, tolerance);
  job.limits = {static_cast<T>(near_distance * near_distance), static_cast<T>(far * far)};
  if (count == 0) {
    Kokkos::deep_copy(exec, results, 0.0);
  } else {
    with_mask(job.plan.mask, [&](auto mask) {
      constexpr unsigned Mask = decltype(mask)::value;
      if (report.strategy == Strategy::by_prisms) {
        run_by_prisms<Mask>(exec, job, options, report);
      } else {
        run_tiles<Mask>(exec, job, options, report);
      }
    });
  }
  if (options.progress) {
    exec.fence();
    options.progress(1.0, "summing prisms");
  }
  return report;
}

template <class Exec>
Report sum_corners_of(const Exec& exec, const RegularMesh& mesh, const DensityView<Exec>& densities,
                      const StationView<Exec>& stations, const Components& components,
                      const ResultView<Exec>& results, const Options& options, Report report) {
  using Records = Kokkos::View<CornerRecord*, typename Exec::memory_space>;
  Job<double, Exec, CornerRecord> job;
  job.stations = stations;
  job.results = results;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "check");
    const std::int64_t inside = find_first(exec, "moho::gravity::check_outside", report.stations,
                                           FindStationInMesh<Exec>{stations, mesh});
    if (inside != nothing_bad) {
      throw InputError(concat("stations: row ", inside,
                              " (counted from 0) lies in the mesh or on it (allowed with "
                              "by_corners: stations outside): take another strategy"));
    }
  }
  std::int64_t corners = 0;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "prepare");
    Kokkos::parallel_reduce("moho::gravity::count_prisms", LongRange<Exec>(exec, 0, mesh.size()),
                            CountPrisms<MeshSource<Exec>>{{mesh, densities}},
                            Kokkos::Sum<std::int64_t>(report.prisms));
    job.plan = make_plan(components, options.constant, 1.0);
    job.frame.axis = job.plan.axis;
    PackCorners<Exec> pack{mesh, densities, job.frame, Records()};
    const LongRange<Exec> all(exec, 0, pack.size());
    Kokkos::parallel_scan("moho::gravity::count_corners", all, pack, corners);
    exec.fence();
    const double bytes = static_cast<double>(sizeof(CornerRecord)) * static_cast<double>(corners);
    check_budget(bytes, budget_of(exec, options, 0), concat(corners, " corners"));
    report.memory = static_cast<std::size_t>(bytes);
    pack.records = allocate<Records>(exec, "moho::gravity::corners", corners);
    std::int64_t again = 0;
    Kokkos::parallel_scan("moho::gravity::pack_corners", all, pack, again);
    exec.fence();
    job.records = pack.records;
  }
  report.corners = corners;
  job.limits = {0.0, 0.0};
  if (corners == 0) {
    Kokkos::deep_copy(exec, results, 0.0);
  } else {
    with_mask(job.plan.mask,
              [&](auto mask) { run_tiles<decltype(mask)::value>(exec, job, options, report); });
  }
  if (options.progress) {
    exec.fence();
    options.progress(1.0, "summing corners");
  }
  return report;
}

/// Does the sum over corners save work and keep the digits? Where it is worth counting, no station
/// touches the mesh or is further from its centre than ten of its diagonals, and at most a quarter
/// as many corners as prisms count.
template <class Exec>
bool corners_pay(const Exec& exec, const RegularMesh& mesh, const DensityView<Exec>& densities,
                 const StationView<Exec>& stations) {
  const std::int64_t count_stations = static_cast<std::int64_t>(stations.extent(0));
  std::int64_t prisms = 0, corners = 0;
  Kokkos::parallel_reduce("moho::gravity::count_prisms", LongRange<Exec>(exec, 0, mesh.size()),
                          CountPrisms<MeshSource<Exec>>{{mesh, densities}},
                          Kokkos::Sum<std::int64_t>(prisms));
  exec.fence();
  const double pairs = static_cast<double>(prisms) * static_cast<double>(count_stations);
  if (pairs < 100.0 * static_cast<double>(mesh.size())) return false;
  double diagonal2 = 0.0;
  for (int n = 0; n < 3; ++n) {
    diagonal2 += (mesh.upper[n] - mesh.lower[n]) * (mesh.upper[n] - mesh.lower[n]);
  }
  if (find_first(exec, "moho::gravity::check_outside", count_stations,
                 FindStationInMesh<Exec>{stations, mesh, 10.0 * std::sqrt(diagonal2)}) !=
      nothing_bad) {
    return false;
  }
  const PackCorners<Exec> count{mesh, densities, Frame(), {}};
  Kokkos::parallel_scan("moho::gravity::count_corners", LongRange<Exec>(exec, 0, count.size()),
                        count, corners);
  exec.fence();
  return 4 * corners <= prisms;
}

/// Checks what every call has.
template <class T, class Exec>
void check_call(const Exec& exec, const StationView<Exec>& stations, const Components& components,
                const ResultView<Exec>& results, const Options& options) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "forward() computes in float or double");
  (void)make_plan(components, options.constant, 1.0);
  check_stations<Exec>(exec, stations);
  if (results.extent(0) != components.size() || results.extent(1) != stations.extent(0)) {
    throw InputError(concat("results: the shape is ", results.extent(0), " x ", results.extent(1),
                            " (allowed: ", components.size(), " x ", stations.extent(0),
                            ", components x stations)"));
  }
  if (!std::isfinite(options.constant) || options.constant == 0.0) {
    throw InputError(concat("constant: ", options.constant,
                            " (allowed: finite and not zero; 6.6743e-11 m^3/(kg s^2))"));
  }
  if (std::isnan(options.far_tolerance) || options.far_tolerance > 1e-2) {
    throw InputError(concat("far_tolerance: ", options.far_tolerance,
                            " (allowed: 0 to 0.01, or negative for the precision's own)"));
  }
  if (options.team_size < 0 || options.team_size > 1024 || options.teams < 0) {
    throw InputError(concat("team_size, teams: ", options.team_size, ", ", options.teams,
                            " (allowed: a team of 1 to 1024 threads, 1 team or more, or 0)"));
  }
}

}  // namespace detail

/// \brief The field of an irregular ensemble of prisms.
///
/// \tparam T precision of the prisms' fields, float or double. Sums over prisms and results are
/// double either way (by_prisms keeps its private grids in T, as the paper does).
/// \param exec where to compute; all work goes to this instance
/// \param prisms a row a prism: x1, x2, y1, y2, z1, z2 (m, z down), density (kg/m^3)
/// \param stations a row a station: x, y, z (m, z down)
/// \param components which, in the order of the rows of the results
/// \param results components x stations: m^2/s^2, mGal, Eotvos. NaN where a component does not
/// exist: the gradient at a vertex, three of its components on an edge (see prism_field()).
/// \param options arrangement, gravitational constant, memory
/// \returns what was done and how long it took
/// \throws InputError for prisms or stations that cannot be (the message names the row), prisms
/// that overlap if options.check_overlaps, by_corners; MemoryError if what the strategy needs does
/// not fit
template <class T, class Exec>
Report forward(const Exec& exec, const PrismView<Exec>& prisms, const StationView<Exec>& stations,
               const Components& components, const ResultView<Exec>& results,
               const Options& options = {}) {
  detail::check_call<T, Exec>(exec, stations, components, results, options);
  Report report;
  report.stations = static_cast<std::int64_t>(stations.extent(0));
  report.strategy = options.strategy == Strategy::automatic ? Strategy::tiles : options.strategy;
  if (report.strategy == Strategy::by_corners) {
    throw InputError(
        "strategy: by_corners is for regular meshes (this ensemble is a list of prisms): give the "
        "mesh and its densities, or take tiles");
  }
  {
    const ScopedPhase<Exec> phase(exec, report.times, "check");
    detail::check_prisms<Exec>(exec, prisms);
    if (options.check_overlaps) {
      const Kokkos::View<double* [7], Kokkos::LayoutRight, Kokkos::HostSpace> host(
          "moho::gravity::host_prisms", prisms.extent(0));
      Kokkos::deep_copy(exec, host, prisms);
      exec.fence();
      if (const auto overlap =
              find_overlap(host.data(), static_cast<std::int64_t>(host.extent(0)))) {
        throw InputError(concat("prisms: rows ", overlap->first, " and ", overlap->second,
                                " (counted from 0) overlap (allowed: prisms that share faces at "
                                "most): cut them, or leave the check out"));
      }
    }
  }
  return detail::sum_prisms_of<T, Exec>(exec, detail::RowSource<Exec>{prisms}, stations, components,
                                        results, options, report);
}

/// \brief What Strategy::automatic stands for with a regular ensemble: by_corners in double
/// precision where at most a quarter as many corners as prisms count, and the stations are outside
/// of the mesh and no further from its centre than ten of its diagonals; else tiles.
template <class T, class Exec>
Strategy automatic_strategy(const Exec& exec, const RegularMesh& mesh,
                            const DensityView<Exec>& densities, const StationView<Exec>& stations) {
  if constexpr (std::is_same_v<T, double>) {
    if (detail::corners_pay<Exec>(exec, mesh, densities, stations)) return Strategy::by_corners;
  }
  return Strategy::tiles;
}

/// \brief The field of a regular ensemble: a mesh with a density for each prism, 0 for none.
///
/// As above, and Strategy::by_corners, which evaluates each corner once for the up to eight prisms
/// that share it, and none where their densities cancel (inside of a homogeneous body). It works in
/// double precision and has the textbook's precision far away.
///
/// \param mesh the box and its division
/// \param densities kg/m^3, numbered along x, then y, then z
template <class T, class Exec>
Report forward(const Exec& exec, const RegularMesh& mesh, const DensityView<Exec>& densities,
               const StationView<Exec>& stations, const Components& components,
               const ResultView<Exec>& results, const Options& options = {}) {
  detail::check_call<T, Exec>(exec, stations, components, results, options);
  Report report;
  report.stations = static_cast<std::int64_t>(stations.extent(0));
  report.strategy = options.strategy;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "check");
    detail::check_mesh<Exec>(exec, mesh, densities);
  }
  if (report.strategy == Strategy::automatic) {
    const ScopedPhase<Exec> phase(exec, report.times, "prepare");
    report.strategy = automatic_strategy<T>(exec, mesh, densities, stations);
  }
  if (report.strategy == Strategy::by_corners) {
    if constexpr (std::is_same_v<T, double>) {
      return detail::sum_corners_of<Exec>(exec, mesh, densities, stations, components, results,
                                          options, report);
    } else {
      throw InputError(
          "strategy: by_corners works in double precision (single was asked for: differences of "
          "corners would lose all its digits): take double, or tiles");
    }
  }
  return detail::sum_prisms_of<T, Exec>(exec, detail::MeshSource<Exec>{mesh, densities}, stations,
                                        components, results, options, report);
}

}  // namespace moho::gravity
