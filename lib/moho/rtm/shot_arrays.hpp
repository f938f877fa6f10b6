// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Images and offset gathers of shots as arrays of ArraySums.

#include <moho/core/box.hpp>
#include <moho/core/grid.hpp>
#include <moho/rtm/array_sums.hpp>
#include <moho/rtm/migration_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::rtm {

/// Number of parts of a shot: image, source and receiver illumination.
inline constexpr int shot_parts = 3;

/// Returns the array of a shot's image and illuminations. \param box its window
template <int Dim>
ShotArray image_array(const Grid<Dim>& grid, const Box<Dim>& box) {
  ShotArray array{"image", shot_parts, {}, {}, {}};
  for (int d = 0; d < Dim; ++d) {
    array.grid.push_back(grid.extents[d]);
    array.lower.push_back(box.lower[d]);
    array.upper.push_back(box.upper[d]);
  }
  return array;
}

/// Returns the array of a shot's offset gathers: offsets of all columns, and depths.
template <int Dim>
ShotArray gather_array(const OffsetOptions<Dim>& offsets, std::int64_t depths) {
  const auto columns = static_cast<std::int64_t>(offsets.columns.size());
  return {"offsets",
          1,
          {columns * offsets.count(), depths},
          {0, 0},
          {columns * offsets.count(), depths}};
}

/// Returns the offset gathers of a shot on all columns; zeros on those beyond its window.
template <class T, int Dim>
std::vector<T> all_columns(const ShotImage<T, Dim>& image, const OffsetOptions<Dim>& offsets) {
  if (offsets.count() == 0) return {};
  const auto each = static_cast<std::size_t>(offsets.count() * image.window.grid.extents[Dim - 1]);
  std::vector<T> values(each * offsets.columns.size(), T(0));
  for (std::size_t c = 0; c < image.columns.size(); ++c) {
    const auto column = static_cast<std::size_t>(image.columns[c]);
    std::copy_n(image.offsets.data() + c * each, each, values.data() + column * each);
  }
  return values;
}

}  // namespace moho::rtm
