// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sets of points anywhere in the grid: adding amplitudes to a wavefield there, and reading
/// it there, each the exact transpose of the other.

#include <moho/wave/geometry.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/sinc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace moho::wave {

/// How a set of points meets the grid.
template <int Dim>
struct PointOptions {
  int radius = 4;            ///< nodes on either side of a point that share in it, 1 to 10
  bool free_lower[Dim] = {}; /**< the face at the first node of an axis is a free surface */
  bool free_upper[Dim] = {}; /**< the face at the last node of an axis is a free surface */
  Box<Dim> interior{};       ///< where points may be: the model without its layers; empty: anywhere
  std::string name = "point";  ///< what messages call a point: "source", "receiver"
  bool injects = true;         ///< false: a set that only records needs less memory
};

namespace detail {

/// The weights of a position along an axis of `extent` nodes. What falls outside is dropped, or
/// comes back with the other sign behind a free surface, on which the field is zero.
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

/// The nodes of a point: a box of them, with weights along each axis.
template <int Dim>
struct Window {
  std::int64_t element;  ///< of the first node
  int count[Dim];        ///< nodes along each axis
};

/// The weights of all points, for kernels.
template <class T, int Dim, class Exec>
struct PointWeights {
  Kokkos::View<const Window<Dim>*, typename Exec::memory_space> windows;
  Storage<const T, Exec> weights;  ///< point, axis, node
  Index<Dim> strides;
  int width;  ///< weights kept of each point and axis

  /// Weight of the node at (i0, i1 ...) of a point's box. Injection is given the same number.
  KOKKOS_FORCEINLINE_FUNCTION static T product(const T* weight, int width,
                                               const Kokkos::Array<int, Dim>& i) {
    T result = weight[i[0]];
    for (int d = 1; d < Dim; ++d) result *= weight[d * width + i[d]];
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION const T* of(std::int64_t point) const {
    return weights.data() + point * Dim * width;
  }
};

/// One product of the sum that a point records.
template <class T, int Dim, class Exec>
struct RecordTerm {
  PointWeights<T, Dim, Exec> points;
  Storage<const T, Exec> field;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(const Window<Dim>& window, const T* weight,
                                           int node) const {
    Kokkos::Array<int, Dim> i{};
    std::int64_t element = window.element;
    for (int d = Dim - 1; d > 0; --d) {
      i[d] = node % window.count[d];
      node /= window.count[d];
      element += i[d] * points.strides[d];
    }
    i[0] = node;
    element += node * points.strides[0];
    return points.product(weight, points.width, i) * field(element);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int nodes(const Window<Dim>& window) {
    int n = 1;
    for (int d = 0; d < Dim; ++d) n *= window.count[d];
    return n;
  }
};

/// Reads a field at the points, a thread a point: row after row, without the divisions of term.
template <class T, int Dim, class Exec>
struct RecordByThread {
  RecordTerm<T, Dim, Exec> term;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t point) const {
    const Window<Dim> window = term.points.windows(point);
    const T* const weight = term.points.of(point);
    const T* const last = weight + (Dim - 1) * term.points.width;
    const int planes = Dim == 3 ? window.count[0] : 1;
    const int rows = window.count[Dim - 2];
    T sum = T(0);
    for (int i = 0; i < planes; ++i) {
      for (int j = 0; j < rows; ++j) {
        // as in product(): the weights of the first axes, then the last
        const T share = Dim == 3 ? weight[i] * weight[term.points.width + j] : weight[j];
        const T* const row = term.field.data() + window.element +
                             (Dim == 3 ? i * term.points.strides[0] : 0) +
                             j * term.points.strides[Dim - 2];
        for (int k = 0; k < window.count[Dim - 1]; ++k) sum += share * last[k] * row[k];
      }
    }
    values[point] = sum;
  }
};

/// Reads a field at the points, the lanes of a vector a point.
template <class T, int Dim, class Exec>
struct RecordByVector {
  RecordTerm<T, Dim, Exec> term;
  T* values;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& member) const {
    const std::int64_t point =
        static_cast<std::int64_t>(member.league_rank()) * member.team_size() + member.team_rank();
    if (point >= count) return;
    const Window<Dim> window = term.points.windows(point);
    const T* const weight = term.points.of(point);
    T sum = T(0);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, term.nodes(window)),
        [&](const int i, T& partial) { partial += term(window, weight, i); }, sum);
    Kokkos::single(Kokkos::PerThread(member), [&]() { values[point] = sum; });
  }
};

/// The nodes that points share in, each with the points' numbers and weights.
template <class T, class Exec>
struct NodeLists {
  Storage<const std::int64_t, Exec> elements;  ///< of the nodes, ascending
  Storage<const std::int64_t, Exec> starts;    ///< of each node's list; one more than nodes
  Storage<const std::int32_t, Exec> point;     ///< ascending in each list
  Storage<const T, Exec> weight;
};

/// Adds amplitudes to a field: a thread a node, so the order of the sums is always the same.
template <class T, class Exec>
struct Inject {
  NodeLists<T, Exec> lists;
  Storage<T, Exec> field;
  const T* amplitudes;
  Storage<const T, Exec> scale;
  T factor;
  bool scaled;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t node) const {
    T sum = T(0);
    for (std::int64_t i = lists.starts(node); i < lists.starts(node + 1); ++i) {
      sum += lists.weight(i) * amplitudes[lists.point(i)];
    }
    sum *= factor;
    const std::int64_t element = lists.elements(node);
    field(element) += scaled ? sum * scale(element) : sum;
  }
};

/// A point's share in a node.
template <class T>
struct Share {
  std::int64_t element;
  std::int32_t point;
  T weight;
};

/// Sorts by element; shares in one element stay in the order of their points. Radix sort: tens of
/// millions of shares, which many receivers have, take a second.
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

/// A copy of a vector in the memory of a space; the copy may still be under way.
template <class Exec, class T>
Kokkos::View<T*, typename Exec::memory_space> to_space(const Exec& exec,
                                                       const std::vector<T>& values,
                                                       const std::string& label) {
  auto view = allocate<Kokkos::View<T*, typename Exec::memory_space>>(exec, label, values.size());
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> source(
      values.data(), values.size());
  if (!values.empty()) Kokkos::deep_copy(exec, view, source);
  return view;
}

}  // namespace detail

/// \brief Amplitudes at points, a row for each time step: steps x points.
template <class T, class Exec>
using PointSeries = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

/// \brief Points anywhere in the grid, where a wavefield is recorded and amplitudes are injected.
///
/// A point shares in the (2 radius)^Dim nodes around it by sinc_weights() along each axis; along an
/// axis on which it lies on a node it has that node only, so a point that is a node has one weight,
/// which is exactly 1. Behind a free surface the field is its own odd image (the value at node -k
/// is minus the one at node k, node 0 on the surface is zero): weights there return with the other
/// sign. At all other faces, weights outside of the grid are dropped.
///
/// inject() and record() use the same weights, so each is the transpose of the other up to the
/// rounding of sums. Both are deterministic: a thread sums what a node or a point receives, in the
/// order of the points, and there are no atomics; points may overlap or coincide. Only nodes of the
/// grid are written: the halo behind a free surface is to be renewed after an injection.
///
/// Memory: a point has Dim (2 radius) numbers, and (2 radius)^Dim numbers and indices if it is to
/// inject. All work goes to the instance given, without a fence.
template <class T, int Dim, class Exec>
class PointSet {
 public:
  /// No points.
  PointSet() = default;

  /// \brief Prepares the weights.
  /// \param exec where they are copied to; the constructor waits for that
  /// \param grid the grid of the wavefield, with its boundary layers
  /// \param layout how the wavefield lies in memory
  /// \param positions of the points, in the units of the grid
  /// \param options radius, free surfaces, allowed region
  /// \throws InputError if a point is outside (message: its number, position and the allowed
  /// range), in the boundary layer, or on a free surface, where the field is zero; if the radius is
  /// unknown; if layout and grid disagree
  PointSet(const Exec& exec, const Grid<Dim>& grid, const Layout<Dim>& layout,
           const Points<Dim>& positions, const PointOptions<Dim>& options = {});

  /// Number of points.
  std::int64_t count() const { return m_count; }
  /// Where they are.
  const Points<Dim>& positions() const { return m_positions; }
  /// The smallest box that holds all nodes with a weight; empty if there are no points.
  const Box<Dim>& box() const { return m_box; }
  /// Weights in all: nodes times points that share in them.
  std::int64_t weights() const { return m_weights; }

  /// \brief field += scale * factor * W^T amplitudes, where W are the weights.
  /// \param exec where the work is done
  /// \param field a wavefield in the layout of the set
  /// \param amplitudes one a point; they stay untouched and must live until the work is done
  /// \param scale a factor for every node, in the layout of the set; unallocated: 1
  /// \param factor for all points: one over the volume of a cell makes a weighted point a delta
  /// function
  /// \throws InputError if a view has the wrong size or the set was made only to record
  void inject(const Exec& exec, const Storage<T, Exec>& field,
              const Storage<const T, Exec>& amplitudes, const Storage<const T, Exec>& scale = {},
              T factor = T(1)) const {
    check_count(amplitudes.extent(0), "amplitudes");
    inject_from(exec, field, amplitudes.data(), scale, factor);
  }
  /// \brief The same with the amplitudes of one time step. \throws InputError
  /// \param exec,field,scale,factor as above
  /// \param series amplitudes, steps x points
  /// \param step the row of `series`
  void inject(const Exec& exec, const Storage<T, Exec>& field,
              const PointSeries<const T, Exec>& series, std::int64_t step,
              const Storage<const T, Exec>& scale = {}, T factor = T(1)) const {
    inject_from(exec, field, row(series, step, "amplitudes"), scale, factor);
  }

  /// \brief values = W field.
  /// \param exec where the work is done
  /// \param field a wavefield in the layout of the set
  /// \param values one a point
  /// \throws InputError if a view has the wrong size
  void record(const Exec& exec, const Storage<const T, Exec>& field,
              const Storage<T, Exec>& values) const {
    check_count(values.extent(0), "values");
    record_to(exec, field, values.data());
  }
  /// \brief The same into the row of one time step. \throws InputError
  /// \param exec,field as above
  /// \param series values, steps x points
  /// \param step the row of `series`
  void record(const Exec& exec, const Storage<const T, Exec>& field,
              const PointSeries<T, Exec>& series, std::int64_t step) const {
    record_to(exec, field, row(series, step, "values"));
  }

 private:
  void check_count(std::size_t count, const char* argument) const {
    if (static_cast<std::int64_t>(count) == m_count) return;
    throw InputError(
        concat(argument, ": there are ", count, " (allowed: ", m_count, ", one a point)"));
  }
  void check_size(std::size_t size, const char* argument) const {
    if (static_cast<std::int64_t>(size) == m_size) return;
    throw InputError(concat(argument, ": it has ", size, " elements (allowed: ", m_size,
                            ", the size of the layout): allocate it with "
                            "moho::wave::make_storage"));
  }
  template <class Series>
  auto row(const Series& series, std::int64_t step, const char* argument) const {
    check_count(series.extent(1), argument);
    const auto steps = static_cast<std::int64_t>(series.extent(0));
    if (step < 0 || step >= steps) {
      throw InputError(
          concat("step is ", step, " (allowed: 0 to ", steps - 1, ", the rows of ", argument, ")"));
    }
    return series.data() + step * static_cast<std::int64_t>(series.stride(0));
  }
  void inject_from(const Exec& exec, const Storage<T, Exec>& field, const T* amplitudes,
                   const Storage<const T, Exec>& scale, T factor) const;
  void record_to(const Exec& exec, const Storage<const T, Exec>& field, T* values) const;

  Points<Dim> m_positions;
  Box<Dim> m_box{};
  std::int64_t m_count = 0, m_size = 0, m_weights = 0, m_nodes = 0;
  bool m_injects = true;
  detail::PointWeights<T, Dim, Exec> m_points{};
  detail::NodeLists<T, Exec> m_lists{};
};

template <class T, int Dim, class Exec>
PointSet<T, Dim, Exec>::PointSet(const Exec& exec, const Grid<Dim>& grid, const Layout<Dim>& layout,
                                 const Points<Dim>& positions, const PointOptions<Dim>& options)
    : m_positions(positions), m_size(layout.size), m_injects(options.injects) {
  grid.check();
  check_sinc_radius(options.radius);
  for (int d = 0; d < Dim; ++d) {
    if (layout.extents[d] == grid.extents[d]) continue;
    throw InputError(concat("layout: it has ", layout.extents[d], " nodes along ",
                            axis_name<Dim>(d), " (allowed: ", grid.extents[d],
                            ", those of the grid): make it with moho::wave::make_layout"));
  }
  if (positions.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InputError(concat(options.name, "s: there are ", positions.size(),
                            " (allowed: up to 2147483647): divide them among several sets"));
  }
  check_positions(grid, positions, options.interior, options.name);
  m_count = static_cast<std::int64_t>(positions.size());
  if (m_count == 0) return;

  // weights along the axes
  std::vector<std::array<SincWeights, Dim>> axes(positions.size());
  std::vector<detail::Window<Dim>> windows(positions.size());
  int width = 1;
  for (std::size_t p = 0; p < positions.size(); ++p) {
    const Point<Dim> q = grid.to_index_space(positions[p]);
    Index<Dim> first{};
    std::int64_t nodes = 1;
    for (int d = 0; d < Dim; ++d) {
      const SincWeights weights = detail::weights_on_axis(
          q[d], options.radius, grid.extents[d], options.free_lower[d], options.free_upper[d]);
      if (weights.count == 0) {
        throw InputError(concat(options.name, " ", p, ": ", format_point(positions[p]),
                                " is on the free surface, where the field is zero (allowed: "
                                "positions inside of the model): move it along ",
                                axis_name<Dim>(d), ", by one node for example"));
      }
      axes[p][static_cast<std::size_t>(d)] = weights;
      windows[p].count[d] = weights.count;
      width = std::max(width, weights.count);
      first[d] = weights.first;
      nodes *= weights.count;
      const std::int64_t end = weights.first + weights.count;
      m_box.lower[d] = p == 0 ? weights.first : std::min(m_box.lower[d], weights.first);
      m_box.upper[d] = p == 0 ? end : std::max(m_box.upper[d], end);
    }
    windows[p].element = layout.flat(first);
    m_weights += nodes;
  }
  const std::size_t per_point = static_cast<std::size_t>(Dim * width);
  std::vector<T> weights(positions.size() * per_point, T(0));
  for (std::size_t p = 0; p < positions.size(); ++p) {
    for (int d = 0; d < Dim; ++d) {
      const SincWeights& axis = axes[p][static_cast<std::size_t>(d)];
      for (int i = 0; i < axis.count; ++i) {
        weights[p * per_point + static_cast<std::size_t>(d * width + i)] =
            static_cast<T>(axis.weight[static_cast<std::size_t>(i)]);
      }
    }
  }
  m_points.windows = detail::to_space(exec, windows, "moho::wave::point_windows");
  m_points.weights = detail::to_space(exec, weights, "moho::wave::point_weights");
  m_points.strides = layout.strides;
  m_points.width = width;

  // each node's list
  std::vector<std::int64_t> elements, starts;
  std::vector<std::int32_t> numbers;
  std::vector<T> shares_weights;
  if (m_injects) {
    std::vector<detail::Share<T>> shares;
    shares.reserve(static_cast<std::size_t>(m_weights));
    for (std::size_t p = 0; p < positions.size(); ++p) {
      Box<Dim> box;
      for (int d = 0; d < Dim; ++d) box.upper[d] = windows[p].count[d];
      for (std::int64_t n = 0; n < box.size(); ++n) {
        const Index<Dim> node = box.node(n);
        std::int64_t element = windows[p].element;
        Kokkos::Array<int, Dim> i{};
        for (int d = 0; d < Dim; ++d) {
          element += node[d] * layout.strides[d];
          i[d] = static_cast<int>(node[d]);
        }
        const T weight =
            detail::PointWeights<T, Dim, Exec>::product(weights.data() + p * per_point, width, i);
        shares.push_back({element, static_cast<std::int32_t>(p), weight});
      }
    }
    detail::sort_shares(shares);
    numbers.reserve(shares.size());
    shares_weights.reserve(shares.size());
    for (const detail::Share<T>& share : shares) {
      if (elements.empty() || elements.back() != share.element) {
        elements.push_back(share.element);
        starts.push_back(static_cast<std::int64_t>(numbers.size()));
      }
      numbers.push_back(share.point);
      shares_weights.push_back(share.weight);
    }
    starts.push_back(static_cast<std::int64_t>(numbers.size()));
    m_nodes = static_cast<std::int64_t>(elements.size());
    m_lists.elements = detail::to_space(exec, elements, "moho::wave::point_nodes");
    m_lists.starts = detail::to_space(exec, starts, "moho::wave::point_starts");
    m_lists.point = detail::to_space(exec, numbers, "moho::wave::point_numbers");
    m_lists.weight = detail::to_space(exec, shares_weights, "moho::wave::point_shares");
  }
  exec.fence();  // the vectors end here
}

template <class T, int Dim, class Exec>
void PointSet<T, Dim, Exec>::inject_from(const Exec& exec, const Storage<T, Exec>& field,
                                         const T* amplitudes, const Storage<const T, Exec>& scale,
                                         T factor) const {
  if (m_count == 0) return;
  if (!m_injects) {
    throw InputError(
        "inject: the set of points was made only to record (PointOptions::injects is false): make "
        "one that injects");
  }
  check_size(field.extent(0), "field");
  const bool scaled = scale.data() != nullptr;
  if (scaled) check_size(scale.extent(0), "scale");
  Kokkos::parallel_for("moho::wave::inject",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, m_nodes),
                       detail::Inject<T, Exec>{m_lists, field, amplitudes, scale, factor, scaled});
}

template <class T, int Dim, class Exec>
void PointSet<T, Dim, Exec>::record_to(const Exec& exec, const Storage<const T, Exec>& field,
                                       T* values) const {
  if (m_count == 0) return;
  check_size(field.extent(0), "field");
  const detail::RecordTerm<T, Dim, Exec> term{m_points, field};
  if constexpr (!is_host_space<Exec>) {
    // The many weights of points between nodes are read by the lanes of a vector.
    constexpr int few = 8, team = 8, lanes = 32;
    if (m_weights > few * m_count) {
      const auto league = static_cast<int>((m_count + team - 1) / team);
      Kokkos::parallel_for("moho::wave::record",
                           Kokkos::TeamPolicy<Exec>(exec, league, team, lanes),
                           detail::RecordByVector<T, Dim, Exec>{term, values, m_count});
      return;
    }
  }
  Kokkos::parallel_for("moho::wave::record",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, m_count),
                       detail::RecordByThread<T, Dim, Exec>{term, values});
}

}  // namespace moho::wave
