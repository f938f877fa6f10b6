// SPDX-License-Identifier: BSD-3-Clause

#include "rays/model.hpp"

namespace moho::testing {

MOHO_FOR_ALL(MOHO_FUNCTION, template, velocity_field)
MOHO_FOR_ALL(MOHO_FUNCTION, template, make_graph)
MOHO_FOR_ALL(MOHO_FUNCTION, template, solve)
MOHO_FOR_ALL(MOHO_FUNCTION, template, expect_dijkstra)
MOHO_FOR_TYPES(MOHO_FUNCTION, template, reference)

}  // namespace moho::testing
