// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Perfectly matched layers on devices, face by face, after the step.
///
/// Fletcher's equations use them, and grids that are too thin for the kernels of cpml_device.hpp.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/cpml.hpp>

namespace moho::wave::detail {

/// Correction of one face on a device: a team processes lines along the normal.
///
/// psi is in scratch.
template <Stencil stencil, class T, int radius, class Exec>
struct DeviceLayer {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 2>, Kokkos::IndexType<int>>;
  static constexpr int fields = kernel::field_count<stencil>;
  static constexpr int lines = 32, threads = 256;
  static constexpr int reach = layer_radius(radius);  ///< radius of first derivatives

  LayerArguments<T> l;
  int blocks;  ///< teams along `inner`
  /// Returns the rows of psi, with zeros beyond both ends.
  KOKKOS_FORCEINLINE_FUNCTION int depth() const { return l.width + 2 * reach; }
  std::size_t scratch() const {
    return ScratchView<T, Exec>::shmem_size(fields * (l.width + 2 * reach) * (lines + 1));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const StepArguments<T>& s = l.s;
    const ScratchView<T, Exec> scratch_view(member.team_scratch(0), fields * depth() * (lines + 1));
    T* const psi = scratch_view.data();
    const int axis = l.axis, inner = l.inner, outer = l.outer;
    std::int64_t corner[3];
    corner[axis] = 0;
    corner[inner] =
        s.lower[inner] + static_cast<std::int64_t>(member.league_rank() % blocks) * lines;
    corner[outer] = s.lower[outer] + member.league_rank() / blocks;
    const std::int64_t rest = s.upper[inner] - corner[inner];
    const int count = rest < lines ? static_cast<int>(rest) : lines;
    const std::int64_t base = s.flat(corner[0], corner[1], corner[2]);
    const std::int64_t slab_base =
        corner[inner] * l.strides[inner] + corner[outer] * l.strides[outer];
    const std::int64_t along = l.stride(axis), aside = l.stride(inner);

    // neighbouring threads process contiguous nodes: along the normal for faces at the ends of z,
    // across the lines for others
    const bool by_node = axis == 2;
    for (int n = member.team_rank(); n < depth() * lines; n += threads) {
      const int row = by_node ? n % depth() : n / lines;
      const int line = by_node ? n / depth() : n % lines;
      const int u = row - reach;
      const bool inside = u >= l.row_from && u < l.row_to && line < count;
      const std::int64_t node = l.first + u;
      const std::int64_t at = base + node * along + line * aside;
      const std::int64_t slab = slab_base + u * l.strides[axis] + line * l.strides[inner];
      for (int f = 0; f < fields; ++f) {
        T value = 0;
        if (inside && layer_has(stencil, axis, f)) {
          value =
              layer_psi<reach>(s.now[f] + at, along, l.slope, l.a[u], l.b[u], l.psi_now[f][slab]);
          if (node >= s.lower[axis] && node < s.upper[axis]) l.psi_next[f][slab] = value;
        }
        psi[(f * depth() + row) * (lines + 1) + line] = value;
      }
    }
    member.team_barrier();
    const int length = static_cast<int>(l.to - l.from);
    for (int n = member.team_rank(); n < length * lines; n += threads) {
      const int step = by_node ? n % length : n / lines;
      const int line = by_node ? n / length : n % lines;
      if (line >= count) continue;
      const std::int64_t node = l.from + step;
      const int u = static_cast<int>(node - l.first);
      const std::int64_t at = base + node * along + line * aside;
      T across[2] = {0, 0}, down[2] = {0, 0};
      for (int f = 0; f < fields; ++f) {
        if (!layer_has(stencil, axis, f)) continue;
        const T* const here = psi + (f * depth() + u + reach) * (lines + 1) + line;
        T slope = 0;
        MOHO_UNROLL
        for (int k = 1; k <= reach; ++k) {
          // corrected nodes outside the layer are within `reach` of it
          const T up = u + k < l.width + reach ? here[k * (lines + 1)] : T(0);
          const T low = u - k >= -reach ? here[-k * (lines + 1)] : T(0);
          slope += l.slope[k] * (up - low);
        }
        if (u >= 0 && u < l.width) {
          const std::int64_t slab = slab_base + u * l.strides[axis] + line * l.strides[inner];
          const T second = layer_second<radius>(s.now[f] + at, along, s.second[axis]);
          const T memory = l.b[u] * l.zeta[f][slab] + l.a[u] * (second + slope);
          l.zeta[f][slab] = memory;
          slope += memory;
        }
        (axis == 2 ? down[f] : across[f]) = slope;
      }
      std::int64_t position[3] = {corner[0], corner[1], corner[2]};
      position[axis] = node;
      position[inner] += line;
      const T w = s.taper[0][position[0]] * s.taper[1][position[1]] * s.taper[2][position[2]];
      correct_node<stencil, T>(s, at, w, across, down);
    }
  }

  /// Corrects the box of the arguments.
  static void run(const Instance<MemoryOf<Exec>>& exec, const LayerArguments<T>& arguments) {
    const StepArguments<T>& s = arguments.s;
    DeviceLayer layer{arguments, 0};
    layer.blocks =
        static_cast<int>((s.upper[arguments.inner] - s.lower[arguments.inner] + lines - 1) / lines);
    const std::int64_t teams = layer.blocks * (s.upper[arguments.outer] - s.lower[arguments.outer]);
    Policy policy(exec.space(), static_cast<int>(teams), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(layer.scratch()));
    Kokkos::parallel_for("moho::wave::cpml", light_weight(policy), layer);
  }
};

/// Function that corrects a layer on an instance.
template <class T, class Memory>
using LayerLaunch = void (*)(const Instance<Memory>&, const LayerArguments<T>&);

/// Returns the kernel of devices for a layer, by order.
template <Stencil stencil, class T, class Exec>
LayerLaunch<T, MemoryOf<Exec>> device_layer_of(int order) {
  const LayerLaunch<T, MemoryOf<Exec>> table[] = {
      &DeviceLayer<stencil, T, 1, Exec>::run, &DeviceLayer<stencil, T, 2, Exec>::run,
      &DeviceLayer<stencil, T, 3, Exec>::run, &DeviceLayer<stencil, T, 4, Exec>::run,
      &DeviceLayer<stencil, T, 5, Exec>::run, &DeviceLayer<stencil, T, 6, Exec>::run,
      &DeviceLayer<stencil, T, 7, Exec>::run, &DeviceLayer<stencil, T, 8, Exec>::run};
  return table[order / 2 - 1];
}
/// Returns the kernel of devices for a layer, for a stencil chosen at run time.
template <class T, class Exec>
LayerLaunch<T, MemoryOf<Exec>> device_layer_of(Stencil stencil, int order) {
  return kernel::visit_stencil<cpml_stencils.bits>(stencil, [&](auto constant) {
    return device_layer_of<decltype(constant)::value, T, Exec>(order);
  });
}

}  // namespace moho::wave::detail

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave::detail {
MOHO_FOR_SCALARS(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, device_layer_of,
                 Stencil::isotropic)
MOHO_FOR_SCALARS(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, device_layer_of,
                 Stencil::variable_density)
MOHO_FOR_SCALARS(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, device_layer_of, Stencil::vti)
MOHO_FOR_SCALARS(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, device_layer_of,
                 Stencil::vti_fletcher)
}  // namespace moho::wave::detail
#endif
/// \endcond
