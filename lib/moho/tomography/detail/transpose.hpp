// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels that transpose a sparse matrix in blocks of rows (internal).

#include <moho/core/kokkos.hpp>

#include <cstdint>

namespace moho::tomography::detail {

/// A transposition in blocks of rows. Each block counts its entries in every column; the sums of
/// these counts are the places of the entries, which are thus in the order of rows whatever the
/// number of blocks.
struct TransposeData {
  std::int64_t rows, columns, blocks, size;  ///< size: rows of a block
  const std::int64_t* first;
  const int* column;
  const double* value;
  int* index;  ///< blocks x columns: counts, then indices after the first of the column
  std::int64_t* first_out;  ///< columns + 1
  int* row_out;             ///< on devices at first entries of a block, until they are sorted
  double* value_out;

  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t block) const { return block * size; }
  KOKKOS_INLINE_FUNCTION std::int64_t end(std::int64_t block) const {
    return (block + 1) * size < rows ? (block + 1) * size : rows;
  }
};

/// Counts on a host, a block each.
struct CountBlock {
  TransposeData data;
  void operator()(const std::int64_t block) const {
    int* const count = data.index + block * data.columns;
    for (auto k = data.first[data.begin(block)]; k < data.first[data.end(block)]; ++k) {
      ++count[data.column[k]];
    }
  }
};

/// Moves the entries of a block on a host.
struct MoveBlock {
  TransposeData data;
  void operator()(const std::int64_t block) const {
    int* const index = data.index + block * data.columns;
    for (std::int64_t row = data.begin(block); row < data.end(block); ++row) {
      for (std::int64_t k = data.first[row]; k < data.first[row + 1]; ++k) {
        const int column = data.column[k];
        const std::int64_t at = data.first_out[column] + index[column]++;
        data.row_out[at] = static_cast<int>(row);
        data.value_out[at] = data.value[k];
      }
    }
  }
};

/// Counts on a device, a row each.
struct CountRow {
  TransposeData data;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    int* const count = data.index + row / data.size * data.columns;
    for (std::int64_t k = data.first[row]; k < data.first[row + 1]; ++k) {
      Kokkos::atomic_fetch_add(&count[data.column[k]], 1);
    }
  }
};

/// Lists the entries of a row on a device, in any order within the block.
struct ListRow {
  TransposeData data;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t block = row / data.size, first = data.first[data.begin(block)];
    int* const index = data.index + block * data.columns;
    for (std::int64_t k = data.first[row]; k < data.first[row + 1]; ++k) {
      const int column = data.column[k];
      const std::int64_t at = data.first_out[column] + Kokkos::atomic_fetch_add(&index[column], 1);
      data.row_out[at] = static_cast<int>(k - first);
    }
  }
};

/// Sorts a heap of integers, ascending.
KOKKOS_INLINE_FUNCTION void sift_down(int* list, int count, int at) {
  const int moved = list[at];
  for (;;) {
    int child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && list[child + 1] > list[child]) ++child;
    if (list[child] <= moved) break;
    list[at] = list[child];
    at = child;
  }
  list[at] = moved;
}
KOKKOS_INLINE_FUNCTION void sort_integers(int* list, int count) {
  if (count < 24) {
    for (int i = 1; i < count; ++i) {
      const int moved = list[i];
      int at = i;
      for (; at > 0 && list[at - 1] > moved; --at) list[at] = list[at - 1];
      list[at] = moved;
    }
    return;
  }
  for (int i = count / 2; i-- > 0;) sift_down(list, count, i);
  for (int last = count - 1; last > 0; --last) {
    const int largest = list[0];
    list[0] = list[last];
    list[last] = largest;
    sift_down(list, last, 0);
  }
}

/// Sorts the entries of a block in a column on a device, and replaces them by rows and values.
struct SortPart {
  TransposeData data;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t block = i / data.columns, column = i % data.columns;
    const int from = block == 0 ? 0 : data.index[i - data.columns];
    const int count = data.index[i] - from;
    if (count == 0) return;
    const std::int64_t start = data.first_out[column] + from;
    int* const list = data.row_out + start;
    sort_integers(list, count);
    std::int64_t row = data.begin(block);
    const std::int64_t first = data.first[row];
    for (int k = 0; k < count; ++k) {
      const std::int64_t entry = first + list[k];
      std::int64_t above = data.end(block);  // the row is in [row, above)
      while (above - row > 1) {
        const std::int64_t middle = row + (above - row) / 2;
        (data.first[middle] <= entry ? row : above) = middle;
      }
      list[k] = static_cast<int>(row);
      data.value_out[start + k] = data.value[entry];
    }
  }
};

/// Turns the counts of a column into places and sums them over columns.
struct SumColumns {
  TransposeData data;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t column, std::int64_t& sum,
                                         const bool final) const {
    if (final) data.first_out[column] = sum;
    if (column == data.columns) return;
    int before = 0;
    for (std::int64_t block = 0; block < data.blocks; ++block) {
      int& index = data.index[block * data.columns + column];
      const int count = index;
      if (final) index = before;
      before += count;
    }
    sum += before;
  }
};

}  // namespace moho::tomography::detail
