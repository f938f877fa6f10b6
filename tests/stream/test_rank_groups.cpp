// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Groups of ranks that compute shots together: their size, and what follows from an error.

#include <moho/core/box.hpp>
#include <moho/core/timer.hpp>
#include <moho/stream/kernel/rank_boxes.hpp>
#include <moho/stream/rank_groups.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace moho::stream {
namespace {

// Ranks of which only this one exists; messages go nowhere.
class LoneRanks : public StreamRanks {
 public:
  LoneRanks(int rank, int size) : m_rank(rank), m_size(size) {}
  int rank() const override { return m_rank; }
  int size() const override { return m_size; }
  void collectively(const std::function<void()>& function) override { function(); }
  void broadcast(void* bytes, std::size_t count) override {
    ++broadcasts;
    if (m_rank == 0) sent.assign(static_cast<char*>(bytes), static_cast<char*>(bytes) + count);
    if (m_rank > 0 && sent.size() == count) std::memcpy(bytes, sent.data(), count);
  }
  std::int64_t min(std::int64_t value) override { return value; }
  int of_host(bool) override { return 1; }
  std::unique_ptr<StreamRanks> part(int number) override {
    numbers.push_back(number);
    return std::make_unique<LoneRanks>(m_rank % 2, 2);
  }
  void send(const void*, std::size_t, int) override {}
  void receive(void*, std::size_t, int) override {}
  void wait_received() override {}
  void wait_sent() override {}

  int broadcasts = 0;
  std::vector<int> numbers;  // of part()
  std::vector<char> sent;    // by rank 0; another rank receives it

 private:
  int m_rank, m_size;
};

TEST(RankGroups, LeaveNoRankWithoutAShot) {
  EXPECT_EQ(ranks_of_shot(0, 1, 1, "n"), 1);
  EXPECT_EQ(ranks_of_shot(0, 8, 8, "n"), 1);
  EXPECT_EQ(ranks_of_shot(0, 8, 100, "n"), 1);
  EXPECT_EQ(ranks_of_shot(0, 8, 7, "n"), 2);
  EXPECT_EQ(ranks_of_shot(0, 8, 3, "n"), 4);
  EXPECT_EQ(ranks_of_shot(0, 8, 1, "n"), 8);
  EXPECT_EQ(ranks_of_shot(0, 6, 2, "n"), 3);
  EXPECT_EQ(ranks_of_shot(0, 7, 6, "n"), 7);
  EXPECT_EQ(ranks_of_shot(4, 8, 1, "n"), 4);
}

TEST(BoxesOfRanks, AreThoseOfRankZero) {
  const auto box = [](std::int64_t level) { return Box<2>{{level, 1}, {2 * level + 3, 4}}; };
  const auto none = []() -> std::function<Box<2>(std::int64_t)> {
    ADD_FAILURE() << "another rank searches";
    return {};
  };
  const auto find = [&] { return std::function<Box<2>(std::int64_t)>(box); };
  LoneRanks first(0, 2), second(1, 2);
  const auto found = detail::boxes_of_ranks<2>(&first, 5, find);
  second.sent = first.sent;
  const auto received = detail::boxes_of_ranks<2>(&second, 5, none);
  for (std::int64_t level = 0; level <= 5; ++level) {
    EXPECT_TRUE(found(level) == box(level)) << level;
    EXPECT_TRUE(received(level) == box(level)) << level;
  }
  EXPECT_TRUE(detail::boxes_of_ranks<2>(nullptr, 5, find)(9) == box(9));
}

TEST(RankGroups, DivideTheRanks) {
  const auto text = [](int requested, int ranks) {
    try {
      ranks_of_shot(requested, ranks, 1, "--ranks-per-shot");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text(3, 8), testing::StartsWith("--ranks-per-shot is 3, and there are 8 ranks"));
  EXPECT_THAT(text(2, 1), testing::StartsWith("--ranks-per-shot is 2, and there is 1 rank"));
  EXPECT_EQ(text(2, 8), "");
}

TEST(RankGroups, AreTriedFromTheFewestThatHaveShots) {
  LoneRanks world(5, 12);
  RankGroups groups(&world, 0, 6, "n");
  std::vector<int> tried;
  EXPECT_THROW(groups.fit([&] {
    tried.push_back(groups.size());
    if (tried.size() == 1) throw MemoryError("first");
    throw InputError("later");
  }),
               MemoryError);
  EXPECT_EQ(tried, (std::vector<int>{2, 3, 4, 6, 12, 1}));
  EXPECT_EQ(world.numbers, (std::vector<int>{2, 1, 1, 0, 0}));  // groups of this rank
}

TEST(RankGroups, AreKept) {
  LoneRanks world(0, 4);
  RankGroups chosen(&world, 0, 4, "n"), requested(&world, 2, 4, "n");
  int calls = 0;
  const auto fails = [&](RankGroups& groups, bool keeps) {
    calls = 0;
    EXPECT_THROW(groups.fit([&] {
      ++calls;
      if (keeps || calls == 2) groups.keep();
      throw InputError("");
    }),
                 InputError);
    return calls;
  };
  EXPECT_EQ(fails(requested, false), 1);
  EXPECT_EQ(fails(chosen, true), 1);
  RankGroups others(&world, 0, 4, "n");
  EXPECT_EQ(fails(others, false), 2);
  EXPECT_EQ(others.size(), 2);
  RankGroups alone(nullptr, 0, 4, "n");
  EXPECT_EQ(fails(alone, false), 1);
  EXPECT_TRUE(alone.leads() && alone.has_root());
  EXPECT_EQ(alone.ranks(), nullptr);
}

TEST(RankGroups, FollowTheirFirstRank) {
  LoneRanks world(3, 4);
  RankGroups groups(&world, 2, 1, "n");
  auto& own = dynamic_cast<LoneRanks&>(*groups.ranks());
  EXPECT_FALSE(groups.leads());
  EXPECT_FALSE(groups.has_root());
  EXPECT_FALSE(groups.agree([] { return true; }));  // it asks the first rank
  EXPECT_EQ(own.broadcasts, 1);
  LoneRanks others(2, 4);
  RankGroups first(&others, 2, 1, "n");
  EXPECT_TRUE(first.leads());
  EXPECT_TRUE(first.agree([] { return true; }));
}

// In a run the first rank ends the others while they wait.
TEST(RankGroups, LeaveErrorsToTheirFirstRank) {
  using std::chrono::milliseconds;
  LoneRanks first(2, 4), second(3, 4);
  const RankGroups leader(&first, 2, 1, "n"), other(&second, 2, 1, "n");
  const auto seconds_to_fail = [](const RankGroups& groups, milliseconds patience) {
    const Stopwatch watch;
    EXPECT_THROW(groups.leave_errors_to_first([] { throw Error("of all"); }, patience), Error);
    return watch.seconds();
  };
  EXPECT_LT(seconds_to_fail(leader, milliseconds(60000)), 10.0);
  EXPECT_GE(seconds_to_fail(other, milliseconds(50)), 0.05);
  int calls = 0;
  other.leave_errors_to_first([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace moho::stream
