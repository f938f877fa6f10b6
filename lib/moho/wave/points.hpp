// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sets of points anywhere in the grid: adding amplitudes to a wavefield there, and reading
/// it there, each the exact transpose of the other.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/positions.hpp>
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
  std::int64_t element;  ///< of the first node, counted from node (0, ..., 0)
  int count[Dim];        ///< nodes along each axis
};

/// The weights of all points, for kernels.
template <class T, int Dim>
struct PointWeights {
  const Window<Dim>* windows;  ///< by point
  const T* weights;            ///< point, axis, node
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
    return weights + point * Dim * width;
  }
};

/// One product of the sum that a point records.
template <class T, int Dim>
struct RecordTerm {
  PointWeights<T, Dim> points;
  const T* field;  ///< node (0, ..., 0)
  Planes planes;   ///< points whose last nodes are in these are recorded

  /// True for points that are recorded.
  KOKKOS_FORCEINLINE_FUNCTION bool takes(const Window<Dim>& window) const {
    return planes.contains(window.element / points.strides[0] + window.count[0] - 1);
  }

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
    return points.product(weight, points.width, i) * field[element];
  }
  KOKKOS_FORCEINLINE_FUNCTION static int nodes(const Window<Dim>& window) {
    int n = 1;
    for (int d = 0; d < Dim; ++d) n *= window.count[d];
    return n;
  }
};

/// Reads a field at the points, a thread a point: row after row, without the divisions of term.
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
        for (int k = 0; k < window.count[Dim - 1]; ++k) sum += share * last[k] * row[k];
      }
    }
    values[point] = sum;
  }
};

/// Reads a field at the points, the lanes of a vector a point.
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
        [&](const int i, T& partial) { partial += term(window, weight, i); }, sum);
    Kokkos::single(Kokkos::PerThread(member), [&]() { values[point] = sum; });
  }
};

/// Reads a field times a factor of each node at the points, a thread a point.
template <class T, int Dim>
struct RecordScaled {
  RecordTerm<T, Dim> term;
  const T* scale;  ///< node (0, ..., 0)
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t point) const {
    const Window<Dim> window = term.points.windows[point];
    if (!term.takes(window)) return;
    const T* const weight = term.points.of(point);
    const int nodes = term.nodes(window);
    T sum = T(0);
    for (int node = 0; node < nodes; ++node) {
      Kokkos::Array<int, Dim> i{};
      std::int64_t element = window.element;
      int rest = node;
      for (int d = Dim - 1; d >= 0; --d) {
        i[d] = rest % window.count[d];
        rest /= window.count[d];
        element += i[d] * term.points.strides[d];
      }
      sum +=
          term.points.product(weight, term.points.width, i) * scale[element] * term.field[element];
    }
    values[point] = sum;
  }
};

/// The nodes that points share in, each with the points' numbers and weights.
template <class T, class Memory>
struct NodeLists {
  Storage<const std::int64_t, Memory> elements;  ///< of the nodes from node 0 on, ascending
  Storage<const std::int64_t, Memory> starts;    ///< of each node's list; one more than nodes
  Storage<const std::int32_t, Memory> point;     ///< ascending in each list
  Storage<const T, Memory> weight;
};

/// The same for kernels.
template <class T>
struct NodeListPointers {
  const std::int64_t *elements, *starts;
  const std::int32_t* point;
  const T* weight;
};

/// Adds amplitudes to a field: a thread a node, so the order of the sums is always the same.
template <class T>
struct Inject {
  NodeListPointers<T> lists;
  std::int64_t first;  ///< of the nodes that are written
  T* field;            ///< node (0, ..., 0)
  const T* amplitudes;
  const T* scale;    ///< node (0, ..., 0); null: 1
  const T* by_node;  ///< the same, one a node of the lists; null: `scale`
  T factor;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t node = first + n;
    T sum = T(0);
    for (std::int64_t i = lists.starts[node]; i < lists.starts[node + 1]; ++i) {
      sum += lists.weight[i] * amplitudes[lists.point[i]];
    }
    sum *= factor;
    const std::int64_t element = lists.elements[node];
    const T share = by_node != nullptr ? by_node[node] : scale != nullptr ? scale[element] : T(1);
    field[element] += sum * share;
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

}  // namespace detail

/// \brief Amplitudes at points, a row for each time step: steps x points. `Space` is a memory
/// space, or an execution space whose memory is meant.
template <class T, class Space>
using PointSeries = Kokkos::View<T**, Kokkos::LayoutRight, typename Space::memory_space>;

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
template <class T, int Dim, class Memory>
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
  PointSet(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const Layout<Dim>& layout,
           const Points<Dim>& positions, const PointOptions<Dim>& options = {});

  /// Number of points.
  std::int64_t count() const { return m_count; }
  /// Where they are.
  const Points<Dim>& positions() const { return m_positions; }
  /// The smallest box that holds all nodes with a weight; empty if there are no points.
  const Box<Dim>& box() const { return m_box; }
  /// Number of weights: the sum of the nodes of all points.
  std::int64_t weights() const { return m_weights; }

  /// \brief field += scale * factor * W^T amplitudes, where W are the weights.
  /// \param exec where the work is done
  /// \param field a wavefield of the whole grid, in the layout of the set
  /// \param amplitudes one a point; they stay untouched and must live until the work is done
  /// \param scale a factor for every node, in the layout of the set; unallocated: 1
  /// \param factor for all points: one over the volume of a cell makes a weighted point a delta
  /// function
  /// \throws InputError if a view has the wrong size or the set was made only to record
  void inject(const InstanceOf<Memory>& exec, const Storage<T, Memory>& field,
              const Storage<const T, Memory>& amplitudes,
              const Storage<const T, Memory>& scale = {}, T factor = T(1)) const {
    check_count(amplitudes.extent(0), "amplitudes");
    inject_from(exec, m_layout, m_layout.window, field, amplitudes.data(), scale, factor);
  }
  /// \brief The same with the amplitudes of one time step. \throws InputError
  /// \param exec,field,scale,factor as above
  /// \param series amplitudes, steps x points
  /// \param step the row of `series`
  void inject(const InstanceOf<Memory>& exec, const Storage<T, Memory>& field,
              const PointSeries<const T, Memory>& series, std::int64_t step,
              const Storage<const T, Memory>& scale = {}, T factor = T(1)) const {
    inject(exec, m_layout, m_layout.window, field, series, step, scale, factor);
  }
  /// \brief The same into some planes of a window of the grid; nodes elsewhere are not changed.
  /// \param exec,series,step,factor as above
  /// \param layout of field and scale, with the window
  /// \param planes that are written, all in the window
  /// \param field,scale of the window
  /// \throws InputError as above, and for planes that are not in the window
  void inject(const InstanceOf<Memory>& exec, const Layout<Dim>& layout, const Planes& planes,
              const Storage<T, Memory>& field, const PointSeries<const T, Memory>& series,
              std::int64_t step, const Storage<const T, Memory>& scale = {},
              T factor = T(1)) const {
    inject_from(exec, layout, planes, field, row(series, step, "amplitudes"), scale, factor);
  }

  /// \brief Factors for every node in which points share, for inject() where the array that they
  /// come from is not at hand.
  /// \param exec where the factors are copied to; it is waited for
  /// \param layout of `scale`, whose window holds all nodes of the points
  /// \param scale on the host, a factor for every node
  /// \throws InputError for a window that does not hold them
  Storage<const T, Memory> node_factors(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
                                        const Storage<const T, Kokkos::HostSpace>& scale) const;
  /// \brief inject() with factors from node_factors(). \throws InputError as above
  /// \param exec,layout,planes,field,series,step,factor as above
  /// \param factors of this set
  void inject_with(const InstanceOf<Memory>& exec, const Layout<Dim>& layout, const Planes& planes,
                   const Storage<T, Memory>& field, const PointSeries<const T, Memory>& series,
                   std::int64_t step, const Storage<const T, Memory>& factors, T factor) const {
    inject_from(exec, layout, planes, field, row(series, step, "amplitudes"), {}, factor, factors);
  }

  /// \brief values = W field.
  /// \param exec where the work is done
  /// \param field a wavefield of the whole grid, in the layout of the set
  /// \param values one a point
  /// \throws InputError if a view has the wrong size
  void record(const InstanceOf<Memory>& exec, const Storage<const T, Memory>& field,
              const Storage<T, Memory>& values) const {
    check_count(values.extent(0), "values");
    record_to(exec, m_layout, m_layout.window, field, values.data(), {});
  }
  /// \brief The same into the row of one time step. \throws InputError
  /// \param exec,field as above
  /// \param series values, steps x points
  /// \param step the row of `series`
  /// \param scale a factor for every node, in the layout of the set; unallocated: 1
  void record(const InstanceOf<Memory>& exec, const Storage<const T, Memory>& field,
              const PointSeries<T, Memory>& series, std::int64_t step,
              const Storage<const T, Memory>& scale = {}) const {
    record(exec, m_layout, m_layout.window, field, series, step, scale);
  }
  /// \brief The same from a window of the grid, for those points whose last plane is among
  /// `planes`; the values of others are not changed. Planes that make up the grid record every
  /// point once.
  /// \param exec,series,step as above
  /// \param layout of the field, with the window
  /// \param planes in the window, which also holds the planes() - 1 planes before them
  /// \param field,scale of the window
  /// \throws InputError as above, and for planes that are not in the window
  void record(const InstanceOf<Memory>& exec, const Layout<Dim>& layout, const Planes& planes,
              const Storage<const T, Memory>& field, const PointSeries<T, Memory>& series,
              std::int64_t step, const Storage<const T, Memory>& scale = {}) const {
    record_to(exec, layout, planes, field, row(series, step, "values"), scale);
  }
  /// The most planes that a point shares in.
  int planes() const { return m_planes; }

  /// \cond
  // Parts of launches that exchange_points() makes of several: those of inject() and record() for
  // the whole grid. The first returns the nodes that are written.
  std::int64_t injection(const Storage<T, Memory>& field,
                         const PointSeries<const T, Memory>& series, std::int64_t step,
                         const Storage<const T, Memory>& scale, T factor,
                         detail::Inject<T>& kernel) const {
    return prepare_inject(m_layout, m_layout.window, field, row(series, step, "amplitudes"), scale,
                          factor, {}, kernel);
  }
  bool reads_by_vector() const { return m_weights > 8 * m_count; }
  template <class Kernel>
  void recording(const Storage<const T, Memory>& field, const PointSeries<T, Memory>& series,
                 std::int64_t step, Kernel& kernel) const {
    detail::check_storage(m_layout, field, "field");
    kernel.term = {m_points, field.data() + m_layout.offset, m_layout.window};
    kernel.values = row(series, step, "values");
    if constexpr (requires { kernel.count; }) kernel.count = m_count;
  }
  /// \endcond

 private:
  void check_count(std::size_t count, const char* argument) const {
    if (static_cast<std::int64_t>(count) == m_count) return;
    throw InputError(
        concat(argument, ": there are ", count, " (allowed: ", m_count, ", one a point)"));
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
  void check_window(const Layout<Dim>& layout, const Planes& planes) const;
  std::int64_t prepare_inject(const Layout<Dim>& layout, const Planes& planes,
                              const Storage<T, Memory>& field, const T* amplitudes,
                              const Storage<const T, Memory>& scale, T factor,
                              const Storage<const T, Memory>& factors,
                              detail::Inject<T>& kernel) const;
  void inject_from(const Instance<Memory>& exec, const Layout<Dim>& layout, const Planes& planes,
                   const Storage<T, Memory>& field, const T* amplitudes,
                   const Storage<const T, Memory>& scale, T factor,
                   const Storage<const T, Memory>& factors = {}) const;
  void record_to(const Instance<Memory>& exec, const Layout<Dim>& layout, const Planes& planes,
                 const Storage<const T, Memory>& field, T* values,
                 const Storage<const T, Memory>& scale) const;

  Points<Dim> m_positions;
  Layout<Dim> m_layout{};
  Box<Dim> m_box{};
  std::int64_t m_count = 0, m_weights = 0;
  int m_planes = 0;
  bool m_injects = true;
  Kokkos::View<const detail::Window<Dim>*, Memory> m_windows;
  Storage<const T, Memory> m_factors;  ///< of every point, axis and node
  detail::PointWeights<T, Dim> m_points{};
  detail::NodeLists<T, Memory> m_lists{};
  std::vector<std::int64_t> m_plane_nodes;  ///< the first node of each plane of m_box, and the end
};

template <class T, int Dim, class Memory>
PointSet<T, Dim, Memory>::PointSet(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                   const Layout<Dim>& layout, const Points<Dim>& positions,
                                   const PointOptions<Dim>& options)
    : m_positions(positions), m_layout(layout), m_injects(options.injects) {
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
  check_positions(grid, positions, options.name, options.interior);
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
    windows[p].element = layout.flat(first) - layout.offset;
    m_planes = std::max(m_planes, windows[p].count[0]);
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
  m_windows = upload(exec, windows, "moho::wave::point_windows");
  m_factors = upload(exec, weights, "moho::wave::point_weights");
  m_points.windows = m_windows.data();
  m_points.weights = m_factors.data();
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
            detail::PointWeights<T, Dim>::product(weights.data() + p * per_point, width, i);
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
    // elements ascend, and with them the planes
    for (std::int64_t plane = m_box.lower[0]; plane <= m_box.upper[0]; ++plane) {
      m_plane_nodes.push_back(
          std::lower_bound(elements.begin(), elements.end(), plane * layout.strides[0]) -
          elements.begin());
    }
    m_lists.elements = upload(exec, elements, "moho::wave::point_nodes");
    m_lists.starts = upload(exec, starts, "moho::wave::point_starts");
    m_lists.point = upload(exec, numbers, "moho::wave::point_numbers");
    m_lists.weight = upload(exec, shares_weights, "moho::wave::point_shares");
  }
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::check_window(const Layout<Dim>& layout, const Planes& planes) const {
  bool same = true;
  for (int d = 0; d < Dim; ++d) {
    same = same && layout.extents[d] == m_layout.extents[d] &&
           layout.strides[d] == m_layout.strides[d];
  }
  if (!same) {
    throw InputError(
        "layout: it is not of the grid that the points were made for (allowed: windows of that "
        "grid): make it with the same scheme");
  }
  if (planes.empty() || intersection(planes, layout.window) == planes) return;
  throw InputError(concat("planes ", planes.begin, " to ", planes.end - 1,
                          " are not in the window (allowed: ", layout.window.begin, " to ",
                          layout.window.end - 1, ")"));
}

template <class T, int Dim, class Memory>
Storage<const T, Memory> PointSet<T, Dim, Memory>::node_factors(
    const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
    const Storage<const T, Kokkos::HostSpace>& scale) const {
  if (m_count == 0) return {};
  check_window(layout, planes_of(m_box));
  detail::check_storage(layout, scale, "scale");
  const std::vector<std::int64_t> elements = download(Instance<Memory>(exec), m_lists.elements);
  std::vector<T> factors(elements.size());
  for (std::size_t n = 0; n < elements.size(); ++n) {
    factors[n] = scale.data()[layout.offset + elements[n]];
  }
  return upload(Instance<Memory>(exec), factors, "moho::wave::node_factors");
}

template <class T, int Dim, class Memory>
std::int64_t PointSet<T, Dim, Memory>::prepare_inject(
    const Layout<Dim>& layout, const Planes& planes, const Storage<T, Memory>& field,
    const T* amplitudes, const Storage<const T, Memory>& scale, T factor,
    const Storage<const T, Memory>& factors, detail::Inject<T>& kernel) const {
  if (m_count == 0) return 0;
  if (!m_injects) {
    throw InputError(
        "inject: the set of points was made only to record (PointOptions::injects is false): make "
        "one that injects");
  }
  check_window(layout, planes);
  detail::check_storage(layout, field, "field");
  const bool scaled = scale.data() != nullptr;
  if (scaled) detail::check_storage(layout, scale, "scale");
  const Planes part = intersection(planes, planes_of(m_box));
  if (part.empty()) return 0;
  const auto at = [&](std::int64_t plane) {
    return m_plane_nodes[static_cast<std::size_t>(plane - m_box.lower[0])];
  };
  const std::int64_t first = at(part.begin), end = at(part.end);
  kernel = {
      {m_lists.elements.data(), m_lists.starts.data(), m_lists.point.data(), m_lists.weight.data()},
      first,
      field.data() + layout.offset,
      amplitudes,
      scaled ? scale.data() + layout.offset : nullptr,
      factors.data(),
      factor};
  return end - first;
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::inject_from(const Instance<Memory>& exec, const Layout<Dim>& layout,
                                           const Planes& planes, const Storage<T, Memory>& field,
                                           const T* amplitudes,
                                           const Storage<const T, Memory>& scale, T factor,
                                           const Storage<const T, Memory>& factors) const {
  detail::Inject<T> kernel{};
  const std::int64_t nodes =
      prepare_inject(layout, planes, field, amplitudes, scale, factor, factors, kernel);
  launch("moho::wave::inject", exec, nodes, kernel);
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::record_to(const Instance<Memory>& exec, const Layout<Dim>& layout,
                                         const Planes& planes,
                                         const Storage<const T, Memory>& field, T* values,
                                         const Storage<const T, Memory>& scale) const {
  if (m_count == 0) return;
  check_window(layout, planes);
  detail::check_storage(layout, field, "field");
  const Planes last = intersection(planes, planes_of(m_box));
  if (last.empty()) return;
  check_window(layout, intersection(Planes{last.begin - m_planes + 1, last.end}, planes_of(m_box)));
  const detail::RecordTerm<T, Dim> term{m_points, field.data() + layout.offset, planes};
  if (scale.data() != nullptr) {
    detail::check_storage(layout, scale, "scale");
    launch("moho::wave::record", exec, m_count,
           detail::RecordScaled<T, Dim>{term, scale.data() + layout.offset, values});
    return;
  }
  if constexpr (!is_host_memory<Memory>) {
    // points between nodes have many weights: the lanes of a vector share them
    if (reads_by_vector()) {
      using Exec = DeviceOf<Memory>;
      using Kernel = detail::RecordByVector<T, Dim, Exec>;
      const auto league = static_cast<int>((m_count + Kernel::team - 1) / Kernel::team);
      Kokkos::parallel_for(
          "moho::wave::record",
          light_weight(Kokkos::TeamPolicy<Exec>(exec.space(), league, Kernel::team, Kernel::lanes)),
          Kernel{term, values, m_count});
      return;
    }
  }
  launch("moho::wave::record", exec, m_count, detail::RecordByThread<T, Dim>{term, values});
}

}  // namespace moho::wave

/// \cond
#define MOHO_WAVE_POINTS(prefix, T, Dim, Memory) prefix template class PointSet<T, Dim, Memory>;
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_WAVE_POINTS, extern)
}
#endif
/// \endcond
