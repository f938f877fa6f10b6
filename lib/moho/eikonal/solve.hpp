// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First-arrival traveltimes in parallel, on every execution space.

#include <moho/core/instances.hpp>
#include <moho/core/space.hpp>
#include <moho/eikonal/check.hpp>
#include <moho/eikonal/detail/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace moho::eikonal {

namespace detail {

/// Writes times from u: those of each source, or the earliest over all sources of the batch.
template <bool Anelliptic, class T, int Dim>
struct WriteTimes {
  Problem<T, Dim> problem;
  T* times;
  std::int64_t nodes;
  bool earliest;
  bool lower;  ///< keep earlier times that `times` already holds
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim], rest = i % nodes;
    for (int d = Dim - 1; d >= 0; --d) {
      node[d] = rest % problem.grid.extents[d];
      rest /= problem.grid.extents[d];
    }
    const std::int64_t index = problem.grid.at(node);
    if (!earliest) {
      times[i] = time(static_cast<int>(i / nodes), index, node);
      return;
    }
    T min = lower ? times[i] : infinity<T>();
    for (int s = 0; s < problem.sources; ++s) {
      const T t = time(s, index, node);
      min = t < min ? t : min;
    }
    times[i] = min;
  }
  KOKKOS_FORCEINLINE_FUNCTION T time(int source, std::int64_t index,
                                     const std::int64_t (&node)[Dim]) const {
    using std::sqrt;
    const T square = problem.template factor<Anelliptic>(source, index, node).square(0, 0);
    return sqrt(square) * *problem.values(source, index);
  }
};

/// Writes the times of a problem, and waits for completion.
template <class T, int Dim, class Memory>
void write_times(const Instance<Memory>& exec, const Problem<T, Dim>& problem, T* times,
                 std::int64_t nodes, bool earliest, bool lower) {
  const std::int64_t count = earliest ? nodes : nodes * problem.sources;
  if (problem.model.anelliptic()) {
    launch("moho::eikonal::write_times", exec, count,
           WriteTimes<true, T, Dim>{problem, times, nodes, earliest, lower});
  } else {
    launch("moho::eikonal::write_times", exec, count,
           WriteTimes<false, T, Dim>{problem, times, nodes, earliest, lower});
  }
  exec.fence();
}

/// Returns the number of sources per batch: all, unless memory is short.
/// \param each bytes per source
/// \param budget bytes allowed by the options; 0: no limit
/// \param room bytes available
std::size_t sources_per_batch(std::size_t each, std::int64_t tiles, std::size_t sources,
                              std::size_t budget, std::size_t room);

/// Returns the number of sources per batch for a grid and a kind of model.
/// \param more additional bytes per node
template <class T, int Dim, class Memory>
std::size_t sources_per_batch(const Instance<Memory>& exec, const TiledGrid<Dim>& tiled,
                              bool anelliptic, std::size_t sources, const Options& options,
                              std::size_t more = 0) {
  const std::size_t budget = options.memory_budget;
  const std::size_t each =
      storage_bytes<T>(tiled, anelliptic, options.order) +
      static_cast<std::size_t>(tiled.size) * more +
      static_cast<std::size_t>(tiled.tile_count) * (sizeof(T) + 3 * sizeof(int));
  return sources_per_batch(each, tiled.tile_count, sources, budget, memory_budget(exec, budget));
}

/// Returns the progress callback of a batch: \p share of the total work, after \p before of it.
Progress part_of_progress(const Progress& progress, double before, double share);

/// Selects the neighbours of second-order differences by the current times.
template <class T, int Dim, class Memory>
void choose_upwinds(const Instance<Memory>& exec, const Problem<T, Dim>& problem,
                    const Marks<T>& marks) {
  constexpr const char* label = "moho::eikonal::choose_upwinds";
  std::int64_t nodes = 1;
  for (int d = 0; d < Dim; ++d) nodes *= problem.grid.extents[d];
  if (problem.model.anelliptic()) {
    launch(label, exec, nodes * problem.sources,
           ChooseUpwinds<true, T, Dim>{problem, marks, nodes});
  } else {
    launch(label, exec, nodes * problem.sources,
           ChooseUpwinds<false, T, Dim>{problem, marks, nodes});
  }
}

/// Solves a problem whose tiles around the sources are marked. First order is followed by
/// `corrections` solutions of second order if requested.
/// \param ahead seconds, see Options::tiles_ahead
template <class T, int Dim, class Memory>
void solve_problem(const Instance<Memory>& exec, const Problem<T, Dim>& problem,
                   const Marks<T>& marks, const Options& options, T ahead, const Progress& progress,
                   Report& report) {
  const bool exact = options.order == 2;
  const int passes = options.order == 2 ? 1 + corrections : 1;
  for (int pass = 0; pass < passes; ++pass) {
    const int order = pass == 0 ? 1 : 2;
    if (order == 2) choose_upwinds(exec, problem, marks);
    const Progress part =
        part_of_progress(progress, static_cast<double>(pass) / passes, 1.0 / passes);
    if (options.method == Method::active_tiles) {
      solve_active_tiles(exec, order, exact, problem, marks, ahead, part, report);
    } else {
      solve_sweeping(exec, order, exact, problem, marks, part, report);
    }
  }
}

/// Solves for all sources, batch by batch.
template <class T, int Dim, class Memory>
Report solve_all(const Instance<Memory>& exec, const Grid<Dim>& grid,
                 const Model<T, Dim, Memory>& fields, const Points<Dim>& points, T* times,
                 bool earliest, const Options& options, double slowness) {
  Report report;
  const ModelData<T> model = addresses(fields);
  const TiledGrid<Dim> tiled(grid, is_host_memory<Memory>);
  const std::size_t batch =
      sources_per_batch<T>(exec, tiled, model.anelliptic(), points.size(), options);
  report.batches = static_cast<std::int64_t>((points.size() + batch - 1) / batch);
  const std::vector<Source<Dim>> sources =
      make_sources(exec, grid, model, points, options.factored);
  double tile = 0.0;
  for (int d = 0; d < Dim; ++d) tile += tiled.tile[d] * grid.spacing[d] / Dim;
  const double tiles_ahead = options.tiles_ahead > 0.0 ? options.tiles_ahead : 1.0;
  for (std::size_t begin = 0; begin < points.size(); begin += batch) {
    const std::size_t end = std::min(points.size(), begin + batch);
    const std::vector<Source<Dim>> some(sources.begin() + static_cast<std::ptrdiff_t>(begin),
                                        sources.begin() + static_cast<std::ptrdiff_t>(end));
    ProblemStorage<T, Dim, Memory> storage;
    MarkStorage<T, Memory> mark_storage;
    const Problem<T, Dim> problem =
        make_problem(exec, grid, tiled, model, some, options.factored, options.order, storage);
    const Marks<T> marks = make_marks(exec, tiled, some, mark_storage);
    const double all = static_cast<double>(points.size());
    const Progress progress = part_of_progress(options.progress, static_cast<double>(begin) / all,
                                               static_cast<double>(end - begin) / all);
    solve_problem(exec, problem, marks, options, static_cast<T>(tiles_ahead * tile * slowness),
                  progress, report);
    const auto counts = fetch_counts(exec, marks);
    report.tile_visits += counts[visits];
    report.updates += counts[updates];
    const std::int64_t nodes = grid.size();
    T* const out = earliest ? times : times + nodes * static_cast<std::int64_t>(begin);
    write_times(exec, problem, out, nodes, earliest, begin > 0);
  }
  if (options.progress) options.progress(1.0, "done");
  return report;
}

}  // namespace detail

/// Computes first-arrival traveltimes: at every node the earliest over all sources.
///
/// Solves H(x, grad T) = 1 with Godunov's upwind differences of first or second order. H is v^2
/// |p|^2 in an isotropic medium and v_h^2 p_h^2 + v_z^2 p_z^2 in an elliptical one. For P waves in
/// an acoustic VTI medium it is v_h^2 p_h^2 + v_z^2 p_z^2 - 2 (epsilon - delta) v_z^4 p_h^2 p_z^2
/// (Alkhalifah, 2000; v_h^2 = v_z^2 (1 + 2 epsilon)).
///
/// With Options::factored T = T0 u is solved for u; T0 is the time of the homogeneous medium at the
/// source (Fomel, Luo and Zhao, 2009). The source's singularity then causes no loss of accuracy.
/// Each source is solved separately.
///
/// \param exec all work is submitted to this instance; the function returns when it is complete
/// \param grid nodes, spacing and origin
/// \param model velocity; epsilon and delta are optional
/// \param sources positions in the grid's units, on nodes or between them; at least one
/// \param times out, seconds, the shape of the grid
/// \param options order, factorisation, method, memory, progress
/// \throws InputError a velocity that is not positive, a Thomsen parameter out of range (naming the
///         node), a source outside the grid or no source, wrong shapes, an order other than 1 and 2
/// \throws MemoryError a single source does not fit the memory
template <class T, int Dim, class Memory>
Report solve(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
             const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
             const Field<T, Dim, Memory>& times, const Options& options = {}) {
  const double slowness = detail::check_input(exec, grid, model, sources, options);
  check_shape(grid, times, "times");
  return detail::solve_all(exec, grid, model, sources, times.data(), true, options, slowness);
}

/// solve() for an isotropic medium: `velocity` is a Field<T, Dim, Memory>.
template <int Dim, class Velocity>
std::enable_if_t<Kokkos::is_view<Velocity>::value, Report> solve(
    const InstanceOf<typename Velocity::memory_space>& exec, const Grid<Dim>& grid,
    const Velocity& velocity, const Points<Dim>& sources, const Velocity& times,
    const Options& options = {}) {
  using T = typename Velocity::non_const_value_type;
  using Memory = typename Velocity::memory_space;
  return solve(exec, grid, Model<T, Dim, Memory>{velocity, {}, {}}, sources, times, options);
}

/// Computes first-arrival traveltimes from each source, as many together as memory allows.
///
/// \param times out, seconds, sources x shape of the grid
///
/// The other parameters and the errors are those of solve().
template <class T, int Dim, class Memory>
Report solve_each(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                  const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
                  const FieldPerSource<T, Dim, Memory>& times, const Options& options = {}) {
  const double slowness = detail::check_input(exec, grid, model, sources, options);
  check_shape(grid, times, "times", static_cast<std::int64_t>(sources.size()));
  return detail::solve_all(exec, grid, model, sources, times.data(), false, options, slowness);
}

namespace detail {

/// Computes v sqrt(1 + 2 epsilon).
template <class T>
struct AcrossAxis {
  ModelData<T> model;
  T* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    out[i] = model.template at<false>(i).horizontal;
  }
};

/// Checks the fields and fills the output of symmetry_plane_velocity().
template <class T, int Dim, class Memory>
void velocity_across(const Instance<Memory>& exec, const Grid<Dim>& grid,
                     const Model<T, Dim, Memory>& model, T* out) {
  const ModelData<T> data = addresses(model);
  check_model(exec, grid, model, data);
  launch("moho::eikonal::symmetry_plane_velocity", exec, grid.size(), AcrossAxis<T>{data, out});
}

}  // namespace detail

/// Computes the velocity across the symmetry axis, v sqrt(1 + 2 epsilon). In an elliptical medium
/// with positive epsilon it is the largest velocity in any direction.
///
/// In tilted media it serves as an isotropic velocity, as the outline of a wavefront requires.
/// Where delta <= epsilon and epsilon >= 0, its first arrivals are not later than those of the
/// medium.
///
/// \param exec all work is submitted to this instance
/// \param grid nodes
/// \param velocity velocity along the symmetry axis
/// \param epsilon Thomsen's epsilon
/// \param out velocity across the symmetry axis
/// \throws InputError under the conditions of solve() for the two fields
template <int Dim, class FieldType>
void symmetry_plane_velocity(const InstanceOf<typename FieldType::memory_space>& exec,
                             const Grid<Dim>& grid, const FieldType& velocity,
                             const FieldType& epsilon, const FieldType& out) {
  using T = typename FieldType::non_const_value_type;
  using Memory = typename FieldType::memory_space;
  grid.check();
  check_shape(grid, epsilon, "epsilon");
  check_shape(grid, out, "out");
  detail::velocity_across(exec, grid, Model<T, Dim, Memory>{velocity, epsilon, epsilon},
                          out.data());
}

#ifdef MOHO_EIKONAL_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::check_input)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::solve_all)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::velocity_across)
#endif

}  // namespace moho::eikonal
