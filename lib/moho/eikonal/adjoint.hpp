// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The derivative of first-arrival times by velocity, and its transpose.

#include <moho/eikonal/detail/derivative_kernels.hpp>
#include <moho/eikonal/detail/source_terms.hpp>
#include <moho/eikonal/solve.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace moho::eikonal {

namespace detail {

/// Calls launch() for Kernel<Order, Anelliptic> of an order of differences and kind of model.
template <template <int, bool, class, int> class Kernel, class T, int Dim, class Memory,
          class... Rest>
void launch_kernel(const char* label, const Instance<Memory>& exec, std::int64_t count, int order,
                   const Problem<T, Dim>& problem, const Rest&... rest) {
  if (problem.model.anelliptic()) {
    if (order == 2) {
      launch(label, exec, count, Kernel<2, true, T, Dim>{problem, rest...});
    } else {
      launch(label, exec, count, Kernel<1, true, T, Dim>{problem, rest...});
    }
  } else if (order == 2) {
    launch(label, exec, count, Kernel<2, false, T, Dim>{problem, rest...});
  } else {
    launch(label, exec, count, Kernel<1, false, T, Dim>{problem, rest...});
  }
}

/// Returns the bytes per padded node and source that derivatives hold, besides storage_bytes().
template <class T, int Dim>
constexpr std::size_t derivative_bytes() {
  return (2 * Dim + 3) * sizeof(T) + sizeof(std::uint16_t) + sizeof(int) + sizeof(std::int64_t);
}

}  // namespace detail

/// \brief The derivative of the times of solve_each() by the velocity at the nodes, a linear map.
///
/// It is that of the discrete solution: the times of each node are a function of those of earlier
/// nodes and of the velocity, and this function is differentiated with the choices that the
/// solution has made (neighbours, order of differences, axes left out). It is exact to rounding
/// where a small change of velocity leaves these choices unchanged. Velocity is that along the
/// symmetry axis; epsilon and delta are constants.
///
/// An object holds the derivatives of all its sources; memory is about 60 bytes in 2D and 76 in 3D
/// for each node and source in double precision, about 40 and 48 in single. The model's fields are
/// not read after construction.
template <class T, int Dim, class Memory>
class TimeDerivatives {
 public:
  /// \brief Solves for the times of each source and differentiates the solution.
  /// \param exec all work is submitted to this instance; the constructor returns when it is
  ///        complete
  /// \param grid nodes
  /// \param model medium, as in solve()
  /// \param sources one or more positions
  /// \param times out, seconds, sources x shape of the grid; an empty view: not written
  /// \param options as in solve(); the method has no effect on the result
  /// \throws InputError, MemoryError as solve_each(), also if the derivatives of all sources do not
  ///         fit the memory together
  TimeDerivatives(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                  const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
                  const FieldPerSource<T, Dim, Memory>& times, const Options& options = {});

  /// \brief Computes the change of the times by a small change of velocity.
  /// \param exec the instance; the function returns when the work is complete
  /// \param change of velocity, shape of the grid
  /// \param of_times out, s per unit of the velocity's change, sources x shape of the grid
  /// \throws InputError if a shape is wrong
  void apply(const InstanceOf<Memory>& exec, const Field<T, Dim, Memory>& change,
             const FieldPerSource<T, Dim, Memory>& of_times) const;

  /// \brief Computes the transpose of apply(): the derivative by velocity of a function of times.
  /// \param exec the instance; the function returns when the work is complete
  /// \param by_times derivatives of the function by the times, sources x shape of the grid
  /// \param by_velocity out, derivatives by the velocities, shape of the grid. The same bits in
  ///        every host space, with every number of threads.
  /// \throws InputError if a shape is wrong
  void apply_transpose(const InstanceOf<Memory>& exec,
                       const FieldPerSource<T, Dim, Memory>& by_times,
                       const Field<T, Dim, Memory>& by_velocity) const;

  /// Returns the number of sources.
  std::int64_t sources() const { return m_sources; }
  /// Returns the grid.
  const Grid<Dim>& grid() const { return m_grid; }
  /// Returns the statistics of the solution.
  const Report& report() const { return m_report; }

  /// \cond
  // Sums of derivatives by node, of values around sources.
  using AtSources = std::map<std::int64_t, double>;
  // apply_transpose() without what passes through the values around sources, which goes to a list.
  void accumulate(const Instance<Memory>& exec, const T* by_times, bool first, T* by_velocity,
                  AtSources& at_sources) const;
  static void add_at_sources(const Instance<Memory>& exec, const AtSources& at_sources,
                             T* by_velocity);
  /// \endcond

 private:
  using Numbers = Kokkos::View<T*, Memory>;
  using Indices = Kokkos::View<std::int64_t*, Memory>;
  using Lean = detail::LeanTerms<T, Dim>;

  void differentiate(const Instance<Memory>& exec, const detail::Problem<T, Dim>& problem,
                     int order);
  void sort(const Instance<Memory>& exec);
  detail::Derivatives<T, Dim> derivatives() const;
  std::int64_t nodes() const { return m_grid.size(); }

  Grid<Dim> m_grid;
  detail::TiledGrid<Dim> m_tiled;
  std::int64_t m_sources = 0;
  Report m_report;
  Numbers m_weights, m_by_velocity, m_roots;
  Kokkos::View<std::uint16_t*, Memory> m_uses;
  Indices m_order;                     // nodes of all sources, level by level
  std::vector<std::int64_t> m_levels;  // begin of each level, and the end of the last
  std::vector<std::vector<detail::SourceTerm<Dim>>> m_terms;
  std::vector<std::int64_t> m_corners;  // indices of the nodes around the sources
  std::vector<std::int64_t> m_columns;  // indices of nodes with lean terms
  std::vector<Lean> m_lean;             // of these nodes
};

template <class T, int Dim, class Memory>
TimeDerivatives<T, Dim, Memory>::TimeDerivatives(
    const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const Model<T, Dim, Memory>& model,
    const Points<Dim>& sources, const FieldPerSource<T, Dim, Memory>& times, const Options& options)
    : m_grid(grid), m_sources(static_cast<std::int64_t>(sources.size())) {
  using namespace detail;
  const double slowness = check_input(exec, grid, model, sources, options);
  if (times.size() > 0) check_shape(grid, times, "times", m_sources);
  m_tiled = TiledGrid<Dim>(grid, is_host_memory<Memory>);
  const ModelData<T> data = addresses(model);
  const std::size_t fits = sources_per_batch<T>(exec, m_tiled, data.anelliptic(), sources.size(),
                                                options, derivative_bytes<T, Dim>());
  if (fits < sources.size()) {
    throw MemoryError(concat("memory: the derivatives of ", fits, " sources fit (needed: those of ",
                             sources.size(),
                             "): take fewer sources at a time, or raise the budget"));
  }
  std::vector<std::int64_t> nodes;
  std::vector<Source<Dim>> at = locate_sources(grid, sources, nodes);
  const std::vector<NodeValues> values = pick_nodes(exec, data, nodes);
  complete_sources(grid, values, options.factored, at);
  m_terms = source_terms(grid, nodes, values, options.factored, at);
  ProblemStorage<T, Dim, Memory> storage;
  const Problem<T, Dim> problem =
      make_problem(exec, grid, m_tiled, data, at, options.factored, options.order, storage);
  {
    MarkStorage<T, Memory> mark_storage;
    const Marks<T> marks = make_marks(exec, m_tiled, at, mark_storage);
    double tile = 0.0;
    for (int d = 0; d < Dim; ++d) tile += m_tiled.tile[d] * grid.spacing[d] / Dim;
    const double ahead = options.tiles_ahead > 0.0 ? options.tiles_ahead : 1.0;
    solve_problem(exec, problem, marks, options, static_cast<T>(ahead * tile * slowness),
                  options.progress, m_report);
    const auto counts = fetch_counts(exec, marks);
    m_report.tile_visits = counts[visits];
    m_report.updates = counts[updates];
  }
  if (times.size() > 0) {
    write_times(exec, problem, times.data(), grid.size(), false, false);
  }
  for (std::size_t s = 0; s < at.size(); ++s) {
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      std::int64_t node[Dim];
      for (int d = 0; d < Dim; ++d) {
        node[d] = (corner >> d) & 1 ? at[s].box.last[d] : at[s].box.first[d];
      }
      m_corners.push_back(static_cast<std::int64_t>(s) * m_tiled.size + m_tiled.at(node));
    }
  }
  if (options.factored) m_columns = nodes_in_columns(m_tiled, at);
  differentiate(exec, problem, options.order);
  sort(exec);
  if (options.progress) options.progress(1.0, "done");
}

template <class T, int Dim, class Memory>
detail::Derivatives<T, Dim> TimeDerivatives<T, Dim, Memory>::derivatives() const {
  detail::Derivatives<T, Dim> result{};
  result.weights = m_weights.data();
  result.by_velocity = m_by_velocity.data();
  result.roots = m_roots.data();
  result.uses = m_uses.data();
  result.size = m_sources * m_tiled.size;
  for (int d = 0; d < Dim; ++d) result.stride[d] = m_tiled.stride[d];
  return result;
}

template <class T, int Dim, class Memory>
void TimeDerivatives<T, Dim, Memory>::differentiate(const Instance<Memory>& exec,
                                                    const detail::Problem<T, Dim>& problem,
                                                    int order) {
  using namespace detail;
  const std::size_t all = static_cast<std::size_t>(m_sources * m_tiled.size);
  m_weights = allocate<Numbers>(exec, "moho::eikonal::weights", all * 2 * Dim);
  m_by_velocity = allocate<Numbers>(exec, "moho::eikonal::by_velocity", all);
  m_roots = allocate<Numbers>(exec, "moho::eikonal::roots", all);
  m_uses = allocate<Kokkos::View<std::uint16_t*, Memory>>(exec, "moho::eikonal::uses", all);
  fill(exec, m_uses, std::uint16_t(0));
  launch_kernel<Differentiate>("moho::eikonal::differentiate", exec, nodes() * m_sources, order,
                               problem, derivatives(), nodes());
  if (!m_columns.empty()) {
    const auto list = upload(exec, m_columns, "moho::eikonal::columns");
    const auto lean =
        allocate<Kokkos::View<Lean*, Memory>>(exec, "moho::eikonal::lean", m_columns.size());
    launch_kernel<DifferentiateLean>("moho::eikonal::differentiate_lean", exec,
                                     static_cast<std::int64_t>(m_columns.size()), order, problem,
                                     list.data(), lean.data());
    // almost all are 0: the axis of a column lacks a neighbour next to the source alone
    const std::vector<Lean> found = download(exec, lean);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      bool any = false;
      for (int d = 0; d < Dim; ++d) {
        any = any || found[i].by_tilt[d] != T(0) || found[i].by_limit[d] != T(0);
      }
      if (!any) continue;
      m_columns[kept++] = m_columns[i];
      m_lean.push_back(found[i]);
    }
    m_columns.resize(kept);
  }
  exec.fence();
}

template <class T, int Dim, class Memory>
void TimeDerivatives<T, Dim, Memory>::sort(const Instance<Memory>& exec) {
  using namespace detail;
  const std::int64_t all = nodes() * m_sources;
  m_order = allocate<Indices>(exec, "moho::eikonal::order", static_cast<std::size_t>(all));
  const auto users = allocate<Kokkos::View<int*, Memory>>(
      exec, "moho::eikonal::users", static_cast<std::size_t>(m_sources * m_tiled.size));
  const auto listed = allocate<Indices>(exec, "moho::eikonal::listed", std::size_t(1));
  fill(exec, listed, std::int64_t(0));
  launch("moho::eikonal::count_users", exec, all,
         CountUsers<T, Dim>{m_tiled, derivatives(), nodes(), users.data(), m_order.data(),
                            listed.data()});
  std::int64_t begin = 0, end = value_at(exec, listed.data());
  m_levels.push_back(0);
  while (begin < end) {
    m_levels.push_back(end);
    launch("moho::eikonal::next_level", exec, end - begin,
           NextLevel<T, Dim>{derivatives(), m_order.data() + begin, users.data(), m_order.data(),
                             listed.data()});
    begin = end;
    end = value_at(exec, listed.data());
  }
}

/// \cond
template <class T, int Dim, class Memory>
void TimeDerivatives<T, Dim, Memory>::accumulate(const Instance<Memory>& exec, const T* by_times,
                                                 bool first, T* by_velocity,
                                                 AtSources& at_sources) const {
  using namespace detail;
  using Term = SourceTerm<Dim>;
  const auto by_u = allocate<Numbers>(exec, "moho::eikonal::by_u",
                                      static_cast<std::size_t>(m_sources * m_tiled.size));
  launch("moho::eikonal::set_weights", exec, nodes() * m_sources,
         SetWeights<T, Dim>{m_tiled, derivatives(), nodes(), by_times, by_u.data()});
  for (std::size_t k = 0; k + 1 < m_levels.size(); ++k) {
    launch("moho::eikonal::transpose_level", exec, m_levels[k + 1] - m_levels[k],
           TransposeLevel<T, Dim>{derivatives(), m_order.data() + m_levels[k], by_u.data()});
  }
  launch("moho::eikonal::add_by_velocity", exec, nodes(),
         AddByVelocity<T, Dim>{m_tiled, derivatives(), by_u.data(), static_cast<int>(m_sources),
                               first, by_velocity});
  std::vector<std::int64_t> listed = m_corners;
  listed.insert(listed.end(), m_columns.begin(), m_columns.end());
  const auto list = upload(exec, listed, "moho::eikonal::listed");
  const auto gathered = allocate<Numbers>(exec, "moho::eikonal::gathered", listed.size());
  launch("moho::eikonal::gather_elements", exec, static_cast<std::int64_t>(listed.size()),
         GatherElements<T>{list.data(), by_u.data(), gathered.data()});
  const std::vector<T> found = download(exec, gathered);
  std::size_t column = 0;
  for (std::int64_t s = 0; s < m_sources; ++s) {
    double by_value[Term::values] = {};
    for (int corner = 0; corner < Term::corners; ++corner) {
      by_value[corner] =
          static_cast<double>(found[static_cast<std::size_t>(s * Term::corners + corner)]);
    }
    for (; column < m_columns.size() && m_columns[column] / m_tiled.size == s; ++column) {
      const double own = static_cast<double>(found[m_corners.size() + column]);
      for (int d = 0; d < Dim; ++d) {
        by_value[Term::corners + d] += own * static_cast<double>(m_lean[column].by_tilt[d]);
        by_value[Term::limits + d] += own * static_cast<double>(m_lean[column].by_limit[d]);
      }
    }
    for (const Term& term : m_terms[static_cast<std::size_t>(s)]) {
      at_sources[term.node] += term.derivative * by_value[term.value];
    }
  }
}

template <class T, int Dim, class Memory>
void TimeDerivatives<T, Dim, Memory>::add_at_sources(const Instance<Memory>& exec,
                                                     const AtSources& at_sources, T* by_velocity) {
  std::vector<std::int64_t> nodes;
  std::vector<T> values;
  for (const auto& [node, value] : at_sources) {
    nodes.push_back(node);
    values.push_back(static_cast<T>(value));
  }
  const auto list = upload(exec, nodes, "moho::eikonal::listed");
  const auto added = upload(exec, values, "moho::eikonal::added");
  launch("moho::eikonal::add_elements", exec, static_cast<std::int64_t>(nodes.size()),
         detail::AddElements<T>{list.data(), added.data(), by_velocity});
  exec.fence();
}
/// \endcond

template <class T, int Dim, class Memory>
void TimeDerivatives<T, Dim, Memory>::apply_transpose(
    const InstanceOf<Memory>& exec, const FieldPerSource<T, Dim, Memory>& by_times,
    const Field<T, Dim, Memory>& by_velocity) const {
  check_shape(m_grid, by_times, "by_times", m_sources);
  check_shape(m_grid, by_velocity, "by_velocity");
  AtSources at_sources;
  accumulate(exec, by_times.data(), true, by_velocity.data(), at_sources);
  add_at_sources(exec, at_sources, by_velocity.data());
}

template <class T, int Dim, class Memory>
void TimeDerivatives<T, Dim, Memory>::apply(const InstanceOf<Memory>& exec,
                                            const Field<T, Dim, Memory>& change,
                                            const FieldPerSource<T, Dim, Memory>& of_times) const {
  using namespace detail;
  using Term = SourceTerm<Dim>;
  check_shape(m_grid, change, "change");
  check_shape(m_grid, of_times, "of_times", m_sources);
  const auto of_u = allocate<Numbers>(exec, "moho::eikonal::of_u",
                                      static_cast<std::size_t>(m_sources * m_tiled.size));
  launch("moho::eikonal::set_changes", exec, nodes() * m_sources,
         SetChanges<T, Dim>{m_tiled, derivatives(), nodes(), change.data(), of_u.data()});
  std::vector<std::int64_t> near;  // nodes that the values around sources depend on
  for (const auto& terms : m_terms) {
    for (const Term& term : terms) near.push_back(term.node);
  }
  const auto list = upload(exec, near, "moho::eikonal::listed");
  const auto gathered = allocate<Numbers>(exec, "moho::eikonal::gathered", near.size());
  launch("moho::eikonal::gather_elements", exec, static_cast<std::int64_t>(near.size()),
         GatherElements<T>{list.data(), change.data(), gathered.data()});
  const std::vector<T> found = download(exec, gathered);
  std::map<std::int64_t, double> added;
  std::size_t index = 0, column = 0;
  for (std::int64_t s = 0; s < m_sources; ++s) {
    double of_value[Term::values] = {};
    for (const Term& term : m_terms[static_cast<std::size_t>(s)]) {
      of_value[term.value] += term.derivative * static_cast<double>(found[index++]);
    }
    for (int corner = 0; corner < Term::corners; ++corner) {
      added[m_corners[static_cast<std::size_t>(s * Term::corners + corner)]] += of_value[corner];
    }
    for (; column < m_columns.size() && m_columns[column] / m_tiled.size == s; ++column) {
      double& sum = added[m_columns[column]];
      for (int d = 0; d < Dim; ++d) {
        sum += static_cast<double>(m_lean[column].by_tilt[d]) * of_value[Term::corners + d] +
               static_cast<double>(m_lean[column].by_limit[d]) * of_value[Term::limits + d];
      }
    }
  }
  add_at_sources(exec, added, of_u.data());
  for (std::size_t k = m_levels.size() - 1; k-- > 0;) {
    launch("moho::eikonal::apply_level", exec, m_levels[k + 1] - m_levels[k],
           ApplyLevel<T, Dim>{derivatives(), m_order.data() + m_levels[k], of_u.data()});
  }
  launch("moho::eikonal::write_changes", exec, nodes() * m_sources,
         WriteChanges<T, Dim>{m_tiled, derivatives(), nodes(), of_u.data(), of_times.data()});
  exec.fence();
}

namespace detail {

/// transpose_times() after the checks of shapes.
template <class T, int Dim, class Memory>
Report transpose_all(const Instance<Memory>& exec, const Grid<Dim>& grid,
                     const Model<T, Dim, Memory>& model, const Points<Dim>& points,
                     const T* by_times, T* by_velocity, const Options& options) {
  check_input(exec, grid, model, points, options);
  const std::size_t batch = sources_per_batch<T>(exec, TiledGrid<Dim>(grid, is_host_memory<Memory>),
                                                 addresses(model).anelliptic(), points.size(),
                                                 options, derivative_bytes<T, Dim>());
  Report report;
  report.batches = static_cast<std::int64_t>((points.size() + batch - 1) / batch);
  typename TimeDerivatives<T, Dim, Memory>::AtSources at_sources;
  const double all = static_cast<double>(points.size());
  for (std::size_t begin = 0; begin < points.size(); begin += batch) {
    const std::size_t end = std::min(points.size(), begin + batch);
    Options own = options;
    own.progress = part_of_progress(options.progress, static_cast<double>(begin) / all,
                                    static_cast<double>(end - begin) / all);
    const Points<Dim> some(points.begin() + static_cast<std::ptrdiff_t>(begin),
                           points.begin() + static_cast<std::ptrdiff_t>(end));
    const TimeDerivatives<T, Dim, Memory> derivatives(exec, grid, model, some, {}, own);
    report.rounds += derivatives.report().rounds;
    report.tile_visits += derivatives.report().tile_visits;
    report.updates += derivatives.report().updates;
    derivatives.accumulate(exec, by_times + grid.size() * static_cast<std::int64_t>(begin),
                           begin == 0, by_velocity, at_sources);
  }
  TimeDerivatives<T, Dim, Memory>::add_at_sources(exec, at_sources, by_velocity);
  return report;
}

}  // namespace detail

/// \brief Computes the derivative by velocity of a function of the times of solve_each().
///
/// The sources are solved and differentiated as TimeDerivatives does it, as many together as memory
/// allows; the result does not depend on their number.
///
/// \param exec all work is submitted to this instance; the function returns when it is complete
/// \param grid nodes
/// \param model medium, as in solve()
/// \param sources one or more positions
/// \param by_times derivatives of the function by the times, sources x shape of the grid
/// \param by_velocity out, derivatives by the velocities along the symmetry axis, shape of the grid
/// \param options as in solve()
/// \throws InputError, MemoryError as solve_each()
template <class T, int Dim, class Memory>
Report transpose_times(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                       const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
                       const FieldPerSource<T, Dim, Memory>& by_times,
                       const Field<T, Dim, Memory>& by_velocity, const Options& options = {}) {
  check_shape(grid, by_times, "by_times", static_cast<std::int64_t>(sources.size()));
  check_shape(grid, by_velocity, "by_velocity");
  return detail::transpose_all(exec, grid, model, sources, by_times.data(), by_velocity.data(),
                               options);
}

#ifdef MOHO_EIKONAL_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, TimeDerivatives)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::transpose_all)
#endif

}  // namespace moho::eikonal
