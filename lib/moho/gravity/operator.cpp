// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/operator.hpp>

namespace moho::gravity::detail {

void check_count(const char* name, std::size_t found, std::int64_t count, const char* of) {
  if (static_cast<std::int64_t>(found) == count) return;
  throw InputError(concat(name, ": there are ", found, " (allowed: ", count, ", one a ", of, ")"));
}

void check_shape(const char* name, std::size_t rows, std::size_t columns, std::size_t components,
                 std::int64_t stations) {
  if (rows == components && static_cast<std::int64_t>(columns) == stations) return;
  throw InputError(concat(name, ": the shape is ", rows, " x ", columns, " (allowed: ", components,
                          " x ", stations, ", components x stations)"));
}

}  // namespace moho::gravity::detail
