// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A time step of a box of a window: arguments, images beyond free surfaces, passes, layers.
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
  std::int64_t nodes, batch_stride;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    std::int64_t rest = n % nodes, at = n / nodes * batch_stride + face * strides[axis];
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
      functor.batch_stride = s.batch_stride;
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

/// Batch of wavefields that one launch steps, `batch_stride` elements from array to array.
struct Several {
  int shots = 1;
  std::int64_t batch_stride = 0;
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
    // a tile reads g beyond a free surface across x before it has computed g of the image
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
  s.batch_stride = several.batch_stride;
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
  s.batch_stride = several.batch_stride;
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

}  // namespace moho::wave
