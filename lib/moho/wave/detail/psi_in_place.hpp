// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Psi of perfectly matched layers in one time level, for steps of one box on hosts.
///
/// A step on a host reads psi of a node where it writes it (cpml_host.hpp). With one array for both
/// levels a step moves 16 bytes instead of 20 for each node and layer in single precision. Tiles of
/// a step read psi around them: SavedPsi keeps the previous values there.

#include <moho/core/launch.hpp>
#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/detail/march_host.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// \brief While it lives, steps of a wavefield on a host update psi in place.
///
/// Each time step must then be one box outside of which the wavefield is at rest. It does nothing
/// on devices and for plain kernels. Results have the same bits.
template <class T, class Wavefield>
class PsiInPlace {
 public:
  /// \param possible false: psi keeps two levels
  PsiInPlace(Wavefield& wavefield, bool possible) : m_wavefield(wavefield) {
    if (!possible) return;
    for (auto& layer : wavefield.layers) {
      m_levels.push_back(layer.psi_next);
      layer.psi_next = layer.psi_now;
    }
  }
  ~PsiInPlace() {
    for (std::size_t k = 0; k < m_levels.size(); ++k) m_wavefield.layers[k].psi_next = m_levels[k];
  }
  PsiInPlace(const PsiInPlace&) = delete;
  PsiInPlace& operator=(const PsiInPlace&) = delete;

 private:
  Wavefield& m_wavefield;
  std::vector<decltype(m_wavefield.layers[0].psi_next)> m_levels;
};

/// \brief Previous psi of the nodes around the cuts between tiles, along x and along y.
///
/// It is empty unless psi is updated in place.
template <class T>
class SavedPsi {
 public:
  SavedPsi() = default;
  /// Saves psi within `reach` nodes of the cuts of the tiles.
  /// \param store keeps the memory between steps
  SavedPsi(const Instance<Kokkos::HostSpace>& exec, const AllLayers<T>& layers,
           const HostLoop<T>& tiles, int reach, std::vector<T>& store)
      : m_reach(reach) {
    const StepArguments<T>& s = layers.s;
    m_start = s.lower[2] / simd::lanes<T> * simd::lanes<T>;
    m_length = (s.upper[2] - m_start + simd::lanes<T> - 1) / simd::lanes<T> * simd::lanes<T>;
    std::vector<Rows> all;
    std::int64_t size = 0;
    for (int f = 0; f < 2; ++f) {
      for (int axis = 0; axis < 2; ++axis) {
        Side& side = m_sides[f][axis];
        side.lower = s.lower[axis];
        side.upper = s.upper[axis];
        side.step = axis == 0 ? tiles.planes : tiles.rows;
        const LayerPair<T>& pair = layers.pairs[f][axis];
        if (!layer_has(layers.stencil, axis, f) || !in_place(pair)) continue;
        const std::int64_t rows = s.upper[1 - axis] - s.lower[1 - axis];
        side.across = s.lower[1 - axis];
        for (std::int64_t cut = side.lower + side.step; cut < side.upper; cut += side.step) {
          for (std::int64_t u = cut - reach; u < cut + reach; ++u) {
            side.planes.push_back(size);
            if (!pair.has(u)) continue;
            all.push_back({&pair, axis, u, side.across, rows, size});
            size += rows * m_length;
          }
        }
      }
    }
    if (all.empty()) return;
    m_memory = aligned_memory(store, size);
    launch_dynamic("moho::wave::save_psi", exec, static_cast<std::int64_t>(all.size()),
                   SaveRows{all.data(), m_memory, m_start, m_length});
  }

  /// \brief True if psi of a node of a layer, within reach of a tile that does not own it, was
  /// saved.
  ///
  /// That is so if another tile of the box owns it.
  bool has(int f, int axis, std::int64_t u) const {
    const Side& side = m_sides[f][axis];
    return !side.planes.empty() && u >= side.lower && u < side.upper;
  }
  /// Returns the row of psi of such a node, from the first vector of the box on.
  /// \param u node along the axis
  /// \param across node along the other axis
  const T* row(int f, int axis, std::int64_t u, std::int64_t across) const {
    const Side& side = m_sides[f][axis];
    // cuts are at least 2 reach nodes apart
    const std::int64_t cut = (u - side.lower + m_reach) / side.step;
    const std::int64_t slot = u - side.lower - cut * side.step + m_reach;
    const auto plane = static_cast<std::size_t>((cut - 1) * 2 * m_reach + slot);
    return m_memory + side.planes[plane] + (across - side.across) * m_length;
  }

 private:
  /// True if a layer along x or y keeps one level of psi.
  static bool in_place(const LayerPair<T>& pair) {
    for (const LayerAccess<T>& side : pair.sides) {
      if (side.zeta != nullptr && side.psi_now == side.psi_next) return true;
    }
    return false;
  }
  /// Cuts across an axis, of a field.
  struct Side {
    std::int64_t lower = 0, upper = 0;  ///< nodes of the box along the axis
    std::int64_t step = 1;              ///< nodes of a tile along the axis
    std::int64_t across = 0;            ///< first node of the box along the other axis
    /// First elements of the planes within reach of each cut; empty: nothing is saved.
    std::vector<std::int64_t> planes;
  };
  /// Rows of a plane of a layer, to be saved.
  struct Rows {
    const LayerPair<T>* pair;
    int axis;
    std::int64_t u, across, count, to;
  };
  struct SaveRows {
    const Rows* all;
    T* memory;
    std::int64_t start, length;

    void operator()(const std::int64_t n) const {
      const Rows& rows = all[n];
      const LayerAccess<T>& layer = rows.pair->of(rows.u);
      T* to = memory + rows.to;
      for (std::int64_t k = 0; k < rows.count; ++k, to += length) {
        const std::int64_t v = rows.across + k;
        const T* const from = layer.psi_now + (rows.axis == 0 ? layer.at(rows.u, v, start)
                                                              : layer.at(v, rows.u, start));
        std::copy_n(from, length, to);
      }
    }
  };

  int m_reach = 0;
  std::int64_t m_start = 0, m_length = 0;
  T* m_memory = nullptr;
  Side m_sides[2][2];
};

}  // namespace moho::wave::detail
