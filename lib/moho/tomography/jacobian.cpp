// SPDX-License-Identifier: BSD-3-Clause
#include <moho/tomography/jacobian.hpp>

namespace moho::tomography {

SparseRows transpose(const SparseRows& matrix) {
  SparseRows result;
  result.columns = matrix.rows();
  result.first.assign(static_cast<std::size_t>(matrix.columns) + 1, 0);
  for (const int column : matrix.column) ++result.first[static_cast<std::size_t>(column) + 1];
  for (std::size_t k = 1; k < result.first.size(); ++k) result.first[k] += result.first[k - 1];
  std::vector<std::int64_t> place(result.first.begin(), result.first.end() - 1);
  result.column.resize(matrix.column.size());
  result.value.resize(matrix.value.size());
  for (std::int64_t row = 0; row < matrix.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(matrix.first[r]);
         k < static_cast<std::size_t>(matrix.first[r + 1]); ++k) {
      const auto at = static_cast<std::size_t>(place[static_cast<std::size_t>(matrix.column[k])]++);
      result.column[at] = static_cast<int>(row);
      result.value[at] = matrix.value[k];
    }
  }
  return result;
}

}  // namespace moho::tomography
