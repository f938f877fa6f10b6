// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Convolutional perfectly matched layers for equations of second order.
///
/// In a layer the derivative along its normal becomes d/dx + psi, with psi' = b psi + a dp/dx, and
/// the second derivative gains d psi/dx + zeta, with zeta' = b zeta + a (d2p/dx2 + d psi/dx)
/// (Komatitsch and Martin 2007; Pasalic and McGarry 2010). The correction is added to the result of
/// the step, face by face. psi has two time levels, so that boxes may be stepped in any order.

#include <moho/core/denormals.hpp>
#include <moho/core/launch.hpp>
#include <moho/wave/arguments.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// The factors a and b by node of the layer, from the inner edge outwards.
struct CpmlProfile {
  std::vector<double> a, b;
};

/// Factors for a layer of `width` nodes.
/// \param velocity the fastest wave, m/s
/// \param frequency about that of the source's peak, Hz: below it the layer only damps
inline CpmlProfile cpml_profile(int width, double spacing, double dt, double velocity,
                                double frequency) {
  constexpr double pi = 3.14159265358979323846;
  constexpr double reflection = 1.0e-5;  // wanted, of waves at normal incidence
  const double strongest = -3.0 * velocity * std::log(reflection) / (2.0 * width * spacing);
  CpmlProfile profile;
  for (int i = 0; i < width; ++i) {
    const double u = (i + 1.0) / width;
    const double damping = strongest * u * u;
    const double shift = pi * frequency * (1.0 - u);
    const double b = std::exp(-(damping + shift) * dt);
    profile.b.push_back(b);
    profile.a.push_back(damping / (damping + shift) * (b - 1.0));
  }
  return profile;
}

/// What a layer's correction reads and writes, on hosts and devices.
template <class T>
struct LayerArguments {
  StepArguments<T> s;
  int axis;                       ///< normal to the face: 0 x, 1 y, 2 z
  int inner, outer;               ///< the other axes
  int width;                      ///< nodes of the layer
  std::int64_t first;             ///< the layer's first node along the normal
  std::int64_t from, to;          ///< nodes along the normal that are corrected
  std::int64_t row_from, row_to;  ///< nodes of the layer, from 0, whose psi these nodes read
  Stencil stencil;                ///< of the step
  const T *a, *b;                 ///< factors by node of the layer, in order of the grid
  const T* psi_now[2];
  T *psi_next[2], *zeta[2];  ///< by node of the layer, the grid's order of axes
  std::int64_t strides[3];   ///< of those

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride(int d) const {
    return d == 0 ? s.stride_x : d == 1 ? s.stride_y : 1;
  }
};

/// True where the correction of a face needs psi of a field: the self-adjoint equations of VTI have
/// derivatives of p across the axis only, and of q along z only.
KOKKOS_FORCEINLINE_FUNCTION bool layer_has(Stencil stencil, int axis, int f) {
  return stencil != Stencil::vti || (axis == 2) == (f == 1);
}

/// True for stencils whose step on devices takes the layers along (cpml_device.hpp): those with one
/// field for each axis.
constexpr bool has_layer_march(Stencil stencil) {
  return stencil == Stencil::isotropic || stencil == Stencil::variable_density ||
         stencil == Stencil::vti;
}
/// The field with derivatives along an axis, of these stencils.
KOKKOS_FORCEINLINE_FUNCTION constexpr int layer_field(Stencil stencil, int axis) {
  return stencil == Stencil::vti && axis == 2 ? 1 : 0;
}

/// The memory of a layer by node of the grid: element origin + x stride_x + y stride_y + z.
template <class T>
struct LayerAccess {
  const T* psi_now;
  T *psi_next, *zeta;
  std::int64_t origin, stride_x, stride_y;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(std::int64_t x, std::int64_t y,
                                              std::int64_t z) const {
    return origin + x * stride_x + y * stride_y + z;
  }
};

/// The layers across an axis, of the field that has derivatives along it.
template <class T>
struct LayerPair {
  const T *a, *b;           ///< factors by node of the grid, zero outside of layers
  int lower_end;            ///< nodes below this one are in the lower layer
  int upper_begin;          ///< nodes from this one on are in the upper layer
  int extent;               ///< nodes of the grid
  LayerAccess<T> sides[2];  ///< lower, upper

  /// True for nodes of a layer.
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t node) const {
    return node >= 0 && node < extent && (node < lower_end || node >= upper_begin);
  }
  /// True where some of `count` nodes are in a layer.
  KOKKOS_FORCEINLINE_FUNCTION bool has_some(std::int64_t node, int count) const {
    return node + count > 0 && node < extent && (node < lower_end || node + count > upper_begin);
  }
  /// The node of a layer, or the first of a vector of `count` nodes, that is nearest.
  KOKKOS_FORCEINLINE_FUNCTION int nearest(int node, int side, int count) const {
    const int first = (side == 0 ? 0 : upper_begin) / count * count;
    const int last = ((side == 0 ? lower_end : extent) - 1) / count * count;
    return node < first ? first : node > last ? last : node;
  }
  /// True where `nodes` of interior, besides those that `radius` reaches, are between both layers,
  /// or between the only one and the other end of the grid.
  bool apart(int radius, int nodes) const {
    if (lower_end == 0 && upper_begin == extent) return true;
    return upper_begin - lower_end >= 2 * radius + nodes;
  }
};

/// What a step with layers reads and writes.
template <class T>
struct LayeredArguments {
  StepArguments<T> s;
  LayerPair<T> layers[3];
};

/// psi of a node of the layer: `p` and `slab` are where it is in the field and in the layer.
template <int radius, class T>
KOKKOS_FORCEINLINE_FUNCTION T layer_psi(const T* p, std::int64_t along, const T* c, T a, T b,
                                        T psi) {
  T slope = 0;
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) slope += c[k] * (p[k * along] - p[-k * along]);
  return b * psi + a * slope;
}

/// The second derivative along the normal.
template <int radius, class T>
KOKKOS_FORCEINLINE_FUNCTION T layer_second(const T* p, std::int64_t along, const T* c) {
  T second = c[0] * p[0];
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) second += c[k] * (p[k * along] + p[-k * along]);
  return second;
}

/// Adds the corrections of p and q at element i to the next values.
template <Stencil stencil, class T>
KOKKOS_FORCEINLINE_FUNCTION void correct_node(const StepArguments<T>& s, int axis, std::int64_t i,
                                              T w, T of_p, T of_q) {
  const T scale = w * s.scale[i];
  if constexpr (stencil == Stencil::vti) {
    s.next[0][i] += scale * (axis == 2 ? s.b[i] * of_q : s.a[i] * of_p);
    s.next[1][i] += scale * (axis == 2 ? of_q : s.b[i] * of_p);
  } else if constexpr (stencil == Stencil::vti_fletcher) {
    const T shear = magnitude<T>(s.a[i] - s.b[i]) * s.shear;
    if (axis == 2) {
      s.next[0][i] += scale * (shear * of_p + (T(1) - shear) * of_q);
      s.next[1][i] += scale * of_q;
    } else {
      s.next[0][i] += scale * s.a[i] * of_p;
      s.next[1][i] += scale * ((s.b[i] - shear) * of_p + shear * of_q);
    }
  } else if constexpr (stencil == Stencil::variable_density) {
    s.next[0][i] += scale * s.a[i] * of_p;
  } else {
    s.next[0][i] += scale * of_p;
  }
}

/// The correction of one face on a device: a team takes lines along the normal, with psi in
/// scratch.
template <Stencil stencil, class T, int radius, class Exec>
struct DeviceLayer {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 2>, Kokkos::IndexType<int>>;
  static constexpr int fields = fields_of(stencil);
  static constexpr int lines = 32, threads = 256;

  LayerArguments<T> l;
  int blocks;  ///< teams along `inner`
  /// Rows of psi, with zeros behind both ends.
  KOKKOS_FORCEINLINE_FUNCTION int depth() const { return l.width + 2 * radius; }
  std::size_t scratch() const {
    return ScratchView<T, Exec>::shmem_size(fields * (l.width + 2 * radius) * (lines + 1));
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

    // neighbouring threads take contiguous nodes: along the normal for faces at the ends of z,
    // across the lines for others
    const bool by_node = axis == 2;
    for (int n = member.team_rank(); n < depth() * lines; n += threads) {
      const int row = by_node ? n % depth() : n / lines;
      const int line = by_node ? n / depth() : n % lines;
      const int u = row - radius;
      const bool inside = u >= l.row_from && u < l.row_to && line < count;
      const std::int64_t node = l.first + u;
      const std::int64_t at = base + node * along + line * aside;
      const std::int64_t slab = slab_base + u * l.strides[axis] + line * l.strides[inner];
      for (int f = 0; f < fields; ++f) {
        T value = 0;
        if (inside && layer_has(stencil, axis, f)) {
          value = layer_psi<radius>(s.now[f] + at, along, s.first[axis], l.a[u], l.b[u],
                                    l.psi_now[f][slab]);
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
      T correction[2] = {0, 0};
      for (int f = 0; f < fields; ++f) {
        if (!layer_has(stencil, axis, f)) continue;
        const T* const here = psi + (f * depth() + u + radius) * (lines + 1) + line;
        T slope = 0;
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          // corrected nodes outside of the layer are at most `radius` away from it
          const T up = u + k < l.width + radius ? here[k * (lines + 1)] : T(0);
          const T low = u - k >= -radius ? here[-k * (lines + 1)] : T(0);
          slope += s.first[axis][k] * (up - low);
        }
        if (u >= 0 && u < l.width) {
          const std::int64_t slab = slab_base + u * l.strides[axis] + line * l.strides[inner];
          const T second = layer_second<radius>(s.now[f] + at, along, s.second[axis]);
          const T memory = l.b[u] * l.zeta[f][slab] + l.a[u] * (second + slope);
          l.zeta[f][slab] = memory;
          slope += memory;
        }
        correction[f] = slope;
      }
      std::int64_t place[3] = {corner[0], corner[1], corner[2]};
      place[axis] = node;
      place[inner] += line;
      const T w = s.taper[0][place[0]] * s.taper[1][place[1]] * s.taper[2][place[2]];
      correct_node<stencil, T>(s, axis, at, w, correction[0], correction[1]);
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

/// Corrects nodes side by side along z.
template <class T>
MOHO_NOINLINE void correct_piece(Stencil stencil, const StepArguments<T>& s, int axis,
                                 std::int64_t at, std::int64_t count, T fixed, const T* taper,
                                 const T* of_p, const T* of_q) {
  const auto loop = [&](auto kind) {
#pragma GCC ivdep
    for (std::int64_t n = 0; n < count; ++n) {
      correct_node<decltype(kind)::value, T>(s, axis, at + n, fixed * taper[n], of_p[n], of_q[n]);
    }
  };
  switch (stencil) {
    case Stencil::vti:
      return loop(std::integral_constant<Stencil, Stencil::vti>());
    case Stencil::vti_fletcher:
      return loop(std::integral_constant<Stencil, Stencil::vti_fletcher>());
    case Stencil::variable_density:
      return loop(std::integral_constant<Stencil, Stencil::variable_density>());
    default:
      return loop(std::integral_constant<Stencil, Stencil::isotropic>());
  }
}

/// The correction of one face on a host, for all lines of one node along `outer`. The innermost
/// loops run along contiguous nodes.
template <class T, int radius, bool along_z>
void layer_host(const LayerArguments<T>& l, std::int64_t outer) {
  const int fields = fields_of(l.stencil);
  constexpr std::int64_t chunk = 128;  ///< lines at once
  const StepArguments<T>& s = l.s;
  const int axis = along_z ? 2 : l.axis;
  const std::int64_t depth = l.width + 4 * radius;  // zeros behind both ends
  static thread_local std::vector<T> memory;
  const std::int64_t lines = std::min<std::int64_t>(chunk, s.upper[l.inner] - s.lower[l.inner]);
  memory.assign(static_cast<std::size_t>(fields * depth * lines), T(0));
  const std::int64_t along = along_z ? 1 : l.stride(axis), aside = along_z ? l.stride(l.inner) : 1;
  const std::int64_t slab_along = along_z ? 1 : l.strides[axis];
  const std::int64_t slab_aside = along_z ? l.strides[l.inner] : 1;
  // where psi of a node and a line is
  const std::int64_t psi_along = along_z ? 1 : lines, psi_aside = along_z ? depth : 1;

  for (std::int64_t start = s.lower[l.inner]; start < s.upper[l.inner]; start += lines) {
    const std::int64_t count = std::min(lines, s.upper[l.inner] - start);
    std::int64_t corner[3] = {0, 0, 0};
    corner[l.inner] = start;
    corner[l.outer] = outer;
    const std::int64_t base = s.flat(corner[0], corner[1], corner[2]);
    const std::int64_t slab_base = start * l.strides[l.inner] + outer * l.strides[l.outer];
    // rows run across the loops below: lines of faces at the ends of z, else nodes along the normal
    const auto psi_row = [&](int f, std::int64_t row, std::int64_t begin, std::int64_t end) {
      const std::int64_t u0 = along_z ? begin : row, line0 = along_z ? row : begin;
      const T* const p = s.now[f] + base + (l.first + u0) * along + line0 * aside;
      const T* const now = l.psi_now[f] + slab_base + u0 * slab_along + line0 * slab_aside;
      T* const to =
          memory.data() + f * depth * lines + (u0 + 2 * radius) * psi_along + line0 * psi_aside;
      const T* const a = l.a + u0;
      const T* const b = l.b + u0;
#pragma GCC ivdep
      for (std::int64_t n = 0; n < end - begin; ++n) {
        to[n] = layer_psi<radius>(p + n, along, s.first[axis], along_z ? a[n] : a[0],
                                  along_z ? b[n] : b[0], now[n]);
      }
      // only the box is written
      const std::int64_t low = std::max<std::int64_t>(l.row_from, s.lower[axis] - l.first);
      const std::int64_t high = std::min<std::int64_t>(l.row_to, s.upper[axis] - l.first);
      T* const next = l.psi_next[f] + slab_base + u0 * slab_along + line0 * slab_aside;
      const std::int64_t n0 = along_z ? low - u0 : 0;
      const std::int64_t n1 = along_z ? high - u0 : (row >= low && row < high ? end - begin : 0);
      for (std::int64_t n = n0; n < n1; ++n) next[n] = to[n];
    };
    // `layer`: the nodes have a zeta
    const auto correct_row = [&](std::int64_t row, std::int64_t begin, std::int64_t end,
                                 bool layer) {
      const std::int64_t u0 = along_z ? begin : row, line0 = along_z ? row : begin;
      const std::int64_t at = base + (l.first + u0) * along + line0 * aside;
      const T* const a = l.a + u0;
      const T* const b = l.b + u0;
      T fixed = s.taper[l.outer][outer];
      fixed *= along_z ? s.taper[l.inner][start + row] : s.taper[axis][l.first + row];
      const T* const taper =
          along_z ? s.taper[2] + l.first + begin : s.taper[l.inner] + start + begin;
      constexpr std::int64_t piece = 64;
      for (std::int64_t n0 = 0; n0 < end - begin; n0 += piece) {
        const std::int64_t n1 = std::min(end - begin, n0 + piece);
        T correction[2][piece] = {};
        for (int f = 0; f < fields; ++f) {
          if (!layer_has(l.stencil, axis, f)) continue;
          const T* const psi =
              memory.data() + f * depth * lines + (u0 + 2 * radius) * psi_along + line0 * psi_aside;
          const T* const p = s.now[f] + at;
          T* const zeta =
              layer ? l.zeta[f] + slab_base + u0 * slab_along + line0 * slab_aside : nullptr;
#pragma GCC ivdep
          for (std::int64_t n = n0; n < n1; ++n) {
            T slope = 0;
            MOHO_UNROLL
            for (int k = 1; k <= radius; ++k) {
              slope += s.first[axis][k] * (psi[n + k * psi_along] - psi[n - k * psi_along]);
            }
            correction[f][n - n0] = slope;
          }
          if (!layer) continue;
#pragma GCC ivdep
          for (std::int64_t n = n0; n < n1; ++n) {
            const T second = layer_second<radius>(p + n, along, s.second[axis]);
            const T value = (along_z ? b[n] : b[0]) * zeta[n] +
                            (along_z ? a[n] : a[0]) * (second + correction[f][n - n0]);
            zeta[n] = value;
            correction[f][n - n0] += value;
          }
        }
        correct_piece<T>(l.stencil, s, axis, at + n0, n1 - n0, fixed, taper + n0, correction[0],
                         correction[1]);
      }
    };
    const std::int64_t from = l.from - l.first, to = l.to - l.first;
    const std::int64_t low = std::clamp<std::int64_t>(from, 0, l.width);
    const std::int64_t high = std::clamp<std::int64_t>(to, 0, l.width);
    if constexpr (along_z) {
      for (std::int64_t line = 0; line < count; ++line) {
        for (int f = 0; f < fields; ++f) {
          if (layer_has(l.stencil, axis, f)) psi_row(f, line, l.row_from, l.row_to);
        }
        if (from < low) correct_row(line, from, std::min(low, to), false);
        correct_row(line, low, high, true);
        if (high < to) correct_row(line, std::max(high, from), to, false);
      }
    } else {
      for (int f = 0; f < fields; ++f) {
        for (std::int64_t u = l.row_from; u < l.row_to; ++u) {
          if (layer_has(l.stencil, axis, f)) psi_row(f, u, 0, count);
        }
      }
      for (std::int64_t u = from; u < to; ++u) correct_row(u, 0, count, u >= 0 && u < l.width);
    }
  }
}

/// Corrects the lines of one node along `outer`, for any order.
template <class T>
using LayerWork = void (*)(const LayerArguments<T>&, std::int64_t);

template <class T, int radius>
void layer_host_any(const LayerArguments<T>& l, std::int64_t outer) {
  if (l.axis == 2) {
    layer_host<T, radius, true>(l, outer);
  } else {
    layer_host<T, radius, false>(l, outer);
  }
}

/// Loop over nodes along `outer`.
template <class T>
struct LayerLoop {
  LayerArguments<T> l;
  LayerWork<T> work;
  void operator()(const std::int64_t n) const {
    const FlushDenormals flush;
    work(l, l.s.lower[l.outer] + n);
  }
};

/// The function of hosts for a layer, by order.
template <class T>
LayerWork<T> host_layer_of(int order) {
  const LayerWork<T> table[] = {&layer_host_any<T, 1>, &layer_host_any<T, 2>, &layer_host_any<T, 3>,
                                &layer_host_any<T, 4>, &layer_host_any<T, 5>, &layer_host_any<T, 6>,
                                &layer_host_any<T, 7>, &layer_host_any<T, 8>};
  return table[order / 2 - 1];
}

/// Corrects a layer on an instance.
template <class T, class Memory>
using LayerLaunch = void (*)(const Instance<Memory>&, const LayerArguments<T>&);

/// The kernels of devices for a layer, by order.
template <Stencil stencil, class T, class Exec>
LayerLaunch<T, MemoryOf<Exec>> device_layer_of(int order) {
  const LayerLaunch<T, MemoryOf<Exec>> table[] = {
      &DeviceLayer<stencil, T, 1, Exec>::run, &DeviceLayer<stencil, T, 2, Exec>::run,
      &DeviceLayer<stencil, T, 3, Exec>::run, &DeviceLayer<stencil, T, 4, Exec>::run,
      &DeviceLayer<stencil, T, 5, Exec>::run, &DeviceLayer<stencil, T, 6, Exec>::run,
      &DeviceLayer<stencil, T, 7, Exec>::run, &DeviceLayer<stencil, T, 8, Exec>::run};
  return table[order / 2 - 1];
}
/// The same for a stencil chosen at run time.
template <class T, class Exec>
LayerLaunch<T, MemoryOf<Exec>> device_layer_of(Stencil stencil, int order) {
  switch (stencil) {
    case Stencil::vti:
      return device_layer_of<Stencil::vti, T, Exec>(order);
    case Stencil::vti_fletcher:
      return device_layer_of<Stencil::vti_fletcher, T, Exec>(order);
    case Stencil::variable_density:
      return device_layer_of<Stencil::variable_density, T, Exec>(order);
    default:
      return device_layer_of<Stencil::isotropic, T, Exec>(order);
  }
}

/// Corrects the layer of the arguments on the instance. No stencil of TTI has layers.
template <class T, class Memory>
void correct_layer(const Instance<Memory>& exec, int order, const LayerArguments<T>& l) {
  if (l.from >= l.to) return;
  if constexpr (is_host_memory<Memory>) {
    launch("moho::wave::cpml", exec, l.s.upper[l.outer] - l.s.lower[l.outer],
           LayerLoop<T>{l, host_layer_of<T>(order)});
  } else {
    device_layer_of<T, DeviceOf<Memory>>(l.stencil, order)(exec, l);
  }
}

}  // namespace moho::wave::detail

/// \cond
#define MOHO_WAVE_HOST_LAYERS(prefix, T) prefix template LayerWork<T> host_layer_of<T>(int);
#define MOHO_WAVE_DEVICE_LAYER(prefix, stencil, T, Exec)                                         \
  prefix template LayerLaunch<T, Exec::memory_space> device_layer_of<Stencil::stencil, T, Exec>( \
      int);
#define MOHO_WAVE_DEVICE_LAYERS(prefix, T, Exec)            \
  MOHO_WAVE_DEVICE_LAYER(prefix, isotropic, T, Exec)        \
  MOHO_WAVE_DEVICE_LAYER(prefix, variable_density, T, Exec) \
  MOHO_WAVE_DEVICE_LAYER(prefix, vti, T, Exec)              \
  MOHO_WAVE_DEVICE_LAYER(prefix, vti_fletcher, T, Exec)
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave::detail {
MOHO_WAVE_HOST_LAYERS(extern, float)
#ifdef KOKKOS_ENABLE_CUDA
MOHO_WAVE_DEVICE_LAYERS(extern, float, Kokkos::Cuda)
#endif
#ifndef MOHO_SINGLE_KERNELS
MOHO_WAVE_HOST_LAYERS(extern, double)
#ifdef KOKKOS_ENABLE_CUDA
MOHO_WAVE_DEVICE_LAYERS(extern, double, Kokkos::Cuda)
#endif
#endif
}  // namespace moho::wave::detail
#endif
/// \endcond
