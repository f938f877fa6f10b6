// SPDX-License-Identifier: BSD-3-Clause
#include "common/version.hpp"

#ifndef MOHO_VERSION
#define MOHO_VERSION "unknown"
#endif
#ifndef MOHO_COMMIT
#define MOHO_COMMIT "unknown"
#endif

namespace moho::bench {

const char* version() { return MOHO_VERSION; }
const char* commit() { return MOHO_COMMIT; }

}  // namespace moho::bench
