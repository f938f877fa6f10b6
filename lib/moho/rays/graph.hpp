// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The grid graph: vertices at the nodes of a velocity model, edges to a star of neighbours.

#include <moho/core/space.hpp>
#include <moho/rays/weights.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace moho::rays {

/// A velocity model as a graph whose edge weights are traveltimes (Moser 1991), made once and used
/// for any number of sources.
///
/// \tparam T float or double, the precision of weights and traveltimes
/// \tparam Dim 2 or 3
/// \tparam Exec execution space in whose memory the graph lives
template <class T, int Dim, class Exec>
class GridGraph {
  static_assert(std::is_floating_point_v<T>);

 public:
  using scalar_type = T;            ///< precision
  using execution_space = Exec;     ///< where the graph lives
  static constexpr int rank = Dim;  ///< dimensions

  /// Checks the model, lays out the graph and, unless weights are computed on the fly, makes their
  /// table.
  ///
  /// \param exec instance that does the work; the constructor returns when it is done
  /// \param grid nodes of the model
  /// \param velocity one positive finite number a node, grid units per second
  /// \param options neighbourhood, rule, and where weights are kept
  /// \throws InputError radius or shape not allowed; velocity zero, negative, NaN or infinite (says
  /// where) \throws MemoryError the graph does not fit the memory budget
  GridGraph(const Exec& exec, const Grid<Dim>& grid, const Field<T, Dim, Exec>& velocity,
            const GraphOptions& options = {});

  /// The model's grid.
  const Grid<Dim>& grid() const { return m_grid; }
  /// Radius of the neighbourhood.
  int radius() const { return m_options.radius; }
  /// The options it was made with.
  const GraphOptions& options() const { return m_options; }
  /// Neighbours of a vertex: 96 for the coprime star of radius 6 in 2D.
  int neighbours() const { return 2 * m_data.half; }
  /// Where weights come from: stored or on_the_fly, never automatic.
  WeightStorage storage() const { return m_storage; }
  /// Why, in a sentence for reports.
  const std::string& storage_reason() const { return m_storage_reason; }
  /// Bytes of the weight table, zero if there is none.
  std::size_t weight_bytes() const { return m_weight_bytes; }
  /// Seconds that the table took.
  double weight_seconds() const { return m_weight_seconds; }
  /// Bytes that a solver may still take for traveltimes.
  std::size_t solver_budget() const { return m_solver_budget; }
  /// The half star, in the order of the edges.
  const std::vector<std::array<int, Dim>>& star() const { return m_star; }
  /// Offset of the neighbour in a direction, as predecessors are stored: the predecessor of vertex
  /// v is v + neighbour(predecessor(v)).
  std::array<int, Dim> neighbour(int direction) const {
    std::array<int, Dim> offset = m_star[direction % m_data.half];
    if (direction >= m_data.half) {
      for (int& component : offset) component = -component;
    }
    return offset;
  }
  /// What the kernels use.
  const detail::GraphData<T, Dim, Exec>& data() const { return m_data; }
  /// Stencil terms with places relative to a tile of the given box (rule slowness).
  Kokkos::View<detail::StencilTerm<T>*, typename Exec::memory_space> tile_terms(
      const Exec& exec, const TileBox<Dim>& box) const {
    std::array<std::int64_t, Dim> strides;
    for (int d = 0; d < Dim; ++d) strides[d] = box.stride(d);
    return upload_terms(exec, strides);
  }

 private:
  void check_velocity(const Exec& exec, const Field<T, Dim, Exec>& velocity) const;
  void fill_medium(const Exec& exec, const Field<T, Dim, Exec>& velocity);
  void make_star(const Exec& exec);
  void choose_storage(const Exec& exec);
  void fill_table(const Exec& exec);

  template <class Value, class Vector>
  static Kokkos::View<Value*, typename Exec::memory_space> upload(const Exec& exec,
                                                                  const Vector& values,
                                                                  const std::string& label) {
    auto view =
        allocate<Kokkos::View<Value*, typename Exec::memory_space>>(exec, label, values.size());
    Kokkos::View<const Value*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        values.data(), values.size());
    Kokkos::deep_copy(exec, view, host);
    exec.fence();
    return view;
  }

  Kokkos::View<detail::StencilTerm<T>*, typename Exec::memory_space> upload_terms(
      const Exec& exec, const std::array<std::int64_t, Dim>& strides) const {
    std::vector<detail::StencilTerm<T>> terms;
    for (const auto& stencil : m_stencils) {
      for (std::size_t k = 0; k < stencil.nodes.size(); ++k) {
        std::int64_t place = 0;
        for (int d = 0; d < Dim; ++d) place += stencil.nodes[k][d] * strides[d];
        terms.push_back({static_cast<int>(place), static_cast<T>(stencil.coefficients[k])});
      }
    }
    return upload<detail::StencilTerm<T>>(exec, terms, "moho::rays::terms");
  }

  Grid<Dim> m_grid;
  GraphOptions m_options;
  detail::GraphData<T, Dim, Exec> m_data;
  std::vector<std::array<int, Dim>> m_star;
  std::vector<detail::EdgeStencil<Dim>> m_stencils;
  WeightStorage m_storage = WeightStorage::stored;
  std::string m_storage_reason;
  std::size_t m_weight_bytes = 0;
  std::size_t m_solver_budget = 0;
  double m_weight_seconds = 0.0;
};

namespace detail {

/// Smallest flat index of a velocity that is not a positive finite number.
template <class T, int Dim, class Exec>
struct FindBadVelocity {
  Grid<Dim> grid;
  const T* velocity;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    const T v = velocity[i];
    // the reciprocal must be finite as well
    if (!(v > T(0)) || !(T(1) / v < infinity<T>()) || !(v < infinity<T>())) {
      first = i < first ? i : first;
    }
  }
};

/// Slowness or velocity at every vertex, infinite at dummies.
template <class T, int Dim, class Exec>
struct FillMedium {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  const T* velocity;
  T* medium;
  bool slowness;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const Index<Dim> node = padded.node(place);
    if (!padded.inside(node)) {
      medium[place] = infinity<T>();
      return;
    }
    const T v = velocity[grid.flat(node)];
    medium[place] = slowness ? T(1) / v : v;
  }
};

/// The table for rules other than slowness: every edge integrated.
template <class T, int Dim, class Exec>
struct IntegrateWeights {
  ComputedWeights<T, Dim, Exec> weights;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    for (int e = 0; e < weights.graph.half; ++e) {
      weights.graph.table(e, place) = weights.integrated(e, place);
    }
  }
};

}  // namespace detail

template <class T, int Dim, class Exec>
GridGraph<T, Dim, Exec>::GridGraph(const Exec& exec, const Grid<Dim>& grid,
                                   const Field<T, Dim, Exec>& velocity, const GraphOptions& options)
    : m_grid(grid), m_options(options) {
  grid.check();
  if (options.radius < 1 || options.radius > max_radius<Dim>) {
    throw InputError(concat("radius: ", options.radius, " (allowed in ", Dim, "D: 1 to ",
                            max_radius<Dim>, "): a larger radius is more accurate and costs more"));
  }
  check_shape(grid, velocity, "velocity");
  check_velocity(exec, velocity);
  m_data.grid = PaddedGrid<Dim>::make(grid, options.radius, exec);
  m_data.radius = options.radius;
  m_data.rule = options.rule;
  m_star = half_star<Dim>(options.radius, options.star);
  m_data.half = static_cast<int>(m_star.size());
  choose_storage(exec);
  make_star(exec);
  fill_medium(exec, velocity);
  const auto start = std::chrono::steady_clock::now();
  if (m_storage == WeightStorage::stored) {
    Kokkos::Profiling::pushRegion("moho::rays::weights");
    fill_table(exec);
    Kokkos::Profiling::popRegion();
  }
  exec.fence();
  m_weight_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T, int Dim, class Exec>
void GridGraph<T, Dim, Exec>::check_velocity(const Exec& exec,
                                             const Field<T, Dim, Exec>& velocity) const {
  std::int64_t first = m_grid.size();
  const detail::FindBadVelocity<T, Dim, Exec> functor{m_grid, velocity.data()};
  Kokkos::parallel_reduce(
      "moho::rays::check_velocity",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, m_grid.size()), functor,
      Kokkos::Min<std::int64_t>(first));
  exec.fence();
  if (first >= m_grid.size()) return;
  T value = T(0);
  Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(&value);
  Kokkos::View<const T, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      device(velocity.data() + first);
  Kokkos::deep_copy(exec, host, device);
  exec.fence();
  const Index<Dim> node = m_grid.node(first);
  throw InputError(
      concat("velocity: ", value, " at node ", format_index(node), ", position ",
             format_point(m_grid.position(node)),
             " (allowed: positive finite numbers): fill or cut that part of the model"));
}

template <class T, int Dim, class Exec>
void GridGraph<T, Dim, Exec>::choose_storage(const Exec& exec) {
  const std::size_t vertices = static_cast<std::size_t>(m_data.grid.size);
  const std::size_t available = available_memory(exec);
  const bool given = m_options.memory_budget > 0;
  // Leave a twentieth of what is free to others.
  const std::size_t budget = given ? m_options.memory_budget : available / 20 * 19;
  const std::size_t table = vertices * m_data.half * sizeof(T);
  const std::size_t medium = vertices * sizeof(T);
  const std::size_t one_source = vertices * sizeof(T) + m_grid.size() * (sizeof(T) + 2);
  const std::string whose = given ? "the memory budget of " : "the free memory of ";
  if (medium + one_source > budget) {
    throw MemoryError(concat("memory: a model of ", shape_string(m_grid), " nodes needs ",
                             format_bytes(static_cast<double>(medium + one_source)),
                             " for one source without a weight table (", whose,
                             format_bytes(static_cast<double>(budget)),
                             " is less): use a coarser model, single precision or more memory"));
  }
  const bool fits = medium + one_source + table <= budget;
  if (m_options.storage == WeightStorage::stored && !fits) {
    throw MemoryError(concat("memory: the table of edge weights needs ",
                             format_bytes(static_cast<double>(table)), " beside ",
                             format_bytes(static_cast<double>(medium + one_source)), " (", whose,
                             format_bytes(static_cast<double>(budget)),
                             " is less): let weights be computed on the fly, or lower the radius"));
  }
  const std::string size = format_bytes(static_cast<double>(table));
  if (m_options.storage == WeightStorage::on_the_fly) {
    m_storage = WeightStorage::on_the_fly;
    m_storage_reason = "weights are computed on the fly, as asked";
  } else if (m_options.storage == WeightStorage::stored) {
    m_storage = WeightStorage::stored;
    m_storage_reason = concat("weights are stored, as asked (", size, ")");
  } else if (!fits) {
    m_storage = WeightStorage::on_the_fly;
    m_storage_reason = concat("weights are computed on the fly: a table of ", size,
                              " does not fit ", whose, format_bytes(static_cast<double>(budget)));
  } else if (is_host_space<Exec> && m_options.rule == WeightRule::slowness &&
             m_options.sources < 2) {
    m_storage = WeightStorage::on_the_fly;
    m_storage_reason = concat(
        "weights are computed on the fly: quicker on a CPU for one source than a table of ", size);
  } else {
    m_storage = WeightStorage::stored;
    m_storage_reason = concat("weights are stored (", size, ")");
  }
  m_weight_bytes = m_storage == WeightStorage::stored ? table : 0;
  m_solver_budget = budget - medium - m_weight_bytes;
}

template <class T, int Dim, class Exec>
void GridGraph<T, Dim, Exec>::make_star(const Exec& exec) {
  std::vector<std::int64_t> offsets;
  std::vector<double> lengths;
  std::vector<int> first{0};
  m_data.step = allocate<decltype(m_data.step)>(exec, "moho::rays::step", m_star.size(), Dim);
  auto step = Kokkos::create_mirror_view(m_data.step);
  for (std::size_t e = 0; e < m_star.size(); ++e) {
    std::int64_t place = 0;
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      place += m_star[e][d] * m_data.grid.strides[d];
      square += std::pow(m_star[e][d] * m_grid.spacing[d], 2);
      step(e, d) = m_star[e][d];
    }
    offsets.push_back(place);
    lengths.push_back(std::sqrt(square));
    m_stencils.push_back(detail::edge_stencil<Dim>(m_star[e], lengths.back()));
    first.push_back(first.back() + static_cast<int>(m_stencils.back().nodes.size()));
  }
  Kokkos::deep_copy(exec, m_data.step, step);
  m_data.offset = upload<std::int64_t>(exec, offsets, "moho::rays::offset");
  m_data.length = upload<double>(exec, lengths, "moho::rays::length");
  m_data.first_term = upload<int>(exec, first, "moho::rays::first_term");
  std::array<std::int64_t, Dim> strides;
  for (int d = 0; d < Dim; ++d) strides[d] = m_data.grid.strides[d];
  m_data.terms = upload_terms(exec, strides);
}

template <class T, int Dim, class Exec>
void GridGraph<T, Dim, Exec>::fill_medium(const Exec& exec, const Field<T, Dim, Exec>& velocity) {
  m_data.medium = allocate<decltype(m_data.medium)>(exec, "moho::rays::medium", m_data.grid.size);
  const bool slowness =
      m_options.rule == WeightRule::slowness || m_options.rule == WeightRule::cells;
  const detail::FillMedium<T, Dim, Exec> functor{m_data.grid, m_grid, velocity.data(),
                                                 m_data.medium.data(), slowness};
  Kokkos::parallel_for(
      "moho::rays::fill_medium",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, m_data.grid.size),
      functor);
}

template <class T, int Dim, class Exec>
void GridGraph<T, Dim, Exec>::fill_table(const Exec& exec) {
  m_data.table =
      allocate<decltype(m_data.table)>(exec, "moho::rays::weights", m_data.half, m_data.grid.size);
  if (m_options.rule != WeightRule::slowness) {
    const detail::IntegrateWeights<T, Dim, Exec> functor{{m_data}};
    Kokkos::parallel_for(
        "moho::rays::integrate_weights",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, m_data.grid.size),
        functor);
    return;
  }
  detail::PrecalculateWeights<T, Dim, Exec> functor;
  functor.graph = m_data;
  std::int64_t league = 1;
  for (int d = 0; d < Dim; ++d) {
    functor.box.extents[d] = tile_extent<Exec, Dim>(d) + 2 * m_options.radius;
    functor.league_extents[d] = m_data.grid.tiles[d] + 2;  // a ring of tiles of dummies
    league *= functor.league_extents[d];
  }
  functor.tile_terms = tile_terms(exec, functor.box);
  typename detail::PrecalculateWeights<T, Dim, Exec>::Policy policy(exec, static_cast<int>(league),
                                                                    functor.team_size());
  policy.set_scratch_size(is_host_space<Exec> ? 1 : 0, Kokkos::PerTeam(functor.scratch_bytes()));
  Kokkos::parallel_for("moho::rays::precalculate_weights", policy, functor);
}

}  // namespace moho::rays
