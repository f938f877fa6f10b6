// SPDX-License-Identifier: BSD-3-Clause
//
// Exchange of planes between ranks: parts of any size, through the memory of devices or of hosts.

#include <moho/core/copy.hpp>
#include <moho/mpi/mpi.hpp>
#include <moho/stream/detail/slab_messages.hpp>
#include <moho/stream/mpi.hpp>

#include "spaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace moho::testing {
namespace {

using T = float;
using stream::SlabSides;

/// Returns value n of part p that a rank sends to a side in an exchange.
T value_of(int rank, int side, int exchange, std::size_t p, std::size_t n) {
  const std::size_t word = n * 31 + p * 7 + static_cast<std::size_t>(exchange) * 1009 +
                           static_cast<std::size_t>(rank) * 17 + static_cast<std::size_t>(side) * 3;
  return static_cast<T>(word % 8191) + 0.25f;
}

/// Exchanges parts of several sizes, which differ from one exchange to the next.
template <class Memory>
void expect_parts_of_neighbours(const Instance<Memory>& exec, stream::StreamRanks& ranks) {
  using Messages = stream::SlabMessages<T, Memory>;
  using Pieces = stream::SlabPieces<T, Memory>;
  const Instance<Memory> transfers = new_instance(exec);
  Messages messages(ranks, transfers);
  const std::vector<std::vector<std::size_t>> sizes{{3},       {1000, 1}, {300000, 70000}, {},
                                                    {5, 0, 2}, {400000},  {399999, 1},     {1}};
  for (int k = 0; k < static_cast<int>(sizes.size()); ++k) {
    const std::vector<std::size_t>& size = sizes[static_cast<std::size_t>(k)];
    std::vector<Kokkos::View<T*, Memory>> kept;
    Pieces leaving[2], arriving[2];
    const auto add = [&](Pieces& pieces, const std::vector<T>& values) {
      kept.push_back(upload(exec, values, "test"));
      pieces.emplace_back(kept.back().data(), values.size());
    };
    for (const auto side : {SlabSides::previous, SlabSides::next}) {
      if (!messages.has(side)) continue;
      for (std::size_t p = 0; p < size.size(); ++p) {
        std::vector<T> values(size[p]);
        for (std::size_t n = 0; n < values.size(); ++n) {
          values[n] = value_of(ranks.rank(), side, k, p, n);
        }
        add(leaving[side], values);
        add(arriving[side], std::vector<T>(size[p], T(-1)));
      }
    }
    exec.fence();
    messages.begin(leaving, arriving);
    messages.finish();
    transfers.fence();
    for (const auto side : {SlabSides::previous, SlabSides::next}) {
      if (!messages.has(side)) continue;
      const int from = SlabSides::rank_on(ranks, side);
      const int theirs = side == SlabSides::previous ? SlabSides::next : SlabSides::previous;
      for (std::size_t p = 0; p < size.size(); ++p) {
        const std::vector<T> values = download(exec, arriving[side][p]);
        for (std::size_t n = 0; n < values.size(); ++n) {
          ASSERT_EQ(values[n], value_of(from, theirs, k, p, n))
              << "exchange " << k << ", part " << p << ", value " << n;
        }
      }
    }
  }
}

template <class Memory>
void expect_same_parts_on_all_ways(const Instance<Memory>& exec) {
  stream::MpiRanks ranks(MPI_COMM_WORLD);
  // twice: later exchanges take the memory of earlier ones
  for (int turn = 0; turn < 2; ++turn) expect_parts_of_neighbours(exec, ranks);
  EXPECT_EQ(ranks.peers().has_value(), !is_host_memory<Memory>);
  EXPECT_THAT(ranks.exchange(),
              ::testing::AnyOf("host memory", "device memory", "page-locked host memory"));
  EXPECT_EQ(ranks.exchange() == "host memory", is_host_memory<Memory>);
  ::testing::Test::RecordProperty("exchange", ranks.exchange());
  if (ranks.peers()) {
    const stream::StreamPeers peers = *ranks.peers();
    EXPECT_FALSE(peers.sides[0] && ranks.rank() == 0);
    EXPECT_FALSE(peers.sides[1] && ranks.rank() + 1 == ranks.size());
    // neighbours agree
    for (int r = 0; r + 1 < ranks.size(); ++r) {
      const bool above = ranks.rank() == r && peers.sides[1];
      const bool below = ranks.rank() == r + 1 && peers.sides[0];
      EXPECT_EQ(ranks.min(above ? 0 : 1), ranks.min(below ? 0 : 1));
    }
    for (const auto side : {SlabSides::previous, SlabSides::next}) {
      EXPECT_TRUE(peers.sides[side] || !peers.signals[side]);
    }
    // the same with waiting ranks in place of events
    stream::StreamPeers waiting = peers;
    waiting.signals = {};
    ranks.set_peers(waiting);
    expect_parts_of_neighbours(exec, ranks);
  }
  ranks.set_peers({});
  expect_parts_of_neighbours(exec, ranks);
}

template <class Space>
class SlabMessagesOf : public ::testing::Test {};
TYPED_TEST_SUITE(SlabMessagesOf, TestSpaces, SpaceName);

TYPED_TEST(SlabMessagesOf, ExchangePartsOfAnySize) {
  expect_same_parts_on_all_ways<typename TypeParam::Memory>(TypeParam::exec());
}

}  // namespace
}  // namespace moho::testing
