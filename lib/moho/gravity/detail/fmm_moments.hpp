// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Exact moments of the prisms of a leaf, and their transpose.
///
/// The integral of a monomial over a prism is the product of three integrals of powers. Sums of
/// these products over the prisms of a leaf become an expansion by a constant sparse matrix.

#include <moho/gravity/detail/fmm_translation.hpp>
#include <moho/gravity/detail/pack.hpp>

#include <cstdint>

namespace moho::gravity::detail {

/// Prisms of a leaf whose integrals are in scratch at a time.
inline constexpr int fmm_prisms_staged = 16;

/// \brief Moments of leaves: a team processes one leaf.
///
/// `transposed`: the densities' derivatives of the sum of moments times an expansion.
struct PrismMoments {
  static constexpr int max_scratch =
      monomial_count(fmm_max_order) + 3 * (fmm_max_order + 1) * fmm_prisms_staged + 8;
  static constexpr int threads = 128;
  FmmConstants tables;
  const FmmNode* nodes;
  const std::int32_t* leaves;
  const Record<double>* records;
  double* data;       ///< expansions of all nodes
  double* densities;  ///< transposed: sums of sorted prisms
  bool transposed;

  KOKKOS_INLINE_FUNCTION int scratch() const {
    return monomial_count(tables.order) + 3 * (tables.order + 1) * fmm_prisms_staged + 8;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const int order = tables.order, numbers = fmm_count(order), monomials = monomial_count(order);
    const std::int32_t leaf = leaves[item];
    const FmmNode& node = nodes[leaf];
    double* const expansion = data + static_cast<std::int64_t>(leaf) * numbers;
    double* const sums = scratch;
    double* const integrals = scratch + monomials;
    if (transposed) {
      to_monomials(team, expansion, sums);
    } else {
      for (int k = team.rank(); k < monomials; k += team.size()) sums[k] = 0.0;
    }
    for (std::int32_t first = node.begin; first < node.end; first += fmm_prisms_staged) {
      const int count = node.end - first < fmm_prisms_staged ? node.end - first : fmm_prisms_staged;
      team.barrier();
      stage(team, node, first, count, integrals);
      team.barrier();
      if (transposed) {
        take(team, first, count, sums, integrals);
      } else {
        add(team, count, sums, integrals);
      }
    }
    team.barrier();
    if (!transposed) to_harmonics(team, sums, expansion);
  }

 private:
  /// Sets an expansion from sums of monomials.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void to_harmonics(const Team& team, const double* sums,
                                           double* expansion) const {
    if constexpr (Team::on_host) {
      for (int r = 0; r < fmm_count(tables.order); ++r) {
        double sum = 0.0;
        for (std::int32_t e = tables.row_begin[r]; e < tables.row_begin[r + 1]; ++e) {
          sum += tables.row_value[e] * sums[tables.row_monomial[e]];
        }
        expansion[r] = sum;
      }
    } else {
      multiply_slices(team, tables.sliced_rows, sums,
                      [&](std::int32_t r, double value) { expansion[r] = value; });
    }
  }
  /// Sets factors of monomials from an expansion, the transpose of to_harmonics().
  template <class Team>
  KOKKOS_INLINE_FUNCTION void to_monomials(const Team& team, const double* expansion,
                                           double* factors) const {
    if constexpr (Team::on_host) {
      for (int k = 0; k < monomial_count(tables.order); ++k) {
        double sum = 0.0;
        for (std::int32_t e = tables.column_begin[k]; e < tables.column_begin[k + 1]; ++e) {
          sum += tables.column_value[e] * expansion[tables.column_row[e]];
        }
        factors[k] = sum;
      }
    } else {
      multiply_slices(team, tables.sliced_columns, expansion,
                      [&](std::int32_t k, double value) { factors[k] = value; });
    }
  }
  /// Sets the integrals of powers of prisms along the three axes, in units of the node's scale.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void stage(const Team& team, const FmmNode& node, std::int32_t first,
                                    int count, double* integrals) const {
    const int order = tables.order;
    const double scale = 1.0 / node.scale;
    for (int item = team.rank(); item < 3 * count; item += team.size()) {
      const int axis = item % 3;
      const Record<double>& record = records[first + item / 3];
      const double a = (record.lower[axis] - node.centre[axis]) * scale;
      const double b = (record.upper[axis] - node.centre[axis]) * scale;
      // factor of the mass, half because the factors of components have 2 G
      double factor = (record.upper[axis] - record.lower[axis]);
      if (axis == 0) factor *= transposed ? 0.5 : 0.5 * record.density;
      double* const to = integrals + item * (order + 1);
      double power = 1.0, sum = 1.0;
      for (int k = 0; k <= order; ++k) {
        to[k] = factor / (k + 1) * sum;
        power *= a;
        sum = b * sum + power;
      }
    }
  }
  /// Adds the products of prisms to the sums.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void add(const Team& team, int count, double* sums,
                                  const double* integrals) const {
    const int order = tables.order, rows = (order + 1) * (order + 2) / 2;
    // monomials of a row that are summed in registers
    constexpr int max = Team::on_host ? fmm_max_order + 1 : 8;
    for (int item = team.rank(); item < rows * ((order + max) / max); item += team.size()) {
      const PowerRow row = tables.powers[item % rows];
      const int first = item / rows * max, last = order - row.i - row.j;
      if (first > last) continue;
      double* const to = sums + row.begin;
      if constexpr (Team::on_host) {
        for (int p = 0; p < count; ++p) {
          const double* const prism = integrals + 3 * p * (order + 1);
          const double factor = prism[row.i] * prism[order + 1 + row.j];
          const double* const along_z = prism + 2 * (order + 1);
          for (int k = 0; k <= last; ++k) to[k] += factor * along_z[k];
        }
      } else {
        double part[max];
        for (int k = 0; k < max; ++k) part[k] = first + k <= last ? to[first + k] : 0.0;
        for (int p = 0; p < count; ++p) {
          const double* const prism = integrals + 3 * p * (order + 1);
          const double factor = prism[row.i] * prism[order + 1 + row.j];
          // reads beyond the last power are not used
          const double* const along_z = prism + 2 * (order + 1) + first;
          for (int k = 0; k < max; ++k) part[k] = multiply_add(factor, along_z[k], part[k]);
        }
        for (int k = 0; k < max; ++k) {
          if (first + k <= last) to[first + k] = part[k];
        }
      }
    }
  }
  /// Adds the products of prisms with factors of monomials to their sums.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take(const Team& team, std::int32_t first, int count,
                                   const double* factors, double* integrals) const {
    const int order = tables.order;
    // a plane of monomials with one power of x at a time; its product replaces the integral along x
    for (int item = team.rank(); item < (order + 1) * count; item += team.size()) {
      const int i = item / count;
      double* const x = integrals + 3 * (item % count) * (order + 1);
      const double* const y = x + order + 1;
      const double* const z = y + order + 1;
      const double* from = factors + monomial_count(order) - monomial_count(order - i);
      double plane = 0.0;
      for (int j = 0; j <= order - i; ++j) {
        double line[4] = {0.0, 0.0, 0.0, 0.0};
        const int last = order - i - j;
        int k = 0;
        for (; k + 3 <= last; k += 4) {
          for (int lane = 0; lane < 4; ++lane) line[lane] += from[k + lane] * z[k + lane];
        }
        for (; k <= last; ++k) line[0] += from[k] * z[k];
        plane += y[j] * ((line[0] + line[1]) + (line[2] + line[3]));
        from += last + 1;
      }
      x[i] *= plane;
    }
    team.barrier();
    for (int p = team.rank(); p < count; p += team.size()) {
      const double* const x = integrals + 3 * p * (order + 1);
      double total = 0.0;
      for (int i = 0; i <= order; ++i) total += x[i];
      densities[first + p] += total;
    }
  }
};

}  // namespace moho::gravity::detail
