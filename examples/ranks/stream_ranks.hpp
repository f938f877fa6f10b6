// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The ranks of a program as those of a stream.

#include "common/processes.hpp"

#include <moho/stream/ranks.hpp>

#include <memory>

namespace moho::examples {

/// The ranks of a run, whose together() is that of the processes; null where there is but one. The
/// processes have to live as long.
std::unique_ptr<stream::StreamRanks> stream_ranks(Processes& processes);

}  // namespace moho::examples
