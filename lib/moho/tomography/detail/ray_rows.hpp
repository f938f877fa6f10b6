// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Rays of pairs and their rows of the derivative, on an instance (internal).

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/launch.hpp>
#include <moho/rays/paths.hpp>
#include <moho/rays/segment.hpp>

#include <cstdint>

namespace moho::tomography::detail {

/// Follows the predecessors of pairs of a source and a receiver; `receivers` has a row for each
/// pair.
template <class T, int Dim, class Memory>
struct FollowPair : rays::detail::FollowRay<T, Dim, Memory> {
  const std::int64_t* source = nullptr;  ///< place in the batch, for each pair
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t pair) const {
    if (this->points.extent(0) == 0) {
      this->find_end(pair, source[pair], pair);
    } else if (this->last_vertex(pair) >= -1) {
      this->write(pair, source[pair], pair);
    }
  }
};

/// The model that rows refer to.
template <int Dim>
struct RowModel {
  Grid<Dim> grid;                       ///< of the model nodes
  Index<Dim> unknowns{};                ///< extents of the grid of the unknowns
  std::int64_t step = 1;                ///< model nodes between unknowns
  const double* slowness = nullptr;     ///< s/m at the model nodes; null: 1, rows are metres
  const unsigned char* mask = nullptr;  ///< 1 for ground, 0 for air
};

/// Builds the row of a ray piece by piece.
///
/// Sums are kept for the cell of unknowns that the ray crosses, and then in a window of the last
/// columns. A column that a ray meets again later may occur twice in its row.
template <int Dim>
class RowBuilder {
 public:
  static constexpr int corners = 1 << Dim;
  static constexpr int room = 3 * corners;

  /// \param model the model \param column,value entries of the row; null: they are counted
  /// \param scale factor of all values
  KOKKOS_INLINE_FUNCTION RowBuilder(const RowModel<Dim>& model, int* column, double* value,
                                    double scale)
      : m_model(model), m_column(column), m_value(value), m_scale(scale) {
    for (int corner = 0; corner < corners; ++corner) m_sums[corner] = 0.0;
    for (int d = 0; d < Dim; ++d) m_cell[d] = -1;
  }
  /// Adds a straight segment. \param seconds its time; negative: by the slowness of the nodes
  KOKKOS_INLINE_FUNCTION void segment(const Point<Dim>& from, const Point<Dim>& to,
                                      double seconds) {
    using std::sqrt;
    m_p = rays::detail::snap<Dim>(m_model.grid, from);
    m_q = rays::detail::snap<Dim>(m_model.grid, to);
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      const double delta = (m_q[d] - m_p[d]) * m_model.grid.spacing[d];
      square += delta * delta;
    }
    m_length = sqrt(square);
    m_seconds = seconds;
    rays::detail::for_each_piece<Dim>(m_p, m_q, m_model.grid.extents, Visit{this});
  }
  /// Completes the row and returns the number of its entries.
  KOKKOS_INLINE_FUNCTION std::int64_t finish() {
    close_cell();
    for (int k = 0; k < m_count; ++k) write((m_oldest + k) % m_count);
    m_count = 0;
    return m_written;
  }
  /// Returns the time in the ground, s.
  KOKKOS_INLINE_FUNCTION double ground() const { return m_ground; }
  /// Returns the time in the air, s.
  KOKKOS_INLINE_FUNCTION double air() const { return m_air; }

 private:
  struct Visit {
    RowBuilder* builder;
    KOKKOS_INLINE_FUNCTION void operator()(double t0, double t1, const Index<Dim>& cell) const {
      builder->piece(t0, t1, cell);
    }
  };

  // The piece from t0 to t1 of the segment, in a cell of the model. The time of each of its nodes
  // is that of Simpson's rule, which is exact for the (bi/tri)linear slowness.
  KOKKOS_INLINE_FUNCTION void piece(double t0, double t1, const Index<Dim>& cell) {
    open_cell(cell);
    const double at[3] = {t0, 0.5 * (t0 + t1), t1};
    for (int corner = 0; corner < corners; ++corner) {
      Index<Dim> node = cell;
      bool exists = true;
      for (int d = 0; d < Dim; ++d) {
        node[d] += (corner >> d) & 1;
        exists = exists && node[d] < m_model.grid.extents[d];
      }
      if (!exists) continue;
      double share = 0.0;
      for (int k = 0; k < 3; ++k) {
        double weight = k == 1 ? 4.0 / 6.0 : 1.0 / 6.0;
        for (int d = 0; d < Dim; ++d) {
          const double fraction = m_p[d] + at[k] * (m_q[d] - m_p[d]) - static_cast<double>(cell[d]);
          weight *= (corner >> d) & 1 ? fraction : 1.0 - fraction;
        }
        share += weight;
      }
      share *= t1 - t0;
      if (share < 1e-13) continue;
      const std::int64_t flat = m_model.grid.flat(node);
      const double slowness = m_model.slowness == nullptr ? 1.0 : m_model.slowness[flat];
      const double time = m_seconds < 0.0 ? share * m_length * slowness : share * m_seconds;
      if (m_model.mask != nullptr && m_model.mask[flat] == 0) {
        m_air += time;
        continue;
      }
      m_ground += time;
      spread(node, time);
    }
  }
  // Begins the cell of unknowns around a cell of the model.
  KOKKOS_INLINE_FUNCTION void open_cell(const Index<Dim>& cell) {
    bool same = true;
    for (int d = 0; d < Dim; ++d) same = same && m_cell[d] == cell[d] / m_model.step;
    if (same) return;
    close_cell();
    for (int d = 0; d < Dim; ++d) m_cell[d] = cell[d] / m_model.step;
  }
  // Adds the time of a model node to the unknowns of the cell, by linear interpolation.
  KOKKOS_INLINE_FUNCTION void spread(const Index<Dim>& node, double time) {
    for (int corner = 0; corner < corners; ++corner) {
      double weight = time;
      for (int d = 0; d < Dim; ++d) {
        const double part = static_cast<double>(node[d] - m_cell[d] * m_model.step) /
                            static_cast<double>(m_model.step);
        weight *= (corner >> d) & 1 ? part : 1.0 - part;
      }
      m_sums[corner] += weight;
    }
  }
  // Moves the sums of the cell to the window.
  KOKKOS_INLINE_FUNCTION void close_cell() {
    for (int corner = 0; corner < corners; ++corner) {
      const double sum = m_sums[corner];
      m_sums[corner] = 0.0;
      if (sum == 0.0) continue;
      std::int64_t flat = 0;
      for (int d = 0; d < Dim; ++d) {
        flat = flat * m_model.unknowns[d] + m_cell[d] + ((corner >> d) & 1);
      }
      add(static_cast<int>(flat), sum);
    }
  }
  KOKKOS_INLINE_FUNCTION void add(int column, double value) {
    for (int k = 0; k < m_count; ++k) {
      if (m_columns[k] != column) continue;
      m_values[k] += value;
      return;
    }
    int index = m_count;
    if (m_count < room) {
      ++m_count;
    } else {
      index = m_oldest;
      write(index);
      m_oldest = (m_oldest + 1) % room;
    }
    m_columns[index] = column;
    m_values[index] = value;
  }
  KOKKOS_INLINE_FUNCTION void write(int index) {
    if (m_column != nullptr) {
      m_column[m_written] = m_columns[index];
      m_value[m_written] = m_scale * m_values[index];
    }
    ++m_written;
  }

  const RowModel<Dim>& m_model;
  int* m_column;
  double* m_value;
  double m_scale;
  Kokkos::Array<double, Dim> m_p{}, m_q{};
  double m_length = 0.0, m_seconds = -1.0, m_ground = 0.0, m_air = 0.0;
  Index<Dim> m_cell{};
  double m_sums[corners];
  int m_columns[room] = {};
  double m_values[room] = {};
  int m_count = 0, m_oldest = 0;
  std::int64_t m_written = 0;
};

/// Counts the entries of the rows of rays, or writes them.
template <int Dim, class Memory>
struct RowOfRay {
  RowModel<Dim> model;
  rays::detail::PointView<Dim, Memory> points;
  const std::int64_t* first_point = nullptr;
  const double* arrival = nullptr;  ///< seconds at the points; null: by the slowness
  std::int64_t* count = nullptr;    ///< out in the first call, with the times
  double *ground = nullptr, *air = nullptr;
  const double* scale = nullptr;  ///< in the second call, with the places of the entries; null: 1
  const std::int64_t* first = nullptr;
  int* column = nullptr;
  double* value = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t ray) const {
    const bool store = first != nullptr;
    RowBuilder<Dim> row(model, store ? column + first[ray] : nullptr,
                        store ? value + first[ray] : nullptr,
                        store && scale != nullptr ? scale[ray] : 1.0);
    for (std::int64_t i = first_point[ray]; i + 1 < first_point[ray + 1]; ++i) {
      double seconds = -1.0;
      if (arrival != nullptr) {
        seconds = arrival[i + 1] > arrival[i] ? arrival[i + 1] - arrival[i] : 0.0;
      }
      row.segment(rays::detail::get_point<Dim, Memory>(points, i),
                  rays::detail::get_point<Dim, Memory>(points, i + 1), seconds);
    }
    const std::int64_t entries = row.finish();
    if (store) return;
    count[ray] = entries;
    ground[ray] = row.ground();
    air[ray] = row.air();
  }
};

}  // namespace moho::tomography::detail
