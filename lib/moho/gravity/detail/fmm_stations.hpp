// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fields of a leaf's expansion at its stations, and their transpose.
///
/// The derivatives of an expansion are expansions. A leaf computes those of all components; each of
/// its stations has one set of harmonics. The transpose adds weighted harmonics to an expansion of
/// each component, whose transposed derivatives are added.

#include <moho/gravity/detail/fmm_translation.hpp>
#include <moho/gravity/detail/tiles.hpp>

#include <cstdint>

namespace moho::gravity::detail {

/// Axes of the derivatives of each component: of the first, and of the second or -1.
KOKKOS_FORCEINLINE_FUNCTION constexpr int first_axis(int component) {
  return component == 0  ? -1
         : component < 4 ? component - 1
         : component < 7 ? component - 4
         : component < 9 ? 0
                         : 1;
}
/// \overload
KOKKOS_FORCEINLINE_FUNCTION constexpr int second_axis(int component) {
  return component < 4 ? -1 : component < 7 ? component - 4 : component == 7 ? 1 : 2;
}

/// Components of a set, in the order of the sums, padded for vectors.
template <unsigned Mask>
struct ComponentsOf {
  static constexpr int count = count_of(Mask);
  static constexpr int padded = (count + 3) / 4 * 4;
  /// Returns the component at a place.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int at(int slot) {
    int component = 0;
    for (; component < component_count; ++component) {
      if ((Mask >> component & 1u) != 0 && slot-- == 0) break;
    }
    return component;
  }
};

/// Leaves of stations: packed places and sums or weights, with padding.
struct FmmStations {
  FmmConstants tables;
  const FmmNode* nodes;
  const std::int32_t* leaves;
  PackedStations<double> slots;
  double* expansions;
  std::int32_t begin, end;  ///< sorted stations that are computed
  int padding;              ///< stations of a leaf are padded to multiples of this

  /// Returns the number of a leaf's places.
  KOKKOS_INLINE_FUNCTION std::int32_t count(const FmmNode& node) const {
    return (node.end - node.begin + padding - 1) / padding * padding;
  }
  KOKKOS_INLINE_FUNCTION bool omitted(const FmmNode& node) const {
    return node.begin >= end || node.end <= begin;
  }
};

/// \brief Adds the fields of the expansions to the sums: a team processes one leaf.
template <unsigned Mask>
struct FarFields {
  using Set = ComponentsOf<Mask>;
  static constexpr int count = Set::count;
  static constexpr int max_scratch =
      3 * fmm_count(fmm_max_order) + (fmm_max_order + 1) * (fmm_max_order + 2) * count + 8;
  static constexpr int threads = 128;
  FmmStations stations;
  PartialSums sums;

  KOKKOS_INLINE_FUNCTION int scratch() const {
    const int order = stations.tables.order;
    return 3 * fmm_count(order) + (order + 1) * (order + 2) * count + 8;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const FmmConstants& tables = stations.tables;
    const int order = tables.order, numbers = fmm_count(order);
    const std::int32_t leaf = stations.leaves[item];
    const FmmNode& node = stations.nodes[leaf];
    if (stations.omitted(node)) return;
    const double* const from = stations.expansions + static_cast<std::int64_t>(leaf) * numbers;
    double* const first = scratch;
    double* const columns = scratch + 3 * numbers;
    for (int r = team.rank(); r < fmm_count(order - 1); r += team.size()) {
      const HarmonicRow row = tables.rows[r];
      for (int axis = 0; axis < 3; ++axis) {
        first[axis * numbers + r] = derivative_of(tables.root, axis, NumbersByDegree{from},
                                                  row.degree, row.order, row.sine != 0);
      }
    }
    team.barrier();
    for (int r = team.rank(); r < numbers; r += team.size()) {
      const HarmonicRow row = tables.rows[r];
      const int column = 2 * column_of(order, row.degree, row.order) + row.sine;
      for (int c = 0; c < count; ++c) {
        const int component = Set::at(c), one = first_axis(component), two = second_axis(component);
        double value = 0.0;
        if (one < 0) {
          value = from[r];
        } else if (two < 0) {
          if (row.degree < order) value = first[one * numbers + r] / node.scale;
        } else if (row.degree + 1 < order) {
          value = derivative_of(tables.root, two, NumbersByDegree{first + one * numbers},
                                row.degree, row.order, row.sine != 0) /
                  (node.scale * node.scale);
        }
        columns[column * count + c] = value;
        if (row.order == 0) columns[(column + 1) * count + c] = 0.0;
      }
    }
    team.barrier();
    evaluate(team, node, columns);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void evaluate(const Team& team, const FmmNode& node,
                                       const double* columns) const {
    using V = typename Team::Stations;
    // components of a thread; a device has more threads than stations
    constexpr int together = Team::on_host || count < 3 ? count : 3;
    constexpr int groups = (count + together - 1) / together;
    const FmmConstants& tables = stations.tables;
    const int order = tables.order,
              vectors = (stations.count(node) + Team::width - 1) / Team::width;
    const V scale(1.0 / node.scale);
    for (int item = team.rank(); item < vectors * groups; item += team.size()) {
      const int at = item % vectors * Team::width, first = item / vectors * together;
      const int own = count - first < together ? count - first : together;
      const std::int64_t slot = node.slot + at;
      V x, y, z, part[together];
      read_lanes(&stations.slots(0, slot), x);
      read_lanes(&stations.slots(1, slot), y);
      read_lanes(&stations.slots(2, slot), z);
      for (int c = 0; c < together; ++c) part[c] = V(0.0);
      // a column has a number for each component; those after the last are not used
      regular_harmonics<V>(order, tables.upward, order, tables.root,
                           (x - V(node.centre[0])) * scale, (y - V(node.centre[1])) * scale,
                           (z - V(node.centre[2])) * scale,
                           [&](int column, int, int m, const V& cosine, const V& sine) {
                             const double* const row = columns + 2 * column * count + first;
                             for (int c = 0; c < together; ++c) {
                               part[c] = multiply_add(V(row[c]), cosine, part[c]);
                             }
                             if (m == 0) return;
                             for (int c = 0; c < together; ++c) {
                               part[c] = multiply_add(V(row[count + c]), sine, part[c]);
                             }
                           });
      for (int c = 0; c < together; ++c) {
        if (c >= own) continue;
        double* const sum = sums.at(0, first + c, slot);
        V total;
        read_lanes(sum, total);
        write_lanes(sum, total + part[c]);
      }
    }
  }
};

/// \brief Expansions of weighted stations, the transpose of FarFields: a team processes one leaf.
template <unsigned Mask>
struct StationMoments {
  using Set = ComponentsOf<Mask>;
  static constexpr int count = Set::count, padded = Set::padded;
  static constexpr int staged = 8;  ///< stations at a time
  static constexpr int max_scratch = (fmm_max_order + 1) * (fmm_max_order + 2) * (staged + padded) +
                                     staged * padded + 3 * fmm_count(fmm_max_order) + 8;
  static constexpr int threads = 128;
  FmmStations stations;
  const double* weights;  ///< components x places
  std::int64_t slots;

  KOKKOS_INLINE_FUNCTION int scratch() const {
    const int order = stations.tables.order;
    return (order + 1) * (order + 2) * (staged + padded) + staged * padded + 3 * fmm_count(order) +
           8;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const FmmConstants& tables = stations.tables;
    const int order = tables.order, columns = (order + 1) * (order + 2);
    const std::int32_t leaf = stations.leaves[item];
    const FmmNode& node = stations.nodes[leaf];
    double* const sums = scratch;
    double* const harmonics = sums + columns * padded;
    double* const own = harmonics + columns * staged;
    double* const first = own + staged * padded;
    for (int k = team.rank(); k < columns * padded; k += team.size()) sums[k] = 0.0;
    for (std::int32_t at = node.slot; at < node.slot + stations.count(node); at += staged) {
      const std::int32_t left = node.slot + stations.count(node) - at;
      team.barrier();
      stage(team, node, at, left < staged ? left : staged, harmonics, own);
      team.barrier();
      add(team, harmonics, own, sums);
    }
    team.barrier();
    transpose(team, node, leaf, sums, first);
  }

  /// Sets harmonics and weights of stations; those after the end have the weight 0.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void stage(const Team& team, const FmmNode& node, std::int32_t at,
                                    int found, double* harmonics, double* own) const {
    using V = typename Team::Stations;
    const FmmConstants& tables = stations.tables;
    const V scale(1.0 / node.scale);
    for (int s = team.rank() * Team::width; s < staged; s += team.size() * Team::width) {
      V x, y, z;
      // a leaf's places are padded to the width
      const std::int64_t slot = at + (s < found ? s : 0);
      read_lanes(&stations.slots(0, slot), x);
      read_lanes(&stations.slots(1, slot), y);
      read_lanes(&stations.slots(2, slot), z);
      regular_harmonics<V>(tables.order, tables.upward, tables.order, tables.root,
                           (x - V(node.centre[0])) * scale, (y - V(node.centre[1])) * scale,
                           (z - V(node.centre[2])) * scale,
                           [&](int column, int, int, const V& cosine, const V& sine) {
                             write_lanes(harmonics + 2 * column * staged + s, cosine);
                             write_lanes(harmonics + (2 * column + 1) * staged + s, sine);
                           });
    }
    for (int k = team.rank(); k < staged * padded; k += team.size()) {
      const int s = k / padded, c = k % padded;
      own[k] = s < found && c < count ? weights[c * slots + at + s] : 0.0;
    }
  }
  /// Adds weighted harmonics to the sums.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void add(const Team& team, const double* harmonics, const double* own,
                                  double* sums) const {
    using V = typename Team::Stations;
    const int order = stations.tables.order, columns = (order + 1) * (order + 2);
    constexpr int values = padded / Team::width;
    if constexpr (Team::on_host && values * Team::width == padded) {
      for (int k = 0; k < columns; ++k) {
        V total[values];
        for (int c = 0; c < values; ++c) read_lanes(sums + k * padded + c * Team::width, total[c]);
        for (int s = 0; s < staged; ++s) {
          const V harmonic(harmonics[k * staged + s]);
          for (int c = 0; c < values; ++c) {
            V weight;
            read_lanes(own + s * padded + c * Team::width, weight);
            total[c] = multiply_add(weight, harmonic, total[c]);
          }
        }
        for (int c = 0; c < values; ++c) write_lanes(sums + k * padded + c * Team::width, total[c]);
      }
    } else {
      for (int item = team.rank(); item < columns * padded; item += team.size()) {
        const int k = item / padded, c = item % padded;
        double total = sums[item];
        for (int s = 0; s < staged; ++s) {
          total = multiply_add(own[s * padded + c], harmonics[k * staged + s], total);
        }
        sums[item] = total;
      }
    }
  }
  /// Adds the transposed derivatives of the sums.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void transpose(const Team& team, const FmmNode& node, std::int32_t leaf,
                                        const double* sums, double* first) const {
    const FmmConstants& tables = stations.tables;
    const int order = tables.order, numbers = fmm_count(order);
    for (int r = team.rank(); r < fmm_count(order - 1); r += team.size()) {
      const HarmonicRow row = tables.rows[r];
      double value[3] = {0.0, 0.0, 0.0};
      for (int c = 0; c < count; ++c) {
        const int component = Set::at(c), one = first_axis(component), two = second_axis(component);
        const NumbersByColumn of{sums + c, order, padded};
        if (one < 0) continue;
        if (two < 0) {
          value[one] += of(row.degree, row.order, row.sine != 0) / node.scale;
        } else {
          value[one] +=
              derivative_transposed(tables.root, two, of, row.degree, row.order, row.sine != 0) /
              (node.scale * node.scale);
        }
      }
      for (int axis = 0; axis < 3; ++axis) first[axis * numbers + r] = value[axis];
    }
    team.barrier();
    double* const to = stations.expansions + static_cast<std::int64_t>(leaf) * numbers;
    for (int r = team.rank(); r < numbers; r += team.size()) {
      const HarmonicRow row = tables.rows[r];
      double value = 0.0;
      if ((Mask & 1u) != 0) {
        value = NumbersByColumn{sums, order, padded}(row.degree, row.order, row.sine != 0);
      }
      for (int axis = 0; axis < 3; ++axis) {
        value += derivative_transposed(tables.root, axis, NumbersByDegree{first + axis * numbers},
                                       row.degree, row.order, row.sine != 0);
      }
      to[r] = value;
    }
  }
};

}  // namespace moho::gravity::detail
