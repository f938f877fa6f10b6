// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Check of a survey for live traces, by processes that read parts of it.

#include <moho/core/communicator.hpp>
#include <moho/core/error.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho::survey {

/// \brief Refuses a survey without a live trace. Collective.
/// \param processes that have read the survey together
/// \param name of the data in messages
/// \param traces of the survey
/// \param live traces with a sample other than zero that this process has read
/// \throws InputError on all processes
inline void check_live_traces(Communicator& processes, const std::string& name, std::size_t traces,
                              std::size_t live) {
  std::vector<double> sum{static_cast<double>(live)};
  processes.sum_to_root(sum);
  processes.broadcast(sum.data(), sizeof(double));
  processes.collectively([&] {
    if (sum[0] > 0.0) return;
    throw InputError(concat(name, ": no shot has a live trace (the samples of all ", traces,
                            " traces are zero; allowed: 1 live trace or more): check the samples "
                            "of the data"));
  });
}

}  // namespace moho::survey
