// SPDX-License-Identifier: BSD-3-Clause
#include <moho/fwi/objective_types.hpp>

namespace moho::fwi {

const char* to_string(SourceField field) {
  constexpr const char* names[] = {"auto", "shell", "random", "stored", "replay"};
  return names[static_cast<int>(field)];
}

void check_bounds(const std::string& what, const std::string& name, Parameter parameter,
                  const Range& bounds) {
  const wave::ParameterInfo& row = wave::info(parameter);
  if (bounds.low < bounds.high && bounds.low >= row.lowest && bounds.high <= row.highest) return;
  throw InputError(concat(what, ": ", name, " from ", bounds.low, " to ", bounds.high,
                          " (allowed: a least value below the greatest one, ", row.allowed, ")"));
}

}  // namespace moho::fwi
