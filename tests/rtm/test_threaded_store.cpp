// SPDX-License-Identifier: BSD-3-Clause
// ctest: alone
//
// Compressing threads without memory: the caller receives the error and does not wait.

#include <moho/snapshot/host_compressed_store.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "section.hpp"

namespace {
std::atomic<bool> starved{false};  // true: allocations of threads that are not spared fail
thread_local bool spared = false;
}  // namespace

#ifndef __CUDACC__  // nvcc also compiles these for devices
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (!starved || spared) {
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return !starved || spared ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace moho::testing {
namespace {

/// Ends the process if its scope lasts longer than a minute.
///
/// A thread that waits for ever cannot be stopped otherwise.
class Watchdog {
 public:
  Watchdog()
      : m_thread([this] {
          spared = true;
          std::unique_lock lock(m_mutex);
          if (m_over.wait_for(lock, std::chrono::seconds(60), [&] { return m_done; })) return;
          std::fputs("FAILED: the caller waits for a thread that is gone\n", stderr);
          std::_Exit(1);
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(m_mutex);
      m_done = true;
    }
    m_over.notify_one();
    m_thread.join();
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_over;
  bool m_done = false;
  std::thread m_thread;
};

/// Makes later threads have new stacks and identifiers, not those of finished threads.
void change_stacks() {
#ifdef __GLIBC__
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  pthread_getattr_default_np(&attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_setstacksize(&attributes, 2 * bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
#endif
}

// A thread for which the timeline cannot allocate a row ends before it decompresses a snapshot.
TEST(HostCompressedStore, TellsThatItsThreadsAreGone) {
#if !defined(__GLIBC__)
  GTEST_SKIP() << "threads have the identifiers of those before";
#elif defined(__CUDACC__)
  GTEST_SKIP() << "allocations cannot be made to fail: the preset host has this test";
#endif
  using T = float;
  using Memory = Kokkos::HostSpace;
  spared = true;
  const Instance<Memory> exec = Kokkos::DefaultHostExecutionSpace();
  Section<T, Memory> section(exec, Medium::isotropic, 0.1, true);
  auto modelling = section.modelling(0.0);
  fill(exec, modelling.wavefield().now[0], T(1));
  const Box<2> box = modelling.propagator().interior();
  snapshot::HostArena<T, Memory> arena("buffers", 1 << 16);
  for (const int threads : {1, 2}) {
    const Watchdog watchdog;
    Timeline timeline;
    snapshot::HostCompressedStore<T, 2, Memory> store(
        exec, arena, box.size(), snapshot::parse_codec("bits:12"), threads, &timeline);
    for (std::int64_t time = 1; time < 10; ++time) {
      store.save(exec, modelling.wavefield(), box, time);
    }
    const auto compressed = [&] {
      const auto totals = timeline.totals();
      return totals.empty() ? 0 : static_cast<int>(totals.front().spans);
    };
    // the last thread may begin after the others have completed all snapshots
    const auto named = [&] {
      return timeline.json().find(concat("compression ", threads - 1)) != std::string::npos;
    };
    while (compressed() < 9 || !named()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    change_stacks();
    starved = true;
    const auto turn = [&] {
      store.end_forward(exec);  // a thread that still ends its last span also lacks memory
      store.load(exec, 9);
    };
    EXPECT_THROW(turn(), std::bad_alloc) << threads;
    starved = false;
  }
}

}  // namespace
}  // namespace moho::testing
