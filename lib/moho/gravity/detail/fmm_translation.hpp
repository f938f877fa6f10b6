// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Translations of expansions: to parents, of far pairs, and to children.
///
/// A translation rotates the vector between two centres onto z, shifts along z and rotates back. A
/// rotation is two turns about z and two exchanges of x and z, whose matrices are constant. The
/// lanes of a team, eight on a host and two on a device, share each element of a matrix.

#include <moho/gravity/detail/fmm_harmonics.hpp>

#include <cstdint>

namespace moho::gravity::detail {

/// A node of a tree.
struct FmmNode {
  double centre[3];
  double radius;            ///< of all corners of prisms or all stations
  double scale;             ///< unit of length of the expansions, a power of two
  std::int32_t begin, end;  ///< sorted prisms or stations
  std::int32_t slot;        ///< first padded slot of a leaf's stations
  std::int32_t parent;      ///< -1 for the root
  std::int32_t child;       ///< first child
  std::int32_t children;    ///< number of children, 0 for a leaf
};

/// A far pair in the list of a node.
struct FarPair {
  std::int32_t node;   ///< the other node
  std::int32_t order;  ///< order of the expansion in the prisms' node
};

/// Kinds of translations.
enum class Shift { to_parent, far_pair, to_children };

/// Numbers of scratch of `lanes` translations of an order.
KOKKOS_INLINE_FUNCTION constexpr int translation_scratch(int order, int lanes) {
  return lanes * (2 * fmm_count(order) + 8 * (order + 1) + 1);
}

/// Returns the sum of the lanes of a row.
template <int lanes>
KOKKOS_FORCEINLINE_FUNCTION double sum_of_lanes(const double* row) {
  if constexpr (lanes == 8) {
    return ((row[0] + row[1]) + (row[2] + row[3])) + ((row[4] + row[5]) + (row[6] + row[7]));
  } else {
    double sum = row[0];
    for (int lane = 1; lane < lanes; ++lane) sum += row[lane];
    return sum;
  }
}

/// \brief Translations in scratch memory, one for each lane.
template <int lanes>
struct Translation {
  FmmConstants tables;
  double *first, *second;             ///< expansions, a row of lanes for each number
  double *azimuth, *polar;            ///< cos and sin of m times the angles, rows of lanes
  double *before, *after, *distance;  ///< powers of lengths, rows of lanes
  double* inverse_distance;           ///< of far pairs

  KOKKOS_INLINE_FUNCTION Translation(const FmmConstants& constants, int order, double* scratch)
      : tables(constants) {
    const int rows = (order + 1) * lanes;
    first = scratch;
    second = first + fmm_count(order) * lanes;
    azimuth = second + fmm_count(order) * lanes;
    polar = azimuth + 2 * rows;
    before = polar + 2 * rows;
    after = before + rows;
    distance = after + rows;
    inverse_distance = distance + rows;
  }

  /// Sets angles and powers of a lane. `d` is the vector of the translation. Lengths before the
  /// shift are multiplied by powers of `in`, after it by powers of `out`.
  KOKKOS_INLINE_FUNCTION void set_lane(int lane, int order, const double (&d)[3], double in,
                                       double out, double step, double inverse) const {
    const double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    // turns by the angle between the azimuth and y, then by the angle from z
    const double ca = across > 0.0 ? d[1] / across : 1.0, sa = across > 0.0 ? d[0] / across : 0.0;
    const double cp = length > 0.0 ? d[2] / length : 1.0, sp = length > 0.0 ? across / length : 0.0;
    double a[2] = {1.0, 0.0}, b[2] = {1.0, 0.0}, powers[3] = {1.0, 1.0, 1.0};
    for (int m = 0; m <= order; ++m) {
      const int at = 2 * m * lanes + lane, row = m * lanes + lane;
      azimuth[at] = a[0];
      azimuth[at + lanes] = a[1];
      polar[at] = b[0];
      polar[at + lanes] = b[1];
      before[row] = powers[0];
      after[row] = powers[1];
      distance[row] = powers[2];
      const double a0 = a[0] * ca - a[1] * sa, b0 = b[0] * cp - b[1] * sp;
      a[1] = a[1] * ca + a[0] * sa;
      b[1] = b[1] * cp + b[0] * sp;
      a[0] = a0;
      b[0] = b0;
      powers[0] *= in;
      powers[1] *= out;
      powers[2] *= step;
    }
    inverse_distance[lane] = inverse;
  }

  /// Turns degrees [from, to) about z by the angles of a table, or back.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void turn(const Team& team, double* data, const double* angles,
                                        int from, int to, bool back) const {
    using V = typename Team::Value;
    const double direction = back ? -1.0 : 1.0;
    const int begin = from * from, items = (to * to - begin) * Team::groups;
    for (int item = team.rank(); item < items; item += team.size()) {
      const HarmonicRow row = tables.rows[begin + item / Team::groups];
      if (row.sine != 0 || row.order == 0) continue;
      const int lane = item % Team::groups;
      double* const c_at = data + cos_at(row.degree, row.order) * lanes + lane;
      double* const s_at = data + sin_at(row.degree, row.order) * lanes + lane;
      const double* const angle = angles + 2 * row.order * lanes + lane;
      V c, s, cosine, sine;
      read_lanes(c_at, c);
      read_lanes(s_at, s);
      read_lanes(angle, cosine);
      read_lanes(angle + lanes, sine);
      sine = V(direction) * sine;
      write_lanes(c_at, c * cosine - s * sine);
      write_lanes(s_at, multiply_add(s, cosine, c * sine));
    }
  }

  /// Exchanges x and z for degrees [from, to); multiplies by a row of powers of the degree.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void exchange(const Team& team, const double* in, double* out,
                                            int from, int to, const double* powers) const {
    using V = typename Team::Value;
    const int begin = from * from, items = (to * to - begin) * Team::groups;
    for (int item = team.rank(); item < items; item += team.size()) {
      const int r = begin + item / Team::groups, lane = item % Team::groups;
      const HarmonicRow row = tables.rows[r];
      const int n = row.degree, m0 = first_exchanged(row);
      const double* element = tables.exchange + row.exchange;
      // on a device adjacent rows have adjacent elements
      const int next = Team::on_host ? 1 : 2 * n + 1;
      const double* column = in + (row.sine != 0 ? sin_at(n, m0) : cos_at(n, m0)) * lanes + lane;
      V sum(0.0);
      for (int m = m0; m <= n; m += 2, column += 2 * lanes, element += next) {
        V value;
        read_lanes(column, value);
        sum = multiply_add(V(*element), value, sum);
      }
      if (powers != nullptr) {
        V power;
        read_lanes(powers + n * lanes + lane, power);
        sum = sum * power;
      }
      write_lanes(out + r * lanes + lane, sum);
    }
  }

  /// Shifts along z: degrees up to `in_order` in `second` to degrees up to `out_order` in `first`.
  template <Shift kind, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void along_z(const Team& team, int in_order, int out_order) const {
    using V = typename Team::Value;
    const int items = fmm_count(out_order) * Team::groups;
    for (int item = team.rank(); item < items; item += team.size()) {
      const int r = item / Team::groups, lane = item % Team::groups;
      const HarmonicRow row = tables.rows[r];
      const int k = row.degree, m = row.order;
      const double* const elements = (kind == Shift::far_pair ? tables.inverse : tables.shift) +
                                     (Team::on_host ? row.shift - m : row.shift);
      const int next = Team::on_host ? 1 : (tables.order + 1) * (tables.order + 2) / 2;
      const int min = kind == Shift::to_children ? k : m;
      const int last = kind == Shift::to_parent ? k : in_order;
      V sum(0.0);
      for (int n = min; n <= last; ++n) {
        V value;
        read_lanes(second + (row.sine != 0 ? sin_at(n, m) : cos_at(n, m)) * lanes + lane, value);
        if constexpr (kind == Shift::far_pair) {
          sum = multiply_add(V(elements[n * next]), value, sum);
        } else {
          V power;
          const int lag = kind == Shift::to_parent ? k - n : n - k;
          read_lanes(distance + lag * lanes + lane, power);
          sum = multiply_add(V(elements[n * next]) * value, power, sum);
        }
      }
      V power;
      read_lanes(after + k * lanes + lane, power);
      sum = sum * power;
      if constexpr (kind == Shift::far_pair) {
        read_lanes(inverse_distance + lane, power);
        sum = sum * power;
      }
      write_lanes(first + r * lanes + lane, sum);
    }
  }

  /// Translates `first`, degrees up to `in_order`, to `first`, degrees up to `out_order`.
  template <Shift kind, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Team& team, int in_order, int out_order) const {
    // on a host a degree stays in the cache from one step to the next
    for (int n = 0, next = 0; n <= in_order; n = next) {
      next = Team::on_host ? n + 1 : in_order + 1;
      turn(team, first, azimuth, n, next, false);
      team.barrier();
      exchange(team, first, second, n, next, nullptr);
      team.barrier();
      turn(team, second, polar, n, next, true);
      team.barrier();
      exchange(team, second, first, n, next, before);
      team.barrier();
    }
    double* const rotated = first;
    Translation back = *this;
    back.first = second;
    back.second = rotated;
    back.template along_z<kind>(team, in_order, out_order);
    team.barrier();
    for (int n = 0, next = 0; n <= out_order; n = next) {
      next = Team::on_host ? n + 1 : out_order + 1;
      exchange(team, second, first, n, next, nullptr);
      team.barrier();
      turn(team, first, polar, n, next, false);
      team.barrier();
      exchange(team, first, second, n, next, nullptr);
      team.barrier();
      turn(team, second, azimuth, n, next, true);
      team.barrier();
    }
  }
};

/// \brief Translations of the far pairs of nodes: a team processes the list of one node.
struct FarPairs {
  static constexpr int max_scratch = translation_scratch(fmm_max_order, fmm_lanes);
  static constexpr int threads = 256;
  FmmConstants tables;
  const FmmNode* nodes;       ///< that receive
  const FmmNode* others;      ///< of the lists
  const std::int32_t* items;  ///< nodes with lists
  const std::int32_t* begin;  ///< lists of the nodes
  const FarPair* pairs;
  const double* from;        ///< expansions of `others`
  double* to;                ///< expansions of `nodes`
  int numbers;               ///< of an expansion
  int min;                   ///< order of a node with one station
  bool transposed;           ///< `others` are the stations
  std::int32_t first, last;  ///< nodes without these sorted prisms or stations are omitted

  KOKKOS_INLINE_FUNCTION int scratch() const {
    return translation_scratch(tables.order, fmm_device_lanes);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const Translation<Team::lanes> work(tables, tables.order, scratch);
    const std::int32_t node = items[item];
    if (nodes[node].begin >= last || nodes[node].end <= first) return;
    double* const sums = to + static_cast<std::int64_t>(node) * numbers;
    const std::int32_t end = begin[node + 1];
    for (std::int32_t at = begin[node]; at < end;) {
      const int order = pairs[at].order;
      int count = 1;
      while (count < Team::lanes && at + count < end && pairs[at + count].order == order) ++count;
      batch(team, work, node, at, count, order, sums);
      at += count;
    }
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void batch(const Team& team, const Translation<Team::lanes>& work,
                                    std::int32_t node, std::int32_t at, int count, int order,
                                    double* sums) const {
    const FmmNode& target = nodes[node];
    // a node of stations at one point has derivatives only
    const int own = transposed || target.radius > 0.0 ? order : min;
    int max = 0;
    for (int lane = 0; lane < count; ++lane) {
      const FmmNode& other = others[pairs[at + lane].node];
      const int other_order = transposed && !(other.radius > 0.0) ? min : order;
      max = other_order > max ? other_order : max;
    }
    for (int lane = team.rank(); lane < Team::lanes; lane += team.size()) {
      double d[3] = {0.0, 0.0, 1.0};
      double in = 1.0, out = 1.0, inverse = 1.0;
      if (lane < count) {
        const FmmNode& other = others[pairs[at + lane].node];
        double square = 0.0;
        for (int n = 0; n < 3; ++n) {
          d[n] = target.centre[n] - other.centre[n];
          square += d[n] * d[n];
        }
        inverse = 1.0 / sqrt(square);
        in = other.scale * inverse;
        out = target.scale * inverse;
      }
      work.set_lane(lane, max > own ? max : own, d, in, out, 1.0, inverse);
    }
    const int items_in = fmm_count(max);
    for (int lane = 0; lane < Team::lanes; ++lane) {
      const std::int32_t other = lane < count ? pairs[at + lane].node : -1;
      const int known =
          other < 0 ? 0 : fmm_count(transposed && !(others[other].radius > 0.0) ? min : order);
      const double* const data = from + static_cast<std::int64_t>(other < 0 ? 0 : other) * numbers;
      for (int r = team.rank(); r < items_in; r += team.size()) {
        work.first[r * Team::lanes + lane] = r < known ? data[r] : 0.0;
      }
    }
    team.barrier();
    work.template run<Shift::far_pair>(team, max, own);
    for (int r = team.rank(); r < fmm_count(own); r += team.size()) {
      const double* const row = work.second + r * Team::lanes;
      sums[r] += sum_of_lanes<Team::lanes>(row);
    }
    team.barrier();
  }
};

/// \brief Translations of all children of a node to it, or from it to all children.
template <Shift kind>
struct FamilyShifts {
  static constexpr int max_scratch = translation_scratch(fmm_max_order, fmm_lanes);
  static constexpr int threads = 256;
  FmmConstants tables;
  const FmmNode* nodes;
  std::int32_t first_node;  ///< first node of the level
  double* data;             ///< expansions of all nodes
  int numbers;
  std::int32_t begin,
      end;  ///< to_children: nodes without prisms or stations in between are omitted

  KOKKOS_INLINE_FUNCTION int scratch() const {
    return translation_scratch(tables.order, fmm_device_lanes);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const auto parent = first_node + static_cast<std::int32_t>(item);
    const FmmNode& node = nodes[parent];
    if (node.children == 0) return;
    if (kind == Shift::to_children && (node.begin >= end || node.end <= begin)) return;
    const Translation<Team::lanes> work(tables, tables.order, scratch);
    for (std::int32_t first = 0; first < node.children; first += Team::lanes) {
      const int left = node.children - first;
      batch(team, work, parent, node.child + first, left < Team::lanes ? left : Team::lanes);
    }
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void batch(const Team& team, const Translation<Team::lanes>& work,
                                    std::int32_t parent, std::int32_t first, int count) const {
    const FmmNode& node = nodes[parent];
    const int order = tables.order;
    for (int lane = team.rank(); lane < Team::lanes; lane += team.size()) {
      double d[3] = {0.0, 0.0, 1.0};
      double ratio = 1.0, step = 1.0;
      if (lane < count) {
        const FmmNode& child = nodes[first + lane];
        double square = 0.0;
        for (int n = 0; n < 3; ++n) {
          d[n] = child.centre[n] - node.centre[n];
          square += d[n] * d[n];
        }
        ratio = child.scale / node.scale;
        step = sqrt(square) / node.scale;
      }
      work.set_lane(lane, order, d, kind == Shift::to_parent ? ratio : 1.0,
                    kind == Shift::to_parent ? 1.0 : ratio, step, 1.0);
    }
    for (int lane = 0; lane < Team::lanes; ++lane) {
      const std::int32_t source = kind == Shift::to_parent ? first + lane : parent;
      const double* const from = data + static_cast<std::int64_t>(source) * numbers;
      for (int r = team.rank(); r < numbers; r += team.size()) {
        work.first[r * Team::lanes + lane] = lane < count ? from[r] : 0.0;
      }
    }
    team.barrier();
    work.template run<kind>(team, order, order);
    if constexpr (kind == Shift::to_parent) {
      double* const sums = data + static_cast<std::int64_t>(parent) * numbers;
      for (int r = team.rank(); r < numbers; r += team.size()) {
        const double* const row = work.second + r * Team::lanes;
        sums[r] += sum_of_lanes<Team::lanes>(row);
      }
    } else {
      for (int lane = 0; lane < count; ++lane) {
        double* const sums = data + static_cast<std::int64_t>(first + lane) * numbers;
        for (int r = team.rank(); r < numbers; r += team.size()) {
          sums[r] += work.second[r * Team::lanes + lane];
        }
      }
    }
    team.barrier();
  }
};

}  // namespace moho::gravity::detail
