// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sparse matrices as files for SciPy, MATLAB and Julia.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace moho::io {

/// A sparse matrix in compressed rows; the arrays must outlive it.
struct SparseRows {
  std::int64_t columns = 0;             ///< number of columns
  std::span<const std::int64_t> first;  ///< offsets into column and value, one more than rows
  std::span<const int> column;          ///< column of each entry, from 0
  std::span<const double> value;        ///< value of each entry
};

/// Checks that the archive of a matrix is smaller than 4 GiB, the limit of its format.
/// \param rows number of rows
/// \param entries number of stored values
/// \param name name of the file in messages
/// \param advice last clause of the message
/// \throws InputError for a larger archive
void check_npz_size(std::size_t rows, std::size_t entries, const std::string& name,
                    const std::string& advice = "store fewer values");

/// \brief Writes a matrix as save_npz() of SciPy does.
///
/// The file is an uncompressed archive of data.npy, indices.npy, indptr.npy, shape.npy and
/// format.npy ("csr"). \throws InputError as check_npz_size() and for arrays
/// that are no rows of a matrix, FileError
void write_sparse_npz(const std::filesystem::path& path, const SparseRows& rows);

/// \brief Writes a matrix in the coordinate format of Matrix Market, counted from 1.
/// \param path path of the file
/// \param rows the matrix
/// \param about text of a comment line
/// \throws InputError for arrays that are no rows of a matrix and for an `about` of several lines,
/// FileError
void write_matrix_market(const std::filesystem::path& path, const SparseRows& rows,
                         const std::string& about);

}  // namespace moho::io
