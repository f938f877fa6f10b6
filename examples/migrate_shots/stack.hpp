// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sums of shots, in memory and in files, their stack, and its image.

#include "app/json.hpp"
#include "app/site_arrays.hpp"
#include "migrate_shots/job.hpp"
#include "migrate_shots/options.hpp"

#include <moho/core/wrap.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>
#include <moho/rtm/conditions.hpp>
#include <moho/rtm/shot_arrays.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace moho::examples::migrate_shots {

using rtm::shot_parts;

/// A shot of the stack.
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

/// Returns file and window of a shot. \param entry of the shot in the summary
template <int Dim>
StackedShot<Dim> stacked_shot(std::filesystem::path file, const Json& entry) {
  StackedShot<Dim> shot;
  shot.file = std::move(file);
  const Json& window = *entry.find("window");
  for (int d = 0; d < Dim; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    shot.box.lower[d] = static_cast<std::int64_t>(window.find("lower")->at(axis).number(0.0));
    shot.box.upper[d] = static_cast<std::int64_t>(window.find("upper")->at(axis).number(0.0));
  }
  if (const Json* const list = entry.find("largest"); list != nullptr) {
    shot.largest.emplace();
    for (std::size_t p = 0; p < shot_parts; ++p) (*shot.largest)[p] = list->at(p).number(0.0);
  }
  return shot;
}

/// Returns the sum of one part over all shots. \param exec of the host \param grid of the model
template <class T, int Dim>
std::vector<T> stack_part(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid,
                          const std::vector<StackedShot<Dim>>& shots, int part) {
  std::vector<rtm::StoredPart<Dim>> parts;
  for (const StackedShot<Dim>& shot : shots) {
    parts.push_back({shot.box, {}});
    if (shot.largest) parts.back().largest = (*shot.largest)[static_cast<std::size_t>(part)];
  }
  return rtm::stack<T, Dim>(exec, grid, parts,
                            [&](std::size_t k) { return read_part<T, Dim>(shots[k], part); });
}

/// Returns the sum of the offset gathers of all shots. \param read returns those of shot k
template <class Read>
std::vector<double> stack_gather_files(const Instance<Kokkos::HostSpace>& exec,
                                       const rtm::ShotArray& array, std::size_t shots,
                                       const Read& read) {
  Grid<2> grid;
  for (int d = 0; d < 2; ++d) grid.extents[d] = array.grid[static_cast<std::size_t>(d)];
  std::vector<rtm::StoredPart<2>> parts(shots);
  for (auto& part : parts) part.box = whole_box(grid);
  return rtm::stack<double, 2>(exec, grid, parts, read);
}

/// Returns the image of a condition. \param sums of all shots, by part: S R, S S and R R
template <class T, int Dim>
std::vector<T> make_image(Condition condition, const Grid<Dim>& grid,
                          const std::vector<std::vector<T>>& sums) {
  rtm::ImageParts<T, Dim> parts{grid, {}};
  using Field = rtm::HostField<T, Dim>;
  for (const auto& sum : sums) {
    parts.fields.push_back(wrap_field<Field>(const_cast<T*>(sum.data()), grid));
  }
  const auto finish = [&](const auto& type) {
    const Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
    const rtm::HostField<T, Dim> field = type.finish(exec, parts);
    return std::vector<T>(field.data(), field.data() + field.size());
  };
  switch (condition) {
    case Condition::zero_lag:
      return finish(rtm::ZeroLag{});
    case Condition::source:
      return finish(rtm::SourceNormalised{});
    case Condition::receiver:
      return finish(rtm::ReceiverNormalised{});
    case Condition::inverse_scattering:
      return finish(rtm::InverseScattering{});
    case Condition::laplacian:
      break;
  }
  return finish(rtm::LaplacianNormalised{});
}

}  // namespace moho::examples::migrate_shots
