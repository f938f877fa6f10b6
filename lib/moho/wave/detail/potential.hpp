// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Potential of variable density.

#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/parameter_codes.hpp>

#include <cstdint>

namespace moho::wave::detail {

/// \brief Functor that computes the potential V = (L s) / s of s = 1 / sqrt(rho), 1/m^2.
///
/// L is the Laplacian of the step. V is zero where the density is constant. In layers and next to
/// them L is the stretched operator for fields that do not change, and a negative contribution of
/// the axis across a layer is raised to zero: waves would grow in potentials that are not
/// stretched.
template <class T, int Dim>
struct FindPotential {
  const T* root_density;  ///< from node (0, ..., 0), extended into the halo
  T* potential;           ///< null if only codes are stored
  bool coded;             ///< true if potentials are rounded to codes
  ParameterCode code;     ///< of the potential
  std::uint32_t* words;   ///< codes, in the high halves; or null
  Layout<Dim> layout;
  Box<Dim> box;
  int radius;
  double second[Dim][largest_radius + 1];
  const T *layer_a[Dim], *layer_b[Dim];  ///< factors of layers by node of an axis; null: no layers
  double slope[Dim][largest_layer_radius + 1];  ///< coefficients of first derivatives in layers

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const Index<Dim> node = box.node(n);
    const std::int64_t i = layout.flat(node) - layout.offset;
    const double own = static_cast<double>(root_density[i]);
    double sum = 0.0;
    for (int d = 0; d < Dim; ++d) {
      double along = 0.0;
      for (int k = 1; k <= radius; ++k) {
        const std::int64_t by = k * layout.strides[d];
        const double up = static_cast<double>(root_density[i + by]);
        const double low = static_cast<double>(root_density[i - by]);
        // zero beyond an end of the window that is not an end of the grid
        if (up > 0.0) along += second[d][k] * ((own - up) / up);
        if (low > 0.0) along += second[d][k] * ((own - low) / low);
      }
      sum += layer_a[d] == nullptr ? along : stretched(d, node[d], i, along);
    }
    T value = static_cast<T>(sum);
    if (coded) {
      const std::uint32_t rounded = code.encode(sum);
      value = code.decode(rounded);
      if (words != nullptr) words[i] = (words[i] & 0xffffU) | rounded << 16U;
    }
    if (potential != nullptr) potential[i] = value;
  }

 private:
  /// \brief Returns the contribution of an axis with layers.
  ///
  /// If p does not change, psi = g dp/dx with g = a / (1 - b), and zeta = g (d2p/dx2 + d psi/dx).
  /// \param at,i index along the axis, and element of the node \param along (d2s/dx2) / s
  KOKKOS_INLINE_FUNCTION double stretched(int d, std::int64_t at, std::int64_t i,
                                          double along) const {
    const double factor = memory(d, at);
    double change = 0.0;
    for (int k = 1; k <= largest_layer_radius; ++k) {
      change += slope[d][k] * (memory(d, at + k) * gradient(d, at, i, at + k) -
                               memory(d, at - k) * gradient(d, at, i, at - k));
    }
    const double result = (1.0 + factor) * (along + change);
    return factor != 0.0 && result < 0.0 ? 0.0 : result;
  }
  /// Returns g of an index; 0 outside layers.
  KOKKOS_INLINE_FUNCTION double memory(int d, std::int64_t at) const {
    if (at < 0 || at >= layout.extents[d] || layer_a[d][at] == T(0)) return 0.0;
    return static_cast<double>(layer_a[d][at]) / (1.0 - static_cast<double>(layer_b[d][at]));
  }
  /// Returns (ds/dx) / s, with s of node `at`, where the index along the axis is `point`.
  KOKKOS_INLINE_FUNCTION double gradient(int d, std::int64_t at, std::int64_t i,
                                         std::int64_t point) const {
    double sum = 0.0;
    for (int k = 1; k <= largest_layer_radius; ++k) {
      sum += slope[d][k] * (ratio(d, at, i, point + k) - ratio(d, at, i, point - k));
    }
    return sum;
  }
  /// Returns s at an index over s of node `at`; beyond the ends s is constant.
  KOKKOS_INLINE_FUNCTION double ratio(int d, std::int64_t at, std::int64_t i,
                                      std::int64_t point) const {
    std::int64_t first = 0, last = layout.extents[d] - 1;
    if (d == 0) {
      first = layout.window.begin;
      last = layout.window.end - 1;
    }
    const std::int64_t index = point < first ? first : point > last ? last : point;
    const double other = static_cast<double>(root_density[i + (index - at) * layout.strides[d]]);
    return other > 0.0 ? static_cast<double>(root_density[i]) / other : 1.0;
  }
};

}  // namespace moho::wave::detail
