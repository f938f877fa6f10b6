// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Finite-difference scheme: grid, faces, coefficients and kernels, but no wavefield.

#include <moho/wave/boundary.hpp>
#include <moho/wave/detail/axis_ring.hpp>
#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/detail/step.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/stability.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

namespace kernel {

/// Returns the kernel axis of a grid axis: x and z of 2D are 0 and 2.
template <int Dim>
constexpr int axis3(int d) {
  return d == Dim - 1 ? 2 : d;
}

}  // namespace kernel

namespace detail {

/// Perfectly matched layer of the grid.
template <class T, class Memory>
struct Layer {
  int axis = 0;            ///< 0 x, 1 y, 2 z
  std::int64_t first = 0;  ///< first node along the axis
  int width = 0;           ///< nodes along the axis
  bool lower = false;      ///< true at the lower face
  Storage<T, Memory> a, b;
};

}  // namespace detail

namespace kernel {

/// Size and location of a layer's memory variables, for the part in a window.
struct LayerShape {
  std::int64_t size = 0;        ///< elements; 0: the window contains no node of the layer
  std::int64_t strides[3] = {}; /**< by axis of kernels */
  std::int64_t offset = 0;      ///< element at which plane 0 of the grid begins
  std::int64_t shift = 0;       ///< element of the first node within a row
  std::int64_t begin = 0;       ///< layer across x: first node in the window, counted from 0
  std::int64_t end = 0;         ///< layer across x: one past the last node in the window
};

}  // namespace kernel

/// \brief Finite differences on a grid, without the arrays of model and wavefield.
///
/// A scheme belongs to the complete grid, with the layers of its faces. The arrays that it steps
/// (MediumCoefficients, Wavefield) hold the complete grid or a window of planes. Kernels, sponges,
/// perfectly matched layers and faces use indices of the grid, so that every node gets the same
/// bits in any window.
///
/// In `Memory` it stores a few numbers for each node along each axis, and no arrays of the grid.
template <class T, int Dim, class Memory>
class Scheme {
 public:
  /// \param exec execution instance that copies the factors of layers; the constructor waits for it
  /// \param grid with the layers of its faces
  /// \param medium of the model
  /// \param limits of the model on the complete grid (limits_of())
  /// \param options time step, order, faces, equations
  /// \throws InputError for a time step beyond the largest stable one, too few nodes per
  ///   wavelength, an order that is unknown or too large for the grid, or invalid boundaries
  Scheme(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, Medium medium, const Limits& limits,
         const PropagatorOptions<Dim>& options);

  /// Returns the grid, with its layers.
  const Grid<Dim>& grid() const { return m_grid; }
  /// Returns the nodes outside all layers.
  Box<Dim> interior() const { return interior_box(m_grid, m_options.boundaries); }
  /// Returns the options of the constructor.
  const PropagatorOptions<Dim>& options() const { return m_options; }
  /// Returns the time step in seconds.
  double dt() const { return m_options.dt; }
  /// Returns the order of the spatial differences.
  int order() const { return m_options.order; }
  /// Returns the medium.
  Medium medium() const { return m_medium; }
  /// Returns the number of wavefields: 1 (p) or 2 (p and q).
  int fields() const { return fields_of(m_medium); }
  /// Returns the largest stable step and the range of velocities.
  const Limits& limits() const { return m_limits; }

  /// \brief Returns the reach of a step along an axis, in nodes.
  ///
  /// The next value of a node depends on current values within the reach. It is order / 2, and the
  /// order itself in self-adjoint TTI, which takes derivatives of axis derivatives. Across a
  /// perfectly matched layer neighbours also update the memory variables. The reach is then 2 at
  /// order 2 and at least 4 at higher orders.
  ///
  /// A box of a window can be stepped if the window holds all nodes of the grid within reach(0)
  /// planes of the box.
  int reach(int axis = 0) const;

  /// Returns the memory layout of a window's arrays.
  Layout<Dim> layout(const PlaneRange& window) const {
    return make_layout<T>(m_grid, m_options.order / 2, window);
  }
  /// Returns the memory layout of the complete grid's arrays.
  Layout<Dim> layout() const { return layout(all_planes(m_grid)); }
  /// Returns the bytes per node that a step moves if each array is touched once.
  int bytes_per_node() const;
  /// \brief Returns true if parameters are rounded to codes of 16 bits. \see stores_codes()
  bool rounds_parameters() const { return m_rounds; }
  /// Returns the bits of a stored parameter: 16, 32 or 64.
  int parameter_bits() const { return m_rounds ? 16 : 8 * static_cast<int>(sizeof(T)); }
  /// Returns true if kernels read codes; otherwise they read the decoded values.
  bool reads_codes() const { return m_reads_codes; }
  /// Adapts the codes to a model with other limits, whose medium and time step are the same.
  void update_codes(const Limits& limits);

  /// \cond
  kernel::Stencil stencil() const { return m_stencil; }
  const ParameterCodes& codes() const { return m_arguments.codes; }
  const kernel::StepArguments<T>& arguments() const { return m_arguments; }
  const detail::Stepper<T, Dim, Memory>& stepper() const { return m_stepper; }
  const std::vector<detail::Layer<T, Memory>>& layers() const { return m_layers; }
  kernel::LayerShape layer_shape(const detail::Layer<T, Memory>& layer,
                                 const PlaneRange& window) const;
  // true if media also hold the axis packed in words, for steps in one pass
  bool packed_axis() const { return m_packed_axis; }
  // true if all boxes of the grid are stepped in one pass: no axis derivatives are stored
  bool always_one_pass() const;
  // true if device steps include their layers in one launch
  bool layers_in_one_launch() const;
  // true if steps of one box may update psi of layers in place (detail::PsiInPlace)
  bool steps_psi_in_place() const {
    return is_host_memory<Memory> && !m_options.reference && info(m_stencil).tuned;
  }
  const T* layer_factors(int axis, int which) const { return m_factors[axis][which].data(); }
  /// \endcond

 private:
  void prepare_coefficients();
  void prepare_tapers(const Instance<Memory>& exec);
  void prepare_layers(const Instance<Memory>& exec);

  Grid<Dim> m_grid;
  PropagatorOptions<Dim> m_options;
  Medium m_medium;
  Limits m_limits;
  kernel::Stencil m_stencil;
  Storage<T, Memory> m_taper[3];
  std::vector<detail::Layer<T, Memory>> m_layers;
  Storage<T, Memory> m_factors[3][2];  ///< a and b of the layers across an axis, by node
  kernel::StepArguments<T> m_arguments{};
  detail::Stepper<T, Dim, Memory> m_stepper;
  bool m_packed_axis = false;
  bool m_rounds = false;
  bool m_reads_codes = false;
};

namespace detail {

/// Copies numbers to a memory space, in its precision.
template <class T, class Memory>
Storage<T, Memory> upload_as(const Instance<Memory>& exec, const std::vector<double>& values,
                             const char* label) {
  std::vector<T> converted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) converted[i] = static_cast<T>(values[i]);
  return upload(exec, converted, label);
}

}  // namespace detail

template <class T, int Dim, class Memory>
Scheme<T, Dim, Memory>::Scheme(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, Medium medium,
                               const Limits& limits, const PropagatorOptions<Dim>& options)
    : m_grid(grid),
      m_options(options),
      m_medium(medium),
      m_limits(limits),
      m_stencil(stencil_of(medium, options.equations)) {
  grid.check();
  check_order(options.order);
  for (int d = 0; d < Dim; ++d) {
    if (grid.extents[d] > options.order) continue;
    throw InputError(concat("order ", options.order, " is too large for ", grid.extents[d],
                            " nodes along ", axis_name<Dim>(d),
                            " (allowed: fewer than there are nodes): take a lower order or a "
                            "larger grid"));
  }
  if (!(options.sigma > 0.0) || !std::isfinite(options.sigma)) {
    throw InputError(
        concat("sigma is ", options.sigma, " (allowed: positive numbers): 0.75 is usual"));
  }
  check_boundaries(grid, options.boundaries, medium);
  check_dt(options.dt, limits);
  if (options.frequency != 0.0) check_dispersion(grid, limits, options.order, options.frequency);
  prepare_coefficients();
  prepare_tapers(exec);
  prepare_layers(exec);
  m_stepper = detail::Stepper<T, Dim, Memory>(m_stencil, options.order, options.reference);
  m_packed_axis = m_stencil == kernel::Stencil::tti &&
                  detail::has_axis_ring<T, Dim, Memory>(exec, options.order);
  m_rounds = stores_codes<T, Dim, Memory>(options.parameters, m_stencil, limits, options.dt);
  m_reads_codes = m_rounds && detail::has_coded_kernels<T, Dim, Memory>() && !options.reference &&
                  (m_layers.empty() || layers_in_one_launch());
  update_codes(limits);
}

template <class T, int Dim, class Memory>
void Scheme<T, Dim, Memory>::update_codes(const Limits& limits) {
  if (m_rounds) m_arguments.codes = make_codes(m_stencil, m_grid, order(), limits, dt());
}

/// \cond
// The kernel with layers needs an interior between the layers of an axis.
template <class T, int Dim, class Memory>
bool Scheme<T, Dim, Memory>::layers_in_one_launch() const {
  if (!detail::has_layer_march(m_stencil)) return false;
  for (int d = 0; d < Dim; ++d) {
    detail::LayerPair<T> pair{};
    pair.extent = static_cast<int>(m_grid.extents[d]);
    pair.upper_begin = pair.extent;
    for (const detail::Layer<T, Memory>& layer : m_layers) {
      if (layer.axis != kernel::axis3<Dim>(d)) continue;
      (layer.lower ? pair.lower_end : pair.upper_begin) =
          layer.lower ? layer.width : static_cast<int>(layer.first);
    }
    if (!pair.separated(order() / 2, detail::layer_alignment<T>(false))) return false;
  }
  return true;
}
/// \endcond

template <class T, int Dim, class Memory>
int Scheme<T, Dim, Memory>::reach(int axis) const {
  const int radius = m_options.order / 2;
  if (info(m_stencil).passes > 1) return info(m_stencil).passes * radius;
  for (const detail::Layer<T, Memory>& layer : m_layers) {
    if (layer.axis == kernel::axis3<Dim>(axis)) {
      return std::max(radius, 2 * detail::layer_radius(radius));
    }
  }
  return radius;
}

template <class T, int Dim, class Memory>
int Scheme<T, Dim, Memory>::bytes_per_node() const {
  const int arrays = step_coefficient_count(m_stencil, Dim) -
                     (coefficients_of(m_stencil, Dim).has(Coefficient::nz) ? 1 : 0);
  if (m_reads_codes) {
    return 3 * fields() * static_cast<int>(sizeof(T)) + coded_parameter_bytes(m_stencil);
  }
  if (m_packed_axis && m_options.one_pass && !m_options.reference) {
    // one pass, packed axis
    return (3 * fields() + 3 + 1) * static_cast<int>(sizeof(T));
  }
  if (Dim == 3 && is_host_memory<Memory> && m_stencil == kernel::Stencil::tti &&
      m_options.one_pass && !m_options.reference) {
    return (3 * fields() + 3 + Dim) * static_cast<int>(sizeof(T));
  }
  // the axis derivatives are written once and read once, the fields and the axis twice
  const int derivatives = info(m_stencil).work_fields;
  const int passes = derivatives > 0 ? 2 * derivatives + fields() + Dim + 1 : 0;
  return (3 * fields() + arrays + passes) * static_cast<int>(sizeof(T));
}

/// \cond
// The kernel has images of axis derivatives beyond the lower faces across y and z only.
template <class T, int Dim, class Memory>
bool Scheme<T, Dim, Memory>::always_one_pass() const {
  if (!m_packed_axis || !m_options.one_pass || m_options.reference) return false;
  for (int d = 0; d < Dim; ++d) {
    const Boundaries<Dim>& faces = m_options.boundaries;
    if (faces.upper[d].kind == FaceKind::free_surface) return false;
    if (d == 0 && faces.lower[d].kind == FaceKind::free_surface) return false;
  }
  return detail::ring_planes_at_once(layout().strides[0], m_options.order / 2) > 0;
}

template <class T, int Dim, class Memory>
kernel::LayerShape Scheme<T, Dim, Memory>::layer_shape(const detail::Layer<T, Memory>& layer,
                                                       const PlaneRange& window) const {
  kernel::LayerShape shape;
  std::int64_t extents[3] = {1, 1, 1};
  for (int d = 0; d < Dim; ++d) extents[kernel::axis3<Dim>(d)] = m_grid.extents[d];
  extents[0] = window.count();
  extents[layer.axis] = layer.width;
  constexpr std::int64_t alignment = detail::layer_alignment<T>(is_host_memory<Memory>);
  if (layer.axis == 2) shape.shift = layer.first % alignment;
  extents[2] = detail::layer_row(extents[2], shape.shift, alignment);
  shape.end = layer.width;
  if (layer.axis == 0) {
    shape.begin = std::clamp<std::int64_t>(window.begin - layer.first, 0, layer.width);
    shape.end = std::clamp<std::int64_t>(window.end - layer.first, shape.begin, layer.width);
    extents[0] = shape.end - shape.begin;
  }
  shape.strides[2] = 1;
  shape.strides[1] = extents[2];
  shape.strides[0] = extents[1] * extents[2];
  shape.size = extents[0] * extents[1] * extents[2];
  shape.offset = -(layer.axis == 0 ? shape.begin : window.begin) * shape.strides[0];
  return shape;
}
/// \endcond

template <class T, int Dim, class Memory>
void Scheme<T, Dim, Memory>::prepare_coefficients() {
  kernel::StepArguments<T>& s = m_arguments;
  s.lower[1] = 0;
  s.upper[1] = 1;
  s.shear = static_cast<T>(0.5 / m_options.sigma);
  const Coefficients second = second_derivative(m_options.order / 2);
  const Coefficients first = first_derivative(m_options.order / 2);
  for (int d = 0; d < Dim; ++d) {
    const double h = m_grid.spacing[d];
    for (int k = 0; k <= largest_radius; ++k) {
      s.second[kernel::axis3<Dim>(d)][k] = static_cast<T>(second[k] / (h * h));
      s.first[kernel::axis3<Dim>(d)][k] = static_cast<T>(first[k] / h);
    }
  }
}

template <class T, int Dim, class Memory>
void Scheme<T, Dim, Memory>::prepare_tapers(const Instance<Memory>& exec) {
  for (int a = 0; a < 3; ++a) {
    std::vector<double> taper(1, 1.0);
    for (int d = 0; d < Dim; ++d) {
      if (kernel::axis3<Dim>(d) != a) continue;
      const std::int64_t n = m_grid.extents[d];
      // vectors read beyond the end of a row
      taper.assign(static_cast<std::size_t>(n + row_alignment<T>), 1.0);
      const double courant =
          0.5 * (m_limits.min_velocity + m_limits.max_velocity) * m_options.dt / m_grid.spacing[d];
      const Face &low = m_options.boundaries.lower[d], &high = m_options.boundaries.upper[d];
      for (int i = 0; low.kind == FaceKind::sponge && i < low.width; ++i) {
        taper[static_cast<std::size_t>(i)] = sponge_factor(low.width, low.width - i, courant);
      }
      for (int i = 0; high.kind == FaceKind::sponge && i < high.width; ++i) {
        taper[static_cast<std::size_t>(n - 1 - i)] =
            sponge_factor(high.width, high.width - i, courant);
      }
      if (low.kind == FaceKind::free_surface) taper[0] = 0.0;
      if (high.kind == FaceKind::free_surface) taper[static_cast<std::size_t>(n - 1)] = 0.0;
    }
    m_taper[a] = detail::upload_as<T>(exec, taper, "moho::wave::taper");
    m_arguments.taper[a] = m_taper[a].data();
  }
}

template <class T, int Dim, class Memory>
void Scheme<T, Dim, Memory>::prepare_layers(const Instance<Memory>& exec) {
  for (int d = 0; d < Dim; ++d) {
    const int axis = kernel::axis3<Dim>(d);
    // vectors read beyond the end of a row
    const auto size = static_cast<std::size_t>(m_grid.extents[d] + row_alignment<T>);
    std::vector<double> a(size, 0.0), b(size, 0.0);
    const std::size_t before = m_layers.size();
    for (const bool lower : {true, false}) {
      const Face& face = lower ? m_options.boundaries.lower[d] : m_options.boundaries.upper[d];
      if (face.kind != FaceKind::cpml) continue;
      detail::Layer<T, Memory> layer;
      layer.axis = axis;
      layer.width = face.width;
      layer.lower = lower;
      layer.first = lower ? 0 : m_grid.extents[d] - face.width;
      const double frequency = m_options.frequency > 0.0
                                   ? m_options.frequency / 2.5
                                   : m_limits.min_velocity / (20.0 * m_grid.spacing[d]);
      detail::CpmlProfile profile = detail::cpml_profile(
          face.width, m_grid.spacing[d], m_options.dt, m_limits.max_velocity, frequency);
      if (lower) {
        std::reverse(profile.a.begin(), profile.a.end());
        std::reverse(profile.b.begin(), profile.b.end());
      }
      std::copy(profile.a.begin(), profile.a.end(), a.begin() + layer.first);
      std::copy(profile.b.begin(), profile.b.end(), b.begin() + layer.first);
      m_layers.push_back(layer);
    }
    if (m_layers.size() == before) continue;
    m_factors[axis][0] = detail::upload_as<T>(exec, a, "moho::wave::cpml_a");
    m_factors[axis][1] = detail::upload_as<T>(exec, b, "moho::wave::cpml_b");
    for (std::size_t n = before; n < m_layers.size(); ++n) {
      detail::Layer<T, Memory>& layer = m_layers[n];
      const auto first = static_cast<std::size_t>(layer.first);
      const std::pair<std::size_t, std::size_t> nodes(
          first, first + static_cast<std::size_t>(layer.width));
      layer.a = Kokkos::subview(m_factors[axis][0], nodes);
      layer.b = Kokkos::subview(m_factors[axis][1], nodes);
    }
  }
}

}  // namespace moho::wave
