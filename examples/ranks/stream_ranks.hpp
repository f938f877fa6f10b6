// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Adapter from the ranks of a program to those of a stream.

#include "app/processes.hpp"

#include <moho/stream/ranks.hpp>

#include <memory>

namespace moho::examples {

/// Returns the ranks as StreamRanks whose together() is that of `processes`.
/// Null for a single process. `processes` must outlive the result.
std::unique_ptr<stream::StreamRanks> stream_ranks(Processes& processes);

}  // namespace moho::examples
