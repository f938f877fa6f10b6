// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arena allocator: many small arrays from few large allocations.
///
/// Allocating synchronises a device, and page-locking memory costs about a second for a few
/// gigabytes.

#include <moho/core/kokkos.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho {

/// \brief Arrays from large allocations (pieces) in a memory space.
///
/// An array from take() is valid until reset() or the end of the arena; arrays are not freed
/// singly. reset() makes all memory available for new arrays and keeps the pieces.
template <class T, class Space>
class Arena {
 public:
  /// \param label of the allocations
  /// \param piece elements of a piece; a larger array gets a separate piece
  explicit Arena(std::string label, std::int64_t piece = std::int64_t{1} << 26)
      : m_label(std::move(label)), m_piece(piece) {}

  /// Returns an uninitialised array of `count` elements, aligned to 128 bytes.
  Kokkos::View<T*, Kokkos::LayoutRight, Space> take(std::int64_t count) {
    constexpr auto step = static_cast<std::int64_t>(128 / sizeof(T));
    const std::int64_t rounded = (count + step - 1) / step * step;
    while (m_current < m_pieces.size() &&
           m_used + rounded > static_cast<std::int64_t>(m_pieces[m_current].extent(0))) {
      ++m_current;
      m_used = 0;
    }
    if (m_current == m_pieces.size()) {
      m_pieces.push_back(View(Kokkos::view_alloc(m_label, Kokkos::WithoutInitializing),
                              static_cast<std::size_t>(std::max(rounded, m_piece))));
    }
    const auto begin = static_cast<std::size_t>(m_used);
    m_used += rounded;
    return Kokkos::subview(
        m_pieces[m_current],
        std::pair<std::size_t, std::size_t>(begin, begin + static_cast<std::size_t>(count)));
  }
  /// Makes all memory available again; all arrays returned so far become invalid.
  void reset() {
    m_current = 0;
    m_used = 0;
  }
  /// Returns the bytes allocated.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const View& piece : m_pieces) sum += piece.extent(0) * sizeof(T);
    return sum;
  }

 private:
  using View = Kokkos::View<T*, Kokkos::LayoutRight, Space>;
  std::string m_label;
  std::int64_t m_piece;
  std::vector<View> m_pieces;
  std::size_t m_current = 0;
  std::int64_t m_used = 0;
};

}  // namespace moho
