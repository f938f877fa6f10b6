// SPDX-License-Identifier: BSD-3-Clause
//
// Concurrent tasks: each runs once, results are delivered in order, and exceptions are rethrown.
//
// Also tested are calls of workers on the calling thread, and kernels of several workers.

#include <moho/core/concurrent.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "spaces.hpp"

namespace {

using moho::CallingThread;
using moho::run_concurrently;

// Returns the numbers from 0 to count - 1, one at each call.
auto count_to(std::size_t count) {
  return [count, n = std::size_t{0}]() mutable -> std::optional<std::size_t> {
    if (n == count) return std::nullopt;
    return n++;
  };
}

void rest(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(AtOnce, EndsComeInTheOrderOfTheBeginnings) {
  for (const int workers : {1, 2, 5}) {
    std::vector<std::size_t> ends;
    std::atomic<int> running{0}, max{0};
    const auto caller = std::this_thread::get_id();
    run_concurrently<std::string>(
        workers, count_to(23),
        [&](int worker, std::size_t piece, CallingThread&) {
          EXPECT_GE(worker, 0);
          EXPECT_LT(worker, workers);
          const int now = ++running;
          for (int seen = max; now > seen && !max.compare_exchange_weak(seen, now);) {
          }
          rest(piece % 5 == 0 ? 12 : 3);  // later tasks are done first
          --running;
          return std::to_string(piece);
        },
        [&](std::size_t piece, std::string&& text) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          EXPECT_EQ(text, std::to_string(piece));
          ends.push_back(piece);
        });
    ASSERT_EQ(ends.size(), 23u);
    for (std::size_t n = 0; n < ends.size(); ++n) EXPECT_EQ(ends[n], n);
    EXPECT_LE(max, workers);
    EXPECT_GE(max, workers > 1 ? 2 : 1);
  }
}

// Waiting results use memory: their number stays within max_pending_results().
TEST(AtOnce, HoldsNoMoreResultsThanItSays) {
  struct Counted {
    explicit Counted(std::atomic<int>* alive) : count(alive) {}
    Counted(const Counted&) = delete;
    ~Counted() { --*count; }
    std::atomic<int>* count;
  };
  for (const int workers : {1, 2, 4}) {
    std::atomic<int> alive{0}, max{0};
    run_concurrently<std::unique_ptr<Counted>>(
        workers, count_to(31),
        [&](int, std::size_t piece, CallingThread&) {
          const int now = ++alive;
          for (int seen = max; now > seen && !max.compare_exchange_weak(seen, now);) {
          }
          auto result = std::make_unique<Counted>(&alive);
          rest(piece % 10 == 0 ? 60 : 1);  // later tasks wait
          return result;
        },
        [](std::size_t, std::unique_ptr<Counted>&& result) { result.reset(); });
    EXPECT_EQ(alive, 0);
    EXPECT_LE(max, moho::max_pending_results(workers));
    EXPECT_GE(max, workers > 1 ? workers + 1 : 1);
  }
}

TEST(AtOnce, WorkersCallOnTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  int sum = 0;  // accessed by one thread only, so that it needs no lock
  run_concurrently<int>(
      3, count_to(10),
      [&](int, std::size_t piece, CallingThread& calls) {
        calls.call([&] {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          sum += static_cast<int>(piece);
        });
        EXPECT_THROW(calls.call([] { throw moho::InputError("no"); }), moho::InputError);
        return 1;
      },
      [&](std::size_t, int&& one) { sum += 100 * one; });
  EXPECT_EQ(sum, 1045);
}

TEST(AtOnce, TheFirstFailureIsThrownWhenAllHaveEnded) {
  for (const int workers : {1, 3}) {
    std::atomic<int> running{0};
    int done = 0;
    const auto run = [&](std::size_t bad_work, std::size_t bad_end, std::size_t bad_next) {
      done = 0;
      auto count = count_to(12);
      run_concurrently<int>(
          workers,
          [&] {
            const auto piece = count();
            if (piece && *piece == bad_next) throw moho::InputError("next");
            return piece;
          },
          [&](int, std::size_t piece, CallingThread&) {
            ++running;
            rest(2);
            --running;
            if (piece == bad_work) throw moho::InputError("work");
            return 0;
          },
          [&](std::size_t piece, int&&) {
            if (piece == bad_end) throw moho::InputError("end");
            ++done;
          });
    };
    const auto message = [&](std::size_t work, std::size_t end, std::size_t next) -> std::string {
      try {
        run(work, end, next);
      } catch (const moho::InputError& error) {
        return error.what();
      }
      return "none";
    };
    EXPECT_EQ(message(4, 99, 99), "work");
    EXPECT_EQ(done, 4);  // those before it
    EXPECT_EQ(message(99, 5, 99), "end");
    EXPECT_EQ(done, 5);
    EXPECT_EQ(message(99, 99, 6), "next");
    EXPECT_EQ(message(99, 99, 99), "none");
    EXPECT_EQ(done, 12);
    EXPECT_EQ(running, 0);
  }
}

template <class Memory>
struct AddOne {
  Kokkos::View<double*, Memory> values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { values(i) += 1.0; }
};
template <class Memory>
struct SumUp {
  Kokkos::View<double*, Memory> values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    sum += values(i);
  }
};

// Runs kernels, reductions and allocations on several threads.
template <class Memory>
void expect_kernels_at_once(const moho::Instance<Memory>& exec) {
  constexpr std::int64_t count = 5000;
  for (const int workers : {1, 2, 5}) {
    const auto instances = moho::concurrent_instances(exec, workers);
    ASSERT_EQ(instances.size(), static_cast<std::size_t>(workers));
    double total = 0.0;
    run_concurrently<double>(
        workers, count_to(40),
        [&](int worker, std::size_t piece, CallingThread&) {
          const auto& own = instances[static_cast<std::size_t>(worker)];
          const auto values =
              moho::allocate<Kokkos::View<double*, Memory>>(own, "moho::test::values", count);
          moho::fill(own, values, static_cast<double>(piece));
          for (int n = 0; n < 20; ++n) {
            moho::launch("moho::test::add_one", own, count, AddOne<Memory>{values});
          }
          return moho::sum_of<double>("moho::test::sum", own, count, SumUp<Memory>{values});
        },
        [&](std::size_t piece, double&& sum) {
          EXPECT_EQ(sum, static_cast<double>(count) * (static_cast<double>(piece) + 20.0));
          total += sum;
        });
    EXPECT_EQ(total, static_cast<double>(count) * (20.0 * 40.0 + 39.0 * 20.0));
  }
  EXPECT_THROW(moho::concurrent_instances(exec, 0), moho::InputError);
}

template <class S>
class KernelsAtOnce : public ::testing::Test {};
TYPED_TEST_SUITE(KernelsAtOnce, moho::testing::TestSpaces, moho::testing::SpaceName);
TYPED_TEST(KernelsAtOnce, EachOnAnInstanceOfItsOwn) {
  expect_kernels_at_once<typename TypeParam::Memory>(TypeParam::exec());
}

}  // namespace
