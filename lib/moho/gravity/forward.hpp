// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gravity and gravity gradient of ensembles of prisms at many stations.

#include <moho/core/instances.hpp>
#include <moho/core/space.hpp>
#include <moho/core/text.hpp>
#include <moho/gravity/detail/by_prisms.hpp>
#include <moho/gravity/detail/corners.hpp>
#include <moho/gravity/detail/tiles.hpp>
#include <moho/gravity/overlap.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

namespace moho::gravity {

namespace detail {

/// The kernel for a request, and the mapping of axes and components.
struct Plan {
  unsigned mask = 0;
  Kokkos::Array<int, 3> axis{0, 1, 2};  ///< kernel axis n is input axis axis[n]
  /// Index in the kernel's output of each requested component.
  Kokkos::Array<int, component_count> slot{};
  Kokkos::Array<double, component_count> factor{};  ///< factor of each requested component
  int count = 0;
};

/// Returns the plan of a request. A single component has its own kernel; axes are rotated so that
/// three kernels serve nine components.
/// \throws InputError no component, or a component named twice
Plan make_plan(const Components& components, double constant, double scale);

/// Returns the bytes that can still be allocated: the smaller of free memory and remaining budget.
double budget_of(const Options& options, std::size_t available, std::size_t allocated);

using text::counted;

/// Throws MemoryError if the bytes exceed the budget.
void check_budget(double bytes, double budget, const std::string& what);

/// Bytes that are held, their peak, and the limit of both.
class MemoryTally {
 public:
  /// \param limit bytes allowed \param what name of the owner in messages
  MemoryTally(double limit, std::string what) : m_limit(limit), m_what(std::move(what)) {}
  /// Adds bytes that are to be allocated. \throws MemoryError beyond the limit
  void take(double bytes) {
    check_budget(m_held + bytes, m_limit, m_what);
    m_held += bytes;
    m_max = std::max(m_max, m_held);
  }
  /// Releases bytes.
  void give(double bytes) { m_held -= bytes; }
  /// Adds bytes that are held temporarily. \throws MemoryError beyond the limit
  void pass(double bytes) {
    take(bytes);
    give(bytes);
  }
  /// Returns the bytes that are held.
  double held() const { return m_held; }
  /// Returns the peak.
  double max() const { return m_max; }

 private:
  double m_limit, m_held = 0.0, m_max = 0.0;
  std::string m_what;
};

/// Throws InputError for options out of range, or results that are not components x stations.
void check_options(const Options& options, const Components& components, std::size_t stations,
                   std::size_t rows, std::size_t columns);

/// Number and size of the teams of the paper's scheme.
struct Threads {
  int teams, team_size;
};
/// Returns the requested teams, or a choice for `threads` threads and the available memory.
/// \throws MemoryError not one private grid, or fewer than requested, fit the memory
Threads private_threads(bool host, int threads, const Options& options, std::int64_t prisms,
                        double bytes_a_grid, double left);

/// Throws InputError if two prisms overlap; rows are on the host.
void refuse_overlaps(const double* rows, std::int64_t count);

/// Returns the number of pairs between calls of the progress callback: some tenths of a second.
template <class Memory>
std::int64_t pairs_per_report(const Instance<Memory>& exec) {
  return is_host_memory<Memory> ? std::int64_t(4000000) * exec.concurrency()
                                : std::int64_t(20000000000);
}

/// The request in the form that all strategies use.
template <class T, class Memory, class Item>
struct Job {
  Kokkos::View<Item*, Memory> records;
  StationView<Memory> stations;
  ResultView<Memory> results;
  Frame frame;
  Plan plan;
  Distances<T> limits;
};

template <class Memory>
void finish(const Instance<Memory>& exec, const PartialSums& sums, std::int64_t chunks,
            const Plan& plan, const ResultView<Memory>& results) {
  const std::int64_t stations = static_cast<std::int64_t>(results.extent(1));
  launch("moho::gravity::add_chunks", exec, stations * plan.count,
         AddChunks{sums, chunks, results.data(), plan.slot, plan.factor, stations});
}

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <class T, class Memory, class Item>
void run_tiles(const Instance<Memory>& exec, const Job<T, Memory, Item>& job,
               const Options& options, Report& report) {
  using Shape = TileShape<T, Memory>;
  const int components = count_of(job.plan.mask);
  const std::int64_t prisms = static_cast<std::int64_t>(job.records.extent(0));
  const std::int64_t padded = round_up(report.stations, Shape::padding());
  const int block = Shape::block(options);
  TileData<T, Item> data{};
  data.records = job.records.data();
  data.limits = job.limits;
  data.blocks = static_cast<int>((padded + block - 1) / block);
  data.chunks =
      report.strategy == Strategy::by_stations ? 1 : Shape::chunks(exec, prisms, data.blocks);
  if (static_cast<double>(data.blocks) * data.chunks > 2147483647.0) {
    throw InputError(concat("stations: ", report.stations, " in teams of ", block,
                            " are more teams than a launch can have: take a larger team_size, or "
                            "fewer stations at a time"));
  }
  const double a_chunk = 8.0 * components * static_cast<double>(padded);
  const double packed = 3.0 * parts<T> * sizeof(T) * static_cast<double>(padded);
  const double left =
      budget_of(options, memory_budget(exec, options.memory_budget), report.memory) - packed;
  check_budget(a_chunk, left, "sums at " + counted(report.stations, "station"));
  data.chunks =
      static_cast<int>(std::max(1.0, std::min<double>(data.chunks, std::floor(left / a_chunk))));
  Kokkos::View<T*, Memory> stations;
  Kokkos::View<double*, Memory> sums;
  {
    const ScopedPhase phase(exec, report.times, "prepare");
    stations = pack_stations<T>(exec, job.stations, job.frame, padded);
    sums = allocate<Kokkos::View<double*, Memory>>(exec, "moho::gravity::sums",
                                                   data.chunks * components * padded);
    fill(exec, sums, 0.0);
  }
  data.stations = {stations.data(), padded};
  data.sums = {sums.data(), components, padded};
  report.private_grids = data.chunks;
  report.memory += static_cast<std::size_t>(packed + a_chunk * data.chunks);
  const std::int64_t per_pass =
      options.progress
          ? std::max<std::int64_t>(static_cast<std::int64_t>(data.chunks) * Shape::default_team,
                                   pairs_per_report(exec) / report.stations)
          : prisms;
  report.passes = (prisms + per_pass - 1) / per_pass;
  {
    const ScopedPhase phase(exec, report.times, "sum");
    for (std::int64_t first = 0; first < prisms; first += per_pass) {
      data.first = first;
      data.last = std::min(prisms, first + per_pass);
      sum_tiles(exec, job.plan.mask, data, block);
      if (options.progress) {
        exec.fence();
        options.progress(
            0.99 * static_cast<double>(data.last) / static_cast<double>(prisms),
            report.strategy == Strategy::by_corners ? "summing corners" : "summing prisms");
      }
    }
  }
  const ScopedPhase phase(exec, report.times, "reduce");
  finish(exec, data.sums, data.chunks, job.plan, job.results);
}

template <class T, class Memory>
void run_by_prisms(const Instance<Memory>& exec, const Job<T, Memory, Record<T>>& job,
                   const Options& options, Report& report) {
  const int count = count_of(job.plan.mask);
  const std::int64_t prisms = static_cast<std::int64_t>(job.records.extent(0));
  const std::int64_t padded = round_up(report.stations, TileShape<T, Memory>::padding());
  const double a_grid = static_cast<double>(sizeof(T)) * count * static_cast<double>(padded);
  const double others = (3.0 * parts<T> * sizeof(T) + 8.0 * count) * static_cast<double>(padded);
  const double left =
      budget_of(options, memory_budget(exec, options.memory_budget), report.memory) - others;
  if (static_cast<double>(count) * static_cast<double>(padded) > 2147483647.0) {
    throw InputError(
        concat("by_prisms: ", counted(count, "component"), " at ", report.stations,
               " stations are more than 2147483647 sums (allowed: fewer): take another "
               "strategy, or fewer stations at a time"));
  }
  const auto [teams, team_size] =
      private_threads(is_host_memory<Memory>, exec.concurrency(), options, prisms, a_grid, left);
  const std::int64_t threads = static_cast<std::int64_t>(teams) * team_size;
  Kokkos::View<T*, Memory> stations, grids;
  Kokkos::View<double*, Memory> sums;
  {
    const ScopedPhase phase(exec, report.times, "prepare");
    stations = pack_stations<T>(exec, job.stations, job.frame, padded);
    sums = allocate<Kokkos::View<double*, Memory>>(exec, "moho::gravity::sums", count * padded);
    grids = allocate<Kokkos::View<T*, Memory>>(exec, "moho::gravity::private_grids",
                                               threads * count * padded);
    fill(exec, grids, T(0));
  }
  const PartialSums partial{sums.data(), count, padded};
  PassData<T> data{
      job.records.data(), prisms, {stations.data(), padded}, {grids.data(), threads, count, padded},
      job.limits,         0};
  report.private_grids = threads;
  report.passes = (prisms + threads - 1) / threads;
  report.memory += static_cast<std::size_t>(others + a_grid * static_cast<double>(threads));
  {
    const ScopedPhase phase(exec, report.times, "sum");
    const std::int64_t passes_per_report =
        std::max<std::int64_t>(1, pairs_per_report(exec) / (threads * padded));
    for (std::int64_t pass = 0; pass < report.passes; ++pass) {
      data.first = pass * threads;
      sum_prisms(exec, job.plan.mask, data, teams, team_size);
      if (options.progress && (pass + 1) % passes_per_report == 0) {
        exec.fence();
        options.progress(0.99 * static_cast<double>(pass + 1) / static_cast<double>(report.passes),
                         "summing prisms");
      }
    }
  }
  const ScopedPhase phase(exec, report.times, "reduce");
  add_grids(exec, data.grids, partial);
  finish(exec, partial, 1, job.plan, job.results);
}

template <class T, class Memory, class Source>
Report sum_prisms_of(const Instance<Memory>& exec, const Source& source,
                     const StationView<Memory>& stations, const Components& components,
                     const ResultView<Memory>& results, const Options& options, Report report) {
  Job<T, Memory, Record<T>> job;
  job.stations = stations;
  job.results = results;
  std::int64_t count = 0;
  {
    const ScopedPhase phase(exec, report.times, "prepare");
    count = sum_of<std::int64_t>("moho::gravity::count_prisms", exec, source.size(),
                                 CountPrisms<Source>{source});
    job.plan = make_plan(components, options.constant, 1.0);
    job.frame = make_frame<T>(exec, source, job.plan.axis);
    job.plan = make_plan(components, options.constant, job.frame.scale);
    const double bytes = static_cast<double>(sizeof(Record<T>)) * static_cast<double>(count);
    check_budget(bytes, budget_of(options, memory_budget(exec, options.memory_budget), 0),
                 counted(count, "prism"));
    report.memory = static_cast<std::size_t>(bytes);
    job.records = pack_prisms<T>(exec, source, job.frame, count);
  }
  report.prisms = count;
  const double tolerance =
      options.far_tolerance < 0.0 ? default_far_tolerance<T> : options.far_tolerance;
  const double far = far_distance(job.plan.mask, tolerance);
  job.limits = {static_cast<T>(near_distance * near_distance), static_cast<T>(far * far)};
  if (count == 0) {
    fill(exec, results, 0.0);
  } else if (report.strategy == Strategy::by_prisms) {
    run_by_prisms(exec, job, options, report);
  } else {
    run_tiles(exec, job, options, report);
  }
  if (options.progress) {
    exec.fence();
    options.progress(1.0, "summing prisms");
  }
  return report;
}

template <class Memory>
Report sum_corners_of(const Instance<Memory>& exec, const RegularMesh& mesh,
                      const DensityView<Memory>& densities, const StationView<Memory>& stations,
                      const Components& components, const ResultView<Memory>& results,
                      const Options& options, Report report) {
  constexpr bool host = is_host_memory<Memory>;
  Job<double, Memory, CornerRecord> job;
  job.stations = stations;
  job.results = results;
  {
    const ScopedPhase phase(exec, report.times, "check");
    const std::int64_t inside = find_first("moho::gravity::check_outside", exec, report.stations,
                                           IsInMesh{stations.data(), mesh, infinity<double>()});
    if (inside != none_found) {
      throw InputError(concat("stations: row ", inside,
                              " (counted from 0) lies in the mesh or on it (allowed with "
                              "by_corners: stations outside): take another strategy"));
    }
  }
  {
    const ScopedPhase phase(exec, report.times, "prepare");
    report.prisms = sum_of<std::int64_t>("moho::gravity::count_prisms", exec, mesh.size(),
                                         CountPrisms<MeshSource>{{mesh, densities.data()}});
    job.plan = make_plan(components, options.constant, 1.0);
    job.frame.axis = job.plan.axis;
    PackCorners<host> pack{mesh, densities.data(), job.frame, nullptr};
    report.corners = sum_of<std::int64_t>("moho::gravity::count_corners", exec, pack.size(),
                                          CountCorners<host>{pack});
    const double bytes =
        static_cast<double>(sizeof(CornerRecord)) * static_cast<double>(report.corners);
    check_budget(bytes, budget_of(options, memory_budget(exec, options.memory_budget), 0),
                 counted(report.corners, "corner"));
    report.memory = static_cast<std::size_t>(bytes);
    job.records = allocate<decltype(job.records)>(exec, "moho::gravity::corners", report.corners);
    pack.records = job.records.data();
    scan<std::int64_t>("moho::gravity::pack_corners", exec, pack.size(), pack);
  }
  job.limits = {0.0, 0.0};
  if (report.corners == 0) {
    fill(exec, results, 0.0);
  } else {
    run_tiles(exec, job, options, report);
  }
  if (options.progress) {
    exec.fence();
    options.progress(1.0, "summing corners");
  }
  return report;
}

/// Returns true if the sum over corners saves work without loss of digits. Conditions: no station
/// touches the mesh or is further from its centre than ten of its diagonals. The corners of
/// non-zero weight are at most a quarter as many as the prisms.
template <class Memory>
bool corners_pay(const Instance<Memory>& exec, const RegularMesh& mesh,
                 const DensityView<Memory>& densities, const StationView<Memory>& stations) {
  constexpr bool host = is_host_memory<Memory>;
  const std::int64_t count_stations = static_cast<std::int64_t>(stations.extent(0));
  const std::int64_t prisms =
      sum_of<std::int64_t>("moho::gravity::count_prisms", exec, mesh.size(),
                           CountPrisms<MeshSource>{{mesh, densities.data()}});
  const double pairs = static_cast<double>(prisms) * static_cast<double>(count_stations);
  if (pairs < 100.0 * static_cast<double>(mesh.size())) return false;
  double diagonal2 = 0.0;
  for (int n = 0; n < 3; ++n) {
    diagonal2 += (mesh.upper[n] - mesh.lower[n]) * (mesh.upper[n] - mesh.lower[n]);
  }
  if (find_first("moho::gravity::check_outside", exec, count_stations,
                 IsInMesh{stations.data(), mesh, 10.0 * std::sqrt(diagonal2)}) != none_found) {
    return false;
  }
  const PackCorners<host> pack{mesh, densities.data(), Frame(), nullptr};
  return 4 * sum_of<std::int64_t>("moho::gravity::count_corners", exec, pack.size(),
                                  CountCorners<host>{pack}) <=
         prisms;
}

/// Checks the arguments common to all calls.
template <class Memory>
void check_call(const Instance<Memory>& exec, const StationView<Memory>& stations,
                const Components& components, const ResultView<Memory>& results,
                const Options& options) {
  (void)make_plan(components, options.constant, 1.0);
  if (options.strategy == Strategy::lattice) {
    throw InputError(
        "strategy: forward() has no lattice (allowed in compute_field(); LatticeOperator is the "
        "operator): take automatic");
  }
  if (options.strategy == Strategy::fmm) {
    throw InputError(
        "strategy: forward() has no fmm (allowed in compute_field(); FmmOperator is the operator): "
        "take automatic");
  }
  check_stations(exec, stations);
  check_options(options, components, stations.extent(0), results.extent(0), results.extent(1));
  check_contiguous(results, "results");
}

/// forward() of prisms given as rows.
template <class T, class Memory>
Report forward_rows(const Instance<Memory>& exec, const PrismView<Memory>& prisms,
                    const StationView<Memory>& stations, const Components& components,
                    const ResultView<Memory>& results, const Options& options) {
  check_call(exec, stations, components, results, options);
  Report report;
  report.stations = static_cast<std::int64_t>(stations.extent(0));
  report.strategy = options.strategy == Strategy::automatic ? Strategy::tiles : options.strategy;
  if (report.strategy == Strategy::by_corners) {
    throw InputError(
        "strategy: by_corners is for regular meshes (this ensemble is a list of prisms): give the "
        "mesh and its densities, or take tiles");
  }
  const std::int64_t count = static_cast<std::int64_t>(prisms.extent(0));
  {
    const ScopedPhase phase(exec, report.times, "check");
    check_prisms(exec, prisms);
    if (options.check_overlaps) refuse_overlaps(download(exec, prisms).data(), count);
  }
  return sum_prisms_of<T>(exec, RowSource{prisms.data(), count}, stations, components, results,
                          options, report);
}

/// automatic_strategy() for an instance.
template <class T, class Memory>
Strategy strategy_of(const Instance<Memory>& exec, const RegularMesh& mesh,
                     const DensityView<Memory>& densities, const StationView<Memory>& stations) {
  if constexpr (std::is_same_v<T, double>) {
    if (corners_pay(exec, mesh, densities, stations)) return Strategy::by_corners;
  }
  return Strategy::tiles;
}

/// forward() of a mesh.
template <class T, class Memory>
Report forward_mesh(const Instance<Memory>& exec, const RegularMesh& mesh,
                    const DensityView<Memory>& densities, const StationView<Memory>& stations,
                    const Components& components, const ResultView<Memory>& results,
                    const Options& options) {
  check_call(exec, stations, components, results, options);
  Report report;
  report.stations = static_cast<std::int64_t>(stations.extent(0));
  report.strategy = options.strategy;
  {
    const ScopedPhase phase(exec, report.times, "check");
    check_mesh(exec, mesh, densities);
  }
  if (report.strategy == Strategy::automatic) {
    const ScopedPhase phase(exec, report.times, "prepare");
    report.strategy = strategy_of<T>(exec, mesh, densities, stations);
  }
  if (report.strategy == Strategy::by_corners) {
    if constexpr (std::is_same_v<T, double>) {
      return sum_corners_of(exec, mesh, densities, stations, components, results, options, report);
    } else {
      throw InputError(
          "strategy: by_corners works in double precision (single was asked for: differences of "
          "corners would lose all its digits): take double, or tiles");
    }
  }
  return sum_prisms_of<T>(exec, MeshSource{mesh, densities.data()}, stations, components, results,
                          options, report);
}

}  // namespace detail

/// \brief Computes the field of an irregular ensemble of prisms.
///
/// \tparam T precision of the prisms' fields, float or double. Sums over prisms and results are
///         double in both cases; by_prisms keeps its private grids in T, as in the paper.
/// \param exec an Instance or an instance of a Kokkos execution space; all work is submitted to it
/// \param prisms one row per prism: x1, x2, y1, y2, z1, z2 (m, z down), density (kg/m^3)
/// \param stations one row per station: x, y, z (m, z down)
/// \param components requested components, in the order of the rows of the results
/// \param results components x stations: m^2/s^2, mGal, Eotvos. NaN where a component does not
///         exist: the gradient at a vertex, three of its components on an edge (see prism_field()).
/// \param options strategy, gravitational constant, memory
/// \returns statistics and times of the computation
/// \throws InputError for invalid prisms or stations (the message names the row), prisms that
///         overlap if options.check_overlaps, by_corners; MemoryError if the strategy's arrays do
///         not fit
template <class T, class Exec>
Report forward(const Exec& exec, const PrismView<Exec>& prisms, const StationView<Exec>& stations,
               const Components& components, const ResultView<Exec>& results,
               const Options& options = {}) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "forward() computes in float or double");
  return detail::forward_rows<T>(Instance<MemoryOf<Exec>>(exec), prisms, stations, components,
                                 results, options);
}

/// \brief Returns the choice of Strategy::automatic for a regular ensemble: by_corners or tiles.
///
/// by_corners requires double precision and at most a quarter as many corners of non-zero weight as
/// prisms. The stations must be outside the mesh and no further from its centre than ten of its
/// diagonals. In all other cases the choice is tiles.
template <class T, class Exec>
Strategy automatic_strategy(const Exec& exec, const RegularMesh& mesh,
                            const DensityView<Exec>& densities, const StationView<Exec>& stations) {
  return detail::strategy_of<T>(Instance<MemoryOf<Exec>>(exec), mesh, densities, stations);
}

/// \brief Computes the field of a regular ensemble: a mesh with a density for each prism.
///
/// A prism of density 0 has no field. Arguments and errors are those of the irregular ensemble. In
/// addition Strategy::by_corners is allowed: it evaluates each corner once for the up to eight
/// prisms that share it. It omits corners where their densities cancel, as inside a homogeneous
/// body. It works in double precision; far away it loses digits as the textbook's form does.
///
/// \param mesh the box and its division
/// \param densities kg/m^3, x fastest, then y, then z
template <class T, class Exec>
Report forward(const Exec& exec, const RegularMesh& mesh, const DensityView<Exec>& densities,
               const StationView<Exec>& stations, const Components& components,
               const ResultView<Exec>& results, const Options& options = {}) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "forward() computes in float or double");
  return detail::forward_mesh<T>(Instance<MemoryOf<Exec>>(exec), mesh, densities, stations,
                                 components, results, options);
}

#ifdef MOHO_GRAVITY_KERNELS
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::sum_tiles, float, detail::Record<float>)
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::sum_tiles, double, detail::Record<double>)
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::sum_tiles, double, detail::CornerRecord)
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template, detail::sum_prisms)
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template, detail::forward_rows)
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template, detail::strategy_of)
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template, detail::forward_mesh)
#endif

}  // namespace moho::gravity
