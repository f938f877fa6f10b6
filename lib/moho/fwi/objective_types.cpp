// SPDX-License-Identifier: BSD-3-Clause
#include <moho/fwi/objective_types.hpp>

namespace moho::fwi {

const char* to_string(SourceField field) {
  constexpr const char* names[] = {"auto", "shell", "random", "stored", "replay"};
  return names[static_cast<int>(field)];
}

}  // namespace moho::fwi
