// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Time step of any box of any window, and the propagator of a complete model.
///
/// Perfectly matched layers of devices are in cpml_launch.hpp and cpml_faces.hpp, those of hosts in
/// step.hpp.

#include <moho/core/instances.hpp>
#include <moho/wave/kernel/grid_part.hpp>
#include <moho/wave/medium.hpp>
#include <moho/wave/wavefield.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <moho/wave/detail/axis_ring_device.hpp>
#include <moho/wave/detail/cpml_faces.hpp>
#include <moho/wave/detail/cpml_launch.hpp>
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace moho::wave {

/// \brief Advances the nodes of a box by one time step into wavefield.next.
///
/// It submits to the instance and returns. It writes the nodes of the box, and the halo beyond free
/// surfaces. Boxes that together cover the grid, in any order and in any windows, give the same
/// bits as one step of the complete grid. Sources are added between step() and
/// Wavefield::advance().
/// \param exec execution instance
/// \param scheme of the complete grid
/// \param medium loaded; its window also holds the nodes of the grid within scheme.reach(0) planes
///   of the box
/// \param wavefield the state; its window holds the nodes of the grid within scheme.reach(0) planes
///   of the box, at the current time level
/// \param box nodes of the grid, from lower up to, not including, upper; it is clipped to the grid
/// \throws InputError if the box is closer to the end of a window than the reach of the scheme
template <class T, int Dim, class Memory>
void step(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
          const MediumCoefficients<T, Dim, Memory>& medium,
          const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box);

/// \brief Computes the axis derivatives of p and q in a box: the first half of a TTI step.
///
/// TTI means the self-adjoint equations; in other media the function does nothing. The derivatives
/// stay in wavefield.axis_derivative until the next step. Neighbouring boxes can share them.
/// Computed once, on all nodes within order / 2 of the boxes, they serve
/// step_from_axis_derivatives() for all of these boxes. \throws InputError as step()
template <class T, int Dim, class Memory>
void compute_axis_derivatives(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                              const MediumCoefficients<T, Dim, Memory>& medium,
                              const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box);

/// \brief Advances a box with the axis derivatives that compute_axis_derivatives() has written.
/// \throws InputError as step()
template <class T, int Dim, class Memory>
void step_from_axis_derivatives(const InstanceOf<Memory>& exec,
                                const Scheme<T, Dim, Memory>& scheme,
                                const MediumCoefficients<T, Dim, Memory>& medium,
                                const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box);

/// \brief Time steps of a wavefield in a model: a Scheme with the MediumCoefficients of the grid.
///
/// Isotropic media: p_tt = v^2 Lap p. Variable density: p_tt = v^2 rho div(1/rho grad p), solved
/// for q = p / sqrt(rho): q_tt = v^2 (L q - V q) with the Laplacian L and the potential V = (L s) /
/// s of s = 1 / sqrt(rho). The operator is self-adjoint, and nonnegative up to
/// largest_density_ratio(). Wavefields hold q; pressure_factors() leads to p.
///
/// VTI and TTI (after Zhang, Zhang and Zhang 2011): p_tt = v^2 (a H2 p + r H1 q), q_tt = v^2 (r H2
/// p + H1 q). Here a = 1 + 2 epsilon, r = sqrt(1 + 2 delta), H1 is the second derivative along the
/// symmetry axis, and H2 = Lap - H1. These equations are also discretely self-adjoint, so that they
/// are stable in any model with delta <= epsilon. Larger delta is clamped to epsilon
/// (limits().clamped_delta_nodes).
///
/// Smooth models also admit the equations of Fletcher, Du and Fowler (2009), with a finite shear
/// velocity along the axis. The meaning of p is the same in both. Time differences are leapfrog;
/// spatial differences are centred, of order 2 to 16.
template <class T, int Dim, class Memory>
class Propagator {
 public:
  /// Loads a model on a grid that includes the layers of its faces (extend_model()).
  /// \throws InputError for invalid parameters of the model (with their position), and as Scheme
  ///   does
  Propagator(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
             const Model<T, Dim, Memory>& model, const PropagatorOptions<Dim>& options);

  /// \cond
  // A part of a grid, whose model is loaded by load_planes(). The limits are those of the complete
  // model; the part has to outlive the propagator.
  Propagator(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, Medium medium,
             const Limits& limits, const PropagatorOptions<Dim>& options,
             GridPart<T, Dim, Memory>& part)
      : m_scheme(exec, grid, medium, limits, options),
        m_window(exec, m_scheme, part.held()),
        m_part(&part) {}
  void update_limits(const Limits& limits) {
    check_dt(dt(), limits);
    m_scheme.update_codes(limits);
  }
  void load_planes(const InstanceOf<Memory>& exec, const Model<T, Dim, Memory>& model,
                   const PlaneRange& planes) {
    m_window.load(exec, m_scheme, model, planes);
  }
  // Null: the complete grid.
  GridPart<T, Dim, Memory>* part() const { return m_part; }
  // Planes that step() advances.
  PlaneRange own_planes() const { return m_part ? m_part->own() : all_planes(grid()); }
  // Nodes of a box that step() advances, and those that wavefields hold.
  Box<Dim> own(const Box<Dim>& box) const { return between(box, own_planes()); }
  Box<Dim> held(const Box<Dim>& box) const { return between(box, layout().window); }
  /// \endcond

  /// Returns the scheme.
  const Scheme<T, Dim, Memory>& scheme() const { return m_scheme; }
  /// Returns the model in the form that kernels read.
  const MediumCoefficients<T, Dim, Memory>& medium_window() const { return m_window; }
  /// Loads another model of the same grid and medium. It allocates nothing and keeps the time step.
  /// \throws InputError for invalid parameters, a model of another medium or shape, or a model for
  ///   which the time step is too long
  void update(const InstanceOf<Memory>& exec, const Model<T, Dim, Memory>& model);

  /// Returns the grid, with its layers.
  const Grid<Dim>& grid() const { return m_scheme.grid(); }
  /// Returns the memory layout of wavefields.
  const Layout<Dim>& layout() const { return m_window.layout(); }
  /// Returns the nodes outside all layers.
  Box<Dim> interior() const { return m_scheme.interior(); }
  /// Returns the options of the constructor.
  const PropagatorOptions<Dim>& options() const { return m_scheme.options(); }
  /// Returns the time step in seconds.
  double dt() const { return m_scheme.dt(); }
  /// Returns the order of the spatial differences.
  int order() const { return m_scheme.order(); }
  /// Returns the medium.
  Medium medium() const { return m_scheme.medium(); }
  /// Returns the largest stable step and the range of velocities.
  const Limits& limits() const { return m_scheme.limits(); }
  /// Returns the factors of sources of p (field 0) or q (1): MediumCoefficients::source_scale().
  NodeFactors<T, Memory> source_scale(int field = 0) const { return m_window.source_scale(field); }
  /// Returns the factors of p over the first field: MediumCoefficients::pressure_factors().
  Storage<const T, Memory> pressure_factors() const { return m_window.pressure_factors(); }
  /// Returns the bytes per node that a step moves if each array is touched once.
  int bytes_per_node() const { return m_scheme.bytes_per_node(); }

  /// Returns a wavefield at rest.
  Wavefield<T, Dim, Memory> make_wavefield(const InstanceOf<Memory>& exec) const {
    return wave::make_wavefield<T, Dim, Memory>(exec, m_scheme, layout().window);
  }
  /// Advances the nodes of a box by one step. \see wave::step()
  void step(const InstanceOf<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box) const {
    if (m_part) return m_part->step(exec, m_scheme, m_window, wavefield, box);
    wave::step<T, Dim, Memory>(exec, m_scheme, m_window, wavefield, box);
  }
  /// Advances the complete grid by one step.
  void step(const InstanceOf<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield) const {
    step(exec, wavefield, whole_box(grid()));
  }

 private:
  static Limits check(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                      const Model<T, Dim, Memory>& model, const PropagatorOptions<Dim>& options);
  static Box<Dim> between(Box<Dim> box, const PlaneRange& planes) {
    box.lower[0] = std::max(box.lower[0], planes.begin);
    box.upper[0] = std::max(box.lower[0], std::min(box.upper[0], planes.end));
    return box;
  }

  Scheme<T, Dim, Memory> m_scheme;
  MediumCoefficients<T, Dim, Memory> m_window;
  GridPart<T, Dim, Memory>* m_part = nullptr;
};

namespace kernel {

/// Functor that writes the image of a field beyond a free surface.
template <class T>
struct MirrorFace {
  T* field;  ///< node (0, 0, 0)
  /// Strides, first node and extents of the nodes along the face.
  std::int64_t strides[3], lower[3], extents[3];
  int axis, radius;
  T sign;             ///< -1: odd; 1: even
  std::int64_t face;  ///< node of the face along the axis
  int outwards;       ///< -1 or 1
  /// Nodes of a wavefield, and stride between the arrays of batched wavefields.
  std::int64_t nodes, apart;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    std::int64_t rest = n % nodes, at = n / nodes * apart + face * strides[axis];
    for (int d = 2; d >= 0; --d) {
      if (d == axis) continue;
      at += (lower[d] + rest % extents[d]) * strides[d];
      rest /= extents[d];
    }
    for (int k = 1; k <= radius; ++k) {
      const std::int64_t step = k * outwards * strides[axis];
      field[at + step] = sign * field[at - step];
    }
  }
};

/// Sets the box of a step, its planes clipped to the grid.
template <class T, int Dim>
void set_box(StepArguments<T>& s, const Box<Dim>& box) {
  for (int d = 0; d < Dim; ++d) {
    s.lower[axis3<Dim>(d)] = box.lower[d];
    s.upper[axis3<Dim>(d)] = box.upper[d];
  }
}

/// Fills the halo beyond free surfaces, as far as the box reads it.
template <class T, int Dim, class Memory>
void mirror_faces(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                  const PlaneRange& window, const StepArguments<T>& s,
                  const Kokkos::Array<const T*, 2>& pointers, int fields, T sign) {
  const int radius = scheme.order() / 2;
  const Boundaries<Dim>& faces = scheme.options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    for (const bool lower : {true, false}) {
      const Face& face = lower ? faces.lower[d] : faces.upper[d];
      const int axis = axis3<Dim>(d);
      const std::int64_t extent = scheme.grid().extents[d];
      if (face.kind != FaceKind::free_surface) continue;
      if (lower ? s.lower[axis] >= radius : s.upper[axis] <= extent - radius) continue;
      MirrorFace<T> functor{};
      functor.strides[0] = s.stride_x;
      functor.strides[1] = s.stride_y;
      functor.strides[2] = 1;
      functor.axis = axis;
      // planes that the box does not read are not written: a concurrent step may own them
      const std::int64_t inside = lower ? s.lower[axis] : extent - s.upper[axis];
      functor.radius =
          axis == 0 ? radius - static_cast<int>(std::max<std::int64_t>(inside, 0)) : radius;
      functor.face = lower ? 0 : extent - 1;
      functor.outwards = lower ? -1 : 1;
      std::int64_t count = 1;
      functor.extents[1] = 1;
      for (int e = 0; e < Dim; ++e) {
        const int other = axis3<Dim>(e);
        // windows may reach beyond the grid
        const std::int64_t all = scheme.grid().extents[e];
        const std::int64_t first = e == 0 ? std::max<std::int64_t>(window.begin, 0) : 0;
        const std::int64_t end = e == 0 ? std::min(window.end, all) : all;
        functor.lower[other] = std::max<std::int64_t>(first, s.lower[other] - radius);
        functor.extents[other] =
            std::min<std::int64_t>(end, s.upper[other] + radius) - functor.lower[other];
        if (other != axis) count *= functor.extents[other];
      }
      functor.nodes = std::max<std::int64_t>(count, 1);
      functor.apart = s.apart;
      for (int f = 0; f < fields; ++f) {
        // only this step reads the halo of the current level
        functor.field = const_cast<T*>(pointers[f]);
        functor.sign = sign;
        launch("moho::wave::free_surface", exec, s.shots * count, functor);
      }
    }
  }
}

}  // namespace kernel

namespace detail {

/// Returns a step's arguments with those of its layers.
template <class T, int Dim, class Memory>
AllLayers<T> bind_layers(const Scheme<T, Dim, Memory>& scheme, const StepArguments<T>& s,
                         const Wavefield<T, Dim, Memory>& wavefield) {
  AllLayers<T> result{};
  result.s = s;
  result.stencil = scheme.stencil();
  result.radius = scheme.order() / 2;
  const Coefficients slope = first_derivative(layer_radius(result.radius));
  for (int f = 0; f < 2; ++f) {
    for (LayerPair<T>& pair : result.pairs[f]) pair.extent = pair.upper_begin = 1;
    for (int d = 0; d < Dim; ++d) {
      const int axis = axis3<Dim>(d);
      LayerPair<T>& pair = result.pairs[f][axis];
      pair.extent = pair.upper_begin = static_cast<int>(scheme.grid().extents[d]);
      pair.a = scheme.layer_factors(axis, 0);
      pair.b = scheme.layer_factors(axis, 1);
      for (int k = 0; k <= largest_layer_radius; ++k) {
        result.slope[axis][k] = static_cast<T>(slope[k] / scheme.grid().spacing[d]);
      }
    }
  }
  std::size_t number = 0;
  for (const Layer<T, Memory>& layer : scheme.layers()) {
    const LayerShape shape = wavefield.layer_shape(scheme, layer);
    for (int f = 0; f < wavefield.fields; ++f, ++number) {
      LayerPair<T>& pair = result.pairs[f][layer.axis];
      LayerAccess<T>& side = pair.sides[layer.lower ? 0 : 1];
      if (layer.lower) {
        pair.lower_end = layer.width;
      } else {
        pair.upper_begin = static_cast<int>(layer.first);
      }
      const LayerMemory<T, Memory>& memory = wavefield.layers[number];
      side.psi_now = memory.psi_now.data();
      side.psi_next = memory.psi_next.data();
      side.zeta = memory.zeta.data();
      side.origin = shape.offset + shape.shift - layer.first * shape.strides[layer.axis];
      side.stride_x = shape.strides[0];
      side.stride_y = shape.strides[1];
    }
  }
  return result;
}

/// Adds the corrections of perfectly matched layers on a device, face by face.
template <class T, int Dim, class Memory>
void correct_faces(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                   const AllLayers<T>& all, const Wavefield<T, Dim, Memory>& wavefield) {
  const StepArguments<T>& s = all.s;
  const int reach = layer_radius(scheme.order() / 2);
  std::size_t number = 0;
  for (const Layer<T, Memory>& layer : scheme.layers()) {
    const LayerShape shape = wavefield.layer_shape(scheme, layer);
    LayerArguments<T> l{};
    l.s = s;
    l.stencil = scheme.stencil();
    l.axis = layer.axis;
    l.inner = layer.axis == 2 ? (Dim == 3 ? 1 : 0) : 2;
    l.outer = 3 - l.axis - l.inner;
    l.width = layer.width;
    l.first = layer.first;
    l.from = std::max(s.lower[layer.axis], layer.lower ? layer.first : layer.first - reach);
    l.to = std::min(s.upper[layer.axis], layer.first + layer.width + (layer.lower ? reach : 0));
    l.row_from = std::clamp<std::int64_t>(l.from - reach - l.first, shape.begin, shape.end);
    l.row_to = std::clamp<std::int64_t>(l.to + reach - l.first, l.row_from, shape.end);
    l.a = layer.a.data();
    l.b = layer.b.data();
    for (int k = 0; k <= largest_layer_radius; ++k) l.slope[k] = all.slope[layer.axis][k];
    const std::int64_t start = shape.offset + shape.shift;
    for (int f = 0; f < wavefield.fields; ++f, ++number) {
      const LayerMemory<T, Memory>& memory = wavefield.layers[number];
      l.psi_now[f] = memory.psi_now.data() + start;
      l.psi_next[f] = memory.psi_next.data() + start;
      l.zeta[f] = memory.zeta.data() + start;
    }
    for (int a = 0; a < 3; ++a) l.strides[a] = shape.strides[a];
    if (shape.size > 0 && l.from < l.to) {
      device_layer_of<T, DeviceOf<Memory>>(l.stencil, scheme.order())(exec, l);
    }
  }
}

/// Steps a box with its perfectly matched layers.
///
/// One launch does all, or the step precedes the corrections. The choice of kernels depends on the
/// scheme alone, so that all boxes and windows agree.
template <class T, int Dim, class Memory>
void step_with_layers(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                      const StepArguments<T>& s, const Wavefield<T, Dim, Memory>& wavefield) {
  const AllLayers<T> all = bind_layers<T, Dim, Memory>(scheme, s, wavefield);
  if (scheme.options().reference) {
    scheme.stepper().step(exec, s);
    return correct_plainly<T, Memory>(exec, all);
  }
  if constexpr (is_host_memory<Memory>) {
    scheme.stepper().step(exec, all);
  } else {
    if (scheme.layers_in_one_launch()) {
      const auto arguments = all.by_axis();
      if constexpr (has_coded_kernels<T, Dim, Memory>()) {
        if (s.halves != nullptr || s.words != nullptr) {
          return coded_layered_launch_of<DeviceOf<Memory>>(scheme.stencil(), scheme.order())(
              exec, arguments);
        }
      }
      return layered_launch_of<T, Dim, DeviceOf<Memory>>(scheme.stencil(), scheme.order())(
          exec, arguments);
    }
    scheme.stepper().step(exec, s);
    correct_faces<T, Dim, Memory>(exec, scheme, all, wavefield);
  }
}

/// Batch of wavefields that one launch steps, `apart` elements from array to array.
struct Several {
  int shots = 1;
  std::int64_t apart = 0;
};

/// Sets the arguments of a step; returns false if no node is to be stepped. \throws InputError
template <class T, int Dim, class Memory>
bool bind_step(const Scheme<T, Dim, Memory>& scheme,
               const MediumCoefficients<T, Dim, Memory>& medium,
               const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box, int reach,
               StepArguments<T>& s) {
  const Box<Dim> part = intersection(box, whole_box(scheme.grid()));
  if (part.empty()) return false;
  const PlaneRange& window = wavefield.layout.window;
  const PlaneRange needed = intersection(PlaneRange{part.lower[0] - reach, part.upper[0] + reach},
                                         all_planes(scheme.grid()));
  const Layout<Dim>& held = medium.layout();
  bool same = held.halo == wavefield.layout.halo;
  for (int d = 0; d < Dim; ++d) {
    same = same && held.extents[d] == wavefield.layout.extents[d] &&
           held.strides[d] == wavefield.layout.strides[d];
  }
  if (!same || !(intersection(needed, held.window) == needed)) {
    throw InputError(
        concat("medium: its window does not hold planes ", needed.begin, " to ", needed.end - 1,
               " as the wavefield has them (allowed: windows of the same scheme that hold what the "
               "step reads): make both with the same scheme and planes"));
  }
  if (!(intersection(needed, window) == needed)) {
    throw InputError(concat("box: its step reads planes ", needed.begin, " to ", needed.end - 1,
                            " (allowed: ", window.begin, " to ", window.end - 1,
                            ", the window of the wavefield): step a smaller box, or take a wider "
                            "window"));
  }
  s = scheme.arguments();
  medium.bind(s);
  set_box(s, part);
  for (int f = 0; f < wavefield.fields; ++f) {
    s.now[f] = wavefield.now[f].data() + wavefield.layout.offset;
    // Operators that write elsewhere take fields without a next level.
    if (wavefield.next[f].data() != nullptr) {
      s.next[f] = wavefield.next[f].data() + wavefield.layout.offset;
    }
  }
  for (int f = 0; f < 2 && wavefield.axis_derivative[f].data() != nullptr; ++f) {
    s.axis_derivative[f] = wavefield.axis_derivative[f].data() + wavefield.layout.offset;
  }
  return true;
}

/// Steps a box of self-adjoint TTI in one pass, if possible and enabled.
///
/// Otherwise it does nothing and returns false. Its bits are those of two passes, so that either
/// may step neighbouring boxes. \throws InputError
template <class T, int Dim, class Memory>
bool step_in_one_pass(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                      const MediumCoefficients<T, Dim, Memory>& medium,
                      const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (Dim == 3 && std::is_same_v<T, float> && std::is_same_v<Memory, Kokkos::CudaSpace>) {
    const PropagatorOptions<Dim>& options = scheme.options();
    if (!scheme.packed_axis() || options.reference || !options.one_pass) return false;
    if (medium.axis_words() == nullptr) return false;
    AxisRingArguments<T> a{};
    if (!bind_step(scheme, medium, wavefield, box, scheme.reach(0), a.s)) return true;
    const int radius = options.order / 2;
    const Grid<Dim>& grid = scheme.grid();
    const std::int64_t at_once = ring_planes_at_once(a.s.stride_x, radius);
    if (at_once < 1) return false;
    // the kernel supports images of axis derivatives beyond the lower faces across y and z only
    const auto free = [](const Face& face) { return face.kind == FaceKind::free_surface; };
    for (int d = 0; d < Dim; ++d) {
      a.extents[d] = static_cast<int>(grid.extents[d]);
      if (free(options.boundaries.upper[d]) && a.s.upper[d] > grid.extents[d] - radius) {
        return false;
      }
    }
    if (free(options.boundaries.lower[0]) && a.s.lower[0] < radius) return false;
    a.free_y = free(options.boundaries.lower[1]);
    a.free_z = free(options.boundaries.lower[2]);
    a.axis = medium.axis_words();
    StepArguments<T> read = a.s;
    set_box(read, intersection(box.grown(radius), whole_box(grid)));
    mirror_faces<T, Dim, Memory>(exec, scheme, wavefield.layout.window, read,
                                 {a.s.now[0], a.s.now[1]}, 2, T(-1));
    const PlaneRange all{a.s.lower[0], a.s.upper[0]};
    for (std::int64_t begin = all.begin; begin < all.end; begin += at_once) {
      const PlaneRange planes{begin, std::min(begin + at_once, all.end)};
      axis_ring_step<Kokkos::Cuda>(exec, options.order,
                                   ring_arguments_of(a, planes, grid.extents[0], radius));
    }
    return true;
  }
#endif
  if constexpr (Dim == 3 && is_host_memory<Memory>) {
    const PropagatorOptions<Dim>& options = scheme.options();
    if (scheme.stencil() != Stencil::tti || options.reference || !options.one_pass) return false;
    StepArguments<T> s;
    if (!bind_step(scheme, medium, wavefield, box, scheme.reach(0), s)) return true;
    const int radius = options.order / 2;
    const auto free = [](const Face& face) { return face.kind == FaceKind::free_surface; };
    AxisFaces faces{};
    for (int d = 0; d < Dim; ++d) {
      faces.extents[d] = scheme.grid().extents[d];
      faces.free[d][0] = free(options.boundaries.lower[d]);
      faces.free[d][1] = free(options.boundaries.upper[d]);
      if (faces.extents[d] <= 2 * radius) return false;
    }
    // derivatives of planes beyond free surfaces across x would be read before those of their
    // images
    if (faces.free[0][0] && s.lower[0] < radius) return false;
    if (faces.free[0][1] && s.upper[0] > faces.extents[0] - radius) return false;
    StepArguments<T> read = s;
    set_box(read, intersection(box.grown(radius), whole_box(scheme.grid())));
    mirror_faces<T, Dim, Memory>(exec, scheme, wavefield.layout.window, read, {s.now[0], s.now[1]},
                                 2, T(-1));
    scheme.stepper().step_in_one_pass(exec, s, faces);
    return true;
  }
  (void)exec, (void)scheme, (void)medium, (void)wavefield, (void)box;
  return false;
}

/// Computes the axis derivatives of one wavefield or a batch.
template <class T, int Dim, class Memory>
void slopes_of(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
               const MediumCoefficients<T, Dim, Memory>& medium,
               const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
               const Several& several = {}) {
  if (info(scheme.stencil()).work_fields == 0) return;
  StepArguments<T> s;
  if (!bind_step(scheme, medium, wavefield, box, scheme.order() / 2, s)) return;
  s.shots = several.shots;
  s.apart = several.apart;
  mirror_faces<T, Dim, Memory>(exec, scheme, wavefield.layout.window, s, {s.now[0], s.now[1]},
                               info(scheme.stencil()).work_fields, T(-1));
  scheme.stepper().axis_derivatives(exec, s);
}

/// Steps one wavefield or a batch from axis derivatives.
template <class T, int Dim, class Memory>
void step_of(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
             const MediumCoefficients<T, Dim, Memory>& medium,
             const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
             const Several& several = {}) {
  StepArguments<T> s;
  if (!bind_step(scheme, medium, wavefield, box, scheme.reach(0), s)) return;
  s.shots = several.shots;
  s.apart = several.apart;
  const PlaneRange& window = wavefield.layout.window;
  mirror_faces<T, Dim, Memory>(exec, scheme, window, s, {s.now[0], s.now[1]}, wavefield.fields,
                               T(-1));
  mirror_faces<T, Dim, Memory>(exec, scheme, window, s,
                               {s.axis_derivative[0], s.axis_derivative[1]},
                               info(scheme.stencil()).work_fields, T(1));
  if (scheme.layers().empty()) {
    scheme.stepper().step(exec, s);
  } else {
    step_with_layers<T, Dim, Memory>(exec, scheme, s, wavefield);
  }
}

}  // namespace detail

template <class T, int Dim, class Memory>
void compute_axis_derivatives(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                              const MediumCoefficients<T, Dim, Memory>& medium,
                              const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
  detail::slopes_of<T, Dim, Memory>(exec, scheme, medium, wavefield, box);
}

template <class T, int Dim, class Memory>
void step_from_axis_derivatives(const InstanceOf<Memory>& exec,
                                const Scheme<T, Dim, Memory>& scheme,
                                const MediumCoefficients<T, Dim, Memory>& medium,
                                const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
  detail::step_of<T, Dim, Memory>(exec, scheme, medium, wavefield, box);
}

template <class T, int Dim, class Memory>
void step(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
          const MediumCoefficients<T, Dim, Memory>& medium,
          const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
  if (detail::step_in_one_pass<T, Dim, Memory>(exec, scheme, medium, wavefield, box)) return;
  // the step also reads axis derivatives around the box
  compute_axis_derivatives<T, Dim, Memory>(exec, scheme, medium, wavefield,
                                           box.grown(scheme.order() / 2));
  step_from_axis_derivatives<T, Dim, Memory>(exec, scheme, medium, wavefield, box);
}

template <class T, int Dim, class Memory>
Limits Propagator<T, Dim, Memory>::check(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         const Model<T, Dim, Memory>& model,
                                         const PropagatorOptions<Dim>& options) {
  check_order(options.order);
  check_model<T, Dim, Memory>(exec, grid, model);
  const double sigma = options.sigma > 0.0 ? options.sigma : 0.75;  // Scheme checks it
  return limits_of<T, Dim, Memory>(exec, grid, model, options.order, options.equations, sigma);
}

template <class T, int Dim, class Memory>
Propagator<T, Dim, Memory>::Propagator(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                       const Model<T, Dim, Memory>& model,
                                       const PropagatorOptions<Dim>& options)
    : m_scheme(exec, grid, model.medium(), check(exec, grid, model, options), options),
      m_window(exec, m_scheme, all_planes(grid)) {
  m_window.load(exec, m_scheme, model);
  exec.fence();  // the model need not outlive the constructor
}

template <class T, int Dim, class Memory>
void Propagator<T, Dim, Memory>::update(const InstanceOf<Memory>& exec,
                                        const Model<T, Dim, Memory>& model) {
  const Limits limits = check(exec, grid(), model, options());
  check_dt(dt(), limits);
  m_scheme.update_codes(limits);
  m_window.load(exec, m_scheme, model);
  exec.fence();
}

}  // namespace moho::wave

/// \cond
#define MOHO_WAVE_COPY_PLANES(prefix, T, Dim, Memory)                                             \
  prefix void copy_planes<T, Dim, Memory>(const Instance<Memory>&, const Scheme<T, Dim, Memory>&, \
                                          const Wavefield<T, Dim, Memory>&,                       \
                                          const Wavefield<T, Dim, Memory>&, const PlaneRange&);
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Scheme)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, MediumCoefficients)
MOHO_FOR_ALL(MOHO_CLASS, extern template struct, Wavefield)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Propagator)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, make_wavefield)
MOHO_FOR_ALL(MOHO_WAVE_COPY_PLANES, extern template)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, amplitude)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, check_finite)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, compute_axis_derivatives)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, step_from_axis_derivatives)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, step)
}  // namespace moho::wave
#endif
/// \endcond
