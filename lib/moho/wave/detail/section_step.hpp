// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Step of small sections on devices: a thread steps a node (kernel/section_device.hpp).
///
/// A node within reach of a layer computes psi of its neighbours again. Results have the bits of
/// the marches (cpml_device.hpp).

#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/kernel/section_device.hpp>

#include <cmath>
#include <cstdint>

namespace moho::wave::detail {

/// Functor of the step of a section. \tparam layered true: with perfectly matched layers
template <Stencil stencil, class T, int radius, bool layered>
struct SectionStep {
  static constexpr int reach = layer_radius(radius);  ///< radius of first derivatives

  LayeredArguments<T> l;
  kernel::SectionThreads threads;

  /// Returns the new psi of a node of a layer; p points to it.
  /// \param psi,a,b of the node
  KOKKOS_FORCEINLINE_FUNCTION T new_psi(int axis, const T* p, std::int64_t stride, T psi, T a,
                                        T b) const {
    using std::fma;
    T slope = 0;
    MOHO_UNROLL
    for (int k = 1; k <= reach; ++k) {
      slope += l.slope[axis][k] * (p[k * stride] - p[-k * stride]);
    }
    return fma(a, slope, b * psi);
  }
  /// \brief Updates psi and zeta of a node. Returns what they add to the second derivative.
  ///
  /// Neighbours outside the layer have factors of zero instead of a branch, so that the loads of
  /// all neighbours are in flight together.
  /// \param pair,side both layers across the axis, and the near one
  /// \param axis 0 x, 2 z
  /// \param node number along the axis
  /// \param p value of the node
  /// \param stride distance of neighbours in p
  /// \param at,step element of the node and distance of neighbours in the arrays of the near layer
  /// \param second second derivative without the layer
  KOKKOS_FORCEINLINE_FUNCTION T layer(const LayerPair<T>& pair, const LayerAccess<T>& side,
                                      int axis, int node, const T* p, std::int64_t stride,
                                      std::int64_t at, std::int64_t step, T second) const {
    const bool lower = node < pair.lower_end + reach;
    // the node within its layer, which has `count` nodes
    const int number = lower ? node : node - pair.upper_begin;
    const unsigned count = lower ? pair.lower_end : pair.extent - pair.upper_begin;
    const T *const of_a = pair.a + node, *const of_b = pair.b + node;
    T before[2 * reach + 1], a[2 * reach + 1], b[2 * reach + 1];
    MOHO_UNROLL
    for (int k = -reach; k <= reach; ++k) {
      before[reach + k] = a[reach + k] = b[reach + k] = T(0);
      if (static_cast<unsigned>(number + k) < count) {
        before[reach + k] = side.psi_now[at + k * step];
        a[reach + k] = of_a[k];
        b[reach + k] = of_b[k];
      }
    }
    T psi[2 * reach + 1];
    MOHO_UNROLL
    for (int k = -reach; k <= reach; ++k) {
      // steps of a smaller radius have no values so far beyond the grid
      const bool reads = radius >= 2 * reach || static_cast<unsigned>(number + k) < count;
      psi[reach + k] = new_psi(axis, reads ? p + k * stride : p, stride, before[reach + k],
                               a[reach + k], b[reach + k]);
    }
    T change = 0;
    MOHO_UNROLL
    for (int k = 1; k <= reach; ++k) {
      change += l.slope[axis][k] * (psi[reach + k] - psi[reach - k]);
    }
    if (static_cast<unsigned>(number) < count) {
      const T zeta = b[reach] * side.zeta[at] + a[reach] * (second + change);
      change += zeta;
      side.zeta[at] = zeta;
      side.psi_next[at] = psi[reach];
    }
    return change;
  }
  /// Factors of a node, which are the same in all steps.
  struct Factors {
    T scale, taper;
  };
  KOKKOS_FORCEINLINE_FUNCTION static Factors factors(const StepArguments<T>& s, int x, int z) {
    const std::int64_t y = s.lower[1];
    return {s.scale[s.flat(x, y, z)], s.taper[0][x] * (s.taper[1][y] * s.taper[2][z])};
  }
  /// \brief Steps a node of a wavefield.
  /// \param s with the arrays of the wavefield
  /// \param by offset in elements of its psi and zeta from those of the first wavefield
  /// \param of_node its factors
  /// \param see see(second_x, second_z) receives the second derivatives without those of layers
  template <class See>
  KOKKOS_FORCEINLINE_FUNCTION void step(const StepArguments<T>& s, int x, int z, std::int64_t by,
                                        const Factors& of_node, const See& see) const {
    const std::int64_t y = s.lower[1], at = s.flat(x, y, z);
    const T* const p = s.now[0] + at;
    const T* const q = s.now[layer_field(stencil, 2)] + at;  // with derivatives along z
    const T second_x = kernel::second_across<radius>(s, p),
            second_z = kernel::second_down<radius>(s, q);
    see(second_x, second_z);
    T across = 0, down = 0;
    if constexpr (layered) {
      const LayerPair<T>&lx = l.layers[0], &lz = l.layers[2];
      if (lx.reaches(x, reach)) {
        const LayerAccess<T>& side = lx.sides[x < lx.lower_end + reach ? 0 : 1];
        across =
            layer(lx, side, 0, x, p, s.stride_x, by + side.at(x, y, z), side.stride_x, second_x);
      }
      if (lz.reaches(z, reach)) {
        const LayerAccess<T>& side = lz.sides[z < lz.lower_end + reach ? 0 : 1];
        down = layer(lz, side, 2, z, q, 1, by + side.at(x, y, z), 1, second_z);
      }
    }
    const T scale = of_node.scale, taper = of_node.taper;
    if constexpr (stencil == Stencil::vti) {
      T change_p, change_q;
      symmetric_change<T>(second_x + across, second_z + down, s.a[at], s.b[at], change_p, change_q);
      s.next[0][at] = next_value<T>(p[0], s.next[0][at], scale * change_p, taper);
      s.next[1][at] = next_value<T>(q[0], s.next[1][at], scale * change_q, taper);
    } else {
      T total = second_x;
      total += second_z + (across + down);
      if constexpr (stencil == Stencil::variable_density) total -= s.a[at] * p[0];
      s.next[0][at] = next_value<T>(p[0], s.next[0][at], scale * total, taper);
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    int shot, x, z;
    if (!threads.place(l.s, n, shot, x, z)) return;
    const StepArguments<T>& s = l.s.shots == 1 ? l.s : l.s.of_shot(shot);
    step(s, x, z, shot * l.s.batch_stride, factors(s, x, z), [](T, T) {});
  }
};

/// \brief Steps the box of the arguments if it is small. Returns false without a step otherwise.
///
/// Boxes of a grid that are stepped by marches have the same bits.
template <Stencil stencil, class T, int radius, bool layered, class Memory>
bool section_step(const Instance<Memory>& exec, const LayeredArguments<T>& arguments) {
  SectionStep<stencil, T, radius, layered> step{arguments, {}};
  const std::int64_t count = step.threads.cover(arguments.s, fields_of(stencil));
  if (count == 0) return false;
  launch("moho::wave::section_step", exec, count, step);
  return true;
}

}  // namespace moho::wave::detail
