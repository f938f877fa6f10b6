// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The plain host array that files are read into and written from.

#include <moho/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::io {

/// An array on the host in C order: the last axis is contiguous.
///
/// A velocity model has the axes (x, z) or (x, y, z), as moho::Grid has; a gather (receiver, time).
template <class T>
struct Array {
  std::vector<std::int64_t> shape;  ///< extent of every axis
  std::vector<T> data;              ///< the values, product(shape) of them

  /// Number of axes.
  int rank() const { return static_cast<int>(shape.size()); }
  /// Number of values.
  std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
};

/// "401 x 201" for messages.
inline std::string shape_string(const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return "()";
  std::string text;
  for (std::size_t d = 0; d < shape.size(); ++d) text += concat(d ? " x " : "", shape[d]);
  return text;
}

/// Number of values of a shape, or -1 where an extent is below 1 or the product passes 2^62.
inline std::int64_t shape_size(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t largest = std::int64_t{1} << 62;
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || n > largest / extent) return -1;
    n *= extent;
  }
  return n;
}

/// Throws InputError unless an array's shape has at least one axis and tells as many values as
/// there are.
template <class T>
void check_shape(const std::string& what, const Array<T>& array) {
  if (array.shape.empty() || shape_size(array.shape) != array.size()) {
    throw InputError(concat(what, ": the array holds ", array.size(), " values and its shape is ",
                            shape_string(array.shape),
                            " (they must agree, every extent at least 1)"));
  }
}

}  // namespace moho::io
