// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The grid graph: vertices at the nodes of a velocity model, edges to a star of neighbours.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/space.hpp>
#include <moho/rays/detail/launch_parts.hpp>
#include <moho/rays/detail/vertex_weights.hpp>
#include <moho/rays/detail/weights.hpp>
#include <moho/rays/types.hpp>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace moho::rays {

/// A velocity model as a graph whose edge weights are traveltimes (Moser 1991). One graph serves
/// any number of sources.
///
/// \tparam T float or double, the precision of weights and traveltimes
/// \tparam Dim 2 or 3
/// \tparam Memory memory space of the graph and of the execution spaces that work on it
template <class T, int Dim, class Memory>
class GridGraph {
  static_assert(std::is_floating_point_v<T>);

 public:
  using memory_space = Memory;      ///< memory space of the graph
  static constexpr int rank = Dim;  ///< number of dimensions

  /// Checks the model, lays out the graph and, if weights are stored, computes their table.
  ///
  /// \param exec instance that does the work; the constructor returns when it is complete
  /// \param grid nodes of the model
  /// \param velocity one positive finite number per node, grid units per second
  /// \param options neighbourhood, rule and storage of weights
  /// \throws InputError radius or shape not allowed; velocity zero, negative, NaN or infinite
  ///         (gives the node)
  /// \throws MemoryError the graph does not fit the memory budget
  /// \throws Stopped see StopFlag; takes effect while the table is computed
  GridGraph(const Instance<Memory>& exec, const Grid<Dim>& grid,
            const Field<T, Dim, Memory>& velocity, const GraphOptions& options = {});

  /// Lays out the graph of a slab for SplitGraph; returns while the table is being computed.
  ///
  /// \param exec instance that does the work
  /// \param grid nodes of the complete model
  /// \param slab rows of tiles of this graph
  /// \param velocity of the rows PaddedGrid::stored_begin() to stored_end()
  /// \param options neighbourhood, rule and storage of weights
  /// \throws InputError, MemoryError as for a complete model
  GridGraph(const Instance<Memory>& exec, const Grid<Dim>& grid, const Slab& slab,
            const Field<T, Dim, Memory>& velocity, const GraphOptions& options);

  /// Returns the model's grid.
  const Grid<Dim>& grid() const { return m_grid; }
  /// Returns the radius of the neighbourhood.
  int radius() const { return m_options.radius; }
  /// Returns the options given to the constructor.
  const GraphOptions& options() const { return m_options; }
  /// Returns the number of a vertex's neighbours: 96 for the coprime star of radius 6 in 2D.
  int neighbours() const { return 2 * m_data.half; }
  /// Returns the source of the weights: stored, on_the_fly or fragments.
  WeightStorage storage() const { return m_storage; }
  /// Returns the reason for storage() as a sentence for reports.
  const std::string& storage_reason() const { return m_storage_reason; }
  /// Returns the bytes of the weight table or of its fragments; zero without them.
  std::size_t weight_bytes() const { return m_weight_bytes; }
  /// Returns the largest number of fragments, blocks with the weights of a tile, at a time.
  std::int64_t fragments() const { return m_fragments; }
  /// Returns the seconds spent on the weight table.
  double weight_seconds() const { return m_weight_seconds; }
  /// Returns the bytes available to a solver for traveltimes.
  std::size_t solver_budget() const { return m_solver_budget; }
  /// Returns the bytes that one source needs without a weight table, with the slowness.
  std::size_t min_bytes() const { return m_min_bytes; }
  /// Returns the half star, in the order of the edges.
  const std::vector<std::array<int, Dim>>& star() const { return m_star; }
  /// Returns the offset of the neighbour in a direction. Predecessors are stored as directions: the
  /// predecessor of vertex v is v + neighbour(predecessor(v)).
  std::array<int, Dim> neighbour(int direction) const;
  /// Returns the data that kernels use.
  const detail::GraphData<T, Dim, Memory>& data() const { return m_data; }
  /// Returns the stencil terms with offsets relative to a tile of the given box (rule slowness).
  Kokkos::View<detail::StencilTerm<T>*, Memory> tile_terms(const Instance<Memory>& exec,
                                                           const TileBox<Dim>& box) const;
  /// Returns the coefficients of all edge stencils, edge by edge (rule slowness).
  std::vector<T> coefficients() const;
  /// Returns empty fragments for one call of trace(); no blocks unless storage() is fragments.
  detail::WeightBlocks<T, Memory> make_fragments(const Instance<Memory>& exec) const;

 private:
  void check_radius() const;
  void build(const Instance<Memory>& exec, const Slab& slab, const Field<T, Dim, Memory>& velocity);
  void check_velocity(const Instance<Memory>& exec, const Field<T, Dim, Memory>& velocity) const;
  void fill_medium(const Instance<Memory>& exec, const Field<T, Dim, Memory>& velocity);
  void make_star(const Instance<Memory>& exec);
  void choose_storage(const Instance<Memory>& exec);
  bool choose_fragments(const Instance<Memory>& exec, std::size_t budget, std::size_t others,
                        const std::string& why);
  bool fragments_pay() const;
  void fill_table(const Instance<Memory>& exec);
  Kokkos::View<detail::StencilTerm<T>*, Memory> upload_terms(
      const Instance<Memory>& exec, const std::array<std::int64_t, Dim>& strides) const;

  Grid<Dim> m_grid;
  GraphOptions m_options;
  detail::GraphData<T, Dim, Memory> m_data;
  std::vector<std::array<int, Dim>> m_star;
  std::vector<detail::EdgeStencil<Dim>> m_stencils;
  WeightStorage m_storage = WeightStorage::stored;
  std::string m_storage_reason;
  std::size_t m_weight_bytes = 0;
  std::int64_t m_fragments = 0;
  std::size_t m_solver_budget = 0;
  std::size_t m_min_bytes = 0;
  double m_weight_seconds = 0.0;
};

template <class T, int Dim, class Memory>
GridGraph<T, Dim, Memory>::GridGraph(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const Field<T, Dim, Memory>& velocity,
                                     const GraphOptions& options)
    : m_grid(grid), m_options(options) {
  grid.check();
  check_radius();
  check_shape(grid, velocity, "velocity");
  build(exec, {}, velocity);
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

template <class T, int Dim, class Memory>
GridGraph<T, Dim, Memory>::GridGraph(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const Slab& slab, const Field<T, Dim, Memory>& velocity,
                                     const GraphOptions& options)
    : m_grid(grid), m_options(options) {
  grid.check();
  check_radius();
  build(exec, slab, velocity);
  if (m_storage == WeightStorage::stored) fill_table(exec);
}

template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::check_radius() const {
  if (m_options.radius >= 1 && m_options.radius <= max_radius<Dim>) return;
  throw InputError(concat("radius: ", m_options.radius, " (allowed in ", Dim, "D: 1 to ",
                          max_radius<Dim>, "): a larger radius is more accurate and costs more"));
}

// Everything but the table of weights.
template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::build(const Instance<Memory>& exec, const Slab& slab,
                                      const Field<T, Dim, Memory>& velocity) {
  m_data.grid = PaddedGrid<Dim>::template make<Memory>(m_grid, m_options.radius, slab);
  check_velocity(exec, velocity);
  m_data.radius = m_options.radius;
  m_data.rule = m_options.rule;
  m_star = half_star<Dim>(m_options.radius, m_options.star);
  m_data.half = static_cast<int>(m_star.size());
  choose_storage(exec);
  make_star(exec);
  fill_medium(exec, velocity);
}

template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::check_velocity(const Instance<Memory>& exec,
                                               const Field<T, Dim, Memory>& velocity) const {
  const auto& padded = m_data.grid;
  const std::int64_t rows = padded.stored_end() - padded.stored_begin();
  const std::int64_t first = find_first("moho::rays::check_velocity", exec, rows * padded.plane(),
                                        detail::BadVelocity<T>{velocity.data()});
  if (first == none_found) return;
  const T value = value_at(exec, velocity.data() + first);
  const Index<Dim> node = m_grid.node(first + padded.stored_begin() * padded.plane());
  throw InputError(
      concat("velocity: ", value, " at node ", format_index(node), ", position ",
             format_point(m_grid.position(node)),
             " (allowed: positive finite numbers): fill or cut that part of the model"));
}

template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::choose_storage(const Instance<Memory>& exec) {
  const std::size_t vertices = static_cast<std::size_t>(m_data.grid.size);
  const std::size_t budget = memory_budget(exec, m_options.memory_budget);
  const bool given = budget == m_options.memory_budget;
  const std::size_t table = vertices * m_data.half * sizeof(T);
  const std::size_t medium = vertices * sizeof(T);
  const auto nodes = static_cast<std::size_t>(m_data.grid.template nodes<Memory>());
  const std::size_t one_source = vertices * sizeof(T) + nodes * (sizeof(T) + 2);
  m_min_bytes = medium + one_source;
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
  } else if (m_options.storage == WeightStorage::fragments || (!fits && fragments_pay())) {
    const std::string why = fits ? concat("as asked (a table of ", size, " fits)")
                                 : concat("a table of ", size, " does not fit ", whose,
                                          format_bytes(static_cast<double>(budget)));
    if (!choose_fragments(exec, budget, medium + one_source, why)) {
      m_storage = WeightStorage::on_the_fly;
      m_storage_reason = concat("weights are computed on the fly: ", why, ", nor do fragments");
    }
  } else if (!fits) {
    m_storage = WeightStorage::on_the_fly;
    m_storage_reason = concat("weights are computed on the fly: a table of ", size,
                              " does not fit ", whose, format_bytes(static_cast<double>(budget)));
  } else if (is_host_memory<Memory> && m_options.rule == WeightRule::slowness &&
             m_options.sources < 2) {
    m_storage = WeightStorage::on_the_fly;
    m_storage_reason = concat(
        "weights are computed on the fly: quicker on a CPU for one source than a table of ", size);
  } else {
    m_storage = WeightStorage::stored;
    m_storage_reason = concat("weights are stored (", size, ")");
  }
  if (m_storage == WeightStorage::stored) m_weight_bytes = table;
  m_solver_budget = budget - medium - m_weight_bytes;
}

// On a host the weights of one source are computed faster than they are read, and so are, in
// registers, those of small stars on a device.
template <class T, int Dim, class Memory>
bool GridGraph<T, Dim, Memory>::fragments_pay() const {
  if (m_options.rule != WeightRule::slowness) return true;
  if (is_host_memory<Memory>) return m_options.sources > 1;
  return !detail::has_vertex_weights<T, Dim, Memory>(m_options.radius, m_options.star,
                                                     m_options.rule);
}

// Gives fragments the memory beside `others` bytes; half of it if there are several sources.
// Returns false if they are too few and were not requested.
template <class T, int Dim, class Memory>
bool GridGraph<T, Dim, Memory>::choose_fragments(const Instance<Memory>& exec, std::size_t budget,
                                                 std::size_t others, const std::string& why) {
  const auto tiles = static_cast<std::size_t>(m_data.grid.tile_count());
  const std::size_t block =
      static_cast<std::size_t>(detail::weight_block_size<Memory, Dim>(m_star, m_options.radius)) *
          sizeof(T) +
      sizeof(int);
  const std::size_t list = tiles * sizeof(std::int64_t);
  const int threads = is_host_memory<Memory> ? 1 : tile_volume<Memory, Dim>();
  const auto teams = static_cast<std::size_t>(std::max(1, exec.concurrency() / threads));
  const std::size_t min = std::min(tiles, 2 * std::max<std::size_t>(teams, 4));
  const std::size_t room = budget > others + list ? budget - others - list : 0;
  const bool requested = m_options.storage == WeightStorage::fragments;
  if (room / block < min) {
    if (!requested) return false;
    throw MemoryError(concat("memory: ", min, " fragments of the table of edge weights need ",
                             format_bytes(static_cast<double>(min * block)), " beside ",
                             format_bytes(static_cast<double>(others + list)), " (the budget of ",
                             format_bytes(static_cast<double>(budget)),
                             " is less): allow at least ",
                             format_bytes(static_cast<double>(others + list + min * block)),
                             ", let weights be computed on the fly, or lower the radius"));
  }
  std::size_t count = room / block;
  if (m_options.sources > 1) count = std::max(min, count / 2);
  m_fragments = static_cast<std::int64_t>(std::min(count, tiles));
  m_storage = WeightStorage::fragments;
  m_weight_bytes = static_cast<std::size_t>(m_fragments) * block + list;
  m_storage_reason =
      concat("weights are computed by fragments, ", m_fragments, " of ", tiles,
             " tiles at a time in ", format_bytes(static_cast<double>(m_weight_bytes)), ": ", why);
  return true;
}

template <class T, int Dim, class Memory>
detail::WeightBlocks<T, Memory> GridGraph<T, Dim, Memory>::make_fragments(
    const Instance<Memory>& exec) const {
  if (m_storage != WeightStorage::fragments) return {};
  return detail::make_weight_blocks<T>(
      exec, m_data.grid.tile_count(), m_fragments,
      detail::weight_block_size<Memory, Dim>(m_star, m_options.radius));
}

template <class T, int Dim, class Memory>
std::vector<T> GridGraph<T, Dim, Memory>::coefficients() const {
  std::vector<T> values;
  for (const auto& stencil : m_stencils) {
    for (const double value : stencil.coefficients) values.push_back(static_cast<T>(value));
  }
  return values;
}

template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::make_star(const Instance<Memory>& exec) {
  std::vector<std::int64_t> offsets;
  std::vector<double> lengths;
  std::vector<int> first{0};
  std::vector<int> steps;
  for (std::size_t e = 0; e < m_star.size(); ++e) {
    std::int64_t index = 0;
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      index += m_star[e][d] * m_data.grid.strides[d];
      square += std::pow(m_star[e][d] * m_grid.spacing[d], 2);
      steps.push_back(m_star[e][d]);
    }
    offsets.push_back(index);
    lengths.push_back(std::sqrt(square));
    m_stencils.push_back(detail::edge_stencil<Dim>(m_star[e], lengths.back()));
    first.push_back(first.back() + static_cast<int>(m_stencils.back().nodes.size()));
  }
  m_data.step = allocate<decltype(m_data.step)>(exec, "moho::rays::step", m_star.size(), Dim);
  copy(exec, m_data.step,
       Kokkos::View<const int**, Kokkos::LayoutRight, Kokkos::HostSpace,
                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>(steps.data(), m_star.size(), Dim));
  exec.fence();
  m_data.offset = upload(exec, offsets, "moho::rays::offset");
  m_data.length = upload(exec, lengths, "moho::rays::length");
  m_data.first_term = upload(exec, first, "moho::rays::first_term");
  std::array<std::int64_t, Dim> strides;
  for (int d = 0; d < Dim; ++d) strides[d] = m_data.grid.strides[d];
  m_data.terms = upload_terms(exec, strides);
}

template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::fill_medium(const Instance<Memory>& exec,
                                            const Field<T, Dim, Memory>& velocity) {
  m_data.medium = allocate<decltype(m_data.medium)>(exec, "moho::rays::medium", m_data.grid.size);
  const bool slowness =
      m_options.rule == WeightRule::slowness || m_options.rule == WeightRule::cells;
  launch("moho::rays::fill_medium", exec, m_data.grid.size,
         detail::FillMedium<T, Dim>{m_data.grid, m_grid, velocity.data(), m_data.medium.data(),
                                    slowness});
}

template <class T, int Dim, class Memory>
void GridGraph<T, Dim, Memory>::fill_table(const Instance<Memory>& exec) {
  m_data.table =
      allocate<decltype(m_data.table)>(exec, "moho::rays::weights", m_data.half, m_data.grid.size);
  // costs of a weight in relaxations: some 30 of the terms of an edge, up to 300 of its samples
  if (m_options.rule != WeightRule::slowness) {
    detail::launch_parts("moho::rays::integrate_weights", exec, m_data.grid.size,
                         std::int64_t{300} * m_data.half,
                         detail::IntegrateWeights<T, Dim, Memory>{{m_data}});
    return;
  }
  detail::WeightTiles<T, Dim, Memory> tiles;
  tiles.graph = m_data;
  std::int64_t count = 1;
  for (int d = 0; d < Dim; ++d) {
    tiles.box.extents[d] = tile_extent<Memory, Dim>(d) + 2 * m_options.radius;
    tiles.tiles[d] = m_data.grid.tiles[d] + 2;  // with a ring of dummy tiles
    count *= tiles.tiles[d];
  }
  tiles.tile_terms = tile_terms(exec, tiles.box);
  if constexpr (is_host_memory<Memory>) {
    detail::launch_parts("moho::rays::precalculate_weights", exec, count,
                         std::int64_t{30} * m_data.half * tile_volume<Memory, Dim>(),
                         detail::PrecalculateWeightsOnHost<T, Dim>{&tiles});
  } else {
    using Kernel = detail::PrecalculateWeightsOnDevice<T, Dim, Memory>;
    const Kernel kernel{tiles};
    typename Kernel::Policy policy(exec.space(), static_cast<int>(count), Kernel::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
    exec.check_stop();
    Kokkos::parallel_for("moho::rays::precalculate_weights", policy, kernel);
  }
}

template <class T, int Dim, class Memory>
std::array<int, Dim> GridGraph<T, Dim, Memory>::neighbour(int direction) const {
  std::array<int, Dim> offset = m_star[direction % m_data.half];
  if (direction >= m_data.half) {
    for (int& component : offset) component = -component;
  }
  return offset;
}

template <class T, int Dim, class Memory>
Kokkos::View<detail::StencilTerm<T>*, Memory> GridGraph<T, Dim, Memory>::tile_terms(
    const Instance<Memory>& exec, const TileBox<Dim>& box) const {
  std::array<std::int64_t, Dim> strides;
  for (int d = 0; d < Dim; ++d) strides[d] = box.stride(d);
  return upload_terms(exec, strides);
}

template <class T, int Dim, class Memory>
Kokkos::View<detail::StencilTerm<T>*, Memory> GridGraph<T, Dim, Memory>::upload_terms(
    const Instance<Memory>& exec, const std::array<std::int64_t, Dim>& strides) const {
  std::vector<detail::StencilTerm<T>> terms;
  for (const auto& stencil : m_stencils) {
    for (std::size_t k = 0; k < stencil.nodes.size(); ++k) {
      std::int64_t index = 0;
      for (int d = 0; d < Dim; ++d) index += stencil.nodes[k][d] * strides[d];
      terms.push_back({static_cast<int>(index), static_cast<T>(stencil.coefficients[k])});
    }
  }
  return upload(exec, terms, "moho::rays::terms");
}

/// \cond
#ifdef MOHO_RAYS_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, GridGraph)
#endif
/// \endcond

}  // namespace moho::rays
