// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick

#include <moho/core/host_memory.hpp>
#include <moho/core/memory_share.hpp>
#include <moho/core/space.hpp>
#include <moho/core/take_share.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using moho::MemoryShare;

// Sets an environment variable; removes it at the end.
struct Variable {
  Variable(const std::string& key, const std::string& value) : name(key) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name.c_str()); }
  std::string name;
};

TEST(MemoryShare, IsPassedToOtherProcesses) {
  EXPECT_FALSE(MemoryShare::from_environment());
  const MemoryShare share{3, 1 << 20};
  const auto [name, value] = share.variable();
  {
    const Variable variable(name, value);
    const auto found = MemoryShare::from_environment();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->processes, 3);
    EXPECT_EQ(found->bytes, 1U << 20);
  }
  for (const char* text : {"", "half", "3", "0 1000", "-1 1000"}) {
    const Variable variable(name, text);
    EXPECT_FALSE(MemoryShare::from_environment()) << text;
  }
}

TEST(MemoryShare, IsPartOfTheFreeMemory) {
  const auto free = static_cast<double>(moho::host_memory().bytes);
  const MemoryShare share = MemoryShare::of(4);
  EXPECT_EQ(share.processes, 4);
  EXPECT_NEAR(static_cast<double>(share.bytes) / free, 0.25, 0.05);
  const MemoryShare part = share.divided(6, 3);
  EXPECT_EQ(part.processes, 12);
  EXPECT_EQ(part.bytes, share.bytes / 6);
}

TEST(MemoryShare, HoldsForProcessesThatStartLater) {
  const MemoryShare share{4, 1000};
  const auto planned = [&](std::uint64_t free) {
    return static_cast<double>(free) / 20.0 * 19.0 / share.processes_in(free);
  };
  EXPECT_EQ(share.processes_in(4000), 4);  // all memory is free
  EXPECT_EQ(share.processes_in(1000), 1);  // the other three hold theirs
  EXPECT_EQ(share.processes_in(10), 1);
  for (const std::uint64_t free : {1100, 1900, 2500, 3900, 4400, 9000}) {
    EXPECT_LE(planned(free), 1000.0) << free;
    EXPECT_GT(planned(free), 500.0) << free;
  }
}

TEST(MemoryShare, IsDividedByRanks) {
  const std::uint64_t free = moho::host_memory().bytes;
  moho::set_memory_sharing({2, 1});
  moho::take_memory_share();  // without the variable
  EXPECT_EQ(moho::memory_sharing().host, 2);
  const auto [name, value] = MemoryShare{3, free / 16}.variable();
  const Variable variable(name, value);
  moho::take_memory_share();
  EXPECT_GE(moho::memory_sharing().host, 2 * 8);  // others change what is free
  EXPECT_LE(moho::memory_sharing().host, 2 * 24);
  EXPECT_EQ(moho::memory_sharing().device, 3);
  moho::set_memory_sharing(moho::MemorySharing{});
}

}  // namespace
