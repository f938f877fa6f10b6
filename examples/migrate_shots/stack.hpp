// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sums of shots in files of their own, and their stack.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/exact_sum.hpp>
#include <moho/core/launch.hpp>
#include <moho/io/detail/binary.hpp>
#include <moho/io/npy.hpp>
#include <moho/survey/window.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace moho::examples::migrate_shots {

/// Image, source and receiver illumination.
inline constexpr int shot_parts = 3;

/// A shot among those that are stacked.
template <int Dim>
struct StackedShot {
  std::filesystem::path file;  ///< its sums, one part after the other
  Box<Dim> box;                ///< its window
  /// The largest magnitude of each part, where it is known.
  std::optional<std::array<double, shot_parts>> largest;
};

/// Values of a window times the weights of their planes.
template <class T, int Dim>
struct WeighRow {
  const T* from;
  T* to;
  Box<Dim> box;
  const double* weights[Dim];
  void operator()(const std::int64_t row) const {
    const std::int64_t length = box.extent(Dim - 1);
    const Index<Dim> node = box.node(row * length);
    double weight = 1.0;
    for (int d = 0; d < Dim - 1; ++d) weight *= weights[d][node[d] - box.lower[d]];
    for (std::int64_t k = row * length; k < (row + 1) * length; ++k) {
      to[k] = static_cast<T>(weight * weights[Dim - 1][k - row * length] *
                             static_cast<double>(from[k]));
    }
  }
};

/// \brief The parts of a shot, weighted and one after the other, as its file has them.
/// \param exec of the host \param largest set to the largest magnitude of each part
template <class T, int Dim>
Kokkos::View<T*, Kokkos::HostSpace> weigh_parts(const Instance<Kokkos::HostSpace>& exec,
                                                const survey::ShotWindow<Dim>& window,
                                                const survey::WindowWeights<Dim>& weights,
                                                const std::array<const T*, shot_parts>& parts,
                                                std::array<double, shot_parts>& largest) {
  const std::int64_t nodes = window.grid.size();
  const auto all = allocate<Kokkos::View<T*, Kokkos::HostSpace>>(
      exec, "moho::migrate_shots::parts", static_cast<std::size_t>(shot_parts * nodes));
  WeighRow<T, Dim> rows{};
  rows.box = whole_box(window.grid);
  for (int d = 0; d < Dim; ++d) rows.weights[d] = weights[static_cast<std::size_t>(d)].data();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    rows.from = parts[p];
    rows.to = all.data() + static_cast<std::int64_t>(p) * nodes;
    launch("moho::migrate_shots::weigh", exec, nodes / window.grid.extents[Dim - 1], rows);
    largest[p] =
        largest_magnitude(exec, HostElements<const T>(rows.to, static_cast<std::size_t>(nodes)));
  }
  return all;
}

/// \brief One part of a shot's file. \throws FileError for a file that has other sums
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
  // behind a header of less than a page
  if (!same || file.size() <= bytes || file.size() - bytes > 4096) {
    throw FileError(concat("'", shot.file.string(),
                           "' has other sums than those of its shot: migrate the shot again"));
  }
  std::vector<T> values(count);
  io::detail::read_values<T>(
      file, file.size() - bytes + static_cast<std::uint64_t>(part) * count * sizeof(T),
      static_cast<std::int64_t>(count), std::endian::little, values.data());
  return values;
}

/// \brief The sum of one part over all shots: integers, so that their order makes no difference.
/// \param exec of the host \param grid of the model
template <class T, int Dim>
std::vector<T> stack_part(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid,
                          const std::vector<StackedShot<Dim>>& shots, int part) {
  const auto p = static_cast<std::size_t>(part);
  // the exponent comes from the loudest shot, whichever was first
  double largest = 0.0;
  for (const auto& shot : shots) {
    if (shot.largest) {
      largest = std::max(largest, (*shot.largest)[p]);
      continue;
    }
    const std::vector<T> values = read_part<T, Dim>(shot, part);
    largest = std::max(
        largest, largest_magnitude(exec, HostElements<const T>(values.data(), values.size())));
  }
  std::vector<T> result(static_cast<std::size_t>(grid.size()), T(0));
  if (!(largest > 0.0)) return result;
  ExactSum<Kokkos::HostSpace> sum(exec, grid.size(), exact_exponent(largest));
  for (const auto& shot : shots) {
    const std::vector<T> values = read_part<T, Dim>(shot, part);
    const HostElements<const T> elements(values.data(), values.size());
    if (shot.box == whole_box(grid)) {
      sum.add(exec, elements);
    } else {
      sum.add(exec, grid, shot.box, elements);
    }
  }
  sum.result(exec, HostElements<T>(result.data(), result.size()));
  exec.fence();
  return result;
}

}  // namespace moho::examples::migrate_shots
