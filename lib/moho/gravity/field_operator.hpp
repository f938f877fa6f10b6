// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Operators of prisms between vectors on the host, computed in any memory space.

#include <moho/core/copy.hpp>
#include <moho/gravity/detail/to_space.hpp>
#include <moho/gravity/operator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace moho::gravity {

/// \brief A linear map from densities of prisms to components at stations, and its transpose.
///
/// All vectors are on the host: densities have one number a prism, values are components x stations
/// with stations fastest. A weight of 0 excludes a value, even one that does not exist.
class FieldOperator {
 public:
  FieldOperator() = default;
  FieldOperator(const FieldOperator&) = delete;
  FieldOperator& operator=(const FieldOperator&) = delete;
  virtual ~FieldOperator() = default;
  /// Returns the number of densities.
  virtual std::int64_t prisms() const = 0;
  /// Returns the number of values: components times stations.
  virtual std::int64_t values() const = 0;
  /// Returns the bytes allocated in the memory space; 0 if that is not known.
  virtual std::size_t bytes() const { return 0; }
  /// Returns the largest number of bytes allocated at a time while the operator was made.
  virtual std::size_t max_bytes() const { return bytes(); }
  /// Computes values = G densities; resizes `values`.
  virtual void apply(const std::vector<double>& densities, std::vector<double>& values) = 0;
  /// Computes densities = G^T weights; resizes `densities`.
  virtual void adjoint(const std::vector<double>& weights, std::vector<double>& densities) = 0;
  /// Computes sum_i (w_i G_ij)^2 for every prism j; resizes `squares`.
  virtual void column_squares(const std::vector<double>& weights, std::vector<double>& squares) = 0;
};

/// Returns the numbers of at most `max` of `count` stations, evenly spread over their list.
std::vector<std::size_t> spread_stations(std::size_t count, std::size_t max);
/// Returns the rows x, y, z of chosen stations.
std::vector<double> stations_at(const std::vector<double>& stations,
                                const std::vector<std::size_t>& chosen);
/// \brief Returns the largest difference of values from those at chosen stations.
/// \param values components x stations \param found components x chosen stations
/// \param chosen numbers of these stations \param components number of components
/// \returns it relative to the largest value of its component
double largest_difference(const std::vector<double>& values, const std::vector<double>& found,
                          const std::vector<std::size_t>& chosen, std::size_t components);
/// \brief Returns the largest difference of two operators of the same prisms.
///
/// It is relative to the largest value of each component. Densities alternate in sign.
/// \param all operator at all stations \param some operator at the chosen stations
/// \param chosen numbers of these stations \param components number of components
double difference_at(FieldOperator& all, FieldOperator& some,
                     const std::vector<std::size_t>& chosen, std::size_t components);

/// \brief Products of an operator of a memory space with vectors on the host.
/// \tparam Field Operator<Memory> or FmmOperator<Memory> \tparam FieldOptions its options
template <class Memory, class Field, class FieldOptions>
class HostFieldOperator : public FieldOperator {
 public:
  /// Copies prisms and stations to the space.
  /// \param exec where everything runs
  /// \param prisms rows of x1, x2, y1, y2, z1, z2, density (ignored)
  /// \param stations rows of x, y, z
  /// \param components components, in the order of values
  /// \param options those of the operator
  /// \throws InputError, MemoryError as the operator
  HostFieldOperator(const Instance<Memory>& exec, const std::vector<double>& prisms,
                    const std::vector<double>& stations, const Components& components,
                    const FieldOptions& options = {})
      : m_exec(exec),
        m_field(exec,
                detail::to_space<PrismView<Memory>>(exec, prisms, "prisms",
                                                    detail::row_count("prisms", prisms, 7)),
                detail::to_space<StationView<Memory>>(exec, stations, "stations",
                                                      detail::row_count("stations", stations, 3)),
                components, options),
        m_components(components.size()),
        m_stations(stations.size() / 3) {
    m_densities = allocate<Vector>(exec, "moho::gravity::densities", prisms.size() / 7);
    m_values =
        allocate<ResultView<Memory>>(exec, "moho::gravity::values", m_components, m_stations);
  }

  /// Returns the number of densities.
  std::int64_t prisms() const override { return m_field.prisms(); }
  /// Returns the number of values: components times stations.
  std::int64_t values() const override {
    return static_cast<std::int64_t>(m_components * m_stations);
  }
  /// Returns the bytes allocated in the memory space.
  std::size_t bytes() const override {
    return m_field.bytes() + 8 * (m_densities.size() + m_values.size());
  }
  /// Returns the operator of the space.
  Field& field() { return m_field; }

  /// Computes values = G densities; resizes `values`.
  void apply(const std::vector<double>& densities, std::vector<double>& values) override {
    detail::check_count("densities", densities.size(), prisms(), "prism");
    values.resize(m_components * m_stations);
    copy(m_exec, m_densities, HostVector(densities.data(), densities.size()));
    m_field.apply(m_exec, m_densities, m_values);
    copy(m_exec, HostResults(values.data(), m_components, m_stations), m_values);
    m_exec.fence();
  }
  /// Computes densities = G^T weights; resizes `densities`.
  void adjoint(const std::vector<double>& weights, std::vector<double>& densities) override {
    send(weights, densities);
    m_field.adjoint(m_exec, m_values, m_densities);
    take(densities);
  }

 protected:
  using Vector = typename Operator<Memory>::Vector;  ///< one number a prism

  /// Copies weights to the space.
  void send(const std::vector<double>& weights, std::vector<double>& densities) {
    detail::check_count("weights", weights.size(), values(), "value");
    densities.resize(static_cast<std::size_t>(prisms()));
    copy(m_exec, m_values, ConstHostResults(weights.data(), m_components, m_stations));
  }
  /// Copies densities from the space.
  void take(std::vector<double>& densities) {
    copy(m_exec,
         Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>(densities.data(),
                                                                                  densities.size()),
         m_densities);
    m_exec.fence();
  }

  Instance<Memory> m_exec;      ///< where everything runs
  Field m_field;                ///< operator of the space
  std::size_t m_components;     ///< number of components
  std::size_t m_stations;       ///< number of stations
  Vector m_densities;           ///< in the space
  ResultView<Memory> m_values;  ///< in the space

 private:
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using HostVector = Kokkos::View<const double*, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
  using HostResults = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
  using ConstHostResults =
      Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
};

/// \brief A FieldOperator by direct sums of an Operator.
template <class Memory>
class DirectFieldOperator final
    : public HostFieldOperator<Memory, Operator<Memory>, OperatorOptions> {
 public:
  using HostFieldOperator<Memory, Operator<Memory>, OperatorOptions>::HostFieldOperator;
  void column_squares(const std::vector<double>& weights, std::vector<double>& squares) override {
    this->send(weights, squares);
    this->m_field.column_squares(this->m_exec, this->m_values, this->m_densities);
    this->take(squares);
  }
};

/// Returns a DirectFieldOperator; its arguments are those of the constructor.
template <class Memory>
std::unique_ptr<FieldOperator> make_field_operator(const Instance<Memory>& exec,
                                                   const std::vector<double>& prisms,
                                                   const std::vector<double>& stations,
                                                   const Components& components,
                                                   const OperatorOptions& options = {}) {
  return std::make_unique<DirectFieldOperator<Memory>>(exec, prisms, stations, components, options);
}

}  // namespace moho::gravity
