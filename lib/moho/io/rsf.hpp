// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Madagascar's regularly sampled format: a text header and binary or text data.

#include <moho/io/array.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace moho::io {

/// One axis of an RSF file (n#, d#, o#, label#, unit# of its header).
struct RsfAxis {
  std::int64_t extent = 1;   ///< n#
  double spacing = 1.0;      ///< d#; 1 where the header does not say
  double origin = 0.0;       ///< o#; 0 where the header does not say
  std::string label;         ///< label#
  std::string unit;          ///< unit#
  bool has_spacing = false;  ///< the header has d#
  bool has_origin = false;   ///< the header has o#
};

/// An RSF file. Axis 1 of RSF is the fastest, so axes[k] describes values.shape[k] and belongs to
/// the header's axis n - k: a 3D file with n1, n2, n3 has the shape (n3, n2, n1).
template <class T>
struct RsfData {
  Array<T> values;            ///< in C order
  std::vector<RsfAxis> axes;  ///< one per axis of values, in the same order
  std::string unit{};         ///< of the values (unit= without a number)
};

/// Reads an RSF file: data in a file of its own (in="path", relative to the header's folder unless
/// absolute) or behind the header in the same file (in="stdin", after the bytes 0c 0c 04).
///
/// data_format may be native_, xdr_ (big endian) or ascii_ with float or double; missing means
/// native_float. A header is a history: the last assignment of a key counts. Trailing axes of
/// length 1 are dropped, but an n2 that is written down stays. Binary data must be exactly as long
/// as the header says, which is checked before memory is allocated. T: float or double. \throws
/// FileError
template <class T>
RsfData<T> read_rsf(const std::filesystem::path& path);

/// What the header of an RSF file says.
struct RsfLayout {
  std::vector<std::int64_t> shape;  ///< as of RsfData::values
  std::filesystem::path data;       ///< the file of the data: the header's, or another
  std::uint64_t text_bytes = 0;     ///< of text that is in memory while the file is read
};

/// Reads the header of an RSF file and nothing else. \throws FileError
RsfLayout peek_rsf(const std::filesystem::path& path);

/// How write_rsf() stores the values.
enum class RsfEncoding {
  native,  ///< the machine's byte order
  xdr      ///< big endian
};

/// Options of write_rsf().
struct RsfWriteOptions {
  bool one_file = true;  ///< data behind the header; false: in PATH@ beside it
  RsfEncoding encoding = RsfEncoding::native;  ///< byte order
};

/// Writes an RSF file. `axes` is empty or has one entry per axis of the array, in the array's
/// order; their extents are taken from the array. T: float or double. \throws FileError, InputError
template <class T>
void write_rsf(const std::filesystem::path& path, const Array<T>& array,
               const std::vector<RsfAxis>& axes = {}, const RsfWriteOptions& options = {});

}  // namespace moho::io
