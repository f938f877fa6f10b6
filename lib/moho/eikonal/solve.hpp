// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First-arrival traveltimes in parallel, on every execution space.

#include <moho/eikonal/check.hpp>
#include <moho/eikonal/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace moho::eikonal {

namespace detail {

/// A node whose value is given.
template <class T>
struct Given {
  int source;
  std::int64_t place;
  T value;
};

/// Sets given values.
template <class T, class Exec>
struct SetGiven {
  Kokkos::View<const Given<T>*, typename Exec::memory_space> list;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> u;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    u(list(i).source, list(i).place) = list(i).value;
  }
};

/// Writes times from u: of each source, or the earliest of all sources of the batch.
template <class T, int Dim, class Exec, bool Anelliptic>
struct WriteTimes {
  Problem<T, Dim, Exec, Anelliptic> problem;
  T* times;
  std::int64_t nodes;
  bool earliest;
  bool lower;  ///< what `times` holds counts, too
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim], rest = i % nodes;
    for (int d = Dim - 1; d >= 0; --d) {
      node[d] = rest % problem.grid.extents[d];
      rest /= problem.grid.extents[d];
    }
    const std::int64_t place = problem.grid.at(node);
    if (!earliest) {
      times[i] = time(static_cast<int>(i / nodes), place, node);
      return;
    }
    T least = lower ? times[i] : infinity<T>();
    for (int s = 0; s < problem.sources; ++s) {
      const T t = time(s, place, node);
      least = t < least ? t : least;
    }
    times[i] = least;
  }
  KOKKOS_FORCEINLINE_FUNCTION T time(int source, std::int64_t place,
                                     const std::int64_t (&node)[Dim]) const {
    using std::sqrt;
    return sqrt(problem.base.at(source, place, node).square(0, 0)) * problem.u(source, place);
  }
};

/// The padded problem of a batch of sources: values infinite but around the sources.
template <class T, int Dim, class Exec, bool Anelliptic>
Problem<T, Dim, Exec, Anelliptic> make_problem(const Exec& exec, const Grid<Dim>& grid,
                                               const TiledGrid<Dim>& tiled,
                                               const MediumData<T>& medium,
                                               const std::vector<Source<Dim>>& sources,
                                               bool factored) {
  Problem<T, Dim, Exec, Anelliptic> problem;
  problem.grid = tiled;
  problem.medium = medium;
  problem.sources = static_cast<int>(sources.size());
  problem.tolerance = T(4) * std::numeric_limits<T>::epsilon();
  for (int d = 0; d < Dim; ++d) problem.inverse_spacing[d] = static_cast<T>(1.0 / grid.spacing[d]);
  problem.base = make_base(exec, grid, tiled, sources, factored,
                           static_cast<const Base<T, Dim, Exec, Anelliptic>*>(nullptr));
  problem.u = allocate<decltype(problem.u)>(exec, "moho::eikonal::u", sources.size(),
                                            static_cast<std::size_t>(tiled.size));
  problem.boxes = allocate<decltype(problem.boxes)>(exec, "moho::eikonal::boxes", sources.size());
  Kokkos::deep_copy(exec, problem.u, infinity<T>());
  constexpr int corners = 1 << Dim;
  const Kokkos::View<Given<T>*, typename Exec::memory_space> given(
      "moho::eikonal::given", sources.size() * static_cast<std::size_t>(corners));
  const auto host_given = Kokkos::create_mirror_view(given);
  const auto boxes = Kokkos::create_mirror_view(problem.boxes);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Source<Dim>& source = sources[s];
    boxes(s) = source.box;
    for (int corner = 0; corner < corners; ++corner) {
      std::int64_t node[Dim];
      for (int d = 0; d < Dim; ++d) {
        node[d] = (corner >> d) & 1 ? source.box.last[d] : source.box.first[d];
      }
      host_given(s * static_cast<std::size_t>(corners) + static_cast<std::size_t>(corner)) = {
          static_cast<int>(s), tiled.at(node), static_cast<T>(source.factor[corner])};
    }
  }
  Kokkos::deep_copy(exec, problem.boxes, boxes);
  Kokkos::deep_copy(exec, given, host_given);
  Kokkos::parallel_for("moho::eikonal::set_given",
                       Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(given.extent(0))),
                       SetGiven<T, Exec>{given, problem.u});
  exec.fence();
  return problem;
}

/// How many sources are solved at a time: all, unless memory is short.
template <class T, int Dim, class Exec, bool Anelliptic>
std::size_t sources_per_batch(const Exec& exec, const TiledGrid<Dim>& tiled, std::size_t sources,
                              std::size_t budget) {
  const std::size_t each =
      static_cast<std::size_t>(tiled.size) * sizeof(T) +
      Base<T, Dim, Exec, Anelliptic>::bytes(tiled) +
      static_cast<std::size_t>(tiled.tile_count) * (sizeof(T) + 3 * sizeof(int));
  const std::size_t room = budget > 0 ? budget : available_memory(exec) / 20 * 19;
  // tiles of all sources are counted in 32 bits
  const std::size_t most =
      (std::size_t(1) << 31) / (static_cast<std::size_t>(tiled.tile_count) + 1);
  const std::size_t fits = std::min(room / each, most);
  if (fits == 0) {
    throw MemoryError(concat("memory: one source needs ", format_bytes(static_cast<double>(each)),
                             " to work in (allowed: ", format_bytes(static_cast<double>(room)),
                             budget > 0 ? ", the budget" : ", what is free",
                             "): ", budget > 0 ? "raise the budget, " : "",
                             "take fewer nodes or single precision"));
  }
  return std::min(sources, fits);
}

/// All sources, batch by batch.
template <int Order, bool Anelliptic, class T, int Dim, class Exec>
void solve_batches(const Exec& exec, const Grid<Dim>& grid, const MediumData<T>& medium,
                   double slowness, const Points<Dim>& points, T* times, bool earliest,
                   const Options& options, Report& report) {
  const TiledGrid<Dim> tiled(grid, is_host_space<Exec>);
  const std::size_t batch = sources_per_batch<T, Dim, Exec, Anelliptic>(exec, tiled, points.size(),
                                                                        options.memory_budget);
  report.batches = static_cast<std::int64_t>((points.size() + batch - 1) / batch);
  const std::vector<Source<Dim>> sources =
      make_sources(exec, grid, medium, points, options.factored);
  double tile = 0.0;
  for (int d = 0; d < Dim; ++d) tile += tiled.tile[d] * grid.spacing[d] / Dim;
  const double tiles_ahead = options.tiles_ahead > 0.0 ? options.tiles_ahead : 1.0;
  for (std::size_t begin = 0; begin < points.size(); begin += batch) {
    const std::size_t end = std::min(points.size(), begin + batch);
    const std::vector<Source<Dim>> some(sources.begin() + static_cast<std::ptrdiff_t>(begin),
                                        sources.begin() + static_cast<std::ptrdiff_t>(end));
    const auto problem =
        make_problem<T, Dim, Exec, Anelliptic>(exec, grid, tiled, medium, some, options.factored);
    const Marks<T, Exec> marks = make_marks(exec, problem);
    Progress progress;
    if (options.progress) {
      const double share = static_cast<double>(end - begin) / static_cast<double>(points.size());
      const double before = static_cast<double>(begin) / static_cast<double>(points.size());
      progress = [&options, share, before](double fraction, const std::string& what) {
        options.progress(before + share * fraction, what);
      };
    }
    if (options.method == Method::active_tiles) {
      solve_active_tiles<Order>(exec, problem, marks, static_cast<T>(tiles_ahead * tile * slowness),
                                progress, report);
    } else {
      solve_sweeping<Order>(exec, problem, marks, progress, report);
    }
    const auto counts = fetch_counts(exec, marks);
    report.tile_visits += counts[visits];
    report.updates += counts[updates];
    const std::int64_t nodes = grid.size();
    const std::int64_t outputs = earliest ? nodes : nodes * static_cast<std::int64_t>(some.size());
    T* const out = earliest ? times : times + nodes * static_cast<std::int64_t>(begin);
    Kokkos::parallel_for(
        "moho::eikonal::write_times", Wide<Exec>(exec, 0, outputs),
        WriteTimes<T, Dim, Exec, Anelliptic>{problem, out, nodes, earliest, begin > 0});
    exec.fence();
  }
  if (options.progress) options.progress(1.0, "done");
}

/// Calls function(order, anelliptic) with both as types: std::integral_constant.
template <class Function>
void with_order_and_medium(int order, bool anelliptic, const Function& function) {
  using One = std::integral_constant<int, 1>;
  using Two = std::integral_constant<int, 2>;
  if (anelliptic) {
    order == 1 ? function(One(), std::true_type()) : function(Two(), std::true_type());
  } else {
    order == 1 ? function(One(), std::false_type()) : function(Two(), std::false_type());
  }
}

/// Chooses the kernels by order and medium.
template <class T, int Dim, class Exec>
Report solve_all(const Exec& exec, const Grid<Dim>& grid, const Medium<T, Dim, Exec>& medium,
                 const Points<Dim>& points, T* times, bool earliest, const Options& options,
                 double slowness) {
  Report report;
  const MediumData<T> data = addresses<T, Dim, Exec>(medium);
  with_order_and_medium(options.order, data.delta != nullptr, [&](auto order, auto anelliptic) {
    solve_batches<decltype(order)::value, decltype(anelliptic)::value, T, Dim, Exec>(
        exec, grid, data, slowness, points, times, earliest, options, report);
  });
  return report;
}

}  // namespace detail

/// First-arrival traveltimes from the sources: at every node the earliest of all sources.
///
/// Solves H(x, grad T) = 1 with Godunov's upwind differences of first or second order, where H is
/// v^2 |p|^2 in an isotropic medium, v_h^2 p_h^2 + v_z^2 p_z^2 in an elliptical one, and
/// v_h^2 p_h^2 + v_z^2 p_z^2 - 2 (epsilon - delta) v_z^4 p_h^2 p_z^2 for P waves in an acoustic VTI
/// medium (Alkhalifah, 2000; v_h^2 = v_z^2 (1 + 2 epsilon)). With Options::factored T = T0 u is
/// solved for u, T0 the time of the homogeneous medium at the source (Fomel, Luo and Zhao, 2009),
/// so that the singularity of the source costs no accuracy. Each source is solved on its own.
///
/// \param exec all work goes to this instance; the function returns when it is done
/// \param grid nodes, spacing and origin
/// \param medium velocity, and epsilon and delta if it has them
/// \param sources positions in the grid's units, on nodes or not
/// \param times out, seconds, the shape of the grid
/// \param options order, factorisation, method, memory, progress
/// \throws InputError a velocity that is not positive, a Thomsen parameter out of range (naming the
///         node), a source outside the grid or none, wrong shapes, an order other than 1 and 2
/// \throws MemoryError not even one source fits
template <class T, int Dim, class Exec>
Report solve(const Exec& exec, const Grid<Dim>& grid, const Medium<T, Dim, Exec>& medium,
             const Points<Dim>& sources, const Field<T, Dim, Exec>& times,
             const Options& options = {}) {
  const double slowness = detail::check_input(exec, grid, medium, sources, options);
  check_shape(grid, times, "times");
  return detail::solve_all(exec, grid, medium, sources, times.data(), true, options, slowness);
}

/// The same for an isotropic medium: `velocity` is a Field<T, Dim, Exec>.
template <int Dim, class Exec, class Velocity>
std::enable_if_t<Kokkos::is_view<Velocity>::value, Report> solve(
    const Exec& exec, const Grid<Dim>& grid, const Velocity& velocity, const Points<Dim>& sources,
    const Velocity& times, const Options& options = {}) {
  using T = typename Velocity::non_const_value_type;
  return solve<T, Dim, Exec>(exec, grid, Medium<T, Dim, Exec>{velocity, {}, {}}, sources, times,
                             options);
}

/// First-arrival traveltimes from each source, solved together where memory allows.
///
/// \param times out, seconds, sources x shape of the grid
///
/// The rest is as for solve().
template <class T, int Dim, class Exec>
Report solve_each(const Exec& exec, const Grid<Dim>& grid, const Medium<T, Dim, Exec>& medium,
                  const Points<Dim>& sources, const FieldPerSource<T, Dim, Exec>& times,
                  const Options& options = {}) {
  const double slowness = detail::check_input(exec, grid, medium, sources, options);
  check_shape(grid, times, "times", static_cast<std::int64_t>(sources.size()));
  return detail::solve_all(exec, grid, medium, sources, times.data(), false, options, slowness);
}

namespace detail {

/// v sqrt(1 + 2 epsilon).
template <class T>
struct AcrossAxis {
  MediumData<T> medium;
  T* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    out[i] = medium.template at<false>(i).horizontal;
  }
};

}  // namespace detail

/// The velocity across the symmetry axis, v sqrt(1 + 2 epsilon): the largest of an elliptical
/// medium with positive epsilon in any direction.
///
/// In tilted media it stands for an isotropic velocity whose first arrivals are not later than
/// those of the tilted medium wherever delta <= epsilon and epsilon >= 0, which is what a
/// wavefront's outline needs.
///
/// \param exec all work goes to this instance
/// \param grid nodes
/// \param velocity along the symmetry axis
/// \param epsilon Thomsen's epsilon
/// \param out the velocity across the axis
/// \throws InputError as solve() does for the two fields
template <int Dim, class Exec, class FieldType>
void symmetry_plane_velocity(const Exec& exec, const Grid<Dim>& grid, const FieldType& velocity,
                             const FieldType& epsilon, const FieldType& out) {
  using T = typename FieldType::non_const_value_type;
  grid.check();
  check_shape(grid, epsilon, "epsilon");
  check_shape(grid, out, "out");
  const Medium<T, Dim, Exec> medium{velocity, epsilon, {}};
  const detail::MediumData<T> data = detail::addresses<T, Dim, Exec>(medium);
  detail::check_medium(exec, grid, medium, data);
  Kokkos::parallel_for("moho::eikonal::symmetry_plane_velocity",
                       detail::Wide<Exec>(exec, 0, grid.size()),
                       detail::AcrossAxis<T>{data, out.data()});
}

}  // namespace moho::eikonal
