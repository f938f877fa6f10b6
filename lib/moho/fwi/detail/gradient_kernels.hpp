// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of gradients (internal). docs/theory/inversion.md has the formulas.

#include <moho/core/denormals.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/wave/boundary.hpp>
#include <moho/wave/kernel/arguments.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <cmath>
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

/// \brief Returns sum + a b.
///
/// Devices round it once, whatever the kernel: of two products the compiler may otherwise round
/// either one. wave::kernel::fused() leaves this to the compiler.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T plus_product(T sum, T a, T b) {
#ifdef __CUDA_ARCH__
  using std::fma;
  return fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

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
  T* by_potential;                     ///< sum of -u nu for variable density; null: not computed
  DenseBox<Dim> potential_sums;        ///< its layout
  KOKKOS_FORCEINLINE_FUNCTION void at(std::int64_t from, std::int64_t to, T of_p, T of_q) const {
    const T u = p[from];
    T product = u * of_p;
    if (q != nullptr) product = plus_product(product, q[from], of_q);
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

/// Kernel: derivative with respect to the potential of variable density.
template <class T, int Dim>
struct AddPotential {
  const T* u;              ///< snapshot
  DenseBox<Dim> snapshot;  ///< its nodes
  const T* nu;             ///< padded
  wave::Layout<Dim> layout;
  DenseBox<Dim> sums;
  T* by_potential;
  T weight;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    by_potential[sums.at(node)] -= weight * (nu[layout.flat(node)] * u[snapshot.at(node)]);
  }
};

/// Kernel of hosts: the same by rows.
template <class T, int Dim>
struct PotentialRows {
  AddPotential<T, Dim> add;
  Box<Dim> box, rows;  ///< nodes, and the first nodes of rows
  void operator()(const std::int64_t row) const {
    const Index<Dim> node = rows.node(row);
    const std::int64_t count = box.extent(Dim - 1);
    const T* const u = add.u + add.snapshot.at(node);
    const T* const nu = add.nu + add.layout.flat(node);
    T* const sums = add.by_potential + add.sums.at(node);
    const T weight = add.weight;
    const FlushDenormals flush;  // in front of waves
    MOHO_INDEPENDENT
    for (std::int64_t z = 0; z < count; ++z) sums[z] -= weight * (nu[z] * u[z]);
  }
};

/// Adds the derivative with respect to the potential at the nodes of a box.
template <class T, int Dim, class Memory>
void launch_add_potential(const Instance<Memory>& exec, const Box<Dim>& box,
                          const AddPotential<T, Dim>& add) {
  constexpr const char* label = "moho::fwi::add_potential";
  if (box.empty()) return;
  if constexpr (is_host_memory<Memory>) {
    Box<Dim> rows = box;
    rows.upper[Dim - 1] = box.lower[Dim - 1] + 1;
    launch(label, exec, rows.size(), PotentialRows<T, Dim>{add, box, rows});
  } else {
    launch_box(label, exec, box, add);
  }
}

/// \brief Kernel: derivative with respect to ln rho at a node of a box.
///
/// The potential of node i is the sum over neighbours n of c (r_i / r_n - 1), r = sqrt(rho). Nodes
/// outside the grid are those of the nearest face or, behind free surfaces, images.
template <class T, int Dim>
struct ByDensity {
  const T *by_potential, *by_root;  ///< sums at `sums`
  const T* root;                    ///< sqrt(rho) at `roots`
  Box<Dim> grid;                    ///< nodes with sums
  Box<Dim> nodes;                   ///< of the result
  DenseBox<Dim> roots, sums;        ///< layouts with the nodes within `radius` of the result
  bool free_lower[Dim], free_upper[Dim];
  int radius;
  double second[Dim][wave::largest_radius + 1];
  T* to;  ///< by position in `nodes`

  // g_i r_i / r_n, where node i of a line depends on node n
  KOKKOS_INLINE_FUNCTION double term(Index<Dim> node, int d, std::int64_t i, std::int64_t n) const {
    node[d] = i;
    const double g = static_cast<double>(by_potential[sums.at(node)]);
    const double own = static_cast<double>(root[roots.at(node)]);
    node[d] = n;
    return g * own / static_cast<double>(root[roots.at(node)]);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t image(std::int64_t n, int d) const {
    const std::int64_t first = grid.lower[d], last = grid.upper[d] - 1;
    if (n < first) n = free_lower[d] ? 2 * first - n : first;
    if (n > last) n = free_upper[d] ? 2 * last - n : last;
    return n < first ? first : n;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t position) const {
    const Index<Dim> node = nodes.node(position);
    double sum = 0.0;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t j = node[d], first = grid.lower[d], last = grid.upper[d] - 1;
      for (int k = 1; k <= radius; ++k) {
        double part = 0.0;
        for (int sign = -1; sign <= 1; sign += 2) {
          const std::int64_t n = j + sign * k;
          part += term(node, d, j, image(n, d));
          if (n >= first && n <= last) part -= term(node, d, n, j);
        }
        // nodes next to a face of which an image is this node
        for (std::int64_t i = first; i <= last && i < first + k; ++i) {
          if (image(i - k, d) == j) part -= term(node, d, i, j);
        }
        for (std::int64_t i = last; i >= first && i > last - k; --i) {
          if (image(i + k, d) == j) part -= term(node, d, i, j);
        }
        sum += second[d][k] * part;
      }
    }
    to[position] = static_cast<T>(0.5 * (sum + static_cast<double>(by_root[sums.at(node)])));
  }
};

/// Returns the kernel with its coefficients and faces, without arrays.
template <class T, int Dim>
ByDensity<T, Dim> by_density(const Grid<Dim>& grid, int order, const wave::Boundaries<Dim>& faces,
                             const Box<Dim>& box) {
  ByDensity<T, Dim> by{};
  by.grid = by.nodes = box;
  by.sums = dense(box);
  by.radius = order / 2;
  const wave::Coefficients c = wave::second_derivative(by.radius);
  for (int d = 0; d < Dim; ++d) {
    by.free_lower[d] = faces.lower[d].kind == wave::FaceKind::free_surface;
    by.free_upper[d] = faces.upper[d].kind == wave::FaceKind::free_surface;
    for (int k = 1; k <= by.radius; ++k) {
      by.second[d][k] = c[k] / (grid.spacing[d] * grid.spacing[d]);
    }
  }
  return by;
}

/// Kernel: multiplies the illumination of q = p / sqrt(rho) by the density.
template <class T, int Dim>
struct TimesDensity {
  const T* root_density;  ///< padded
  wave::Layout<Dim> layout;
  Grid<Dim> model;
  Index<Dim> shift;  ///< of the model's first node in the grid of the layout
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    Index<Dim> node = model.node(n);
    for (int d = 0; d < Dim; ++d) node[d] += shift[d];
    const T root = root_density[layout.flat(node)];
    values[n] *= root * root;
  }
};

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
  const T *d_scale, *d_a, *d_r;             ///< null: not computed
  const T* d_density;                       ///< with respect to ln rho; null: not computed
  const T *vp, *density, *epsilon, *delta;  ///< of the model; null: absent
  const T* kept;  ///< what is left of delta - epsilon around sources; null: all
  T *of_vp, *of_density, *of_epsilon, *of_delta;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::sqrt;
    const double scale = static_cast<double>(d_scale[i]);
    of_vp[i] = static_cast<T>(2.0 * scale / static_cast<double>(vp[i]));
    if (d_density != nullptr) {
      of_density[i] =
          static_cast<T>(static_cast<double>(d_density[i]) / static_cast<double>(density[i]));
    }
    if (d_a == nullptr) return;
    const double e = epsilon != nullptr ? static_cast<double>(epsilon[i]) : 0.0;
    const double given = delta != nullptr ? static_cast<double>(delta[i]) : 0.0;
    const double part = kept != nullptr ? static_cast<double>(kept[i]) : 1.0;
    const double t = e + part * (given - e);
    const bool clamped = !(t < e);  // to epsilon
    const double slope = static_cast<double>(d_r[i]) / sqrt(1.0 + 2.0 * (clamped ? e : t));
    const double by_delta = clamped ? 0.0 : slope;
    of_delta[i] = static_cast<T>(part * by_delta);
    of_epsilon[i] = static_cast<T>(2.0 * static_cast<double>(d_a[i]) +
                                   (clamped ? slope : (1.0 - part) * by_delta));
  }
};

}  // namespace moho::fwi::detail
