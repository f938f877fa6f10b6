// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief NumPy's .npy files.

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
/// Format versions 1.0, 2.0 and 3.0, both byte orders, C and Fortran order (Fortran order is
/// transposed while reading, the shape stays what NumPy shows). With T = float or double the file
/// must hold float32 or float64: float32 read as double is exact, float64 read as float is rounded
/// and refused where a value overflows. With T = std::int16_t, std::int32_t or std::int64_t the
/// file must hold signed integers of 2, 4 or 8 bytes, not wider than T. Anything else (booleans,
/// complex, objects, records, strings) is refused.
///
/// The header is checked against the file's length before memory is allocated; the file must be
/// exactly as long as its header says. \throws FileError  names the file, what was found and what
/// is allowed
template <class T>
Array<T> read_npy(const std::filesystem::path& path);

/// What the header of a .npy file says.
struct NpyLayout {
  std::vector<std::int64_t> shape;  ///< extent of every axis
  bool fortran = false;             ///< the first axis is contiguous, reading makes a copy
};

/// Reads the header of a .npy file and nothing else. \throws FileError
NpyLayout peek_npy(const std::filesystem::path& path);

/// Writes `product(shape)` values in C order as a .npy file, format 1.0, little endian, data on a
/// boundary of 64 bytes. T: float, double, std::int16_t, std::int32_t, std::int64_t. \throws
/// FileError when the file cannot be written whole, InputError for an empty shape
/// \param path of the file
/// \param data the values
/// \param shape extents, the last axis fastest
/// \param[out] identity length and checksum of the file, unless it is null
template <class T>
void write_npy(const std::filesystem::path& path, const T* data,
               const std::vector<std::int64_t>& shape, FileIdentity* identity = nullptr);

/// \brief A .npy file whose values come part by part, as write_npy() writes it.
///
/// Destroying it without commit() leaves nothing behind.
template <class T>
class NpyFile {
 public:
  /// Creates it. \param sums true: commit() returns length and checksum \throws FileError,
  /// InputError
  NpyFile(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
          bool sums = false);
  /// Appends values in C order. \throws FileError
  void write(const T* values, std::int64_t count);
  /// Gives the file its name when it is whole. \returns length and checksum, if it keeps them
  /// \throws FileError
  FileIdentity commit();

 private:
  std::uint64_t m_bytes;  // that it will have
  AtomicFile m_file;
};

/// Writes an array as a .npy file.
template <class T>
void write_npy(const std::filesystem::path& path, const Array<T>& array) {
  check_shape("write_npy", array);
  write_npy(path, array.data.data(), array.shape);
}

/// \brief Writes a view on the host as a .npy file: a field, traces.
///
/// Views of devices are copied to the host first, with moho::download() or Kokkos::deep_copy().
/// \param path of the file
/// \param view its last axis is contiguous, without gaps
/// \throws FileError when the file cannot be written whole; InputError for a view without elements
/// or with gaps
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
