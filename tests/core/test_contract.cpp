// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// The event recorder detects each violation of the rules on labels, instances and fences.
//
// Loops, fills and copies of core conform to these rules.

#include "events.hpp"
#include "spaces.hpp"

#include <moho/core/copy.hpp>

#include <gmock/gmock.h>

namespace {

using namespace moho::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Contract quiet{{"test"}, false};
const Contract returns{{"test"}, true};

struct Nothing {
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t) const {}
};
struct Count {
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t, std::int64_t& sum) const { ++sum; }
};

// Returns the violations of a call.
template <class Memory, class Call>
std::vector<std::string> found(const Instance<Memory>& exec, const Contract& contract,
                               const Call& call) {
  Events events;
  call();
  return breaches(device_of(exec), moho::is_host_memory<Memory>, events.list(), contract);
}

template <class S>
class Contracts : public ::testing::Test {};
TYPED_TEST_SUITE(Contracts, TestSpaces, SpaceName);

template <class Memory>
void core_keeps_them(const Instance<Memory>& exec) {
  const auto a = moho::allocate<Kokkos::View<double*, Memory>>(exec, "a", 100);
  const auto b = moho::allocate<Kokkos::View<double*, Memory>>(exec, "b", 100);
  const auto events = hold(exec, "launch, fill, copy", quiet, [&] {
    moho::launch("moho::test::nothing", exec, 10, Nothing{});
    moho::fill(exec, a, 2.0);
    moho::copy(exec, b, a);
  });
  EXPECT_GE(kernels_in(events), moho::is_host_memory<Memory> ? 3 : 1);
  EXPECT_EQ(fences_in(events), 0);
  const auto waiting = hold(exec, "sum_of, upload, download", returns, [&] {
    EXPECT_EQ(moho::sum_of<std::int64_t>("moho::test::count", exec, 10, Count{}), 10);
    EXPECT_EQ(moho::download(exec, b)[7], 2.0);
    EXPECT_EQ(moho::download(exec, moho::upload(exec, std::vector<int>{4}, "c"))[0], 4);
  });
  EXPECT_GE(fences_in(waiting), 3);
}
TYPED_TEST(Contracts, CoreKeepsThem) { core_keeps_them(own_instance<typename TypeParam::Exec>()); }

template <class Exec>
void labels_are_seen() {
  const Instance<moho::MemoryOf<Exec>> exec = Exec();
  EXPECT_THAT(found(exec, quiet,
                    [] {
                      Kokkos::parallel_for(
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(Exec(), 0, 2),
                          Nothing{});
                    }),
              ElementsAre(HasSubstr("has no label of moho's")));
  for (const char* label : {"relax", "moho::test::", "moho::test::two words", "Kokkos::relax"}) {
    EXPECT_THAT(found(exec, quiet, [&] { moho::launch(label, exec, 2, Nothing{}); }),
                ElementsAre(HasSubstr("has no label of moho's")))
        << label;
  }
  EXPECT_THAT(found(exec, quiet, [&] { moho::launch("moho::other::x", exec, 2, Nothing{}); }),
              ElementsAre(HasSubstr("another module")));
  EXPECT_THAT(found(exec, quiet, [&] { moho::launch("moho::test::x", exec, 2, Nothing{}); }),
              IsEmpty());
}
TYPED_TEST(Contracts, LabelsAreSeen) { labels_are_seen<typename TypeParam::Exec>(); }

template <class Memory>
void fences_are_seen(const Instance<Memory>& exec) {
  EXPECT_THAT(found(exec, quiet, [&] { exec.fence(); }), ElementsAre(HasSubstr("no host data")));
  EXPECT_THAT(found(exec, returns, [&] { exec.fence(); }), IsEmpty());
  for (const Contract& contract : {quiet, returns}) {
    const auto lines = found(exec, contract, [] { Kokkos::fence(); });
    EXPECT_FALSE(lines.empty());  // newer versions state the space
    for (const auto& line : lines) EXPECT_THAT(line, HasSubstr("waits for all instances"));
  }
}
TYPED_TEST(Contracts, FencesAreSeen) { fences_are_seen(own_instance<typename TypeParam::Exec>()); }

// Copies and fills without an instance, and views initialised by Kokkos, are violations.
template <class Memory>
void missing_instances_are_seen(const Instance<Memory>& exec) {
  using View = Kokkos::View<double*, Memory>;
  const auto a = moho::allocate<View>(exec, "a", 100), b = moho::allocate<View>(exec, "b", 100);
  EXPECT_FALSE(found(exec, returns, [&] { Kokkos::deep_copy(a, b); }).empty());
  EXPECT_FALSE(found(exec, returns, [&] { Kokkos::deep_copy(a, 1.0); }).empty());
  const auto host = Kokkos::create_mirror_view(a);
  if (!moho::is_host_memory<Memory>) {
    EXPECT_FALSE(found(exec, returns, [&] { Kokkos::deep_copy(host, a); }).empty());
  }
  EXPECT_FALSE(found(exec, returns, [&] { const View view("view", 100); }).empty());
}
TYPED_TEST(Contracts, MissingInstancesAreSeen) {
  missing_instances_are_seen(own_instance<typename TypeParam::Exec>());
}

#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
TEST(Recorder, TellsInstancesApart) {
  const Instance<Kokkos::HostSpace> serial = Kokkos::Serial(), openmp = Kokkos::OpenMP();
  EXPECT_THAT(found(serial, quiet, [&] { moho::launch("moho::test::x", openmp, 2, Nothing{}); }),
              ElementsAre(HasSubstr("not run on the instance")));
  EXPECT_THAT(found(openmp, quiet, [&] { moho::launch("moho::test::x", serial, 2, Nothing{}); }),
              ElementsAre(HasSubstr("not run on the instance")));
}
#endif

TEST(Recorder, IsOneAtATime) {
  Events first;
  EXPECT_THROW(Events second, std::logic_error);
}

}  // namespace
