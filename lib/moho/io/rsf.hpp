// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Madagascar's regularly sampled format (RSF): a text header with binary or text data.

#include <moho/io/array.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace moho::io {

/// An axis of an RSF file (n#, d#, o#, label#, unit# of the header).
struct RsfAxis {
  std::int64_t extent = 1;   ///< n#
  double spacing = 1.0;      ///< d#; 1 if missing
  double origin = 0.0;       ///< o#; 0 if missing
  std::string label;         ///< label#
  std::string unit;          ///< unit#
  bool has_spacing = false;  ///< true if the header has d#
  bool has_origin = false;   ///< true if the header has o#
};

/// Contents of an RSF file.
///
/// Axis 1 of RSF is the fastest, so axes[k] describes values.shape[k] and corresponds to axis n - k
/// of the header. A 3D file with n1, n2, n3 has the shape (n3, n2, n1).
template <class T>
struct RsfData {
  Array<T> values;            ///< in C order
  std::vector<RsfAxis> axes;  ///< one per axis of values, in the same order
  std::string unit{};         ///< unit of the values (unit= without a number)
};

/// Reads an RSF file.
///
/// The data are in a separate file (in="path", relative to the folder of the header unless
/// absolute), or follow the header in the same file (in="stdin", after the bytes 0c 0c 04).
///
/// data_format may be native_, xdr_ (big endian) or ascii_ with float or double; the default is
/// native_float. The last assignment of a key counts, because headers are histories. Trailing axes
/// of length 1 are dropped, except an explicit n2. Binary data must have exactly the length that
/// the header states, which is checked before memory is allocated. T: float or double.
/// \throws FileError
template <class T>
RsfData<T> read_rsf(const std::filesystem::path& path);

/// Contents of the header of an RSF file.
struct RsfLayout {
  std::vector<std::int64_t> shape;  ///< as RsfData::values
  std::filesystem::path data;       ///< file of the data: the header file or another one
  std::uint64_t text_bytes = 0;  ///< size of text data, which are in memory while the file is read
};

/// Reads the header of an RSF file, but no values. \throws FileError
RsfLayout peek_rsf(const std::filesystem::path& path);

/// Encoding of the values in write_rsf().
enum class RsfEncoding {
  native,  ///< byte order of the machine
  xdr      ///< big endian
};

/// Options of write_rsf().
struct RsfWriteOptions {
  bool one_file = true;  ///< data follow the header; false: data in the separate file PATH@
  RsfEncoding encoding = RsfEncoding::native;  ///< byte order of the data
};

/// Writes an RSF file. T: float or double.
///
/// `axes` is empty or has one entry per axis of the array, in the same order; the extents are those
/// of the array. \throws FileError, InputError
template <class T>
void write_rsf(const std::filesystem::path& path, const Array<T>& array,
               const std::vector<RsfAxis>& axes = {}, const RsfWriteOptions& options = {});

}  // namespace moho::io
