// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief State of a wave in a window: two time levels of p (and q), memory of absorbing layers.

#include <moho/wave/not_finite.hpp>
#include <moho/wave/scheme.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// Memory variables of a perfectly matched layer, of one field at one face.
template <class T, class Memory>
struct LayerMemory {
  Storage<T, Memory> psi_now;  ///< memory of the first derivative after the last step
  /// Memory of the first derivative that the step writes; during a run of one box a step on a host
  /// the same array as psi_now.
  Storage<T, Memory> psi_next;
  Storage<T, Memory> zeta;  ///< memory of the second derivative
};

/// \brief Wavefield: the arrays that steps change.
///
/// `now` is the current time level. `next` is the previous level; a step overwrites it with the
/// level one step ahead. When all boxes of a step are complete, advance() exchanges the two.
template <class T, int Dim, class Memory>
struct Wavefield {
  Layout<Dim> layout;          ///< layout of all arrays
  int fields = 0;              ///< 1: p; 2: p and q
  Storage<T, Memory> now[2];   ///< the current time level
  Storage<T, Memory> next[2];  ///< the previous level; the level one step ahead after a step
  Storage<T, Memory>
      axis_derivative[2];  ///< axis derivatives: work space of self-adjoint TTI, not state
  /// Memory variables by face and field, in the scheme's order.
  std::vector<LayerMemory<T, Memory>> layers;
  PlaneRange across_x;  ///< planes with memory variables in layers across x: those of the window

  /// Returns size and location of a layer's memory variables.
  kernel::LayerShape layer_shape(const Scheme<T, Dim, Memory>& scheme,
                                 const detail::Layer<T, Memory>& layer) const {
    return scheme.layer_shape(layer, layer.axis == 0 ? across_x : layout.window);
  }
  /// Makes the next time level the current one.
  void advance() {
    for (int f = 0; f < fields; ++f) std::swap(now[f], next[f]);
    for (auto& layer : layers) std::swap(layer.psi_now, layer.psi_next);
  }
  /// Exchanges the two time levels, which reverses the direction of time.
  ///
  /// Later steps lead backwards in media and with faces that conserve energy: rigid and free faces,
  /// random layers.
  void reverse() {
    for (int f = 0; f < fields; ++f) std::swap(now[f], next[f]);
  }
  /// Sets the state to zero.
  void clear(const InstanceOf<Memory>& exec);
  /// Returns the bytes of all arrays.
  std::size_t bytes() const {
    std::size_t count = 0;
    for (int f = 0; f < fields; ++f)
      count += now[f].size() + next[f].size() + axis_derivative[f].size();
    for (const auto& layer : layers) {
      count += layer.psi_now.size() + layer.psi_next.size() + layer.zeta.size();
    }
    return count * sizeof(T);
  }
};

/// Returns a wavefield at rest, for the planes of a window.
template <class T, int Dim, class Memory>
Wavefield<T, Dim, Memory> make_wavefield(const InstanceOf<Memory>& exec,
                                         const Scheme<T, Dim, Memory>& scheme,
                                         const PlaneRange& window);

/// \brief Copies planes of the state, both time levels and layers' memory, between two wavefields.
///
/// Both windows hold these planes. The outermost reach(0) planes of a window can be copied from its
/// neighbours between two steps. Its other planes then get the same values as in the complete grid.
/// \throws InputError for planes outside either window
template <class T, int Dim, class Memory>
void copy_planes(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                 const Wavefield<T, Dim, Memory>& from, const Wavefield<T, Dim, Memory>& to,
                 const PlaneRange& planes);

/// Largest magnitude of a field in a box, and the first node that is not finite.
struct Amplitude {
  double max = 0.0;  ///< largest magnitude of all finite values
  /// Flat index on the grid of the first NaN or infinity; -1 if all values are finite.
  std::int64_t bad = -1;
};

/// Returns the amplitude of a padded array in a box of its window; waits for the instance.
///
/// Values beyond 3e38 count as not finite.
template <class T, int Dim, class Memory>
Amplitude amplitude(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
                    const Kokkos::View<T*, Memory>& field, const Box<Dim>& box);

/// Throws NotFinite, with step and position, if p or q is not finite in the box.
template <class T, int Dim, class Memory>
Amplitude check_finite(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                       const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                       std::int64_t step);

namespace detail {

/// Functor that sets an element of each of several arrays to zero.
template <class T>
struct ClearArrays {
  static constexpr int max = 32;
  T* arrays[max];
  std::int64_t sizes[max];
  int count = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    for (int a = 0; a < count; ++a) {
      if (n < sizes[a]) arrays[a][n] = T(0);
    }
  }
};

}  // namespace detail

template <class T, int Dim, class Memory>
void Wavefield<T, Dim, Memory>::clear(const InstanceOf<Memory>& exec) {
  std::vector<Storage<T, Memory>> arrays;
  for (int f = 0; f < fields; ++f) {
    arrays.push_back(now[f]);
    arrays.push_back(next[f]);
  }
  for (auto& layer : layers) {
    for (const auto* view : {&layer.psi_now, &layer.psi_next, &layer.zeta}) {
      if (view->size() > 0) arrays.push_back(*view);
    }
  }
  if constexpr (!is_host_memory<Memory>) {
    // one launch for the arrays of a section
    detail::ClearArrays<T> clear;
    std::size_t largest = 0;
    for (const auto& array : arrays) largest = std::max(largest, array.size());
    if (largest <= std::size_t{1} << 22 && arrays.size() <= detail::ClearArrays<T>::max) {
      for (const auto& array : arrays) {
        clear.arrays[clear.count] = array.data();
        clear.sizes[clear.count++] = static_cast<std::int64_t>(array.size());
      }
      return launch("moho::wave::clear", Instance<Memory>(exec), static_cast<std::int64_t>(largest),
                    clear);
    }
  }
  for (const auto& array : arrays) fill(exec, array, T(0));
}

template <class T, int Dim, class Memory>
Wavefield<T, Dim, Memory> make_wavefield(const InstanceOf<Memory>& exec,
                                         const Scheme<T, Dim, Memory>& scheme,
                                         const PlaneRange& window) {
  Wavefield<T, Dim, Memory> wavefield;
  wavefield.layout = scheme.layout(window);
  wavefield.fields = scheme.fields();
  wavefield.across_x = window;
  constexpr const char* names[] = {"p", "q"};
  for (int f = 0; f < wavefield.fields; ++f) {
    wavefield.now[f] = make_storage<T>(exec, wavefield.layout, names[f]);
    wavefield.next[f] = make_storage<T>(exec, wavefield.layout, names[f]);
  }
  for (int f = 0; f < info(scheme.stencil()).work_fields; ++f) {
    wavefield.axis_derivative[f] = make_storage<T>(exec, wavefield.layout, "moho::wave::slope");
  }
  for (const auto& layer : scheme.layers()) {
    const std::int64_t size = scheme.layer_shape(layer, window).size;
    for (int f = 0; f < wavefield.fields; ++f) {
      LayerMemory<T, Memory> memory;
      for (auto* view : {&memory.psi_now, &memory.psi_next, &memory.zeta}) {
        *view = allocate<Storage<T, Memory>>(exec, "moho::wave::layer", size);
        if (size > 0) fill(exec, *view, T(0));
      }
      wavefield.layers.push_back(memory);
    }
  }
  return wavefield;
}

template <class T, int Dim, class Memory>
void copy_planes(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                 const Wavefield<T, Dim, Memory>& from, const Wavefield<T, Dim, Memory>& to,
                 const PlaneRange& planes) {
  for (int f = 0; f < scheme.fields(); ++f) {
    copy_planes<T, Dim, Memory>(exec, from.layout, from.now[f], to.layout, to.now[f], planes);
    copy_planes<T, Dim, Memory>(exec, from.layout, from.next[f], to.layout, to.next[f], planes);
  }
  std::size_t number = 0;
  for (const auto& layer : scheme.layers()) {
    const kernel::LayerShape source = from.layer_shape(scheme, layer);
    const kernel::LayerShape target = to.layer_shape(scheme, layer);
    // planes of the layer's memory; those of a layer across x count from its first node
    PlaneRange part = planes;
    if (layer.axis == 0) {
      part = intersection(PlaneRange{planes.begin - layer.first, planes.end - layer.first},
                          PlaneRange{0, layer.width});
    }
    for (int f = 0; f < scheme.fields(); ++f, ++number) {
      if (part.empty()) continue;
      const auto range = [&](const kernel::LayerShape& shape) {
        const std::int64_t begin = shape.offset + part.begin * shape.strides[0];
        return std::pair<std::size_t, std::size_t>(
            static_cast<std::size_t>(begin),
            static_cast<std::size_t>(begin + part.count() * shape.strides[0]));
      };
      const LayerMemory<T, Memory>&a = from.layers[number], &b = to.layers[number];
      // psi_next may be psi_now (detail::PsiInPlace)
      copy(exec, Kokkos::subview(b.psi_next, range(target)),
           Kokkos::subview(a.psi_next, range(source)));
      copy(exec, Kokkos::subview(b.psi_now, range(target)),
           Kokkos::subview(a.psi_now, range(source)));
      copy(exec, Kokkos::subview(b.zeta, range(target)), Kokkos::subview(a.zeta, range(source)));
    }
  }
}

namespace detail {
struct AmplitudeSum {
  double max;
  std::int64_t bad;
};
template <class T, int Dim>
struct AmplitudeOf {
  using value_type = AmplitudeSum;
  const T* field;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, AmplitudeSum& sum) const {
    const Index<Dim> node = box.node(i);
    const double value = static_cast<double>(field[layout.flat(node)]);
    const double size = value < 0.0 ? -value : value;
    if (!(size <= 3.0e38)) {
      std::int64_t flat = node[0];
      for (int d = 1; d < Dim; ++d) flat = flat * layout.extents[d] + node[d];
      if (flat < sum.bad) sum.bad = flat;
    } else if (size > sum.max) {
      sum.max = size;
    }
  }
  KOKKOS_INLINE_FUNCTION void init(AmplitudeSum& sum) const {
    sum.max = 0.0;
    sum.bad = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(AmplitudeSum& to, const AmplitudeSum& from) const {
    if (from.max > to.max) to.max = from.max;
    if (from.bad < to.bad) to.bad = from.bad;
  }
};
}  // namespace detail

template <class T, int Dim, class Memory>
Amplitude amplitude(const InstanceOf<Memory>& exec, const Layout<Dim>& layout,
                    const Kokkos::View<T*, Memory>& field, const Box<Dim>& box) {
  const detail::AmplitudeSum sum =
      reduce("moho::wave::amplitude", exec, box.size(),
             detail::AmplitudeOf<std::remove_const_t<T>, Dim>{field.data(), layout, box});
  return {sum.max, sum.bad == INT64_MAX ? -1 : sum.bad};
}

template <class T, int Dim, class Memory>
Amplitude check_finite(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                       const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                       std::int64_t step) {
  Amplitude max;
  for (int f = 0; f < wavefield.fields; ++f) {
    const Amplitude found =
        amplitude<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f], box);
    if (found.bad >= 0) throw not_finite(grid, found.bad, step, f);
    max.max = std::max(max.max, found.max);
  }
  return max;
}

}  // namespace moho::wave
