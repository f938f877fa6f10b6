// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sparse matrices in compressed rows, and their transposes on an instance.

#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>
#include <moho/tomography/detail/transpose.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moho::tomography {

/// A sparse matrix in compressed rows, on the host. A column may occur twice in a row: the values
/// are added.
struct SparseRows {
  std::int64_t columns = 0;            ///< number of columns
  std::vector<std::int64_t> first{0};  ///< offsets into column and value, one more than rows
  std::vector<int> column;             ///< column of each entry
  std::vector<double> value;           ///< value of each entry
  /// Returns the number of rows.
  std::int64_t rows() const { return static_cast<std::int64_t>(first.size()) - 1; }
};

/// SparseRows in a memory space.
template <class Memory>
struct CompressedRows {
  std::int64_t columns = 0;                   ///< number of columns
  Kokkos::View<std::int64_t*, Memory> first;  ///< offsets, one more than rows
  Kokkos::View<int*, Memory> column;          ///< column of each entry
  Kokkos::View<double*, Memory> value;        ///< value of each entry
  /// Returns the number of rows.
  std::int64_t rows() const {
    return first.extent(0) == 0 ? 0 : static_cast<std::int64_t>(first.extent(0)) - 1;
  }
  /// Returns the number of entries.
  std::int64_t entries() const { return static_cast<std::int64_t>(column.extent(0)); }
  /// Returns the bytes of the matrix.
  std::size_t bytes() const { return first.span() * 8 + column.span() * 4 + value.span() * 8; }
};

/// Copies rows to the memory of an instance, and waits for it.
template <class Memory>
CompressedRows<Memory> upload_rows(const Instance<Memory>& exec, const SparseRows& rows) {
  return {rows.columns, upload(exec, rows.first, "moho::tomography::first"),
          upload(exec, rows.column, "moho::tomography::column"),
          upload(exec, rows.value, "moho::tomography::value")};
}

/// Returns a copy of rows on the host; waits for the instance.
template <class Memory>
SparseRows download_rows(const Instance<Memory>& exec, const CompressedRows<Memory>& rows) {
  return {rows.columns, download(exec, rows.first), download(exec, rows.column),
          download(exec, rows.value)};
}

/// \brief Returns the transpose, whose entries are in the order of the rows of the matrix.
/// \param exec all work is submitted to this instance, for which the function waits
/// \param rows a matrix with fewer than 2^31 rows, and entries in a column
template <class Memory>
CompressedRows<Memory> transpose(const Instance<Memory>& exec, const CompressedRows<Memory>& rows) {
  const std::int64_t count = rows.rows(), entries = rows.entries();
  std::int64_t blocks =
      std::max<std::int64_t>(1, entries / (2 * std::max<std::int64_t>(1, rows.columns)));
  if constexpr (is_host_memory<Memory>) {
    blocks = std::min<std::int64_t>(blocks, exec.concurrency());
  }
  blocks = std::clamp<std::int64_t>(blocks, 1, std::max<std::int64_t>(1, count));
  const std::int64_t size = std::max<std::int64_t>(1, (count + blocks - 1) / blocks);
  blocks = std::max<std::int64_t>(1, (count + size - 1) / size);
  CompressedRows<Memory> result{
      count,
      allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::tomography::first_of_column",
                                                    rows.columns + 1),
      allocate<Kokkos::View<int*, Memory>>(exec, "moho::tomography::row", entries),
      allocate<Kokkos::View<double*, Memory>>(exec, "moho::tomography::value_by_column", entries)};
  const auto index =
      allocate<Kokkos::View<int*, Memory>>(exec, "moho::tomography::places", blocks * rows.columns);
  fill(exec, index, 0);
  const detail::TransposeData data{count,
                                   rows.columns,
                                   blocks,
                                   size,
                                   rows.first.data(),
                                   rows.column.data(),
                                   rows.value.data(),
                                   index.data(),
                                   result.first.data(),
                                   result.column.data(),
                                   result.value.data()};
  if constexpr (is_host_memory<Memory>) {
    if (count > 0)
      launch("moho::tomography::count_columns", exec, blocks, detail::CountBlock{data});
  } else {
    launch("moho::tomography::count_columns", exec, count, detail::CountRow{data});
  }
  scan<std::int64_t>("moho::tomography::place_columns", exec, rows.columns + 1,
                     detail::SumColumns{data});
  if constexpr (is_host_memory<Memory>) {
    if (count > 0) launch("moho::tomography::move_entries", exec, blocks, detail::MoveBlock{data});
  } else {
    launch("moho::tomography::list_entries", exec, count, detail::ListRow{data});
    launch("moho::tomography::sort_entries", exec, blocks * rows.columns, detail::SortPart{data});
  }
  return result;
}

}  // namespace moho::tomography
