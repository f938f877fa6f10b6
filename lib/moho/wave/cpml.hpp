// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Convolutional perfectly matched layers for equations of second order.
///
/// In a layer the derivative along its normal becomes d/dx + psi, with psi' = b psi + a dp/dx, and
/// the second derivative gains d psi/dx + zeta, with zeta' = b zeta + a (d2p/dx2 + d psi/dx)
/// (Komatitsch and Martin 2007; Pasalic and McGarry 2010). The correction is added to what the step
/// left, face by face. psi has two time levels, so that boxes may be stepped in any order.

#include <moho/wave/arguments.hpp>

#include <cmath>
#include <vector>

namespace moho::wave::detail {

/// The factors a and b by node of the layer, from the inner edge outwards.
struct CpmlProfile {
  std::vector<double> a, b;
};

/// Factors for a layer of `width` nodes.
/// \param velocity the fastest wave, m/s
/// \param frequency that of the source's peak or so, Hz: below it the layer turns into a damper
inline CpmlProfile cpml_profile(int width, double spacing, double dt, double velocity,
                                double frequency) {
  constexpr double pi = 3.14159265358979323846;
  constexpr double reflection = 1.0e-5;  // wanted, of waves straight into the layer
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

/// The correction of one face.
template <Scheme scheme, class T, class Exec>
struct CpmlFace {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  static constexpr int fields = fields_of(scheme);
  static constexpr int lines = 32;  ///< lines along the normal that a team corrects

  StepArguments<T> s;
  int radius;
  int axis;               ///< normal to the face: 0 x, 1 y, 2 z
  int inner, outer;       ///< the other axes; lines of a team lie along `inner`
  int width;              ///< nodes of the layer
  std::int64_t first;     ///< the layer's first node along the normal
  std::int64_t from, to;  ///< nodes along the normal that are corrected
  const T *a, *b;         ///< factors by node of the layer, in order of the grid
  const T* psi_now[2];
  T *psi_next[2], *zeta[2];  ///< by node of the layer, the grid's order of axes
  std::int64_t strides[3];   ///< of those
  std::int64_t blocks;       ///< teams along `inner`

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride(int d) const {
    return d == 0 ? s.stride_x : d == 1 ? s.stride_y : 1;
  }

  /// Calls f(position along the normal, line) for all of a tile, lanes along what is contiguous.
  template <class Member, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_tile(const Member& member, std::int64_t begin,
                                            std::int64_t end, int count,
                                            const Function& function) const {
    if (axis == 2) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](const int line) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, static_cast<int>(end - begin)),
                             [&](const int u) { function(begin + u, line); });
      });
    } else {
      Kokkos::parallel_for(
          Kokkos::TeamThreadRange(member, static_cast<int>(end - begin)), [&](const int u) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, count),
                                 [&](const int line) { function(begin + u, line); });
          });
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const ScratchView<T, Exec> scratch(member.team_scratch(0), fields * width * lines);
    T* const psi = scratch.data();
    const std::int64_t block = member.league_rank() % blocks;
    std::int64_t corner[3];
    corner[axis] = 0;
    corner[inner] = s.lower[inner] + block * lines;
    corner[outer] = s.lower[outer] + member.league_rank() / blocks;
    const std::int64_t rest = s.upper[inner] - corner[inner];
    const int count = rest < lines ? static_cast<int>(rest) : lines;
    const std::int64_t base = s.flat(corner[0], corner[1], corner[2]);
    const std::int64_t slab_base = corner[inner] * strides[inner] + corner[outer] * strides[outer];
    const std::int64_t along = stride(axis), aside = stride(inner);

    for_tile(member, first, first + width, count, [&](const std::int64_t node, const int line) {
      const std::int64_t u = node - first;
      const std::int64_t at = base + node * along + line * aside;
      const std::int64_t slab = slab_base + u * strides[axis] + line * strides[inner];
      for (int f = 0; f < fields; ++f) {
        const T* const p = s.now[f] + at;
        T slope = 0;
        for (int k = 1; k <= radius; ++k) {
          slope += s.first[axis][k] * (p[k * along] - p[-k * along]);
        }
        const T value = b[u] * psi_now[f][slab] + a[u] * slope;
        psi[(f * width + u) * lines + line] = value;
        if (node >= s.lower[axis] && node < s.upper[axis]) psi_next[f][slab] = value;
      }
    });
    member.team_barrier();
    for_tile(member, from, to, count, [&](const std::int64_t node, const int line) {
      const std::int64_t u = node - first;
      const bool inside = u >= 0 && u < width;
      const std::int64_t at = base + node * along + line * aside;
      T correction[2] = {0, 0};
      for (int f = 0; f < fields; ++f) {
        T slope = 0;
        for (int k = 1; k <= radius; ++k) {
          const T up = u + k >= 0 && u + k < width ? psi[(f * width + u + k) * lines + line] : T(0);
          const T low =
              u - k >= 0 && u - k < width ? psi[(f * width + u - k) * lines + line] : T(0);
          slope += s.first[axis][k] * (up - low);
        }
        if (inside) {
          const T* const p = s.now[f] + at;
          T second = s.second[axis][0] * p[0];
          for (int k = 1; k <= radius; ++k) {
            second += s.second[axis][k] * (p[k * along] + p[-k * along]);
          }
          const std::int64_t slab = slab_base + u * strides[axis] + line * strides[inner];
          const T memory = b[u] * zeta[f][slab] + a[u] * (second + slope);
          zeta[f][slab] = memory;
          slope += memory;
        }
        correction[f] = slope;
      }
      std::int64_t place[3] = {corner[0], corner[1], corner[2]};
      place[axis] = node;
      place[inner] += line;
      const T w = s.taper[0][place[0]] * s.taper[1][place[1]] * s.taper[2][place[2]];
      const T scale = w * s.scale[at];
      if constexpr (scheme == Scheme::vti) {
        const T change = axis == 2 ? s.b[at] * correction[1] : s.a[at] * correction[0];
        s.before[0][at] += scale * change;
        s.before[1][at] += scale * (axis == 2 ? correction[1] : s.b[at] * correction[0]);
      } else if constexpr (scheme == Scheme::vti_fletcher) {
        const T shear = magnitude<T>(s.a[at] - s.b[at]) * s.shear;
        if (axis == 2) {
          s.before[0][at] += scale * (shear * correction[0] + (T(1) - shear) * correction[1]);
          s.before[1][at] += scale * correction[1];
        } else {
          s.before[0][at] += scale * s.a[at] * correction[0];
          s.before[1][at] += scale * ((s.b[at] - shear) * correction[0] + shear * correction[1]);
        }
      } else if constexpr (scheme == Scheme::variable_density) {
        s.before[0][at] += scale * s.a[at] * correction[0];
      } else {
        s.before[0][at] += scale * correction[0];
      }
    });
  }

  /// Corrects the box of the arguments.
  void run(const Exec& exec) const {
    if (from >= to) return;
    const std::int64_t teams = blocks * (s.upper[outer] - s.lower[outer]);
    if (teams <= 0) return;
    constexpr int threads = is_host_space<Exec> ? 1 : 8, vector = is_host_space<Exec> ? 1 : 32;
    Policy policy(exec, static_cast<int>(teams), threads, vector);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(ScratchView<T, Exec>::shmem_size(fields * width * lines)));
    Kokkos::parallel_for("moho::wave::cpml", light_weight(policy), *this);
  }
};

}  // namespace moho::wave::detail
