// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The linear map from the densities of prisms to their field, and its exact transpose.

#include <moho/core/instances.hpp>
#include <moho/gravity/detail/transpose.hpp>
#include <moho/gravity/forward.hpp>

#include <cstddef>
#include <cstdint>

namespace moho::gravity {

/// Options of an Operator.
struct OperatorOptions {
  double constant = gravitational_constant;  ///< G, m^3/(kg s^2)
  /// Relative error allowed for a prism's multipole expansion. 0: to rounding. Negative:
  /// default_far_tolerance<double>.
  double far_tolerance = -1.0;
  std::size_t memory_budget = 0;  ///< bytes allowed in the memory space; 0: the free memory
  /// Stations of all processes of a SharedOperator, which fix the order of sums on hosts; 0: those
  /// of the operator.
  std::int64_t all_stations = 0;
};

/// \brief The matrix G of the fields of prisms of density 1, which is not stored.
///
///     Operator<Memory> field(exec, prisms, stations, {Component::gz, Component::gzz});
///     field.apply(exec, densities, results);   // results = G densities
///     field.adjoint(exec, weights, gradient);  // gradient = G^T weights
///
/// Both calls evaluate every pair of prism and station, in double precision and with the formulas
/// of forward(). A pair has the same formula in both, so that adjoint() is the transpose of what
/// apply() computes: (G m, w) and (m, G^T w) differ by rounding only. The bits of both are
/// independent of the number of host threads. The densities in the rows of prisms are not used.
/// An operator is used by one caller at a time.
///
/// Memory: 64 bytes a prism, and 8 bytes a station for each component that the kernels compute and
/// each chunk of prisms.
template <class Memory>
class Operator {
 public:
  /// A vector with an element a prism, kg/m^3 or 1/(kg/m^3) times the unit of the weights.
  using Vector = Kokkos::View<double*, Kokkos::LayoutRight, Memory>;
  /// Constant results: one row per component, one column per station.
  using ConstResultView = Kokkos::View<const double**, Kokkos::LayoutRight, Memory>;

  /// The operator of a list of prisms; it waits for the instance.
  /// \param exec instance of the views
  /// \param prisms one row per prism: x1, x2, y1, y2, z1, z2 (m, z down), a density that is ignored
  /// \param stations one row per station: x, y, z (m, z down)
  /// \param components components, in the order of the rows of results and weights
  /// \param options gravitational constant, far field, memory
  /// \throws InputError for invalid prisms, stations or components, MemoryError
  Operator(const InstanceOf<Memory>& exec, const PrismView<Memory>& prisms,
           const StationView<Memory>& stations, const Components& components,
           const OperatorOptions& options = {});
  /// The operator of all prisms of a mesh, x fastest, then y, then z.
  /// \overload
  Operator(const InstanceOf<Memory>& exec, const RegularMesh& mesh,
           const StationView<Memory>& stations, const Components& components,
           const OperatorOptions& options = {});

  /// Returns the number of prisms.
  std::int64_t prisms() const { return m_prisms; }
  /// Returns the number of stations.
  std::int64_t stations() const { return m_stations; }
  /// Returns the components.
  const Components& components() const { return m_components; }
  /// Returns the bytes allocated in the memory space.
  std::size_t bytes() const { return m_bytes; }

  /// \brief Computes results = G densities: the field of all prisms.
  /// \param exec instance of the views; devices may return before the end
  /// \param densities kg/m^3, one a prism
  /// \param results components x stations: m^2/s^2, mGal, Eotvos; NaN where a component does not
  ///        exist (see forward())
  /// \throws InputError for views of another shape; Stopped, see StopFlag
  void apply(const InstanceOf<Memory>& exec, const DensityView<Memory>& densities,
             const ResultView<Memory>& results);
  /// \brief Computes densities = G^T weights.
  /// \param exec instance of the views; devices may return before the end
  /// \param weights components x stations. A weight of 0 excludes a value, even one that does not
  ///        exist
  /// \param densities receives one number a prism
  /// \throws InputError for views of another shape; Stopped, see StopFlag
  void adjoint(const InstanceOf<Memory>& exec, const ConstResultView& weights,
               const Vector& densities);
  /// \brief Computes sum_i (w_i G_ij)^2 for every prism j: squares of the columns of G.
  /// \param exec instance of the views; devices may return before the end
  /// \param weights components x stations, such as 1 / standard error; 0 excludes a value
  /// \param squares receives one number a prism
  /// \throws InputError for views of another shape; Stopped, see StopFlag
  void column_squares(const InstanceOf<Memory>& exec, const ConstResultView& weights,
                      const Vector& squares);

 private:
  template <class Source>
  void prepare(const Instance<Memory>& exec, const Source& source,
               const StationView<Memory>& stations, const OperatorOptions& options);
  void transpose(const Instance<Memory>& exec, const ConstResultView& weights,
                 const Vector& densities, bool squares);

  Components m_components;
  std::int64_t m_prisms = 0, m_stations = 0, m_padded = 0;
  std::size_t m_bytes = 0;
  detail::Plan m_plan;
  detail::Distances<double> m_limits{};
  int m_chunks = 1, m_block = 1, m_blocks = 1;
  detail::TransposeShape m_transpose;
  Kokkos::View<detail::Record<double>*, Memory> m_records;
  Kokkos::View<double*, Memory> m_positions;  // packed stations
  Kokkos::View<double*, Memory> m_sums;       // of apply(), or of adjoint() and its weights
};

namespace detail {

/// Throws InputError unless a vector has `count` elements.
void check_count(const char* name, std::size_t found, std::int64_t count, const char* of);
/// Throws InputError unless an array is components x stations.
void check_shape(const char* name, std::size_t rows, std::size_t columns, std::size_t components,
                 std::int64_t stations);

}  // namespace detail

template <class Memory>
Operator<Memory>::Operator(const InstanceOf<Memory>& exec, const PrismView<Memory>& prisms,
                           const StationView<Memory>& stations, const Components& components,
                           const OperatorOptions& options)
    : m_components(components) {
  const Instance<Memory>& instance = exec;
  detail::check_prisms(instance, prisms);
  const detail::RowSource source{prisms.data(), static_cast<std::int64_t>(prisms.extent(0))};
  prepare(instance, detail::UnitSource<detail::RowSource>{source}, stations, options);
}

template <class Memory>
Operator<Memory>::Operator(const InstanceOf<Memory>& exec, const RegularMesh& mesh,
                           const StationView<Memory>& stations, const Components& components,
                           const OperatorOptions& options)
    : m_components(components) {
  detail::check_mesh(mesh, mesh.size());
  const detail::MeshSource source{mesh, nullptr};
  prepare(Instance<Memory>(exec), detail::UnitSource<detail::MeshSource>{source}, stations,
          options);
}

template <class Memory>
template <class Source>
void Operator<Memory>::prepare(const Instance<Memory>& exec, const Source& source,
                               const StationView<Memory>& stations,
                               const OperatorOptions& options) {
  using Shape = detail::TileShape<double, Memory>;
  detail::check_stations(exec, stations);
  Options sums;
  sums.constant = options.constant;
  sums.far_tolerance = options.far_tolerance;
  sums.memory_budget = options.memory_budget;
  detail::check_options(sums, m_components, stations.extent(0), m_components.size(),
                        stations.extent(0));
  m_plan = detail::make_plan(m_components, options.constant, 1.0);
  m_prisms = source.size();
  m_stations = static_cast<std::int64_t>(stations.extent(0));
  m_padded = detail::round_up(m_stations, Shape::padding());
  const int count = detail::count_of(m_plan.mask);
  m_block = Shape::block(sums);
  m_blocks = static_cast<int>((m_padded + m_block - 1) / m_block);
  if constexpr (is_host_memory<Memory>) {  // the same bits for any number of threads
    const std::int64_t max = std::max<std::int64_t>(1, m_prisms / 1024);
    const std::int64_t all = std::max(options.all_stations, m_stations);
    const std::int64_t blocks = (detail::round_up(all, Shape::padding()) + m_block - 1) / m_block;
    m_chunks = static_cast<int>(std::min<std::int64_t>(max, (256 + blocks - 1) / blocks));
  } else {
    m_chunks = Shape::chunks(exec, m_prisms, m_blocks);
  }
  m_transpose = detail::transpose_shape(exec, m_prisms, m_padded);
  const auto numbers = std::max<std::int64_t>(
      m_chunks * count * m_padded,
      count * m_padded + static_cast<std::int64_t>(m_transpose.chunks) * m_prisms);
  const double bytes =
      64.0 * static_cast<double>(m_prisms) + 8.0 * static_cast<double>(3 * m_padded + numbers);
  detail::check_budget(bytes, detail::budget_of(sums, memory_budget(exec, sums.memory_budget), 0),
                       concat("an operator of ", detail::counted(m_prisms, "prism"), " and ",
                              detail::counted(m_stations, "station")));
  m_bytes = static_cast<std::size_t>(bytes);
  detail::Frame frame;
  frame.axis = m_plan.axis;
  m_records = detail::pack_prisms<double>(exec, source, frame, m_prisms);
  m_positions = detail::pack_stations<double>(exec, stations, frame, m_padded);
  m_sums = allocate<Kokkos::View<double*, Memory>>(exec, "moho::gravity::sums",
                                                   static_cast<std::size_t>(numbers));
  const double tolerance =
      options.far_tolerance < 0.0 ? default_far_tolerance<double> : options.far_tolerance;
  const double far = detail::far_distance(m_plan.mask, tolerance);
  m_limits = {detail::near_distance * detail::near_distance, far * far};
  exec.fence();
}

template <class Memory>
void Operator<Memory>::apply(const InstanceOf<Memory>& exec, const DensityView<Memory>& densities,
                             const ResultView<Memory>& results) {
  detail::check_count("densities", densities.extent(0), m_prisms, "prism");
  detail::check_shape("results", results.extent(0), results.extent(1), m_components.size(),
                      m_stations);
  detail::check_contiguous(results, "results");
  const Instance<Memory>& instance = exec;
  launch("moho::gravity::set_densities", instance, m_prisms,
         detail::SetDensities{densities.data(), m_records.data()});
  const int count = detail::count_of(m_plan.mask);
  detail::TileData<double, detail::Record<double>> data{};
  data.records = m_records.data();
  data.stations = {m_positions.data(), m_padded};
  data.sums = {m_sums.data(), count, m_padded};
  data.limits = m_limits;
  data.first = 0;
  data.last = m_prisms;
  data.blocks = m_blocks;
  data.chunks = m_chunks;
  fill(instance, m_sums, 0.0);
  detail::sum_tiles(instance, m_plan.mask, data, m_block);
  detail::finish(instance, data.sums, m_chunks, m_plan, results);
}

template <class Memory>
void Operator<Memory>::transpose(const Instance<Memory>& exec, const ConstResultView& weights,
                                 const Vector& densities, bool squares) {
  detail::check_count("densities", densities.extent(0), m_prisms, "prism");
  detail::check_shape("weights", weights.extent(0), weights.extent(1), m_components.size(),
                      m_stations);
  detail::check_contiguous(weights, "weights");
  const int count = detail::count_of(m_plan.mask);
  detail::PackWeights pack{};
  pack.weights = weights.data();
  pack.stations = m_stations;
  pack.padded = m_padded;
  pack.squares = squares;
  pack.packed = m_sums.data();
  unsigned used = 0;
  for (int c = 0; c < count; ++c) pack.row[c] = -1;
  for (int i = 0; i < m_plan.count; ++i) {
    pack.row[m_plan.slot[i]] = i;
    pack.factor[m_plan.slot[i]] = m_plan.factor[i];
    used |= 1u << m_plan.slot[i];
  }
  launch("moho::gravity::pack_weights", exec, count * m_padded, pack);
  detail::TransposeData data{};
  data.records = m_records.data();
  data.prisms = m_prisms;
  data.stations = {m_positions.data(), m_padded};
  data.weights = {m_sums.data(), m_padded, used, squares};
  data.limits = m_limits;
  data.sums = m_sums.data() + count * m_padded;
  data.per_part = m_transpose.per_part;
  data.blocks = m_transpose.blocks;
  data.block = m_transpose.block;
  detail::transpose_tiles(exec, m_plan.mask, data, m_transpose.chunks);
  launch("moho::gravity::add_station_chunks", exec, m_prisms,
         detail::AddStationChunks{data.sums, densities.data(), m_prisms, m_transpose.chunks});
}

template <class Memory>
void Operator<Memory>::adjoint(const InstanceOf<Memory>& exec, const ConstResultView& weights,
                               const Vector& densities) {
  transpose(Instance<Memory>(exec), weights, densities, false);
}

template <class Memory>
void Operator<Memory>::column_squares(const InstanceOf<Memory>& exec,
                                      const ConstResultView& weights, const Vector& squares) {
  transpose(Instance<Memory>(exec), weights, squares, true);
}

#ifdef MOHO_GRAVITY_KERNELS
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::transpose_tiles)
MOHO_FOR_MEMORIES(MOHO_CLASS, extern template class, Operator)
#endif

}  // namespace moho::gravity
