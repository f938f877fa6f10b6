// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Point sets at any positions: injection of amplitudes into a wavefield and its recording.
///
/// Injection and recording are exact transposes of each other.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/positions.hpp>
#include <moho/wave/detail/point_kernels.hpp>
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

/// Options of a PointSet: interpolation radius, allowed region, name, use.
template <int Dim>
struct PointOptions {
  int radius = 4;  ///< nodes on either side of a point that take part in its interpolation, 1 to 10
  bool free_lower[Dim] = {}; /**< the face at the first node of an axis is a free surface */
  bool free_upper[Dim] = {}; /**< the face at the last node of an axis is a free surface */
  Box<Dim> interior{};  ///< region of allowed points: the model without its layers; empty: anywhere
  std::string name = "point";  ///< name of a point in messages: "source", "receiver"
  bool injects = true;         ///< false for a set that only records, which needs less memory
  /// Planes whose points are recorded by the functions without planes: a point belongs to the last
  /// plane that it reads. Empty: all planes of the layout.
  PlaneRange recorded{};
};

/// \brief Amplitudes at points, steps x points. `Space` is a memory space or an execution space.
template <class T, class Space>
using PointSeries = Kokkos::View<T**, Kokkos::LayoutRight, typename Space::memory_space>;

/// \brief Points anywhere in the grid, for recording a wavefield and injecting amplitudes.
///
/// A point is interpolated from the (2 radius)^Dim nodes around it by sinc_weights() along each
/// axis. Along an axis on which it coincides with a node it uses that node alone. A point on a node
/// therefore has one weight, which is exactly 1.
///
/// Beyond a free surface the field is its own odd image. The value at node -k is minus the one at
/// node k; node 0, on the surface, is zero. Weights there are folded back with reversed sign. At
/// all other faces weights outside the grid are dropped.
///
/// inject() and record() use the same weights, so each is the transpose of the other up to the
/// rounding of sums. Both are deterministic: one thread sums the contributions to a node or a point
/// in the order of the points, without atomics. Points may overlap or coincide. Only nodes of the
/// grid are written; after an injection the caller renews the halo beyond a free surface.
///
/// Memory: Dim (2 radius) numbers for each point, and (2 radius)^Dim numbers and indices if the set
/// injects. All work is submitted to the given instance, without a fence.
template <class T, int Dim, class Memory>
class PointSet {
 public:
  /// Creates an empty set.
  PointSet() = default;

  /// \brief Computes the weights.
  /// \param exec execution instance that copies the weights; the constructor waits for it
  /// \param grid grid of the wavefield, with its boundary layers
  /// \param layout memory layout of the wavefield
  /// \param positions positions of the points, in the units of the grid
  /// \param options radius, free surfaces, allowed region
  /// \throws InputError if a point is outside the allowed range (the message gives number, position
  ///   and range), in the boundary layer, or on a free surface
  /// \throws InputError if the radius is not allowed, or layout and grid disagree
  PointSet(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const Layout<Dim>& layout,
           const Points<Dim>& positions, const PointOptions<Dim>& options = {});

  /// Returns the number of points.
  std::int64_t count() const { return m_count; }
  /// Returns the positions of the points.
  const Points<Dim>& positions() const { return m_positions; }
  /// Returns the smallest box that holds all nodes with a weight; empty for no points.
  const Box<Dim>& box() const { return m_box; }
  /// Returns the last plane that a point reads.
  std::int64_t last_plane(std::size_t point) const { return m_last[point]; }
  /// Returns the number of weights: the sum of the nodes of all points.
  std::int64_t weights() const { return m_weights; }

  /// \brief Adds amplitudes: field += scale * factor * W^T amplitudes, where W are the weights.
  /// \param exec execution instance
  /// \param field a wavefield of the complete grid, in the layout of the set
  /// \param amplitudes one for each point; they are not changed and must live until the work is
  ///   complete
  /// \param scale factors by node, in the layout of the set; unallocated: 1
  /// \param factor factor of all points: one over the volume of a cell makes a weighted point a
  ///   delta function
  /// \throws InputError if a view has the wrong size or the set was made for recording only
  void inject(const InstanceOf<Memory>& exec, const Storage<T, Memory>& field,
              const Storage<const T, Memory>& amplitudes, const NodeFactors<T, Memory>& scale = {},
              T factor = T(1)) const {
    check_count(amplitudes.extent(0), "amplitudes");
    inject_from(exec, m_layout, m_layout.window, field, amplitudes.data(), scale, factor);
  }
  /// \brief Adds the amplitudes of one time step. \throws InputError as above
  /// \param exec,field,scale,factor as above
  /// \param series amplitudes, steps x points
  /// \param step the row of `series`
  void inject(const InstanceOf<Memory>& exec, const Storage<T, Memory>& field,
              const PointSeries<const T, Memory>& series, std::int64_t step,
              const NodeFactors<T, Memory>& scale = {}, T factor = T(1)) const {
    inject(exec, m_layout, m_layout.window, field, series, step, scale, factor);
  }
  /// \brief Adds the amplitudes of one time step on some planes of a window.
  ///
  /// Other nodes keep their values.
  /// \param exec,series,step,factor as above
  /// \param layout of field and scale, with the window
  /// \param planes planes to write, all in the window
  /// \param field,scale of the window
  /// \throws InputError as above, and for planes outside the window
  void inject(const InstanceOf<Memory>& exec, const Layout<Dim>& layout, const PlaneRange& planes,
              const Storage<T, Memory>& field, const PointSeries<const T, Memory>& series,
              std::int64_t step, const NodeFactors<T, Memory>& scale = {}, T factor = T(1)) const {
    inject_from(exec, layout, planes, field, row(series, step, "amplitudes"), scale, factor);
  }

  /// \brief Returns factors for every node with a weight, for inject_with().
  ///
  /// inject_with() needs no array of factors for all nodes.
  /// \param exec execution instance that copies the factors; the function waits for it
  /// \param layout of `scale`, whose window holds all nodes of the points
  /// \param scale on the host, a factor for every node
  /// \param second on the host, a second factor for every node; unallocated: 1
  /// \throws InputError for a window that does not hold them
  Storage<const T, Memory> node_factors(
      const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
      const Storage<const T, Kokkos::HostSpace>& scale,
      const Storage<const T, Kokkos::HostSpace>& second = {}) const;
  /// \brief Adds amplitudes as inject() does, with factors of node_factors(). \throws InputError as
  /// above
  /// \param exec,layout,planes,field,series,step,factor as above
  /// \param factors of this set
  /// \param scale further factors by node; unallocated: 1
  void inject_with(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
                   const PlaneRange& planes, const Storage<T, Memory>& field,
                   const PointSeries<const T, Memory>& series, std::int64_t step,
                   const Storage<const T, Memory>& factors, T factor,
                   const NodeFactors<T, Memory>& scale = {}) const {
    inject_from(exec, layout, planes, field, row(series, step, "amplitudes"), scale, factor,
                factors);
  }

  /// \brief Records the field: values = W field.
  /// \param exec execution instance
  /// \param field a wavefield of the complete grid, in the layout of the set
  /// \param values one for each point
  /// \throws InputError if a view has the wrong size
  void record(const InstanceOf<Memory>& exec, const Storage<const T, Memory>& field,
              const Storage<T, Memory>& values) const {
    check_count(values.extent(0), "values");
    record_to(exec, m_layout, m_recorded, field, values.data(), {});
  }
  /// \brief Records the field into the row of one time step. \throws InputError as above
  /// \param exec,field as above
  /// \param series values, steps x points
  /// \param step the row of `series`
  /// \param scale factors by node, in the layout of the set; unallocated: 1
  void record(const InstanceOf<Memory>& exec, const Storage<const T, Memory>& field,
              const PointSeries<T, Memory>& series, std::int64_t step,
              const NodeFactors<T, Memory>& scale = {}) const {
    record(exec, m_layout, m_recorded, field, series, step, scale);
  }
  /// \brief Records, from a window, the points whose last plane is among `planes`.
  ///
  /// The values of other points are not changed. Disjoint sets of planes that cover the grid record
  /// every point once.
  /// \param exec,series,step as above
  /// \param layout of the field, with the window
  /// \param planes in the window, which also holds the planes() - 1 planes before them
  /// \param field,scale of the window
  /// \throws InputError as above, and for planes outside the window
  void record(const InstanceOf<Memory>& exec, const Layout<Dim>& layout, const PlaneRange& planes,
              const Storage<const T, Memory>& field, const PointSeries<T, Memory>& series,
              std::int64_t step, const NodeFactors<T, Memory>& scale = {}) const {
    record_to(exec, layout, planes, field, row(series, step, "values"), scale);
  }

  /// \brief Returns factors by point and node, for record_with().
  ///
  /// record_with() needs no array of factors for all nodes, but (2 radius)^Dim factors for each
  /// point if some points lie between nodes.
  /// \param exec execution instance that copies the factors; the function waits for it
  /// \param layout of `scale`, whose window holds all nodes of the points
  /// \param scale on the host, a factor for every node
  /// \throws InputError for a window that does not hold them
  Storage<const T, Memory> point_factors(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
                                         const Storage<const T, Kokkos::HostSpace>& scale) const;
  /// \brief Records from a window as record() does, with factors of point_factors(). \throws
  /// InputError as above
  /// \param exec,layout,planes,field,series,step as above
  /// \param factors of this set; unallocated: 1
  void record_with(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
                   const PlaneRange& planes, const Storage<const T, Memory>& field,
                   const PointSeries<T, Memory>& series, std::int64_t step,
                   const Storage<const T, Memory>& factors) const {
    record_to(exec, layout, planes, field, row(series, step, "values"), {}, factors);
  }
  /// Returns the largest number of planes with weights of one point.
  int planes() const { return m_planes; }

  /// \cond
  // Kernel of inject_with() without a field. Returns the number of nodes with a weight.
  std::int64_t injection(const Layout<Dim>& layout, const PlaneRange& planes,
                         const PointSeries<const T, Memory>& series, std::int64_t step,
                         const NodeFactors<T, Memory>& scale, T factor,
                         const Storage<const T, Memory>& factors, detail::Inject<T>& kernel) const {
    return prepare_inject(layout, planes, row(series, step, "amplitudes"), scale, factor, factors,
                          kernel);
  }
  // Parts of the batched launches of inject_and_record(): those of inject() and record() on the
  // complete grid. The first returns the number of nodes that are written.
  std::int64_t injection(const Storage<T, Memory>& field,
                         const PointSeries<const T, Memory>& series, std::int64_t step,
                         const NodeFactors<T, Memory>& scale, T factor,
                         detail::Inject<T>& kernel) const {
    const std::int64_t nodes =
        injection(m_layout, m_layout.window, series, step, scale, factor, {}, kernel);
    set_field(m_layout, field, kernel);
    return nodes;
  }
  bool reads_by_vector() const { return m_weights > 8 * m_count; }
  template <class Kernel>
  void recording(const Storage<const T, Memory>& field, const PointSeries<T, Memory>& series,
                 std::int64_t step, const Storage<const T, Memory>& scale, Kernel& kernel) const {
    detail::check_storage(m_layout, field, "field");
    kernel.term = {m_points, field.data() + m_layout.offset, m_layout.window,
                   factors_at(m_layout, scale, m_layout.offset)};
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
  using AxisWeights = std::array<SincWeights, Dim>;
  // Parts of the constructor: checks of the arguments, the nodes of each point with its weights
  // along the axes, and the points of each node.
  void check_points(const Grid<Dim>& grid, const PointOptions<Dim>& options) const;
  std::vector<AxisWeights> place_windows(const Grid<Dim>& grid, const PointOptions<Dim>& options,
                                         std::vector<detail::Window<Dim>>& windows);
  void list_points_by_node(const InstanceOf<Memory>& exec,
                           const std::vector<detail::Window<Dim>>& windows,
                           const std::vector<T>& weights);
  void check_window(const Layout<Dim>& layout, const PlaneRange& planes) const;
  void set_field(const Layout<Dim>& layout, const Storage<T, Memory>& field,
                 detail::Inject<T>& kernel) const {
    if (m_count == 0) return;
    detail::check_storage(layout, field, "field");
    kernel.field = field.data() + layout.offset;
  }
  std::int64_t prepare_inject(const Layout<Dim>& layout, const PlaneRange& planes,
                              const T* amplitudes, const NodeFactors<T, Memory>& scale, T factor,
                              const Storage<const T, Memory>& factors,
                              detail::Inject<T>& kernel) const;
  void inject_from(const Instance<Memory>& exec, const Layout<Dim>& layout,
                   const PlaneRange& planes, const Storage<T, Memory>& field, const T* amplitudes,
                   const NodeFactors<T, Memory>& scale, T factor,
                   const Storage<const T, Memory>& factors = {}) const;
  void record_to(const Instance<Memory>& exec, const Layout<Dim>& layout, const PlaneRange& planes,
                 const Storage<const T, Memory>& field, T* values,
                 const NodeFactors<T, Memory>& scale,
                 const Storage<const T, Memory>& factors = {}) const;
  // Returns element `offset` of factors by node; null: 1.
  static const T* factors_at(const Layout<Dim>& layout, const Storage<const T, Memory>& factors,
                             std::int64_t offset) {
    if (factors.data() == nullptr) return nullptr;
    detail::check_storage(layout, factors, "scale");
    return factors.data() + offset;
  }

  Points<Dim> m_positions;
  Layout<Dim> m_layout{};
  Box<Dim> m_box{};
  PlaneRange m_recorded{};           ///< planes of record() without planes
  std::vector<std::int64_t> m_last;  ///< last plane of each point
  std::int64_t m_count = 0, m_weights = 0;
  std::int64_t m_each = 1;  ///< largest number of nodes of a point
  int m_planes = 0;
  bool m_injects = true;
  Kokkos::View<const detail::Window<Dim>*, Memory> m_windows;
  Storage<const T, Memory> m_factors;  ///< weight of every point, axis and node
  detail::PointWeights<T, Dim> m_points{};
  detail::NodeLists<T, Memory> m_lists{};
  std::vector<std::int64_t> m_plane_nodes;  ///< first node of each plane of m_box, and the end
};

template <class T, int Dim, class Memory>
PointSet<T, Dim, Memory>::PointSet(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                   const Layout<Dim>& layout, const Points<Dim>& positions,
                                   const PointOptions<Dim>& options)
    : m_positions(positions),
      m_layout(layout),
      m_recorded(options.recorded.empty() ? layout.window : options.recorded),
      m_injects(options.injects) {
  check_points(grid, options);
  m_count = static_cast<std::int64_t>(positions.size());
  if (m_count == 0) return;
  std::vector<detail::Window<Dim>> windows(positions.size());
  const auto axes = place_windows(grid, options, windows);
  const auto weights = detail::weights_by_axis<T, Dim>(axes, m_points.width);
  m_windows = upload(exec, windows, "moho::wave::point_windows");
  m_factors = upload(exec, weights, "moho::wave::point_weights");
  m_points.windows = m_windows.data();
  m_points.weights = m_factors.data();
  m_points.strides = layout.strides;
  if (m_injects) list_points_by_node(exec, windows, weights);
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::check_points(const Grid<Dim>& grid,
                                            const PointOptions<Dim>& options) const {
  grid.check();
  check_sinc_radius(options.radius);
  for (int d = 0; d < Dim; ++d) {
    if (m_layout.extents[d] == grid.extents[d]) continue;
    throw InputError(concat("layout: it has ", m_layout.extents[d], " nodes along ",
                            axis_name<Dim>(d), " (allowed: ", grid.extents[d],
                            ", those of the grid): make it with moho::wave::make_layout"));
  }
  if (m_positions.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InputError(concat(options.name, "s: there are ", m_positions.size(),
                            " (allowed: up to 2147483647): divide them among several sets"));
  }
  check_positions(grid, m_positions, options.name, options.interior);
}

template <class T, int Dim, class Memory>
auto PointSet<T, Dim, Memory>::place_windows(const Grid<Dim>& grid,
                                             const PointOptions<Dim>& options,
                                             std::vector<detail::Window<Dim>>& windows)
    -> std::vector<AxisWeights> {
  std::vector<AxisWeights> axes(m_positions.size());
  int width = 1;
  for (std::size_t p = 0; p < m_positions.size(); ++p) {
    const Point<Dim> q = grid.to_index_space(m_positions[p]);
    Index<Dim> first{};
    std::int64_t nodes = 1;
    for (int d = 0; d < Dim; ++d) {
      const SincWeights weights = detail::weights_on_axis(
          q[d], options.radius, grid.extents[d], options.free_lower[d], options.free_upper[d]);
      if (weights.count == 0) {
        throw InputError(concat(options.name, " ", p + 1, ": ", format_point(m_positions[p]),
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
    windows[p].element = m_layout.flat(first) - m_layout.offset;
    m_last.push_back(first[0] + windows[p].count[0] - 1);
    m_planes = std::max(m_planes, windows[p].count[0]);
    m_weights += nodes;
    m_each = std::max(m_each, nodes);
  }
  m_points.width = width;
  return axes;
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::list_points_by_node(const InstanceOf<Memory>& exec,
                                                   const std::vector<detail::Window<Dim>>& windows,
                                                   const std::vector<T>& weights) {
  const std::vector<detail::Share<T>> shares =
      detail::shares_by_node<T, Dim>(windows, weights, m_points.width, m_layout.strides, m_weights);
  std::vector<std::int64_t> elements, starts;
  std::vector<std::int32_t> numbers;
  std::vector<T> shares_weights;
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
  // elements ascend, and so do their planes
  for (std::int64_t plane = m_box.lower[0]; plane <= m_box.upper[0]; ++plane) {
    m_plane_nodes.push_back(
        std::lower_bound(elements.begin(), elements.end(), plane * m_layout.strides[0]) -
        elements.begin());
  }
  m_lists.elements = upload(exec, elements, "moho::wave::point_nodes");
  m_lists.starts = upload(exec, starts, "moho::wave::point_starts");
  m_lists.point = upload(exec, numbers, "moho::wave::point_numbers");
  m_lists.weight = upload(exec, shares_weights, "moho::wave::point_shares");
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::check_window(const Layout<Dim>& layout,
                                            const PlaneRange& planes) const {
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
    const Storage<const T, Kokkos::HostSpace>& scale,
    const Storage<const T, Kokkos::HostSpace>& second) const {
  if (m_count == 0) return {};
  check_window(layout, planes_of(m_box));
  detail::check_storage(layout, scale, "scale");
  if (second.data() != nullptr) detail::check_storage(layout, second, "second");
  const std::vector<std::int64_t> elements = download(Instance<Memory>(exec), m_lists.elements);
  std::vector<T> factors(elements.size());
  for (std::size_t n = 0; n < elements.size(); ++n) {
    const std::int64_t element = layout.offset + elements[n];
    factors[n] = scale.data()[element];
    if (second.data() != nullptr) factors[n] *= second.data()[element];
  }
  return upload(Instance<Memory>(exec), factors, "moho::wave::node_factors");
}

template <class T, int Dim, class Memory>
std::int64_t PointSet<T, Dim, Memory>::prepare_inject(const Layout<Dim>& layout,
                                                      const PlaneRange& planes, const T* amplitudes,
                                                      const NodeFactors<T, Memory>& scale, T factor,
                                                      const Storage<const T, Memory>& factors,
                                                      detail::Inject<T>& kernel) const {
  if (m_count == 0) return 0;
  if (!m_injects) {
    throw InputError(
        "inject: the set of points was made only to record (PointOptions::injects is false): make "
        "one that injects");
  }
  check_window(layout, planes);
  const PlaneRange part = intersection(planes, planes_of(m_box));
  if (part.empty()) return 0;
  const auto at = [&](std::int64_t plane) {
    return m_plane_nodes[static_cast<std::size_t>(plane - m_box.lower[0])];
  };
  const std::int64_t first = at(part.begin), end = at(part.end);
  kernel = {
      {m_lists.elements.data(), m_lists.starts.data(), m_lists.point.data(), m_lists.weight.data()},
      first,
      nullptr,
      amplitudes,
      factors_at(layout, scale.first, layout.offset),
      factors_at(layout, scale.second, layout.offset),
      factors.data(),
      factor};
  return end - first;
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::inject_from(const Instance<Memory>& exec, const Layout<Dim>& layout,
                                           const PlaneRange& planes,
                                           const Storage<T, Memory>& field, const T* amplitudes,
                                           const NodeFactors<T, Memory>& scale, T factor,
                                           const Storage<const T, Memory>& factors) const {
  detail::Inject<T> kernel{};
  const std::int64_t nodes =
      prepare_inject(layout, planes, amplitudes, scale, factor, factors, kernel);
  set_field(layout, field, kernel);
  launch("moho::wave::inject", exec, nodes, kernel);
}

template <class T, int Dim, class Memory>
Storage<const T, Memory> PointSet<T, Dim, Memory>::point_factors(
    const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
    const Storage<const T, Kokkos::HostSpace>& scale) const {
  if (m_count == 0) return {};
  check_window(layout, planes_of(m_box));
  detail::check_storage(layout, scale, "scale");
  const std::vector<detail::Window<Dim>> windows = download(Instance<Memory>(exec), m_windows);
  std::vector<T> factors(static_cast<std::size_t>(m_count * m_each), T(1));
  for (std::size_t p = 0; p < windows.size(); ++p) {
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) box.upper[d] = windows[p].count[d];
    for (std::int64_t n = 0; n < box.size(); ++n) {
      const Index<Dim> node = box.node(n);
      std::int64_t element = layout.offset + windows[p].element;
      for (int d = 0; d < Dim; ++d) element += node[d] * layout.strides[d];
      factors[p * static_cast<std::size_t>(m_each) + static_cast<std::size_t>(n)] =
          scale.data()[element];
    }
  }
  return upload(Instance<Memory>(exec), factors, "moho::wave::point_factors");
}

template <class T, int Dim, class Memory>
void PointSet<T, Dim, Memory>::record_to(const Instance<Memory>& exec, const Layout<Dim>& layout,
                                         const PlaneRange& planes,
                                         const Storage<const T, Memory>& field, T* values,
                                         const NodeFactors<T, Memory>& scale,
                                         const Storage<const T, Memory>& factors) const {
  if (m_count == 0) return;
  check_window(layout, planes);
  detail::check_storage(layout, field, "field");
  const PlaneRange last = intersection(planes, planes_of(m_box));
  if (last.empty()) return;
  check_window(layout,
               intersection(PlaneRange{last.begin - m_planes + 1, last.end}, planes_of(m_box)));
  if (scale.second.data() != nullptr) {
    throw InputError("scale: it has two arrays (allowed: one): a recorded field has one factor");
  }
  const detail::RecordTerm<T, Dim> term{
      m_points,       field.data() + layout.offset,
      planes,         factors_at(layout, scale.first, layout.offset),
      factors.data(), m_each};
  if constexpr (!is_host_memory<Memory>) {
    // points between nodes have many weights, which the lanes of a vector share
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
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, PointSet)
}  // namespace moho::wave
#endif
/// \endcond
