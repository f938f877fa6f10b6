// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The host array that files are read into and written from.

#include <moho/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::io {

/// A host array in C order: the last axis is contiguous.
///
/// The axes of a velocity model are (x, z) or (x, y, z), as in moho::Grid; those of a gather are
/// (receiver, time).
template <class T>
struct Array {
  std::vector<std::int64_t> shape;  ///< extent of each axis
  std::vector<T> data;              ///< the values; their number is the product of the extents

  /// Returns the number of axes.
  int rank() const { return static_cast<int>(shape.size()); }
  /// Returns the number of values.
  std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
};

/// Formats a shape for messages: "401 x 201".
inline std::string shape_string(const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return "()";
  std::string text;
  for (std::size_t d = 0; d < shape.size(); ++d) text += concat(d ? " x " : "", shape[d]);
  return text;
}

/// Returns the number of values of a shape, or -1 if the shape is invalid.
///
/// A shape is invalid if an extent is below 1 or the product exceeds 2^62.
inline std::int64_t shape_size(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t largest = std::int64_t{1} << 62;
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || n > largest / extent) return -1;
    n *= extent;
  }
  return n;
}

/// Checks that an array has at least one axis and as many values as its shape states.
/// \throws InputError otherwise
template <class T>
void check_shape(const std::string& what, const Array<T>& array) {
  if (array.shape.empty() || shape_size(array.shape) != array.size()) {
    throw InputError(concat(what, ": the array holds ", array.size(), " values and its shape is ",
                            shape_string(array.shape),
                            " (they must agree, every extent at least 1)"));
  }
}

}  // namespace moho::io
