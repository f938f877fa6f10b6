// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What was asked of migrate_shots, as summary.json tells it.

#include "common/json.hpp"
#include "migrate_shots/options.hpp"

namespace moho::examples::migrate_shots {

/// The options by their names; --resume compares them with those of the interrupted run.
Json asked_json(const Options& options);

}  // namespace moho::examples::migrate_shots
