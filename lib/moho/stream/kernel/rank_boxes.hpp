// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Boxes of the steps of a shot, equal on all ranks (internal).

#include <moho/core/box.hpp>
#include <moho/stream/ranks.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace moho::stream::detail {

/// \brief Returns the boxes that rank 0 finds, on all ranks. Collective.
///
/// Ranks exchange the planes of a step's box, so that the boxes must not differ by rounding. The
/// other ranks leave processors and memory to rank 0.
/// \param ranks null: this process alone
/// \param steps of the shot
/// \param find called on rank 0; returns from a time level the nodes of the step from it
/// \throws the exception of `find`, on all ranks
template <int Dim, class Find>
std::function<Box<Dim>(std::int64_t level)> boxes_of_ranks(StreamRanks* ranks, std::int64_t steps,
                                                           const Find& find) {
  if (ranks == nullptr || ranks->size() == 1) return find();
  const auto boxes = std::make_shared<std::vector<Box<Dim>>>(static_cast<std::size_t>(steps) + 1);
  ranks->collectively([&] {
    if (ranks->rank() > 0) return;
    const auto found = find();
    for (std::int64_t n = 0; n <= steps; ++n) (*boxes)[static_cast<std::size_t>(n)] = found(n);
  });
  ranks->broadcast(boxes->data(), boxes->size() * sizeof(Box<Dim>));
  return [boxes](std::int64_t level) {
    return boxes->at(static_cast<std::size_t>(std::max<std::int64_t>(level, 0)));
  };
}

}  // namespace moho::stream::detail
