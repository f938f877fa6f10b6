// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2

#include <moho/core/communicator.hpp>
#include <moho/core/device_instances.hpp>
#include <moho/core/space.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "spaces.hpp"

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

template <class Exec>
class Space : public ::testing::Test {};
TYPED_TEST_SUITE(Space, moho::testing::TestSpaces, moho::testing::SpaceName);

TYPED_TEST(Space, IsFoundByItsName) {
  int calls = 0;
  moho::with_space(moho::SpaceTraits<typename TypeParam::Exec>::name, [&](const auto& exec) {
    ++calls;
    EXPECT_TRUE(
        (std::is_same_v<std::decay_t<decltype(exec)>, Instance<typename TypeParam::Memory>>));
    EXPECT_STREQ(exec.name(), moho::SpaceTraits<typename TypeParam::Exec>::name);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(moho::space_names(), Contains(moho::SpaceTraits<typename TypeParam::Exec>::name));
}

TYPED_TEST(Space, TraitsAgreeWithKokkos) {
  EXPECT_EQ(moho::SpaceTraits<typename TypeParam::Exec>::host,
            moho::is_host_space<typename TypeParam::Exec>);
}

TYPED_TEST(Space, AvailableMemoryIsPlausible) {
  const std::size_t bytes = moho::available_memory(typename TypeParam::Exec());
  EXPECT_GT(bytes, std::size_t(1) << 20);
  EXPECT_LT(bytes, std::size_t(1) << 46);
}

// Sets the number of processes that share memory; restores it at the end.
struct Sharing {
  explicit Sharing(const moho::MemorySharing& sharing) { moho::set_memory_sharing(sharing); }
  ~Sharing() { moho::set_memory_sharing(moho::MemorySharing{}); }
};

TYPED_TEST(Space, ProcessesShareTheFreeMemory) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = typename TypeParam::Exec();
  const auto whole = static_cast<double>(moho::memory_budget(exec));
  const auto expect_near = [](std::size_t bytes, double expected) {
    // other programs allocate and free at the same time
    EXPECT_NEAR(static_cast<double>(bytes), expected, 0.3 * expected);
  };
  const bool on_host = moho::is_host_memory<Memory>;
  const Sharing sharing({on_host ? 4 : 1, on_host ? 1 : 4});
  expect_near(moho::memory_budget(exec), whole / 4.0);
  expect_near(moho::memory_budget(exec, 0, 1), whole);
  expect_near(moho::memory_budget(exec, 0, 2), whole / 2.0);
  // a budget is that of a process
  const auto half = static_cast<std::size_t>(whole / 2.0);
  EXPECT_EQ(moho::memory_budget(exec, half), half);
  expect_near(moho::memory_budget(exec, half, 4), whole / 4.0);
  expect_near(moho::memory_budget(exec, std::size_t(1) << 62), whole);
}

// One of four processes, of which 0, 2 and 3 use the device of this process.
class FourProcesses : public moho::Communicator {
 public:
  int rank() const override { return 2; }
  int size() const override { return 4; }
  void sum_to_root(std::vector<double>& values) override {
    const double own = values[2];
    m_devices = {own, own + 1.0, own, own};
  }
  void broadcast(void* bytes, std::size_t count) override {
    ASSERT_EQ(count, sizeof(m_devices));
    std::copy(m_devices.begin(), m_devices.end(), static_cast<double*>(bytes));
  }

 private:
  std::array<double, 4> m_devices{};
};

TEST(MemorySharing, IsThatOfAllProcessesOfADevice) {
  EXPECT_EQ(moho::memory_sharing().host, 1);
  const Sharing restored({});
  FourProcesses processes;
  moho::set_memory_sharing(processes, 2);
  EXPECT_EQ(moho::memory_sharing().host, 2);
  EXPECT_EQ(moho::memory_sharing().device, 3);
  moho::Communicator alone;
  moho::set_memory_sharing(alone, 1);
  EXPECT_EQ(moho::memory_sharing().host, 1);
  EXPECT_EQ(moho::memory_sharing().device, 1);
  EXPECT_THROW(moho::set_memory_sharing({0, 1}), moho::InputError);
  EXPECT_THROW(moho::set_memory_sharing({1, 0}), moho::InputError);
  EXPECT_LT(moho::device_number(), std::uint64_t(1) << 52);
}

TYPED_TEST(Space, DeviceHasAName) {
  const typename TypeParam::Exec exec;
  const std::string name = moho::device_name(exec);
  EXPECT_FALSE(name.empty());
  if (moho::SpaceTraits<typename TypeParam::Exec>::host) {
    EXPECT_THAT(name, HasSubstr(moho::concat(exec.concurrency(), " thread")));
  }
}

TYPED_TEST(Space, InstancesOfADeviceShareItsMemory) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = typename TypeParam::Exec();
  EXPECT_TRUE(moho::share_memory(exec, moho::new_instance(exec)));
  const auto instances = moho::instances_on_devices(exec, 1);
  EXPECT_TRUE(moho::share_memory(exec, instances.front()));
}

// Free functions, because nvcc accepts no extended lambda in a test body.
template <class T, class Exec>
int count_torn(const Exec& exec, int n) {
  const Kokkos::View<T*, typename Exec::memory_space> from("from", n), to("to", n);
  Kokkos::parallel_for(
      "moho::test::store", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(int i) {
        moho::relaxed_store(&from(i), static_cast<T>(i) / static_cast<T>(3));
      });
  Kokkos::parallel_for(
      "moho::test::load", Kokkos::RangePolicy<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(int i) { moho::relaxed_store(&to(i), moho::relaxed_load(&from(i))); });
  int wrong = 0;
  Kokkos::parallel_reduce(
      "moho::test::compare", Kokkos::RangePolicy<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(int i, int& sum) {
        if (to(i) != static_cast<T>(i) / static_cast<T>(3)) ++sum;
      },
      wrong);
  return wrong;
}

TYPED_TEST(Space, RelaxedLoadsReadWhatRelaxedStoresWrote) {
  EXPECT_EQ(count_torn<float>(typename TypeParam::Exec(), 1000), 0);
  EXPECT_EQ(count_torn<double>(typename TypeParam::Exec(), 1000), 0);
  EXPECT_EQ(count_torn<int>(typename TypeParam::Exec(), 1000), 0);
}

// Counts torn reads while all threads repeatedly write one of two patterns to the same word.
template <class Exec>
int count_mixtures(const Exec& exec) {
  const Kokkos::View<double*, typename Exec::memory_space> word("word", 1);
  int mixtures = 0;
  Kokkos::parallel_reduce(
      "moho::test::contention", Kokkos::RangePolicy<Exec>(exec, 0, 20000),
      KOKKOS_LAMBDA(int i, int& sum) {
        moho::relaxed_store(&word(0), i % 2 ? 1.0 / 3.0 : -1.0e300 / 7.0);
        const double seen = moho::relaxed_load(&word(0));
        if (seen != 1.0 / 3.0 && seen != -1.0e300 / 7.0) ++sum;
      },
      mixtures);
  return mixtures;
}

TYPED_TEST(Space, WordsAreNeverTorn) { EXPECT_EQ(count_mixtures(typename TypeParam::Exec()), 0); }

TYPED_TEST(Space, AllocateKeepsLabelAndShape) {
  using View = Kokkos::View<int**, typename TypeParam::Memory>;
  const View view = moho::allocate<View>(typename TypeParam::Exec(), "moho::test", 3, 5);
  EXPECT_EQ(view.label(), "moho::test");
  EXPECT_EQ(view.extent(0), 3u);
  EXPECT_EQ(view.extent(1), 5u);
}

TEST(Spaces, TheDefaultIsTheLastNamed) {
  EXPECT_EQ(moho::default_space_name(), moho::space_names().back());
  EXPECT_NO_THROW(moho::with_space(moho::default_space_name(), [](const auto&) {}));
}

TEST(Spaces, AnUnknownNameListsWhatThereIs) {
  bool called = false;
  try {
    moho::with_space("opencl", [&](const auto&) { called = true; });
    FAIL() << "nothing was thrown";
  } catch (const moho::InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("space 'opencl' is not in this build"),
                                    HasSubstr("choose one of these")));
    for (const std::string& name : moho::space_names()) EXPECT_THAT(error.what(), HasSubstr(name));
  }
  EXPECT_FALSE(called);
}

TEST(Spaces, ErrorsOfTheFunctionPassThrough) {
  EXPECT_THROW(moho::with_space(moho::default_space_name(),
                                [](const auto&) { throw moho::MemoryError("full"); }),
               moho::MemoryError);
}

TEST(Spaces, VersionIsThatOfKokkos) {
  const std::string version = moho::kokkos_version();
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2);
  EXPECT_EQ(std::stoi(version), KOKKOS_VERSION / 10000);
}

}  // namespace
