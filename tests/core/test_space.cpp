// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/space.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "spaces.hpp"

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

template <class Exec>
class Space : public ::testing::Test {};
TYPED_TEST_SUITE(Space, moho::testing::TestSpaces, moho::testing::SpaceName);

template <class T, class Memory>
void is_found_by_its_name(const Instance<Memory>& exec) {
  int calls = 0;
  moho::with_space(moho::SpaceTraits<TypeParam>::name, [&](const auto& exec) {
    ++calls;
    EXPECT_TRUE((std::is_same_v<std::decay_t<decltype(exec)>, TypeParam>));
  });
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(moho::space_names(), Contains(moho::SpaceTraits<TypeParam>::name));
}
TYPED_TEST(Space, IsFoundByItsName) { is_found_by_its_name<T>(TypeParam::exec()); }

template <class T, class Memory>
void traits_agree_with_kokkos(const Instance<Memory>& exec) {
  EXPECT_EQ(moho::SpaceTraits<TypeParam>::host, moho::is_host_space<TypeParam>);
}
TYPED_TEST(Space, TraitsAgreeWithKokkos) { traits_agree_with_kokkos<T>(TypeParam::exec()); }

template <class T, class Memory>
void available_memory_is_plausible(const Instance<Memory>& exec) {
  const std::size_t bytes = moho::available_memory(TypeParam());
  EXPECT_GT(bytes, std::size_t(1) << 20);
  EXPECT_LT(bytes, std::size_t(1) << 46);
}
TYPED_TEST(Space, AvailableMemoryIsPlausible) { available_memory_is_plausible<T>(TypeParam::exec()); }

template <class T, class Memory>
void device_has_a_name(const Instance<Memory>& exec) {
  const TypeParam exec;
  const std::string name = moho::device_name(exec);
  EXPECT_FALSE(name.empty());
  if (moho::SpaceTraits<TypeParam>::host) {
    EXPECT_THAT(name, HasSubstr(moho::concat(exec.concurrency(), " thread")));
  }
}
TYPED_TEST(Space, DeviceHasAName) { device_has_a_name<T>(TypeParam::exec()); }

// Free functions: nvcc wants no extended lambda inside a test body.
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

template <class T, class Memory>
void relaxed_loads_read_what_relaxed_stores_wrote(const Instance<Memory>& exec) {
  EXPECT_EQ(count_torn<float>(TypeParam(), 1000), 0);
  EXPECT_EQ(count_torn<double>(TypeParam(), 1000), 0);
  EXPECT_EQ(count_torn<int>(TypeParam(), 1000), 0);
}
TYPED_TEST(Space, RelaxedLoadsReadWhatRelaxedStoresWrote) { relaxed_loads_read_what_relaxed_stores_wrote<T>(TypeParam::exec()); }

// Every thread writes one of two patterns into the same word again and again; no reader may ever
// see a mixture of both.
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

TYPED_TEST(Space, WordsAreNeverTorn) { EXPECT_EQ(count_mixtures(TypeParam()), 0); }

template <class T, class Memory>
void allocate_keeps_label_and_shape(const Instance<Memory>& exec) {
  using View = Kokkos::View<int**, typename TypeParam::memory_space>;
  const View view = moho::allocate<View>(TypeParam(), "moho::test", 3, 5);
  EXPECT_EQ(view.label(), "moho::test");
  EXPECT_EQ(view.extent(0), 3u);
  EXPECT_EQ(view.extent(1), 5u);
}
TYPED_TEST(Space, AllocateKeepsLabelAndShape) { allocate_keeps_label_and_shape<T>(TypeParam::exec()); }

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
