// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Labels, instances and fences of the inversion, which waits because it decides on the host.

#include "events.hpp"
#include "spaces.hpp"
#include "tomography/line.hpp"

#include <moho/core/instances.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace {

using namespace moho::testing;
using moho::Instance;

const Contract waits{{"tomography", "optimize", "rays"}, true};

template <class S>
class TomographyContract : public ::testing::Test {};
TYPED_TEST_SUITE(TomographyContract, TestSpaces, SpaceName);

template <class Memory>
void hold_inversion(const Instance<Memory>& exec) {
  using namespace moho::tomography;
  const auto picks = line_picks(3, 8, 0.002);
  const auto grid = line_grid(8, 12.5, 75.0);
  Options<2> options;
  options.prior.lengths = {100.0, 50.0};
  options.radius = 2;
  options.krylov = 5;
  options.velocity_min = 500.0;
  options.velocity_max = 4000.0;
  std::optional<Inversion<float, 2, Memory>> inversion;
  const auto start = linear_model<2>(grid, {}, {1600.0, 1.0, 0.0});
  hold(exec, "Inversion", waits,
       [&] { inversion.emplace(exec, grid, picks, start, Ground<2>{}, options); });
  hold(exec, "iterate, start", waits, [&] { inversion->iterate(exec); });
  hold(exec, "iterate", waits, [&] { inversion->iterate(exec); });
  hold(exec, "rays", waits, [&] { inversion->rays(exec); });
  hold(exec, "appraise", waits, [&] { inversion->appraise(exec); });
  const InversionState state = inversion->state();
  hold(exec, "restore", waits, [&] { inversion->restore(exec, state); });
  EXPECT_EQ(inversion->reports().size(), 2u);
}
TYPED_TEST(TomographyContract, Inversion) {
  hold_inversion<typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

}  // namespace
