// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Strategy::by_corners: a regular mesh as a sum over its corners.
///
/// A prism's closed form is a sum over eight corners, and a corner of a mesh belongs to up to eight
/// prisms. Each corner is evaluated once, weighted by the mixed difference of the densities. A
/// corner with weight zero is omitted: inside homogeneous bodies, and inside their faces and edges.

#include <moho/gravity/detail/tiles.hpp>

namespace moho::gravity::detail {

/// A corner and half of its weight.
struct alignas(16) CornerRecord {
  double at[3];
  double weight;
};

/// Returns ln(a + r); d2 is the sum of the squares of the other two coordinates. For negative a,
/// ln(d2) is omitted if d2 is 0 or so small that the station counts as on the edge's line. The term
/// cancels along that line.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V corner_logarithm(V a, V d2, V r) {
  const V zero(0.0), one(1.0);
  const auto negative = a < zero;
  const V sum = select(negative, r - a, a + r);
  const V top = select(V(1e-280) < d2, d2, one);
  const V argument = select(negative, top * reciprocal(sum), sum);
  return logarithm(argument);
}

/// Computes a corner's terms in the components of a set, without the factor G.
template <unsigned Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION void corner_field(const V (&p)[3], V* out) {
  constexpr bool potential = (Mask & 1u) != 0;
  const V q[3] = {p[0] * p[0], p[1] * p[1], p[2] * p[2]};
  const V r = square_root(q[0] + q[1] + q[2]);
  V logs[3], angles[3];
  const auto terms = [&](auto axis) {
    constexpr int n = decltype(axis)::value;
    constexpr int u = (n + 1) % 3, v = (n + 2) % 3;
    constexpr bool need_angle =
        potential || (Mask >> (1 + n) & 1u) != 0 || (Mask >> (4 + n) & 1u) != 0;
    constexpr bool need_log = potential || (Mask >> (1 + u) & 1u) != 0 ||
                              (Mask >> (1 + v) & 1u) != 0 || (Mask >> mixed(u) & 1u) != 0;
    if constexpr (need_log) logs[n] = corner_logarithm(p[n], q[u] + q[v], r);
    if constexpr (need_angle) angles[n] = arctangent(p[u] * p[v], p[n] * r, V(0.0));
  };
  terms(std::integral_constant<int, 0>());
  terms(std::integral_constant<int, 1>());
  terms(std::integral_constant<int, 2>());
  const auto results = [&](auto axis) {
    constexpr int n = decltype(axis)::value;
    constexpr int u = (n + 1) % 3, v = (n + 2) % 3;
    if constexpr ((Mask >> (1 + n) & 1u) != 0) {
      out[slot_of(Mask, 1 + n)] = p[n] * angles[n] - multiply_add(p[u], logs[v], p[v] * logs[u]);
    }
    if constexpr ((Mask >> (4 + n) & 1u) != 0) out[slot_of(Mask, 4 + n)] = -angles[n];
    if constexpr ((Mask >> mixed(n) & 1u) != 0) out[slot_of(Mask, mixed(n))] = logs[v];
  };
  results(std::integral_constant<int, 0>());
  results(std::integral_constant<int, 1>());
  results(std::integral_constant<int, 2>());
  if constexpr (potential) {
    const V edges = p[0] * p[1] * logs[2] + p[1] * p[2] * logs[0] + p[2] * p[0] * logs[1];
    const V faces = q[0] * angles[0] + q[1] * angles[1] + q[2] * angles[2];
    out[0] = edges - V(0.5) * faces;
  }
}

/// Adds the field of one corner at one station to the sums, on a device.
template <unsigned Mask>
KOKKOS_FORCEINLINE_FUNCTION void add_pair(const CornerRecord& record,
                                          const Station<double, double>& station,
                                          const Distances<double>&, double* sums) {
  constexpr int count = count_of(Mask);
  double p[3], out[count];
  for (int n = 0; n < 3; ++n) p[n] = record.at[n] - station.at[n];
  corner_field<Mask, double>(p, out);
  for (int c = 0; c < count; ++c) sums[c] = multiply_add(record.weight, out[c], sums[c]);
}

/// Adds the field of one corner at a vector of stations to the sums, on a host.
template <unsigned Mask>
inline void add_pairs(const CornerRecord& record,
                      const Station<double, simd::Pack<double>>& station, const Distances<double>&,
                      simd::Pack<double>* sums) {
  using V = simd::Pack<double>;
  constexpr int count = count_of(Mask);
  V p[3], out[count];
  for (int n = 0; n < 3; ++n) p[n] = V(record.at[n]) - station.at[n];
  corner_field<Mask, V>(p, out);
  const V weight(record.weight);
  for (int c = 0; c < count; ++c) sums[c] = multiply_add(weight, out[c], sums[c]);
}

/// Finds and packs the corners of non-zero weight. An item is a corner on a device and a row of
/// corners along x on a host.
template <bool Host>
struct PackCorners {
  RegularMesh mesh;
  const double* densities;
  Frame frame;
  CornerRecord* records;  ///< null: count only

  /// Returns the number of items.
  std::int64_t size() const {
    const std::int64_t rows = (mesh.cells[1] + 1) * (mesh.cells[2] + 1);
    return Host ? rows : rows * (mesh.cells[0] + 1);
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item, std::int64_t& slot,
                                         const bool final) const {
    const std::int64_t along_x = mesh.cells[0] + 1, along_y = mesh.cells[1] + 1;
    if constexpr (Host) {
      row(item % along_y, item / along_y, 0, along_x, slot, final);
    } else {
      const std::int64_t i = item % along_x, jk = item / along_x;
      row(jk % along_y, jk / along_y, i, i + 1, slot, final);
    }
  }

 private:
  /// Processes the corners from begin to end of the row (j, k). The densities around a corner are
  /// differenced along x, then y, then z, so that equal densities cancel exactly.
  KOKKOS_INLINE_FUNCTION void row(std::int64_t j, std::int64_t k, std::int64_t begin,
                                  std::int64_t end, std::int64_t& slot, bool final) const {
    const double* rows[4];  // rows of prisms at (j - 1, k - 1), (j, k - 1), (j - 1, k), (j, k)
    double last[4];
    bool empty = true;
    for (int n = 0; n < 4; ++n) {
      const std::int64_t jn = j - 1 + n % 2, kn = k - 1 + n / 2;
      const bool inside = jn >= 0 && kn >= 0 && jn < mesh.cells[1] && kn < mesh.cells[2];
      rows[n] = inside ? densities + (kn * mesh.cells[1] + jn) * mesh.cells[0] : nullptr;
      last[n] = inside && begin > 0 ? rows[n][begin - 1] : 0.0;
      empty = empty && !inside;
    }
    if (empty) return;
    for (std::int64_t i = begin; i < end; ++i) {
      double along_x[4];
      for (int n = 0; n < 4; ++n) {
        const double here = rows[n] != nullptr && i < mesh.cells[0] ? rows[n][i] : 0.0;
        along_x[n] = last[n] - here;
        last[n] = here;
      }
      const double weight = (along_x[0] - along_x[1]) - (along_x[2] - along_x[3]);
      if (weight == 0.0) continue;
      if (final && records != nullptr) {
        const double face[3] = {mesh.face(0, i), mesh.face(1, j), mesh.face(2, k)};
        CornerRecord record;
        for (int n = 0; n < 3; ++n) record.at[n] = frame(n, face[frame.axis[n]]);
        record.weight = 0.5 * weight;
        records[slot] = record;
      }
      ++slot;
    }
  }
};

/// Counts the corners of non-zero weight.
template <bool Host>
struct CountCorners {
  PackCorners<Host> corners;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item, std::int64_t& count) const {
    corners(item, count, false);
  }
};

/// Predicate: a station is in the closed box of a mesh, or beyond a distance from its centre.
struct IsInMesh {
  const double* stations;
  RegularMesh mesh;
  double farthest;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    bool inside = true;
    double distance2 = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      const double at = stations[3 * i + axis];
      inside = inside && at >= mesh.lower[axis] && at <= mesh.upper[axis];
      const double from_centre = at - 0.5 * (mesh.lower[axis] + mesh.upper[axis]);
      distance2 += from_centre * from_centre;
    }
    return inside || distance2 > farthest * farthest;
  }
};

}  // namespace moho::gravity::detail
