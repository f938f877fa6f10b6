// SPDX-License-Identifier: BSD-3-Clause
//
// Queues between threads and pipelines of stages: order, termination, the first failure.
//
// Thousands of random pipelines must terminate.

#include <moho/core/queue.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "refusals.hpp"

namespace {

using moho::Error;
using moho::Queue;
using moho::QueueEnds;
using moho::Stages;
using moho::testing::message_of;
using ::testing::HasSubstr;

/// Ends the program if a test exceeds its time, because a deadlock would never end.
class Watchdog {
 public:
  explicit Watchdog(int seconds)
      : m_thread([this, seconds] {
          std::unique_lock lock(m_mutex);
          if (m_over.wait_for(lock, std::chrono::seconds(seconds), [&] { return m_done; })) return;
          std::fprintf(stderr, "deadlock: not over after %d s, run %d\n", seconds, m_run.load());
          std::abort();
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(m_mutex);
      m_done = true;
    }
    m_over.notify_all();
    m_thread.join();
  }
  void run(int number) { m_run = number; }

 private:
  std::mutex m_mutex;
  std::condition_variable m_over;
  bool m_done = false;
  std::atomic<int> m_run{0};
  std::thread m_thread;
};

TEST(Queue, GivesElementsInOrderThenNothing) {
  const Watchdog watchdog(60);
  Queue<int> queue(3);
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(queue.push(i));
    queue.finish();
  });
  for (int i = 0; i < 1000; ++i) {
    const auto element = queue.pop();
    EXPECT_LE(queue.size(), queue.capacity());
    ASSERT_TRUE(element.has_value());
    EXPECT_EQ(*element, i);
  }
  EXPECT_FALSE(queue.pop().has_value());
  EXPECT_FALSE(queue.pop().has_value());
  writer.join();
  EXPECT_THROW(queue.push(1), std::logic_error);
}

TEST(Queue, HoldsNoMoreThanItsCapacity) {
  const Watchdog watchdog(60);
  Queue<int> queue(2);
  std::atomic<int> pushed{0};
  std::thread writer([&] {
    for (int i = 0; i < 5; ++i) {
      queue.push(i);
      ++pushed;
    }
  });
  while (pushed < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(pushed, 2);  // the third push waits
  EXPECT_EQ(queue.pop(), 0);
  while (pushed < 3) std::this_thread::yield();
  queue.stop();
  writer.join();
  EXPECT_EQ(queue.size(), 0u);
}

TEST(Queue, AReaderThatStopsLetsTheWriterEnd) {
  const Watchdog watchdog(60);
  Queue<std::unique_ptr<int>> queue(1);
  int pushed = 0;
  std::thread writer([&] {
    while (queue.push(std::make_unique<int>(pushed))) ++pushed;
  });
  EXPECT_EQ(**queue.pop(), 0);
  EXPECT_EQ(**queue.pop(), 1);
  queue.stop();
  writer.join();
  EXPECT_GE(pushed, 2);
  EXPECT_LE(pushed, 3);
  EXPECT_FALSE(queue.pop().has_value());
}

TEST(Queue, TheFirstFailureReachesBothSides) {
  const Watchdog watchdog(60);
  Queue<int> full(1), empty(1);
  full.push(7);
  std::string writer_heard, reader_heard;
  std::thread writer([&] { writer_heard = message_of<Error>([&] { full.push(8); }); });
  std::thread reader([&] { reader_heard = message_of<Error>([&] { empty.pop(); }); });
  for (Queue<int>* queue : {&full, &empty}) {
    queue->fail(std::make_exception_ptr(moho::InputError("the first")));
    queue->fail(std::make_exception_ptr(moho::InputError("the second")));
  }
  writer.join();
  reader.join();
  EXPECT_EQ(writer_heard, "the first");
  EXPECT_EQ(reader_heard, "the first");
  EXPECT_EQ(message_of<Error>([&] { full.pop(); }), "the first");  // remaining elements are dropped
  EXPECT_EQ(message_of<Error>([&] { full.push(9); }), "the first");
}

TEST(Queue, RefusesTheCapacityNothing) {
  EXPECT_THAT(message_of<Error>([] { Queue<int> queue(0); }),
              HasSubstr("queue: the capacity is 0"));
  Stages stages;
  EXPECT_THAT(message_of<Error>([&] { stages.queue<int>(0); }), HasSubstr("the capacity is 0"));
  EXPECT_THAT(message_of<Error>([&] {
                stages.start(
                    "write", {}, {}, [] {}, 0);
              }),
              HasSubstr("stage 'write': threads is 0"));
}

TEST(Stages, HandOnEverything) {
  const Watchdog watchdog(60);
  for (const int threads : {1, 3}) {
    Stages stages;
    auto& numbers = stages.queue<std::int64_t>(2);
    auto& squares = stages.queue<std::int64_t>(2);
    std::vector<std::int64_t> found;
    stages.start(
        "square", {&numbers}, {&squares},
        [&] {
          while (const auto n = numbers.pop()) squares.push(*n * *n);
        },
        threads);
    stages.start("collect", {&squares}, {}, [&] {
      while (const auto n = squares.pop()) found.push_back(*n);
    });
    stages.run("count", {}, {&numbers}, [&] {
      for (std::int64_t n = 0; n < 500; ++n) numbers.push(n);
    });
    stages.join();
    EXPECT_EQ(stages.failed_stage(), "");
    ASSERT_EQ(found.size(), 500u);
    std::sort(found.begin(), found.end());
    for (std::int64_t n = 0; n < 500; ++n) EXPECT_EQ(found[static_cast<std::size_t>(n)], n * n);
  }
}

TEST(Stages, TheFailureOfOneEndsAllAndIsTheOneThatIsThrown) {
  const Watchdog watchdog(60);
  Stages stages;
  auto& first = stages.queue<int>(1);
  auto& second = stages.queue<int>(1);
  std::string heard;
  stages.start("pass", {&first}, {&second}, [&] {
    while (const auto n = first.pop()) second.push(*n);
  });
  stages.start("write", {&second}, {}, [&] {
    while (const auto n = second.pop()) {
      if (*n == 10) throw moho::FileError("no room on the disk");
    }
  });
  stages.run("count", {}, {&first}, [&] {
    heard = message_of<Error>([&] {
      for (int n = 0;; ++n) first.push(n);
    });
    throw moho::InputError("what came of it");
  });
  EXPECT_THROW(stages.join(), moho::FileError);
  EXPECT_EQ(heard, "no room on the disk");
  EXPECT_EQ(stages.failed_stage(), "write");
  EXPECT_EQ(message_of<Error>([&] { stages.join(); }), "no room on the disk");
  EXPECT_EQ(message_of<Error>([&] { stages.queue<int>(1).push(1); }), "no room on the disk");
}

TEST(Stages, AnExceptionOutsideOfThemCancelsThem) {
  const Watchdog watchdog(60);
  std::string heard;
  EXPECT_THROW(
      {
        Stages stages;
        auto& queue = stages.queue<int>(1);
        stages.start("wait", {&queue}, {}, [&] {
          try {
            while (queue.pop()) {
            }
          } catch (const moho::Cancelled& error) {
            heard = error.what();
            throw;
          }
        });
        throw std::runtime_error("elsewhere");
      },
      std::runtime_error);
  EXPECT_EQ(heard, "the work was given up");
}

/// Runs a random pipeline: consecutive stages with several threads and delays.
///
/// A stage may fail or end early at some element.
void random_pipeline(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<int>(random() % n); };
  const int length = 1 + below(4), elements = below(40);
  struct Plan {
    int threads, fails_at, ends_at, delay;
  };
  std::vector<Plan> plans;
  bool fails = false, ends = false;
  for (int s = 0; s <= length; ++s) {
    Plan plan{1 + below(3), -1, -1, below(3) == 0 ? 1 + below(50) : 0};
    if (s == 0) plan.threads = 1;  // the source runs on this thread
    if (below(4) == 0) plan.fails_at = below(30);
    if (below(5) == 0) plan.ends_at = below(30);
    fails = fails || plan.fails_at >= 0;
    ends = ends || plan.ends_at >= 0;
    plans.push_back(plan);
  }
  const auto name = [](int s) { return "stage " + std::to_string(s); };
  const auto pause = [](int microseconds) {
    if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  };

  std::atomic<int> thrown{0};
  std::atomic<std::int64_t> collected{0}, count{0};
  std::string message;
  {
    Stages stages;
    std::vector<Queue<int>*> queues;
    for (int s = 0; s < length; ++s) {
      queues.push_back(&stages.queue<int>(1 + static_cast<std::size_t>(below(3))));
    }
    std::vector<std::unique_ptr<std::atomic<int>>> seen;
    for (int s = 0; s <= length; ++s) seen.push_back(std::make_unique<std::atomic<int>>(0));
    for (int s = 1; s <= length; ++s) {
      Queue<int>* from = queues[static_cast<std::size_t>(s - 1)];
      Queue<int>* to = s < length ? queues[static_cast<std::size_t>(s)] : nullptr;
      const Plan plan = plans[static_cast<std::size_t>(s)];
      std::atomic<int>* number = seen[static_cast<std::size_t>(s)].get();
      std::vector<QueueEnds*> writes;
      if (to != nullptr) writes.push_back(to);
      stages.start(
          name(s), {from}, writes,
          [=, &thrown, &collected, &count] {
            while (const auto element = from->pop()) {
              const int n = (*number)++;
              pause(plan.delay);
              if (n == plan.fails_at) {
                ++thrown;
                throw moho::FileError(name(s));
              }
              if (n == plan.ends_at) return;
              if (to == nullptr) {
                collected += *element;
                ++count;
              } else if (!to->push(*element)) {
                return;
              }
            }
          },
          plan.threads);
    }
    stages.run(name(0), {}, {queues[0]}, [&] {
      for (int n = 0; n < elements; ++n) {
        pause(plans[0].delay);
        if (n == plans[0].fails_at) {
          ++thrown;
          throw moho::FileError(name(0));
        }
        if (n == plans[0].ends_at || !queues[0]->push(n)) return;
      }
    });
    message = message_of<Error>([&] { stages.join(); });
    // The exception is the first failure; without a failure nothing is thrown.
    EXPECT_EQ(message == "no exception", thrown == 0) << seed;
    EXPECT_EQ(stages.failed_stage(), thrown == 0 ? "" : message) << seed;
  }
  if (!fails) {
    EXPECT_EQ(thrown, 0) << seed;
  }
  if (!fails && !ends) {
    EXPECT_EQ(count, elements) << seed;
    EXPECT_EQ(collected, static_cast<std::int64_t>(elements) * (elements - 1) / 2) << seed;
  }
}

TEST(Stages, RandomPipelinesEnd) {
  Watchdog watchdog(600);
#ifdef MOHO_BOUNDS_CHECK
  const std::uint32_t runs = 1000;
#else
  const std::uint32_t runs = 3000;
#endif
  for (std::uint32_t seed = 0; seed < runs; ++seed) {
    watchdog.run(static_cast<int>(seed));
    random_pipeline(seed);
    if (HasFailure()) break;
  }
}

}  // namespace
