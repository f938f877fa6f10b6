// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Weights of point sets along the axes, their lists of nodes, and their kernels.

#include <moho/core/instance.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/sinc.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// Returns the weights of a position along an axis of `extent` nodes.
///
/// Weights outside the grid are dropped, or folded back with reversed sign beyond a free surface,
/// on which the field is zero.
inline SincWeights weights_on_axis(double position, int radius, std::int64_t extent,
                                   bool free_lower, bool free_upper) {
  const double end = static_cast<double>(extent - 1);
  const SincWeights all = sinc_weights(std::clamp(position, 0.0, end), radius);
  const std::int64_t last = extent - 1;
  const auto image = [&](std::int64_t node, double& sign) {
    sign = 1.0;
    for (int fold = 0; fold < 2 * largest_sinc_radius; ++fold) {
      if (node >= 0 && node <= last) {
        const bool on_surface = (node == 0 && free_lower) || (node == last && free_upper);
        return on_surface ? std::int64_t(-1) : node;
      }
      if (!(node < 0 ? free_lower : free_upper)) return std::int64_t(-1);
      node = node < 0 ? -node : 2 * last - node;
      sign = -sign;
    }
    return std::int64_t(-1);
  };
  SincWeights result;
  double sign = 1.0;
  std::int64_t lowest = extent, highest = -1;
  for (int i = 0; i < all.count; ++i) {
    const std::int64_t node = image(all.first + i, sign);
    if (node < 0) continue;
    lowest = std::min(lowest, node);
    highest = std::max(highest, node);
  }
  if (highest < 0) return result;
  result.first = lowest;
  result.count = static_cast<int>(highest - lowest + 1);
  for (int i = 0; i < all.count; ++i) {
    const std::int64_t node = image(all.first + i, sign);
    if (node < 0) continue;
    result.weight[static_cast<std::size_t>(node - lowest)] +=
        sign * all.weight[static_cast<std::size_t>(i)];
  }
  return result;
}

/// Nodes of a point: a box, with weights along each axis.
template <int Dim>
struct Window {
  std::int64_t element;  ///< element of the first node, counted from node (0, ..., 0)
  int count[Dim];        ///< nodes along each axis
};

/// Weights of all points, for kernels.
template <class T, int Dim>
struct PointWeights {
  const Window<Dim>* windows;  ///< by point
  const T* weights;            ///< by point, axis and node
  Index<Dim> strides;
  int width;  ///< weights stored for each point and axis

  /// Returns the weight of node (i0, i1 ...) of a point's box; injection uses the same number.
  KOKKOS_FORCEINLINE_FUNCTION static T product(const T* weight, int width,
                                               const Kokkos::Array<int, Dim>& i) {
    T result = weight[i[0]];
    for (int d = 1; d < Dim; ++d) result *= weight[d * width + i[d]];
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION const T* of(std::int64_t point) const {
    return weights + point * Dim * width;
  }
};

/// One product of the sum that a point records.
template <class T, int Dim>
struct RecordTerm {
  PointWeights<T, Dim> points;
  const T* field;               ///< node (0, ..., 0)
  PlaneRange planes;            ///< planes of the last nodes of recorded points
  const T* factor = nullptr;    ///< factors by node, from node (0, ..., 0); null: 1
  const T* by_point = nullptr;  ///< factors by point and node of its box; null: 1
  std::int64_t each = 0;        ///< factors of a point

  /// Returns true for points that are recorded.
  KOKKOS_FORCEINLINE_FUNCTION bool takes(const Window<Dim>& window) const {
    return planes.contains(window.element / points.strides[0] + window.count[0] - 1);
  }

  /// Returns the product of node `node` of the box of a point.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const Window<Dim>& window, const T* weight,
                                           std::int64_t point, int node) const {
    T a, b;
    factors(window, weight, point, node, a, b);
    return a * b;
  }
  /// Sets two factors of this product.
  KOKKOS_FORCEINLINE_FUNCTION void factors(const Window<Dim>& window, const T* weight,
                                           std::int64_t point, int node, T& a, T& b) const {
    const T* const own = by_point != nullptr ? by_point + point * each + node : nullptr;
    Kokkos::Array<int, Dim> i{};
    std::int64_t element = window.element;
    for (int d = Dim - 1; d > 0; --d) {
      i[d] = node % window.count[d];
      node /= window.count[d];
      element += i[d] * points.strides[d];
    }
    i[0] = node;
    element += node * points.strides[0];
    a = points.product(weight, points.width, i);
    b = field[element];
    if (factor == nullptr && own == nullptr) return;
    a *= b;
    b = factor != nullptr ? factor[element] : *own;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int nodes(const Window<Dim>& window) {
    int n = 1;
    for (int d = 0; d < Dim; ++d) n *= window.count[d];
    return n;
  }
};

/// Records a field at the points, one thread for each point, row by row.
///
/// It avoids the divisions of term.
template <class T, int Dim>
struct RecordByThread {
  RecordTerm<T, Dim> term;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t point) const {
    const Window<Dim> window = term.points.windows[point];
    if (!term.takes(window)) return;
    const T* const weight = term.points.of(point);
    const T* const last = weight + (Dim - 1) * term.points.width;
    const int planes = Dim == 3 ? window.count[0] : 1;
    const int rows = window.count[Dim - 2];
    T sum = T(0);
    for (int i = 0; i < planes; ++i) {
      for (int j = 0; j < rows; ++j) {
        // as in product(): the weights of the first axes, then the last
        const T share = Dim == 3 ? weight[i] * weight[term.points.width + j] : weight[j];
        const T* const row = term.field + window.element +
                             (Dim == 3 ? i * term.points.strides[0] : 0) +
                             j * term.points.strides[Dim - 2];
        const T* factors = term.factor != nullptr ? term.factor + (row - term.field) : nullptr;
        if (term.by_point != nullptr) {
          factors = term.by_point + point * term.each + (i * rows + j) * window.count[Dim - 1];
        }
        if (factors == nullptr) {
          for (int k = 0; k < window.count[Dim - 1]; ++k) sum += share * last[k] * row[k];
        } else {
          for (int k = 0; k < window.count[Dim - 1]; ++k) {
            sum += share * last[k] * row[k] * factors[k];
          }
        }
      }
    }
    values[point] = sum;
  }
};

/// Records a field at the points, the lanes of a vector for each point.
template <class T, int Dim, class Exec>
struct RecordByVector {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int team = 8, lanes = 32;
  RecordTerm<T, Dim> term;
  T* values;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    read(member, static_cast<std::int64_t>(member.league_rank()) * team + member.team_rank());
  }
  KOKKOS_FORCEINLINE_FUNCTION void read(const Member& member, const std::int64_t point) const {
    if (point >= count) return;
    const Window<Dim> window = term.points.windows[point];
    if (!term.takes(window)) return;
    const T* const weight = term.points.of(point);
    T sum = T(0);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, term.nodes(window)),
        [&](const int i, T& partial) { partial += term(window, weight, point, i); }, sum);
    Kokkos::single(Kokkos::PerThread(member), [&]() { values[point] = sum; });
  }
};

/// Nodes with weights, each with the numbers and weights of its points.
template <class T, class Memory>
struct NodeLists {
  /// Elements of the nodes relative to node 0, ascending.
  Storage<const std::int64_t, Memory> elements;
  Storage<const std::int64_t, Memory> starts;  ///< start of each node's list; one more than nodes
  Storage<const std::int32_t, Memory> point;   ///< ascending in each list
  Storage<const T, Memory> weight;
};

/// Pointers to NodeLists, for kernels.
template <class T>
struct NodeListPointers {
  const std::int64_t *elements, *starts;
  const std::int32_t* point;
  const T* weight;
};

/// Adds amplitudes to a field: one thread for each node, so that the order of the sums is fixed.
template <class T>
struct Inject {
  NodeListPointers<T> lists;
  std::int64_t first;  ///< first of the nodes that are written
  T* field;            ///< node (0, ..., 0)
  const T* amplitudes;
  const T* scale;    ///< node (0, ..., 0); null: 1
  const T* second;   ///< second factors by node, as `scale`; null: 1
  const T* by_node;  ///< factors by node of the lists; null: 1
  T factor;
  /// Returns the element of node n relative to node (0, ..., 0).
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element(const std::int64_t n) const {
    return lists.elements[first + n];
  }
  /// Returns the weighted amplitudes of node n, over share().
  KOKKOS_FORCEINLINE_FUNCTION T sum(const std::int64_t n) const {
    const std::int64_t node = first + n;
    T sum = T(0);
    for (std::int64_t i = lists.starts[node]; i < lists.starts[node + 1]; ++i) {
      sum += lists.weight[i] * amplitudes[lists.point[i]];
    }
    return sum * factor;
  }
  /// Returns the factor of node n.
  KOKKOS_FORCEINLINE_FUNCTION T share(const std::int64_t n) const {
    const std::int64_t node = first + n;
    const std::int64_t at = lists.elements[node];
    T share = scale != nullptr ? scale[at] : T(1);
    if (second != nullptr) share *= second[at];
    if (by_node != nullptr) share = scale != nullptr ? share * by_node[node] : by_node[node];
    return share;
  }
  /// Returns what is added to node n.
  KOKKOS_FORCEINLINE_FUNCTION T value(const std::int64_t n) const { return sum(n) * share(n); }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    field[element(n)] += value(n);
  }
};

/// Contribution of a point to a node.
template <class T>
struct Share {
  std::int64_t element;
  std::int32_t point;
  T weight;
};

/// Sorts by element, stably, so that contributions to an element stay in the order of their points.
///
/// Radix sort: tens of millions of contributions, typical of many receivers, take a second.
template <class T>
void sort_shares(std::vector<Share<T>>& shares) {
  if (shares.empty()) return;
  constexpr int bits = 11;
  constexpr std::size_t buckets = std::size_t(1) << bits;
  std::int64_t lowest = shares.front().element, highest = lowest;
  for (const Share<T>& share : shares) {
    lowest = std::min(lowest, share.element);
    highest = std::max(highest, share.element);
  }
  std::vector<Share<T>> sorted(shares.size());
  for (int shift = 0; shift < 63 && ((highest - lowest) >> shift) > 0; shift += bits) {
    const auto bucket = [&](const Share<T>& share) {
      return (static_cast<std::size_t>(share.element - lowest) >> shift) & (buckets - 1);
    };
    std::vector<std::size_t> begin(buckets + 1, 0);
    for (const Share<T>& share : shares) ++begin[bucket(share) + 1];
    for (std::size_t b = 0; b < buckets; ++b) begin[b + 1] += begin[b];
    for (const Share<T>& share : shares) sorted[begin[bucket(share)]++] = share;
    shares.swap(sorted);
  }
}

/// Returns the weights of points along the axes as one list by point, axis and node.
/// \param width length of the list of a point and an axis, filled with zeros
template <class T, int Dim>
std::vector<T> weights_by_axis(const std::vector<std::array<SincWeights, Dim>>& axes, int width) {
  const std::size_t per_point = static_cast<std::size_t>(Dim * width);
  std::vector<T> weights(axes.size() * per_point, T(0));
  for (std::size_t p = 0; p < axes.size(); ++p) {
    for (int d = 0; d < Dim; ++d) {
      const SincWeights& axis = axes[p][static_cast<std::size_t>(d)];
      for (int i = 0; i < axis.count; ++i) {
        weights[p * per_point + static_cast<std::size_t>(d * width + i)] =
            static_cast<T>(axis.weight[static_cast<std::size_t>(i)]);
      }
    }
  }
  return weights;
}

/// Returns the contributions of all points to the nodes of their windows, in the order of nodes.
/// \param weights,width those of weights_by_axis()
/// \param strides of the layout
/// \param count number of contributions
template <class T, int Dim>
std::vector<Share<T>> shares_by_node(const std::vector<Window<Dim>>& windows,
                                     const std::vector<T>& weights, int width,
                                     const Index<Dim>& strides, std::int64_t count) {
  const std::size_t per_point = static_cast<std::size_t>(Dim * width);
  std::vector<Share<T>> shares;
  shares.reserve(static_cast<std::size_t>(count));
  for (std::size_t p = 0; p < windows.size(); ++p) {
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) box.upper[d] = windows[p].count[d];
    for (std::int64_t n = 0; n < box.size(); ++n) {
      const Index<Dim> node = box.node(n);
      std::int64_t element = windows[p].element;
      Kokkos::Array<int, Dim> i{};
      for (int d = 0; d < Dim; ++d) {
        element += node[d] * strides[d];
        i[d] = static_cast<int>(node[d]);
      }
      const T weight = PointWeights<T, Dim>::product(weights.data() + p * per_point, width, i);
      shares.push_back({element, static_cast<std::int32_t>(p), weight});
    }
  }
  sort_shares(shares);
  return shares;
}

}  // namespace moho::wave::detail
