// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fields of prisms at stations anywhere, by a fast multipole method.

#include <moho/gravity/detail/fmm_blocks.hpp>
#include <moho/gravity/detail/fmm_moments.hpp>
#include <moho/gravity/detail/fmm_near.hpp>
#include <moho/gravity/detail/fmm_pairs.hpp>
#include <moho/gravity/detail/fmm_tiles.hpp>
#include <moho/gravity/detail/fmm_tree.hpp>
#include <moho/gravity/field_operator.hpp>
#include <moho/gravity/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::gravity {

/// Options of an FmmOperator.
struct FmmOptions {
  double constant = gravitational_constant;  ///< G, m^3/(kg s^2)
  /// Error of far pairs, of the largest value of each component: min_fmm_tolerance to 0.01.
  double tolerance = 1e-9;
  /// Relative error of a prism's multipole expansion in near pairs, as in OperatorOptions.
  double far_tolerance = -1.0;
  std::size_t memory_budget = 0;  ///< bytes allowed in the memory space; 0: the free memory
  int part = 0;                   ///< the part of the stations that apply() computes
  int parts = 1;                  ///< number of parts; values in other parts are 0
};

/// What an FmmOperator computes.
struct FmmReport {
  int order = 0;                   ///< largest order of the expansions
  std::int64_t prism_nodes = 0;    ///< nodes of the tree of prisms
  std::int64_t station_nodes = 0;  ///< nodes of the tree of stations
  std::int64_t far_pairs = 0;      ///< translations between nodes of both trees
  double near_pairs = 0.0;         ///< pairs of prism and station that are summed directly
  double work = 0.0;               ///< estimated work, in pairs of direct sums
};

namespace detail {

/// Order of the expansions, and the largest ratio of radius and distance of far pairs.
struct FmmOrders {
  int order = 0;        ///< largest order
  double ratio = 0.45;  ///< largest ratio, of pairs with the largest order
  int derivatives = 0;  ///< of the potential
};
/// Returns the order for a set of components. \throws InputError for a tolerance out of range
FmmOrders choose_orders(unsigned mask, double tolerance);

/// Throws InputError unless a part exists.
void check_parts(int part, int parts);
/// Throws InputError for more prisms or stations than a tree can have.
void check_fmm_size(std::int64_t prisms, std::int64_t stations);
/// Throws InputError for more pairs of nodes than a list can have.
void check_pairs(std::size_t pairs);
/// Returns the name of an operator for messages.
std::string fmm_name(std::int64_t prisms, std::int64_t stations);
/// Returns the rules of pairs; the nodes are not set.
PairRules make_rules(const FmmOrders& orders);
/// Returns the work of a product, in pairs of direct sums.
double work_of(const FmmReport& report, unsigned mask, std::int64_t prisms, std::int64_t stations);
/// Returns the first and last sorted station of a part, at the ends of leaves. Parts have about the
/// same work.
Kokkos::Array<std::int32_t, 2> cut_stations(const FmmTree& tree,
                                            const std::vector<std::int32_t>& near,
                                            const std::vector<std::int32_t>& far, int part,
                                            int parts);

/// Prisms and stations of a leaf, where possible.
inline constexpr std::int32_t fmm_prisms_of_leaf = 32, fmm_stations_of_leaf = 64;

/// A tree in a memory space.
template <class Memory>
struct FmmTreeIn {
  FmmTree tree;
  Kokkos::View<FmmNode*, Memory> nodes;
  Kokkos::View<std::int32_t*, Memory> leaves;
  Kokkos::View<double*, Memory> expansions;
};

/// Sets the densities of sorted prisms.
struct SetSorted {
  const double* densities;
  const std::int64_t* order;
  Record<double>* records;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    records[i].density = densities[order[i]];
  }
};

/// Returns sums of sorted prisms to the order of the input.
struct ReturnSorted {
  const double* sums;
  const std::int64_t* order;
  double* densities;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    densities[order[i]] = sums[i];
  }
};

/// Returns the sums of places to the stations, with the factors of the components.
struct ReturnPlaces {
  PartialSums sums;
  const std::int64_t* station;
  double* results;
  std::int64_t stations;
  int count;                                      ///< of components
  Kokkos::Array<int, component_count> slot;       ///< index in the sums
  Kokkos::Array<double, component_count> factor;  ///< of each component
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t at) const {
    const std::int64_t s = station[at];
    if (s < 0) return;
    for (int c = 0; c < count; ++c) {
      results[c * stations + s] = *sums.at(0, slot[c], at) * factor[c];
    }
  }
};

/// Packs the weights of places, with the factors of the components.
struct PackPlaces {
  const double* weights;
  const std::int64_t* station;
  std::int64_t stations, slots;
  Kokkos::Array<int, component_count> row{};        ///< of each kernel component, or -1
  Kokkos::Array<double, component_count> factor{};  ///< of each kernel component
  double* packed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t c = item / slots, s = station[item % slots];
    packed[item] = row[c] >= 0 && s >= 0 ? weights[row[c] * stations + s] * factor[c] : 0.0;
  }
};

/// Adds the near pairs of prism and station of a leaf.
struct CountNear {
  const FmmNode *nodes, *others;
  const std::int32_t *leaves, *begin, *list;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item, double& sum) const {
    const std::int32_t leaf = leaves[item];
    for (std::int32_t e = begin[leaf]; e < begin[leaf + 1]; ++e) {
      const FmmNode& other = others[list[e]];
      sum += static_cast<double>(other.end - other.begin) * (nodes[leaf].end - nodes[leaf].begin);
    }
  }
};

}  // namespace detail

/// \brief The operator of prisms at stations anywhere, by a fast multipole method.
///
///     FmmOperator<Memory> field(exec, prisms, stations, nine_components(), {.tolerance = 1e-9});
///     field.apply(exec, densities, results);   // results = G densities
///     field.adjoint(exec, weights, gradient);  // gradient = G^T weights
///
/// Prisms and stations have an octree each. Pairs of nodes far from each other interact by
/// expansions in solid harmonics, whose moments are exact integrals over the prisms. Near pairs are
/// direct sums with the formulas of Operator, and so are stations on faces, on edges and inside
/// prisms. adjoint() is the transpose of what apply() computes: the same pairs with the same
/// orders. Both have the same bits on every run and for any number of host threads and parts.
///
/// The tolerance refers to the largest value of a component that the same densities without signs
/// would have. Densities that cancel at all stations leave fewer digits.
///
/// Memory: (p + 1)^2 numbers of 8 bytes a node of both trees, p being 8 to 28, and 100 to 200 bytes
/// a prism and station. Dehnen 2014, doi 10.1186/s40668-014-0001-7; docs/theory/gravity_fmm.md.
template <class Memory>
class FmmOperator {
 public:
  using Vector = typename Operator<Memory>::Vector;                    ///< one number a prism
  using ConstResultView = typename Operator<Memory>::ConstResultView;  ///< components x stations
  using Options = FmmOptions;                                          ///< of the constructor

  /// The operator of a list of prisms; it waits for the instance.
  /// \param exec instance of the views
  /// \param prisms one row per prism: x1, x2, y1, y2, z1, z2 (m, z down), a density that is ignored
  /// \param stations one row per station: x, y, z (m, z down)
  /// \param components components, in the order of the rows of results and weights
  /// \param options constant, tolerance, memory, part
  /// \throws InputError for invalid prisms, stations, components or options, MemoryError
  FmmOperator(const InstanceOf<Memory>& exec, const PrismView<Memory>& prisms,
              const StationView<Memory>& stations, const Components& components,
              const FmmOptions& options = {});
  /// The operator of all prisms of a mesh, x fastest, then y, then z.
  /// \overload
  FmmOperator(const InstanceOf<Memory>& exec, const RegularMesh& mesh,
              const StationView<Memory>& stations, const Components& components,
              const FmmOptions& options = {});

  /// Returns the number of prisms.
  std::int64_t prisms() const { return m_prisms; }
  /// Returns the number of stations.
  std::int64_t stations() const { return m_stations; }
  /// Returns the components.
  const Components& components() const { return m_components; }
  /// Returns the bytes allocated in the memory space.
  std::size_t bytes() const { return m_bytes; }
  /// Returns the largest number of bytes allocated at a time, while the operator was made.
  std::size_t max_bytes() const { return m_max_bytes; }
  /// Returns orders, nodes and pairs.
  const FmmReport& report() const { return m_report; }

  /// \brief Computes results = G densities at the stations of its part, zero at all others.
  /// \param exec instance of the views; devices may return before the end
  /// \param densities kg/m^3, one a prism
  /// \param results components x stations: m^2/s^2, mGal, Eotvos; NaN where a component does not
  ///        exist (see forward())
  /// \throws InputError for views of another shape; Stopped between passes, see StopFlag
  void apply(const InstanceOf<Memory>& exec, const DensityView<Memory>& densities,
             const ResultView<Memory>& results);
  /// \brief Computes densities = G^T weights, of all parts.
  /// \param exec instance of the views; devices may return before the end
  /// \param weights components x stations. A weight of 0 excludes a value, even one that does not
  ///        exist
  /// \param densities receives one number a prism
  /// \throws InputError for views of another shape; Stopped between passes, see StopFlag
  void adjoint(const InstanceOf<Memory>& exec, const ConstResultView& weights,
               const Vector& densities);

 private:
  using Tree = detail::FmmTreeIn<Memory>;
  template <class Source>
  void prepare(const Instance<Memory>& exec, const Source& source,
               const StationView<Memory>& stations, const FmmOptions& options);
  template <class Source>
  void plant(const Instance<Memory>& exec, const Source& source,
             const StationView<Memory>& stations, const detail::Frame& frame,
             detail::MemoryTally& tally);
  void find_lists(const Instance<Memory>& exec, const detail::FmmOrders& orders,
                  detail::MemoryTally& tally);
  void allocate_sums(const Instance<Memory>& exec, const FmmOptions& options);
  void sum_moments(const Instance<Memory>& exec, bool transposed);
  void to_parents(const Instance<Memory>& exec, const Tree& tree);
  void to_children(const Instance<Memory>& exec, const Tree& tree, std::int32_t begin,
                   std::int32_t end);
  void translate(const Instance<Memory>& exec, const Tree& from, const Tree& to,
                 const detail::PairLists<Memory>& lists, bool transposed);
  detail::FmmStations packed_stations(std::int32_t begin, std::int32_t end) const;
  detail::NearData near_data(const Tree& items, const detail::PairLists<Memory>& lists,
                             std::int32_t begin, std::int32_t end) const;

  Components m_components;
  std::int64_t m_prisms = 0, m_stations = 0, m_slots = 0;
  std::int32_t m_begin = 0, m_end = 0;  // sorted stations of the part
  std::size_t m_bytes = 0, m_max_bytes = 0;
  FmmReport m_report;
  detail::Plan m_plan;
  detail::Distances<double> m_limits{};
  int m_min = 2;  // order of a node with stations at one point
  detail::FmmTablesIn<Memory> m_tables;
  detail::FmmTilesIn<Memory> m_tiles;  // empty without matrix units
  Tree m_prism_tree, m_station_tree;
  detail::PairLists<Memory> m_far, m_near;                        // of nodes of stations
  detail::PairLists<Memory> m_far_transposed, m_near_transposed;  // of nodes of prisms
  Kokkos::View<detail::Record<double>*, Memory> m_records;        // sorted prisms
  Kokkos::View<std::int64_t*, Memory> m_order;                    // of the prisms
  Kokkos::View<std::int64_t*, Memory> m_station;                  // of each place
  Kokkos::View<double*, Memory> m_packed;                         // places of stations
  Kokkos::View<double*, Memory> m_sums;                           // or weights
  Kokkos::View<double*, Memory> m_sorted;                         // sums of sorted prisms
};

/// \brief A FieldOperator by an FmmOperator.
template <class Memory>
class FmmFieldOperator final : public HostFieldOperator<Memory, FmmOperator<Memory>, FmmOptions> {
  using Base = HostFieldOperator<Memory, FmmOperator<Memory>, FmmOptions>;

 public:
  /// \copydoc HostFieldOperator::HostFieldOperator
  FmmFieldOperator(const Instance<Memory>& exec, const std::vector<double>& prisms,
                   const std::vector<double>& stations, const Components& components,
                   const FmmOptions& options = {})
      : Base(exec, prisms, stations, components, options),
        m_rows(prisms),
        m_slots(stations),
        m_options{options.constant, options.far_tolerance, options.memory_budget} {}

  std::size_t bytes() const override { return Base::bytes() + copied(); }
  std::size_t max_bytes() const override {
    // vectors of the products follow
    const std::size_t later = Base::bytes() - this->m_field.bytes();
    return copied() + std::max(this->m_field.max_bytes(), this->m_field.bytes() + later);
  }
  /// Direct sums; an operator of them is made for the call.
  void column_squares(const std::vector<double>& weights, std::vector<double>& squares) override {
    DirectFieldOperator<Memory> direct(this->m_exec, m_rows, m_slots, this->m_field.components(),
                                       m_options);
    direct.column_squares(weights, squares);
  }

 private:
  std::size_t copied() const {
    return is_host_memory<Memory> ? 8 * (m_rows.size() + m_slots.size()) : 0;
  }

  std::vector<double> m_rows, m_slots;
  OperatorOptions m_options;
};

/// Returns an FmmFieldOperator; its arguments are those of the constructor.
template <class Memory>
std::unique_ptr<FieldOperator> make_fmm_operator(const Instance<Memory>& exec,
                                                 const std::vector<double>& prisms,
                                                 const std::vector<double>& stations,
                                                 const Components& components,
                                                 const FmmOptions& options = {}) {
  return std::make_unique<FmmFieldOperator<Memory>>(exec, prisms, stations, components, options);
}

/// \brief Returns true if a product of an FmmOperator, including its construction, is expected to
/// take less time than direct sums. \param prisms,stations numbers of both \param components those
/// computed \param on_host true for hosts
bool fmm_pays(std::int64_t prisms, std::int64_t stations, const Components& components,
              bool on_host);

}  // namespace moho::gravity

#include <moho/gravity/detail/fmm_impl.hpp>
