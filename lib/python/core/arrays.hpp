// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arrays of Python as fields and points of the library, without copies of fields.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/pages.hpp>
#include <moho/core/wrap.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

namespace moho::python {

/// A contiguous host array that is only read; the package has checked it.
using Input = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
/// A contiguous host array that receives results.
using Output = nanobind::ndarray<nanobind::c_contig, nanobind::device::cpu>;

/// Precision and dimension of a field, as arguments of generic functions.
template <class T, int Dim>
struct Kind {
  using Scalar = T;
  static constexpr int dim = Dim;
};

/// Calls function(Kind<T, Dim>()) for the type and number of axes of an array.
/// \throws InputError for other arrays, which the package refuses before
template <class Function>
decltype(auto) with_kind(const nanobind::dlpack::dtype& type, std::size_t axes,
                         const Function& function) {
  const bool single = type == nanobind::dtype<float>();
  if ((!single && type != nanobind::dtype<double>()) || (axes != 2 && axes != 3)) {
    throw InputError("array: it is not a field of float32 or float64 in 2D or 3D");
  }
  if (single) return axes == 2 ? function(Kind<float, 2>()) : function(Kind<float, 3>());
  return axes == 2 ? function(Kind<double, 2>()) : function(Kind<double, 3>());
}

/// Returns the grid of a field. \throws InputError as Grid::check()
template <int Dim, class Array>
Grid<Dim> grid_of(const Array& field, const std::vector<double>& spacing,
                  const std::vector<double>& origin) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = static_cast<std::int64_t>(field.shape(static_cast<std::size_t>(d)));
    grid.spacing[d] = spacing.at(static_cast<std::size_t>(d));
    grid.origin[d] = origin.at(static_cast<std::size_t>(d));
  }
  grid.check();
  return grid;
}

/// Returns the rows of an array of doubles with Dim columns.
template <int Dim>
Points<Dim> points_of(const Input& rows) {
  Points<Dim> points(rows.shape(0));
  const auto* value = static_cast<const double*>(rows.data());
  for (Point<Dim>& point : points) {
    for (int d = 0; d < Dim; ++d) point[d] = *value++;
  }
  return points;
}

/// Returns an array of NumPy with memory that Kokkos does not know: it may outlive Kokkos.
/// \throws std::bad_alloc
template <class T>
std::pair<T*, nanobind::ndarray<nanobind::numpy, T>> make_array(
    const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  // huge pages from the beginning: each small page of new memory costs a fault when it is written
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t alignment = count * sizeof(T) >= 2 * huge ? huge : 64;
  const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
  T* const data = static_cast<T*>(std::aligned_alloc(alignment, bytes > 0 ? bytes : 64));
  if (data == nullptr) throw std::bad_alloc();
  moho::detail::advise_huge_pages(data, bytes);
  const nanobind::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  return {data, nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.data(), owner)};
}

/// Returns an array that owns a vector, without a copy. \param shape with as many elements; empty:
/// one axis
template <class T>
nanobind::object to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
  if (shape.empty()) shape.push_back(values.size());
  auto* const kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(kept,
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}

/// Returns an array with the values of a vector. \param shape with as many elements; empty: one
/// axis
template <class T>
nanobind::object copy_of(const std::vector<T>& values, std::vector<std::size_t> shape = {}) {
  if (shape.empty()) shape.push_back(values.size());
  auto [data, array] = make_array<T>(shape);
  std::copy(values.begin(), values.end(), data);
  return nanobind::cast(array);
}

}  // namespace moho::python
