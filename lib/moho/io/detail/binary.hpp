// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading of binary values of any byte order and width into host arrays (internal).

#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

namespace moho::io::detail {

/// Reverses the bytes of `count` values of `width` bytes in place.
inline void swap_bytes(void* values, std::size_t count, std::size_t width) {
  auto* at = static_cast<unsigned char*>(values);
  for (std::size_t i = 0; i < count; ++i, at += width) std::reverse(at, at + width);
}

/// Returns a vector of `count` values. \throws MemoryError instead of std::bad_alloc
template <class T>
std::vector<T> allocate(const std::string& file, std::int64_t count) {
  try {
    return std::vector<T>(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw MemoryError(concat("'", file, "' needs ",
                           format_bytes(static_cast<double>(count) * sizeof(T)),
                           " of memory, more than there is"));
}

/// Converts a value. \throws FileError for a finite number that overflows the type To
template <class To, class From>
To convert(const std::string& file, std::int64_t index, From value) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
    if (std::isfinite(value) &&
        std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
      throw FileError(concat("'", file, "': value ", value, " at position ", index,
                             " does not fit single precision: read it in double precision"));
    }
  }
  return static_cast<To>(value);
}

/// Reads `count` values of type From at byte `offset` and converts each to To.
template <class From, class To>
void read_values(const InputFile& file, std::uint64_t offset, std::int64_t count, std::endian order,
                 To* values) {
  const bool swap = order != std::endian::native && sizeof(From) > 1;
  if constexpr (std::is_same_v<From, To>) {
    file.read(offset, values, static_cast<std::size_t>(count) * sizeof(To));
    if (swap) swap_bytes(values, static_cast<std::size_t>(count), sizeof(To));
  } else {
    constexpr std::int64_t piece = 65536;
    std::vector<From> buffer(static_cast<std::size_t>(std::min(piece, count)));
    for (std::int64_t start = 0; start < count; start += piece) {
      const auto n = static_cast<std::size_t>(std::min(piece, count - start));
      file.read(offset + static_cast<std::uint64_t>(start) * sizeof(From), buffer.data(),
                n * sizeof(From));
      if (swap) swap_bytes(buffer.data(), n, sizeof(From));
      for (std::size_t i = 0; i < n; ++i) {
        const auto index = start + static_cast<std::int64_t>(i);
        values[index] = convert<To>(file.name(), index, buffer[i]);
      }
    }
  }
}

}  // namespace moho::io::detail
