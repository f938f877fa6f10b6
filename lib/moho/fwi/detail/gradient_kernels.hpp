// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of gradients (internal). docs/theory/inversion.md has the formulas.

#include <moho/core/denormals.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/wave/kernel/arguments.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace moho::fwi::detail {

/// Returns the element of a node in the contiguous array of a box.
template <int Dim>
struct DenseBox {
  Box<Dim> box;
  Index<Dim> strides;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(const Index<Dim>& node) const {
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) i += (node[d] - box.lower[d]) * strides[d];
    return i;
  }
};
template <int Dim>
DenseBox<Dim> dense(const Box<Dim>& box) {
  return {box, dense_strides(box)};
}

/// Kernel: copies contiguous nodes of a box to a padded array.
template <class T, int Dim>
struct PutNodes {
  const T* from;
  T* to;
  wave::Layout<Dim> layout;
  DenseBox<Dim> nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    to[layout.flat(node)] = from[nodes.at(node)];
  }
};

/// Source wavefield at one time.
template <class T, int Dim>
struct SourceValues {
  const T* fields[2];    ///< null: at rest
  Box<Dim> box;          ///< nodes of the values
  DenseBox<Dim> values;  ///< layout of the values
};

/// Kernel: sums u . (D nu + residual) and p^2; copies both factors for extended images.
template <class T, int Dim>
struct AddScale {
  const T *p, *q;                ///< snapshot; q may be null
  DenseBox<Dim> snapshot;        ///< its nodes
  const T *change_p, *change_q;  ///< D nu, padded
  wave::Layout<Dim> layout;
  DenseBox<Dim> sums;
  T *scale, *illumination;
  T weight, time;
  T *kept_source[2], *kept_change[2];  ///< copies of u and D nu on the nodes of the sums; null: no
                                       ///< copies
  KOKKOS_FORCEINLINE_FUNCTION void at(std::int64_t from, std::int64_t to, T of_p, T of_q) const {
    const T u = p[from];
    T product = u * of_p;
    if (q != nullptr) product += q[from] * of_q;
    if (kept_source[0] != nullptr) {
      kept_source[0][to] = u;
      kept_change[0][to] = of_p;
      if (q != nullptr) {
        kept_source[1][to] = q[from];
        kept_change[1][to] = of_q;
      }
    }
    scale[to] += weight * product;
    illumination[to] += time * u * u;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const std::int64_t i = layout.flat(node);
    at(snapshot.at(node), sums.at(node), change_p[i], q != nullptr ? change_q[i] : T(0));
  }
};

/// Kernel: sets nodes of a padded array to zero.
template <class T, int Dim>
struct ZeroNodes {
  T* values;
  wave::Layout<Dim> layout;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    values[layout.flat(node)] = T(0);
  }
};
/// Kernel: sums u . residual, with residuals in change_p, after the sum of u . D nu.
template <class T, int Dim>
struct AddResiduals {
  AddScale<T, Dim> add;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const T residual = add.change_p[add.layout.flat(node)];
    const std::int64_t to = add.sums.at(node);
    add.scale[to] += add.weight * (add.p[add.snapshot.at(node)] * residual);
    if (add.kept_change[0] != nullptr) add.kept_change[0][to] += residual;
  }
};

/// \brief Kernel: derivatives with respect to a = 1 + 2 epsilon and r = sqrt(1 + 2 delta).
///
/// lambda is that of p; w S lambda_q = nu_q - w S r lambda_p.
template <class T, int Dim>
struct AddAnisotropy {
  wave::kernel::StepArguments<T> s;
  const T* lambda;             ///< at lambda_nodes
  DenseBox<Dim> lambda_nodes;  ///< layout of lambda
  const T* nu_q;               ///< padded
  const T *h2p, *h1q;          ///< of the source wavefield, padded; null: zero
  const T* source;             ///< what is injected in the step, over S, padded
  wave::Layout<Dim> layout;
  DenseBox<Dim> sums;
  T *d_a, *d_r;
  T weight;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const std::int64_t to = sums.at(node), element = layout.flat(node);
    const std::int64_t i = element - layout.offset;
    T w = s.taper[0][node[0]] * s.taper[2][node[Dim - 1]];
    if (Dim == 3) w *= s.taper[1][node[1]];
    if (!(w > T(0))) return;  // on a free surface
    const T r = s.b[i], S = s.scale[i];
    const T of_p = w * S * lambda[lambda_nodes.at(node)];
    const T of_q = nu_q[element] - r * of_p;
    const T second_p = h2p != nullptr ? h2p[element] : T(0);
    const T second_q = h1q != nullptr ? h1q[element] : T(0);
    d_a[to] += weight * of_p * second_p;
    d_r[to] += weight * (of_p * second_q + of_q * (second_p - source[element] / (w * r * r)));
  }
};

/// Kernel: derivative with respect to b = 1 / rho.
template <class T, int Dim>
struct AddBuoyancy {
  wave::kernel::StepArguments<T> s;
  int radius;
  const T *p, *nu;  ///< padded, odd behind free surfaces
  wave::Layout<Dim> layout;
  Index<Dim> extents;  ///< of the grid
  bool free_lower[Dim], free_upper[Dim];
  DenseBox<Dim> sums;
  T* d_b;
  T weight;

  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const std::int64_t i = layout.flat(node);
    T sum = 0;
    for (int d = 0; d < Dim; ++d) {
      const int axis = d == Dim - 1 ? 2 : d;
      const std::int64_t stride = layout.strides[d];
      const T* const c = s.second[axis];
      // a node on a free face is its own image: what is counted on both sides counts once
      const bool on_face =
          (node[d] == 0 && free_lower[d]) || (node[d] == extents[d] - 1 && free_upper[d]);
      const T share = on_face ? T(0.25) : T(0.5);
      for (int k = 1; k <= radius; ++k) {
        const std::int64_t up = i + k * stride, low = i - k * stride;
        sum -= share * c[k] *
               ((nu[up] - nu[i]) * (p[up] - p[i]) + (nu[low] - nu[i]) * (p[low] - p[i]));
      }
      // nodes outside of a face that is not free have the b of the node on it, and no field
      if (node[d] == 0 && !free_lower[d]) sum += beyond(c, i, stride);
      if (node[d] == extents[d] - 1 && !free_upper[d]) sum += beyond(c, i, -stride);
    }
    d_b[sums.at(node)] += weight * sum;
  }
  KOKKOS_INLINE_FUNCTION T beyond(const T* c, std::int64_t i, std::int64_t inwards) const {
    T sum = 0;
    for (int depth = 0; depth < radius; ++depth) {
      const std::int64_t at = i + depth * inwards;
      for (int k = depth + 1; k <= radius; ++k) sum -= T(0.5) * c[k] * nu[at] * p[at];
    }
    return sum;
  }
};

/// \brief Kernel of hosts: derivative with respect to b = 1 / rho by rows, off the faces.
///
/// The radius is a constant, and loops have no branches.
template <class T, int Dim, int radius>
struct BuoyancyRows {
  AddBuoyancy<T, Dim> add;
  Box<Dim> box, rows;  ///< nodes, and the first nodes of rows
  void operator()(const std::int64_t row) const {
    Index<Dim> node = rows.node(row);
    const std::int64_t begin = box.lower[Dim - 1], end = box.upper[Dim - 1];
    std::int64_t from = std::max<std::int64_t>(begin, 1);
    std::int64_t to = std::max(from, std::min(end, add.extents[Dim - 1] - 1));
    for (int d = 0; d + 1 < Dim; ++d) {
      if (node[d] == 0 || node[d] == add.extents[d] - 1) from = to = end;
    }
    for (node[Dim - 1] = begin; node[Dim - 1] < from; ++node[Dim - 1]) add(node);
    node[Dim - 1] = from;
    const std::int64_t i0 = add.layout.flat(node), to0 = add.sums.at(node);
    const T* const nu = add.nu + i0;
    const T* const p = add.p + i0;
    T* const sums = add.d_b + to0;
    // local copies without aliases permit vectorisation
    T c[Dim][radius + 1];
    std::int64_t strides[Dim];
    for (int d = 0; d < Dim; ++d) {
      strides[d] = add.layout.strides[d];
      for (int k = 1; k <= radius; ++k) {
        c[d][k] = T(0.5) * add.s.second[d == Dim - 1 ? 2 : d][k];
      }
    }
    const T weight = add.weight;
    const FlushDenormals flush;  // in front of waves
    MOHO_INDEPENDENT
    for (std::int64_t z = 0; z < to - from; ++z) {
      T sum = 0;
      MOHO_UNROLL
      for (int d = 0; d < Dim; ++d) {
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          const std::int64_t up = z + k * strides[d], low = z - k * strides[d];
          sum -=
              c[d][k] * ((nu[up] - nu[z]) * (p[up] - p[z]) + (nu[low] - nu[z]) * (p[low] - p[z]));
        }
      }
      sums[z] += weight * sum;
    }
    for (node[Dim - 1] = to; node[Dim - 1] < end; ++node[Dim - 1]) add(node);
  }
};

/// Adds the derivative with respect to b at the nodes of a box.
template <class T, int Dim, class Memory>
void launch_buoyancy(const Instance<Memory>& exec, const Box<Dim>& box,
                     const AddBuoyancy<T, Dim>& add) {
  constexpr const char* label = "moho::fwi::add_buoyancy";
  if constexpr (is_host_memory<Memory>) {
    Box<Dim> rows = box;
    rows.upper[Dim - 1] = std::min(box.upper[Dim - 1], box.lower[Dim - 1] + 1);
    if (rows.empty()) return;
    const auto run = [&](auto radius) {
      launch(label, exec, rows.size(),
             BuoyancyRows<T, Dim, decltype(radius)::value>{add, box, rows});
    };
    switch (add.radius) {
      case 1:
        return run(std::integral_constant<int, 1>());
      case 2:
        return run(std::integral_constant<int, 2>());
      case 3:
        return run(std::integral_constant<int, 3>());
      case 4:
        return run(std::integral_constant<int, 4>());
      case 5:
        return run(std::integral_constant<int, 5>());
      case 6:
        return run(std::integral_constant<int, 6>());
      case 7:
        return run(std::integral_constant<int, 7>());
      default:
        return run(std::integral_constant<int, 8>());
    }
  } else {
    launch_box(label, exec, box, add);
  }
}

/// The sums of the nodes of a grid with layers that take the values of a node of the model.
template <class T, int Dim>
struct FoldLayers {
  const T* from;
  T* to;
  DenseBox<Dim> sums;
  Grid<Dim> model;
  Index<Dim> shift;  ///< of the model's first node in the grid with layers
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const Index<Dim> node = model.node(n);
    Box<Dim> all;
    for (int d = 0; d < Dim; ++d) {
      all.lower[d] = node[d] == 0 ? sums.box.lower[d] : node[d] + shift[d];
      all.upper[d] = node[d] == model.extents[d] - 1 ? sums.box.upper[d] : node[d] + shift[d] + 1;
    }
    double sum = 0.0;
    for (std::int64_t k = 0; k < all.size(); ++k) {
      sum += static_cast<double>(from[sums.at(all.node(k))]);
    }
    to[n] = static_cast<T>(sum);
  }
};

/// Kernel of hosts: sums without layers, as FoldLayers returns them, and from those of the scale
/// the derivatives with respect to vp, as ToParameters returns them.
template <class T>
struct FoldPlain {
  const T* from;
  const T* vp;  ///< null: the sums themselves
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const T sum = from[i] + T(0);  // zeros have no sign
    to[i] = vp == nullptr
                ? sum
                : static_cast<T>(2.0 * static_cast<double>(sum) / static_cast<double>(vp[i]));
  }
};

/// Kernel: derivatives with respect to parameters from those with respect to coefficients.
template <class T>
struct ToParameters {
  const T *d_scale, *d_a, *d_r, *d_b;       ///< null: not computed
  const T *vp, *density, *epsilon, *delta;  ///< of the model; null: absent
  const T* kept;  ///< what is left of delta - epsilon around sources; null: all
  T *of_vp, *of_density, *of_epsilon, *of_delta;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::sqrt;
    const double scale = static_cast<double>(d_scale[i]);
    of_vp[i] = static_cast<T>(2.0 * scale / static_cast<double>(vp[i]));
    if (d_b != nullptr) {
      const double b = 1.0 / static_cast<double>(density[i]);
      of_density[i] = static_cast<T>(b * scale - b * b * static_cast<double>(d_b[i]));
    }
    if (d_a == nullptr) return;
    const double e = epsilon != nullptr ? static_cast<double>(epsilon[i]) : 0.0;
    const double given = delta != nullptr ? static_cast<double>(delta[i]) : 0.0;
    const double part = kept != nullptr ? static_cast<double>(kept[i]) : 1.0;
    const double t = e + part * (given - e);
    const bool lowered = !(t < e);  // to epsilon
    const double slope = static_cast<double>(d_r[i]) / sqrt(1.0 + 2.0 * (lowered ? e : t));
    const double by_delta = lowered ? 0.0 : slope;
    of_delta[i] = static_cast<T>(part * by_delta);
    of_epsilon[i] = static_cast<T>(2.0 * static_cast<double>(d_a[i]) +
                                   (lowered ? slope : (1.0 - part) * by_delta));
  }
};

}  // namespace moho::fwi::detail
