// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of stored shot images: one that grows while shots are migrated, and one of files.

#include <moho/core/box.hpp>
#include <moho/core/exact_sum.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/instance.hpp>
#include <moho/core/windowed_sum.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace moho::rtm {

/// \brief Sum of the parts of some shots, with the bits of stack() for all of them.
///
/// Threads, ranks, jobs and sites each have a sum, and sums merge in any order. The numbers of the
/// shots travel with the sum. A sum whose window does not hold a shot is closed: it releases its
/// memory, and the caller has to stack() the stored images. Memory: 22 bytes per node and part.
template <int Dim>
class ImageSum {
 public:
  /// Creates a closed sum.
  ImageSum() = default;
  /// Creates the sum of no shots. \param grid grid of the model \param parts parts of each shot
  ImageSum(const Grid<Dim>& grid, int parts)
      : m_grid(grid), m_parts(static_cast<std::size_t>(parts), WindowedSum(grid.size())) {}

  /// Returns the sum of no shots, closed if its merging takes more than half of a memory.
  /// \param memory bytes of the host for this process \param grid,parts as in the constructor
  static ImageSum within(double memory, const Grid<Dim>& grid, int parts) {
    return {grid, bytes_within(memory, grid, parts) > 0.0 ? parts : 0};
  }
  /// Returns the bytes of the sum that within() makes; 0 for a closed one.
  static double bytes_within(double memory, const Grid<Dim>& grid, int parts) {
    // merging needs a sum, another one, and its bytes
    return 3.0 * bytes(grid, parts) < 0.5 * memory ? bytes(grid, parts) : 0.0;
  }

  /// Returns the bytes of a sum.
  static double bytes(const Grid<Dim>& grid, int parts) {
    return WindowedSum::bytes_per_element() * static_cast<double>(grid.size()) *
           static_cast<double>(parts);
  }
  /// Returns the numbers of the added shots, also if the sum is closed.
  const std::set<std::int64_t>& shots() const { return m_shots; }
  /// Returns true if the sum holds no values.
  bool closed() const { return m_parts.empty(); }
  /// Closes the sum, for a caller that cannot add a shot.
  void close() { m_parts = {}; }

  /// \brief Adds a shot. Closes the sum if its values are beyond the window or not finite.
  /// \param exec instance of the host
  /// \param number of the shot
  /// \param box its nodes
  /// \param values its parts, one after the other
  /// \throws InputError for a duplicate shot
  template <class T>
  void add(const Instance<Kokkos::HostSpace>& exec, std::int64_t number, const Box<Dim>& box,
           const T* values);

  /// \brief Adds a stored shot. \see the other overload
  /// \param read returns part p as std::vector<T>(int p); not called if the sum is closed
  template <class T, class Read>
  void add(const Instance<Kokkos::HostSpace>& exec, std::int64_t number, const Box<Dim>& box,
           const Read& read) {
    std::vector<T> values;
    for (std::size_t p = 0; p < m_parts.size(); ++p) {
      const std::vector<T> part = read(static_cast<int>(p));
      values.insert(values.end(), part.begin(), part.end());
    }
    add(exec, number, box, values.data());
  }

  /// \brief Adds another sum. Closes this sum if the other one is closed or beyond the window.
  /// \param exec instance of the host
  /// \param other sum of the same grid, which is used up
  /// \throws InputError for a shot in both sums, and for another number of parts or nodes
  void merge(const Instance<Kokkos::HostSpace>& exec, ImageSum&& other);
  /// Adds a packed sum. \throws InputError as the other overload and as unpack()
  void merge(const Instance<Kokkos::HostSpace>& exec, const std::string& packed) {
    merge(exec, unpack(m_grid, packed));
  }

  /// Returns the sum of part `p` on the nodes of the model. \throws InputError if it is closed
  template <class T>
  std::vector<T> part(const Instance<Kokkos::HostSpace>& exec, int p) const;

  /// \brief Returns the sum as bytes with a checksum, for messages and files.
  ///
  /// The number of bytes depends on the grid, the parts, the window, and 8 bytes per shot. Parts
  /// that are zero at all nodes have no bytes.
  std::string pack() const;
  /// \brief Restores a sum. \param grid grid of the model \param bytes result of pack()
  /// \throws InputError for bytes of another grid, and for damaged bytes
  static ImageSum unpack(const Grid<Dim>& grid, const std::string& bytes);

 private:
  Grid<Dim> m_grid{};
  std::vector<WindowedSum> m_parts;
  std::set<std::int64_t> m_shots;
};

/// Stored part of a shot image, read during the summation.
template <int Dim>
struct StoredPart {
  Box<Dim> box;                   ///< window of the shot
  std::optional<double> largest;  ///< largest magnitude, if known
};

/// \brief Returns the sum of a part over stored shot images, in any order of the shots.
///
/// The largest magnitude determines the exponent of the sum. Parts without `largest` are read
/// twice.
/// \param exec instance of the host
/// \param grid grid of the model
/// \param parts parts of all shots
/// \param read returns part k as std::vector<T>(std::size_t k), nodes of its box
/// \return values on the nodes of the model
template <class T, int Dim, class Read>
std::vector<T> stack(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid,
                     const std::vector<StoredPart<Dim>>& parts, const Read& read) {
  double largest = 0.0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].largest) {
      largest = std::max(largest, *parts[k].largest);
      continue;
    }
    const std::vector<T> values = read(k);
    largest = std::max(
        largest, largest_magnitude(exec, HostElements<const T>(values.data(), values.size())));
  }
  std::vector<T> result(static_cast<std::size_t>(grid.size()), T(0));
  if (!(largest > 0.0)) return result;
  ExactSum<Kokkos::HostSpace> sum(exec, grid.size(), exact_exponent(largest));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::vector<T> values = read(k);
    const HostElements<const T> elements(values.data(), values.size());
    if (parts[k].box == whole_box(grid)) {
      sum.add(exec, elements);
    } else {
      sum.add(exec, grid, parts[k].box, elements);
    }
  }
  sum.result(exec, HostElements<T>(result.data(), result.size()));
  exec.fence();
  return result;
}

}  // namespace moho::rtm
