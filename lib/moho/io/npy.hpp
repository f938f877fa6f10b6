// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading and writing of NumPy's .npy files.

#include <moho/core/kokkos.hpp>
#include <moho/io/array.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/writer.hpp>

#include <cstdint>
#include <filesystem>
#include <type_traits>
#include <vector>

namespace moho::io {

/// Reads a .npy file into an array in C order.
///
/// Supported are format versions 1.0, 2.0 and 3.0, both byte orders, and C and Fortran order.
/// Values in Fortran order are transposed; the shape is the one that NumPy shows. With T = float or
/// double the file must hold float32 or float64. Reading float32 as double is exact. Reading
/// float64 as float rounds, and overflow is an error. With T = std::int16_t, std::int32_t or
/// std::int64_t the file must hold signed integers of 2, 4 or 8 bytes, not wider than T, with T =
/// unsigned char booleans. Other types (complex numbers, objects, records, strings) are errors.
///
/// The header is checked against the length of the file before memory is allocated. The file must
/// have exactly the length that the header states. \throws FileError with the file, the value found
/// and the allowed values
template <class T>
Array<T> read_npy(const std::filesystem::path& path);

/// Contents of the header of a .npy file.
struct NpyLayout {
  std::vector<std::int64_t> shape;  ///< extent of each axis
  /// Fortran order: the first axis is contiguous, and reading needs a temporary copy.
  bool fortran = false;
  bool booleans = false;  ///< the values are booleans
  bool integers = false;  ///< the values are signed integers of 16 to 64 bits
};

/// Reads the header of a .npy file, but no values. \throws FileError
NpyLayout peek_npy(const std::filesystem::path& path);

/// Writes `product(shape)` values in C order as a .npy file.
///
/// The format is 1.0, little endian, with data aligned to 64 bytes. T: float, double, std::int16_t,
/// std::int32_t, std::int64_t.
/// \param path path of the file
/// \param data the values
/// \param shape extents of the axes, the last axis fastest
/// \param[out] identity length and checksum of the file, unless null
/// \throws FileError if the file cannot be written completely; InputError for an empty shape
template <class T>
void write_npy(const std::filesystem::path& path, const T* data,
               const std::vector<std::int64_t>& shape, FileIdentity* identity = nullptr);

/// \brief A .npy file written in parts, with the format of write_npy().
///
/// Destruction without commit() leaves no file.
template <class T>
class NpyFile {
 public:
  /// Creates a temporary file. \param sums true: commit() returns length and checksum
  /// \throws FileError, InputError
  NpyFile(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
          bool sums = false);
  /// Appends values in C order. \throws FileError
  void write(const T* values, std::int64_t count);
  /// Renames the complete file to its final name.
  /// \returns length and checksum if they are computed \throws FileError
  FileIdentity commit();

 private:
  std::uint64_t m_bytes;  // length of the complete file
  AtomicFile m_file;
};

/// Writes an array as a .npy file, as the other overload.
template <class T>
void write_npy(const std::filesystem::path& path, const Array<T>& array) {
  check_shape("write_npy", array);
  write_npy(path, array.data.data(), array.shape);
}

/// \brief Writes a host view, for example a field or traces, as a .npy file.
///
/// Copy views in device memory to the host first, with moho::download() or Kokkos::deep_copy().
/// \param path path of the file
/// \param view contiguous view in C order
/// \throws FileError if the file cannot be written completely; InputError for an empty view or one
/// that is not contiguous
template <class View>
requires Kokkos::is_view<View>::value void write_npy(const std::filesystem::path& path,
                                                     const View& view) {
  static_assert(
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible,
      "moho::io::write_npy: the view is not in the memory of the host");
  static_assert(std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>,
                "moho::io::write_npy: the last axis of the view is not contiguous");
  if (!view.span_is_contiguous()) {
    throw InputError(concat("write_npy: the view has gaps between its rows (allowed: views whose ",
                            "elements lie one after the other): copy it first"));
  }
  std::vector<std::int64_t> shape;
  for (unsigned d = 0; d < unsigned(View::rank); ++d) {
    shape.push_back(static_cast<std::int64_t>(view.extent(d)));
  }
  write_npy<typename View::non_const_value_type>(path, view.data(), shape);
}

}  // namespace moho::io
