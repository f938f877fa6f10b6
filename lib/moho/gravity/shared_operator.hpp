// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products with the matrix of prisms that several processes compute together.

#include <moho/core/error.hpp>
#include <moho/core/ranks.hpp>
#include <moho/gravity/field_operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace moho::gravity {

/// \brief A FieldOperator of the root whose products all processes compute.
///
/// A process computes the fields of all prisms at its stations, and the transposed sums of its
/// prisms over all stations: it has an operator for each. Parts are put together by adding zeros,
/// so that results have the same bits for any number of processes on hosts, if the operators are
/// made with OperatorOptions::all_stations. Processes other than the root call serve().
/// \tparam Processes has size(), rank(), root(), collectively(f), broadcast(bytes, count) and
///         sum_to_root(values), as the class Ranks of the example programs
template <class Processes>
class SharedOperator final : public FieldOperator {
 public:
  /// Makes the operator of prisms and stations.
  using Make = std::function<std::unique_ptr<FieldOperator>(const std::vector<double>& prisms,
                                                            const std::vector<double>& stations)>;

  /// \param processes all processes make an operator of the same prisms and stations
  /// \param prisms rows of seven numbers
  /// \param stations rows of x, y, z
  /// \param components number of components
  /// \param make makes this process's operators
  SharedOperator(Processes& processes, const std::vector<double>& prisms,
                 const std::vector<double>& stations, std::size_t components, const Make& make)
      : m_processes(processes),
        m_prisms(static_cast<std::int64_t>(prisms.size() / 7)),
        m_stations(static_cast<std::int64_t>(stations.size() / 3)),
        m_components(components) {
    // whole vectors of stations
    constexpr std::int64_t block = 64;
    m_stations_here =
        mpi::part_of((m_stations + block - 1) / block, processes.size(), processes.rank());
    m_stations_here.first *= block;
    m_stations_here.last = std::min(m_stations_here.last * block, m_stations);
    m_prisms_here = mpi::part_of(m_prisms, processes.size(), processes.rank());
    processes.collectively([&] {
      const auto rows = [](const std::vector<double>& all, const mpi::Part& part, int width) {
        return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(width * part.first),
                                   all.begin() + static_cast<std::ptrdiff_t>(width * part.last));
      };
      if (m_stations_here.size() > 0) {
        m_by_stations = make(prisms, rows(stations, m_stations_here, 3));
      }
      if (m_prisms_here.size() > 0) m_by_prisms = make(rows(prisms, m_prisms_here, 7), stations);
    });
  }

  std::int64_t prisms() const override { return m_prisms; }
  std::int64_t values() const override {
    return static_cast<std::int64_t>(m_components) * m_stations;
  }
  void apply(const std::vector<double>& densities, std::vector<double>& values) override {
    detail::check_count("densities", densities.size(), prisms(), "prism");
    m_in = densities;
    compute(Task::apply);
    values = m_out;
  }
  void adjoint(const std::vector<double>& weights, std::vector<double>& densities) override {
    detail::check_count("weights", weights.size(), values(), "value");
    m_in = weights;
    compute(Task::adjoint);
    densities = m_out;
  }
  void column_squares(const std::vector<double>& weights, std::vector<double>& squares) override {
    detail::check_count("weights", weights.size(), values(), "value");
    m_in = weights;
    compute(Task::squares);
    squares = m_out;
  }

  /// Computes the products of the root until it calls stop(). Not called on the root.
  void serve() {
    while (compute(Task::stop)) {
    }
  }
  /// Ends serve() on the other processes.
  void stop() { compute(Task::stop); }

 private:
  enum class Task { stop, apply, adjoint, squares };

  // One product on all processes; the root's task counts. False: stop.
  bool compute(Task task) {
    m_processes.broadcast(&task, sizeof(task));
    if (task == Task::stop) return false;
    const bool forward = task == Task::apply;
    m_in.resize(static_cast<std::size_t>(forward ? prisms() : values()));
    m_processes.broadcast(m_in.data(), m_in.size() * sizeof(double));
    m_out.assign(static_cast<std::size_t>(forward ? values() : prisms()), 0.0);
    m_processes.collectively([&] {
      if (forward) {
        if (m_by_stations == nullptr) return;
        m_by_stations->apply(m_in, m_part);
        const auto here = static_cast<std::size_t>(m_stations_here.size());
        for (std::size_t c = 0; c < m_components; ++c) {
          std::copy_n(
              m_part.begin() + static_cast<std::ptrdiff_t>(c * here), here,
              m_out.begin() + static_cast<std::ptrdiff_t>(c) * m_stations + m_stations_here.first);
        }
      } else if (m_by_prisms != nullptr) {
        if (task == Task::adjoint) {
          m_by_prisms->adjoint(m_in, m_part);
        } else {
          m_by_prisms->column_squares(m_in, m_part);
        }
        std::copy(m_part.begin(), m_part.end(), m_out.begin() + m_prisms_here.first);
      }
    });
    m_processes.sum_to_root(m_out);
    return true;
  }

  Processes& m_processes;
  std::int64_t m_prisms, m_stations;
  std::size_t m_components;
  mpi::Part m_stations_here, m_prisms_here;
  std::unique_ptr<FieldOperator> m_by_stations, m_by_prisms;
  std::vector<double> m_in, m_out, m_part;
};

}  // namespace moho::gravity
