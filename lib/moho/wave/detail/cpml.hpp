// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Convolutional perfectly matched layers for equations of second order.
///
/// In a layer the derivative along its normal becomes d/dx + psi, with psi' = b psi + a dp/dx. The
/// second derivative gains d psi/dx + zeta, with zeta' = b zeta + a (d2p/dx2 + d psi/dx)
/// (Komatitsch and Martin 2007; Pasalic and McGarry 2010). psi has two time levels, so that boxes
/// may be stepped in any order; hosts that step one box update it in place (psi_in_place.hpp).
///
/// First derivatives of the field and of psi are of fourth order at most (layer_radius()). Higher
/// orders do not reduce the reflection of layers, and a step has neighbours within two nodes at
/// hand.

#include <moho/core/launch.hpp>
#include <moho/wave/kernel/arguments.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// Factors a and b by node of the layer, from the inner edge outwards.
struct CpmlProfile {
  std::vector<double> a, b;
};

/// Returns the factors for a layer of `width` nodes.
///
/// From 15 nodes on, damping for a smaller reflection and a smaller frequency shift return less at
/// all angles up to 60 degrees; thinner layers return more with them (docs/theory/waves.md).
/// \param velocity largest velocity, m/s
/// \param frequency approximate peak frequency of the source, Hz: below it the layer only damps
inline CpmlProfile cpml_profile(int width, double spacing, double dt, double velocity,
                                double frequency) {
  constexpr double pi = 3.14159265358979323846;
  const bool thick = width >= 15;
  const double reflection = thick ? 1.0e-6 : 2.0e-5;  // target for waves at normal incidence
  const double strongest = -3.0 * velocity * std::log(reflection) / (2.0 * width * spacing);
  CpmlProfile profile;
  for (int i = 0; i < width; ++i) {
    const double u = (i + 1.0) / width;
    const double damping = strongest * u * u;
    const double shift = (thick ? 0.5 : 0.75) * pi * frequency * (1.0 - u);
    const double b = std::exp(-(damping + shift) * dt);
    profile.b.push_back(b);
    profile.a.push_back(damping / (damping + shift) * (b - 1.0));
  }
  return profile;
}

/// Returns the radius of first derivatives in layers, for steps of radius `radius`.
KOKKOS_FORCEINLINE_FUNCTION constexpr int layer_radius(int radius) {
  return radius < 2 ? radius : 2;
}
/// Largest radius of first derivatives in layers.
inline constexpr int largest_layer_radius = layer_radius(largest_radius);

/// Arguments of the correction of one face on a device.
template <class T>
struct LayerArguments {
  StepArguments<T> s;
  int axis;                       ///< normal to the face: 0 x, 1 y, 2 z
  int inner, outer;               ///< the other axes
  int width;                      ///< nodes of the layer
  std::int64_t first;             ///< first node of the layer along the normal
  std::int64_t from, to;          ///< nodes along the normal that are corrected
  std::int64_t row_from, row_to;  ///< nodes of the layer, from 0, whose psi is read by these nodes
  Stencil stencil;                ///< stencil of the step
  const T *a, *b;                 ///< factors by node of the layer, in grid order
  T slope[largest_layer_radius + 1];  ///< first derivative along the axis
  const T* psi_now[2];
  T *psi_next[2], *zeta[2];  ///< by node of the layer, axes in grid order
  std::int64_t strides[3];   ///< strides of psi and zeta

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride(int d) const {
    return d == 0 ? s.stride_x : d == 1 ? s.stride_y : 1;
  }
};

/// Returns true if the correction of a face needs psi of a field.
///
/// The self-adjoint equations of VTI have derivatives of p across the axis only, and of q along z
/// only.
KOKKOS_FORCEINLINE_FUNCTION bool layer_has(Stencil stencil, int axis, int f) {
  return stencil != Stencil::vti || (axis == 2) == (f == 1);
}

/// Returns true for stencils whose step on devices includes the layers (cpml_device.hpp).
///
/// These stencils have one field for each axis.
constexpr bool has_layer_march(Stencil stencil) { return info(stencil).layer_march; }
/// Returns the only field with derivatives along an axis, for these stencils.
KOKKOS_FORCEINLINE_FUNCTION constexpr int layer_field(Stencil stencil, int axis) {
  return stencil == Stencil::vti && axis == 2 ? 1 : 0;
}

/// Memory of a layer by node of the grid: element origin + x stride_x + y stride_y + z.
template <class T>
struct LayerAccess {
  const T* psi_now;
  T *psi_next, *zeta;
  std::int64_t origin, stride_x, stride_y;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(std::int64_t x, std::int64_t y,
                                              std::int64_t z) const {
    return origin + x * stride_x + y * stride_y + z;
  }
  /// Moves the pointers by a number of elements.
  void shift(std::int64_t by) {
    psi_now += by;
    psi_next += by;
    zeta += by;
  }
};

/// Layers across an axis, for the field with derivatives along it.
template <class T>
struct LayerPair {
  const T *a, *b;           ///< factors by node of the grid, zero outside layers
  int lower_end;            ///< nodes below this one are in the lower layer
  int upper_begin;          ///< nodes from this one on are in the upper layer
  int extent;               ///< nodes of the grid
  LayerAccess<T> sides[2];  ///< lower, upper

  /// Returns true for nodes of a layer.
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t node) const {
    return node >= 0 && node < extent && (node < lower_end || node >= upper_begin);
  }
  /// Returns true for nodes whose second derivative uses psi of a layer.
  KOKKOS_FORCEINLINE_FUNCTION bool reaches(std::int64_t node, int radius) const {
    return node < (lower_end > 0 ? lower_end + radius : 0) ||
           node >= (upper_begin < extent ? upper_begin - radius : extent);
  }
  /// Returns the memory of the layer that contains a node.
  KOKKOS_FORCEINLINE_FUNCTION const LayerAccess<T>& of(std::int64_t node) const {
    return sides[node < lower_end ? 0 : 1];
  }
  /// Returns true if some of `count` nodes are in a layer.
  KOKKOS_FORCEINLINE_FUNCTION bool has_some(std::int64_t node, int count) const {
    return node + count > 0 && node < extent && (node < lower_end || node + count > upper_begin);
  }
  /// Returns the nearest node of a layer, or the first of the nearest `count` nodes.
  KOKKOS_FORCEINLINE_FUNCTION int nearest(int node, int side, int count) const {
    const int first = (side == 0 ? 0 : upper_begin) / count * count;
    const int last = ((side == 0 ? lower_end : extent) - 1) / count * count;
    return node < first ? first : node > last ? last : node;
  }
  /// Returns true if the interior has `nodes` nodes more than `radius` reaches.
  ///
  /// The interior lies between both layers, or between the only one and the other end of the grid.
  bool separated(int radius, int nodes) const {
    if (lower_end == 0 && upper_begin == extent) return true;
    return upper_begin - lower_end >= 2 * radius + nodes;
  }
};

/// Arguments of a step with layers, with one field for each axis.
template <class T>
struct LayeredArguments {
  StepArguments<T> s;
  T slope[3][largest_layer_radius + 1];  ///< first derivative along each axis, in layers
  LayerPair<T> layers[3];
};

/// Arguments of a step with layers, for all fields.
template <class T>
struct AllLayers {
  StepArguments<T> s;
  Stencil stencil;
  int radius;                            ///< radius of the step
  T slope[3][largest_layer_radius + 1];  ///< first derivative along each axis, in layers
  LayerPair<T> pairs[2][3];              ///< by field and axis; layer_has() selects those in use

  /// Returns the arguments of wavefield n of the batch.
  AllLayers of_shot(int n) const {
    AllLayers one = *this;
    one.s = s.of_shot(n);
    for (LayerPair<T>(&of_field)[3] : one.pairs) {
      for (LayerPair<T>& pair : of_field) {
        for (LayerAccess<T>& side : pair.sides) {
          if (side.zeta != nullptr) side.shift(n * s.batch_stride);
        }
      }
    }
    return one;
  }
  /// Returns the arguments by axis, for a stencil with has_layer_march().
  LayeredArguments<T> by_axis() const {
    LayeredArguments<T> result;
    result.s = s;
    for (int d = 0; d < 3; ++d) {
      for (int k = 0; k <= largest_layer_radius; ++k) result.slope[d][k] = slope[d][k];
      result.layers[d] = pairs[layer_field(stencil, d)][d];
    }
    return result;
  }
};

/// Returns psi of a node of the layer; `p` and `slab` point to it in the field and the layer.
template <int radius, class T>
KOKKOS_FORCEINLINE_FUNCTION T layer_psi(const T* p, std::int64_t along, const T* c, T a, T b,
                                        T psi) {
  T slope = 0;
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) slope += c[k] * (p[k * along] - p[-k * along]);
  return b * psi + a * slope;
}

/// Returns the second derivative along the normal.
template <int radius, class T>
KOKKOS_FORCEINLINE_FUNCTION T layer_second(const T* p, std::int64_t along, const T* c) {
  T second = c[0] * p[0];
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) second += c[k] * (p[k * along] + p[-k * along]);
  return second;
}

/// Computes the corrections of p and q, across an axis or across z, of their next values.
template <Stencil stencil, class V>
KOKKOS_FORCEINLINE_FUNCTION void corrected(const V& a, const V& b, const V& shear,
                                           const V& across_p, const V& across_q, const V& down_p,
                                           const V& down_q, V& change_p, V& change_q) {
  if constexpr (stencil == Stencil::vti) {
    symmetric_change<V>(across_p, down_q, a, b, change_p, change_q);
  } else if constexpr (stencil == Stencil::vti_fletcher) {
    fletcher_change<V>(down_p, across_p, down_q, across_q, a, b, shear, change_p, change_q);
  } else {
    change_p = across_p + down_p;
  }
}

/// Adds the corrections of p and q at element i to the next values.
template <Stencil stencil, class T>
KOKKOS_FORCEINLINE_FUNCTION void correct_node(const StepArguments<T>& s, std::int64_t i, T w,
                                              const T (&across)[2], const T (&down)[2]) {
  const T scale = w * s.scale[i];
  T change_p = 0, change_q = 0, a = 0, b = 0;
  if constexpr (fields_of(stencil) == 2) a = s.a[i], b = s.b[i];
  corrected<stencil, T>(a, b, s.shear, across[0], across[1], down[0], down[1], change_p, change_q);
  s.next[0][i] += scale * change_p;
  if constexpr (fields_of(stencil) == 2) s.next[1][i] += scale * change_q;
}

/// Functor of the plain correction of all layers, node by node, after the plain step.
template <Stencil stencil, class T>
struct ReferenceLayers {
  AllLayers<T> l;

  /// Returns the new psi of a node along an axis; zero outside layers.
  KOKKOS_INLINE_FUNCTION T psi(const LayerPair<T>& pair, int f, int axis, const std::int64_t* node,
                               std::int64_t along) const {
    if (!pair.has(node[axis])) return T(0);
    const T* const p = l.s.now[f] + l.s.flat(node[0], node[1], node[2]);
    T sum = 0;
    for (int k = 1; k <= layer_radius(l.radius); ++k) {
      sum += l.slope[axis][k] * (p[k * along] - p[-k * along]);
    }
    const T before = pair.of(node[axis]).psi_now[pair.of(node[axis]).at(node[0], node[1], node[2])];
    return pair.b[node[axis]] * before + pair.a[node[axis]] * sum;
  }

  /// Corrects the node at position n of the box.
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const StepArguments<T>& s = l.s;
    const std::int64_t nz = s.upper[2] - s.lower[2], ny = s.upper[1] - s.lower[1];
    std::int64_t node[3] = {s.lower[0] + n / nz / ny, s.lower[1] + n / nz % ny,
                            s.lower[2] + n % nz};
    const std::int64_t i = s.flat(node[0], node[1], node[2]);
    const std::int64_t strides[3] = {s.stride_x, s.stride_y, 1};
    T across[2] = {0, 0}, down[2] = {0, 0};
    bool any = false;
    for (int f = 0; f < kernel::field_count<stencil>; ++f) {
      for (int axis = 0; axis < 3; ++axis) {
        const LayerPair<T>& pair = l.pairs[f][axis];
        if (!layer_has(stencil, axis, f) || !pair.reaches(node[axis], layer_radius(l.radius))) {
          continue;
        }
        any = true;
        T sum = 0;
        for (int k = 1; k <= layer_radius(l.radius); ++k) {
          const std::int64_t here = node[axis];
          node[axis] = here + k;
          const T up = psi(pair, f, axis, node, strides[axis]);
          node[axis] = here - k;
          const T low = psi(pair, f, axis, node, strides[axis]);
          node[axis] = here;
          sum += l.slope[axis][k] * (up - low);
        }
        if (pair.has(node[axis])) {
          const LayerAccess<T>& layer = pair.of(node[axis]);
          const std::int64_t at = layer.at(node[0], node[1], node[2]);
          layer.psi_next[at] = psi(pair, f, axis, node, strides[axis]);
          const T* const p = s.now[f] + i;
          T second = s.second[axis][0] * p[0];
          for (int k = 1; k <= l.radius; ++k) {
            second += s.second[axis][k] * (p[k * strides[axis]] + p[-k * strides[axis]]);
          }
          layer.zeta[at] =
              pair.b[node[axis]] * layer.zeta[at] + pair.a[node[axis]] * (second + sum);
          sum += layer.zeta[at];
        }
        (axis == 2 ? down : across)[f] += sum;
      }
    }
    if (!any) return;
    const T w = s.taper[0][node[0]] * s.taper[1][node[1]] * s.taper[2][node[2]];
    correct_node<stencil, T>(s, i, w, across, down);
  }
};

/// Corrects the box of the arguments by the plain kernel.
template <class T, class Memory>
void correct_plainly(const Instance<Memory>& exec, const AllLayers<T>& l) {
  std::int64_t nodes = 1;
  for (int d = 0; d < 3; ++d) nodes *= l.s.upper[d] - l.s.lower[d];
  constexpr const char* label = "moho::wave::reference_layers";
  kernel::visit_stencil<cpml_stencils.bits>(l.stencil, [&](auto stencil) {
    launch(label, exec, nodes, ReferenceLayers<decltype(stencil)::value, T>{l});
  });
}

}  // namespace moho::wave::detail
