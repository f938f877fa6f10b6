// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading of fields from files.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/io/npy.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace moho::io {

/// \brief Reads a .npy file into a field in the memory of an instance, and waits for the copy.
/// \param exec an Instance or a Kokkos execution space instance
/// \param grid grid with the shape of the file
/// \param path path of the file; its name becomes the label of the field
/// \throws FileError as read_npy(), and for a file whose shape differs from that of the grid
template <class T, int Dim, class Exec>
Field<T, Dim, Exec> read_npy_field(const Exec& exec, const Grid<Dim>& grid,
                                   const std::filesystem::path& path) {
  grid.check();
  const Array<T> array = read_npy<T>(path);
  bool same = array.rank() == Dim;
  for (int d = 0; same && d < Dim; ++d) {
    same = array.shape[static_cast<std::size_t>(d)] == grid.extents[d];
  }
  if (!same) {
    throw FileError(concat(path.string(), ": its shape is ", shape_string(array.shape),
                           " (allowed: ", moho::shape_string(grid), ", the shape of the grid)"));
  }
  const Instance<MemoryOf<Exec>> instance(exec);
  const auto field = make_field<T>(exec, grid, path.stem().string());
  const Kokkos::View<T*, MemoryOf<Exec>, Kokkos::MemoryTraits<Kokkos::Unmanaged>> elements(
      field.data(), field.size());
  copy(instance, elements, HostElements<const T>(array.data.data(), array.data.size()));
  instance.fence();
  return field;
}

}  // namespace moho::io
