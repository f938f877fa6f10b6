// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of shots in files, and their stack.

#include <moho/core/box.hpp>
#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>
#include <moho/rtm/image_sum.hpp>
#include <moho/rtm/shot_arrays.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace moho::rtm {

/// Sums of a shot in a .npy file.
template <int Dim>
struct StackedShot {
  std::filesystem::path file;  ///< its sums, one part after the other
  Box<Dim> box;                ///< its window
  /// Largest magnitude of each part, if known.
  std::optional<std::array<double, shot_parts>> largest;
};

/// \brief Returns a part, 0 to 2, of a shot's file. \throws FileError for a file of another size
template <class T, int Dim>
std::vector<T> read_part(const StackedShot<Dim>& shot, int part) {
  const io::NpyLayout layout = io::peek_npy(shot.file);
  bool same = !layout.fortran && layout.shape.size() == Dim + 1 && layout.shape[0] == shot_parts;
  for (int d = 0; d < Dim; ++d) {
    same = same && layout.shape[static_cast<std::size_t>(d) + 1] == shot.box.extent(d);
  }
  const io::InputFile file(shot.file);
  const auto count = static_cast<std::uint64_t>(shot.box.size());
  const std::uint64_t bytes = shot_parts * count * sizeof(T);
  // after a header of less than a page
  if (!same || file.size() <= bytes || file.size() - bytes > 4096) {
    throw FileError(concat("'", shot.file.string(),
                           "' has other sums than those of its shot: migrate the shot again"));
  }
  std::vector<T> values(count);
  static_assert(std::endian::native == std::endian::little);  // byte order of .npy files
  file.read(file.size() - bytes + static_cast<std::uint64_t>(part) * count * sizeof(T),
            values.data(), values.size() * sizeof(T));
  return values;
}

/// Returns the sum of one part over all shots. \param exec of the host \param grid of the model
template <class T, int Dim>
std::vector<T> stack_part(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid,
                          const std::vector<StackedShot<Dim>>& shots, int part) {
  std::vector<StoredPart<Dim>> parts;
  for (const StackedShot<Dim>& shot : shots) {
    parts.push_back({shot.box, {}});
    if (shot.largest) parts.back().largest = (*shot.largest)[static_cast<std::size_t>(part)];
  }
  return stack<T, Dim>(exec, grid, parts,
                       [&](std::size_t k) { return read_part<T, Dim>(shots[k], part); });
}

/// \brief Returns the sum of the offset gathers of all shots.
/// \param exec of the host \param array of gather_array() \param shots number of shots
/// \param read returns the gathers of shot k, with the elements of the array
template <class Read>
std::vector<double> stack_gathers(const Instance<Kokkos::HostSpace>& exec, const ShotArray& array,
                                  std::size_t shots, const Read& read) {
  Grid<2> grid;
  for (int d = 0; d < 2; ++d) grid.extents[d] = array.grid[static_cast<std::size_t>(d)];
  std::vector<StoredPart<2>> parts(shots);
  for (auto& part : parts) part.box = whole_box(grid);
  return stack<double, 2>(exec, grid, parts, read);
}

}  // namespace moho::rtm
