// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Octrees of prisms and of stations on Morton keys.
///
/// A node is a run of sorted prisms or stations. A prism longer than a node's cell belongs to no
/// child of it: such prisms are a leaf under that node. The tree follows from the input alone.

#include <moho/gravity/detail/fmm_sort.hpp>
#include <moho/gravity/detail/fmm_translation.hpp>
#include <moho/gravity/detail/pack.hpp>

#include <cstdint>
#include <vector>

namespace moho::gravity::detail {

/// Levels of the octrees.
inline constexpr int fmm_levels = 19;
/// Bits of a key that hold the deepest level of a prism.
inline constexpr int fmm_level_bits = 5;

/// A tree on the host.
struct FmmTree {
  std::vector<FmmNode> nodes;        ///< by depth; children of a node follow each other
  std::vector<std::int32_t> levels;  ///< first node of each depth, and the number of nodes
  std::vector<std::int32_t> leaves;  ///< nodes without children
  std::int64_t slots = 0;            ///< slots of all leaves with padding
};

/// Splits sorted keys into nodes; centres and radii are not set.
/// \param keys sorted \param leaf largest number of prisms or stations of a leaf, where possible
/// \param padding places of a leaf are multiples of this
FmmTree split_keys(const std::vector<std::uint64_t>& keys, std::int32_t leaf, std::int32_t padding);

/// Box of a leaf, the centre of the box, and the largest distance of a corner from it.
struct LeafBounds {
  double low[3], high[3], radius;
};

/// Sets centres, radii and units of length of all nodes from the bounds of the leaves.
void set_bounds(FmmTree& tree, const std::vector<LeafBounds>& leaves);

/// A cube around all prisms and stations.
struct FmmCube {
  double low[3];
  double cells;  ///< cells of the deepest level in a metre
  double size;   ///< m
};

/// Returns the Morton key of a point, with its deepest level.
KOKKOS_INLINE_FUNCTION std::uint64_t morton_key(const FmmCube& cube, const double (&point)[3],
                                                double longest) {
  int level = fmm_levels;
  double cell = cube.size;
  for (int l = 0; l < fmm_levels; ++l) {
    cell *= 0.5;
    if (longest > cell) {
      level = l;
      break;
    }
  }
  constexpr double last = (1 << fmm_levels) - 1;
  std::uint64_t cells[3];
  for (int n = 0; n < 3; ++n) {
    const double at = (point[n] - cube.low[n]) * cube.cells;
    cells[n] = static_cast<std::uint64_t>(at > 0.0 ? (at < last ? at : last) : 0.0);
  }
  std::uint64_t key = 0;
  for (int bit = fmm_levels - 1; bit >= fmm_levels - level; --bit) {
    for (int n = 0; n < 3; ++n) key = key << 1 | (cells[n] >> bit & 1u);
  }
  key <<= 3 * (fmm_levels - level);
  return key << fmm_level_bits | static_cast<std::uint64_t>(level);
}

/// Computes the keys of prisms in the axes of a frame.
template <class Source>
struct PrismKeys {
  Source source;
  Frame frame;
  FmmCube cube;
  KeyOf* keys;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    double p[7], centre[3], longest = 0.0;
    source.prism(i, p);
    for (int n = 0; n < 3; ++n) {
      const double low = p[2 * frame.axis[n]], high = p[2 * frame.axis[n] + 1];
      centre[n] = low + 0.5 * (high - low);
      longest = high - low > longest ? high - low : longest;
    }
    keys[i] = {morton_key(cube, centre, longest), i};
  }
};

/// Computes the keys of stations in the axes of a frame.
struct StationKeys {
  const double* stations;
  Frame frame;
  FmmCube cube;
  KeyOf* keys;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    double point[3];
    for (int n = 0; n < 3; ++n) point[n] = stations[3 * i + frame.axis[n]];
    keys[i] = {morton_key(cube, point, 0.0), i};
  }
};

/// Finds the bounds of stations.
struct BoundStations {
  using Bounds = BoundPrisms<RowSource>::Bounds;
  using value_type = Bounds;
  const double* stations;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, Bounds& bounds) const {
    for (int n = 0; n < 3; ++n) {
      const double at = stations[3 * i + n];
      if (at < bounds.low[n]) bounds.low[n] = at;
      if (at > bounds.high[n]) bounds.high[n] = at;
    }
  }
  KOKKOS_INLINE_FUNCTION void init(Bounds& bounds) const {
    for (int n = 0; n < 3; ++n) {
      bounds.low[n] = infinity<double>();
      bounds.high[n] = -infinity<double>();
    }
  }
  KOKKOS_INLINE_FUNCTION void join(Bounds& to, const Bounds& from) const {
    for (int n = 0; n < 3; ++n) {
      if (from.low[n] < to.low[n]) to.low[n] = from.low[n];
      if (from.high[n] > to.high[n]) to.high[n] = from.high[n];
    }
  }
};

/// Splits sorted keys and numbers.
struct SplitKeys {
  const KeyOf* sorted;
  std::uint64_t* keys;
  std::int64_t* order;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    keys[i] = sorted[i].key;
    order[i] = sorted[i].value;
  }
};

/// Packs sorted prisms.
template <class Source>
struct PackSorted {
  Source source;
  Frame frame;
  const std::int64_t* order;
  Record<double>* records;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    double p[7];
    source.prism(order[i], p);
    Record<double> record{};
    for (int n = 0; n < 3; ++n) {
      record.lower[n] = p[2 * frame.axis[n]];
      record.upper[n] = p[2 * frame.axis[n] + 1];
      const double length = record.upper[n] - record.lower[n];
      record.diagonal2 += 0.25 * length * length;
    }
    record.density = 1.0;
    records[i] = record;
  }
};

/// Packs the stations of each leaf; places after its end repeat its last station.
struct PackLeaves {
  const FmmNode* nodes;
  const std::int32_t* leaves;
  const std::int64_t* order;
  const double* stations;
  Frame frame;
  int padding;
  std::int64_t slots;
  double* packed;         ///< 3 x places
  std::int64_t* station;  ///< station of each place, -1 after the end of a leaf
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const FmmNode& node = nodes[leaves[item]];
    const std::int32_t count = node.end - node.begin;
    const std::int32_t padded = (count + padding - 1) / padding * padding;
    for (std::int32_t k = 0; k < padded; ++k) {
      const std::int64_t from = order[node.begin + (k < count ? k : count - 1)];
      for (int n = 0; n < 3; ++n) {
        packed[n * slots + node.slot + k] = stations[3 * from + frame.axis[n]];
      }
      station[node.slot + k] = k < count ? from : -1;
    }
  }
};

/// Finds the bounds of leaves.
struct BoundLeaves {
  const FmmNode* nodes;
  const std::int32_t* leaves;
  const Record<double>* records;  ///< sorted prisms, or null
  const double* slots;            ///< 3 x slots of stations
  std::int64_t count;             ///< of places
  LeafBounds* bounds;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const FmmNode& node = nodes[leaves[item]];
    LeafBounds box{};
    const std::int32_t size = node.end - node.begin;
    for (int n = 0; n < 3; ++n) {
      box.low[n] = infinity<double>();
      box.high[n] = -infinity<double>();
      for (std::int32_t k = 0; k < size; ++k) {
        double low, high;
        range(node, k, n, low, high);
        if (low < box.low[n]) box.low[n] = low;
        if (high > box.high[n]) box.high[n] = high;
      }
    }
    double largest = 0.0;
    for (std::int32_t k = 0; k < size; ++k) {
      double square = 0.0;
      for (int n = 0; n < 3; ++n) {
        double low, high;
        range(node, k, n, low, high);
        const double centre = box.low[n] + 0.5 * (box.high[n] - box.low[n]);
        const double a = centre - low, b = high - centre;
        square += a > b ? a * a : b * b;
      }
      if (square > largest) largest = square;
    }
    box.radius = sqrt(largest);
    bounds[item] = box;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void range(const FmmNode& node, std::int32_t k, int n, double& low,
                                         double& high) const {
    if (records != nullptr) {
      low = records[node.begin + k].lower[n];
      high = records[node.begin + k].upper[n];
    } else {
      low = slots[n * count + node.slot + k];
      high = low;
    }
  }
};

}  // namespace moho::gravity::detail
