// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Traveltimes from a model on the host: the bits of the solvers on fields.

#include <moho/eikonal/traveltimes.hpp>

#include <vector>

#include "eikonal/fields.hpp"
#include "refusals.hpp"

namespace {

using namespace moho::testing;
using moho::copy;
using moho::download;
using moho::Instance;
using moho::make_field;
using moho::make_field_per_source;
using moho::wrap_field;
using moho::eikonal::compute_traveltimes;
using moho::eikonal::TraveltimeJob;

template <class C>
class TraveltimesTest : public ::testing::Test {};
TYPED_TEST_SUITE(TraveltimesTest, TestSpaces, SpaceName);

template <class Memory>
void have_the_bits_of_the_solvers(const Instance<Memory>& exec) {
  TraveltimeJob<float, 2> job;
  job.grid = {{31, 25}, {10.0, 10.0}, {0.0, 0.0}};
  for (std::int64_t i = 0; i < job.grid.size(); ++i) {
    job.velocity.push_back(1500.0f + 20.0f * static_cast<float>(i % 25));
    job.epsilon.push_back(0.1f);
  }
  job.sources = {{33.0, 21.0}, {250.0, 100.0}};

  moho::eikonal::Model<float, 2, Memory> model;
  using Host = moho::Field<float, 2, Kokkos::HostSpace>;
  model.velocity = make_field<float>(exec, job.grid, "velocity");
  model.epsilon = make_field<float>(exec, job.grid, "epsilon");
  copy(exec, model.velocity, wrap_field<Host>(job.velocity.data(), job.grid));
  copy(exec, model.epsilon, wrap_field<Host>(job.epsilon.data(), job.grid));
  model.delta = model.epsilon;

  const auto earliest = make_field<float>(exec, job.grid, "times");
  solve(exec, job.grid, model, job.sources, earliest, job.options);
  const auto found = compute_traveltimes(exec, job);
  EXPECT_EQ(found.times, download(exec, earliest));
  EXPECT_GT(found.times.front(), 0.0f);
  EXPECT_FALSE(found.device.empty());

  const auto each = make_field_per_source<float>(exec, 2, job.grid, "times");
  solve_each(exec, job.grid, model, job.sources, each, job.options);
  job.each = true;
  EXPECT_EQ(compute_traveltimes(exec, job).times, download(exec, each));

  // a delta of zeros makes the medium anelliptical: other times
  job.delta.assign(job.velocity.size(), 0.0f);
  EXPECT_NE(compute_traveltimes(exec, job).times, download(exec, each));

  if constexpr (moho::is_host_memory<Memory>) {
    job.delta.clear();
    job.each = false;
    job.fast_marching = true;
    fast_marching(exec, job.grid, model, job.sources, earliest, job.options);
    EXPECT_EQ(compute_traveltimes(exec, job).times, download(exec, earliest));
  }
}
TYPED_TEST(TraveltimesTest, HaveTheBitsOfTheSolvers) {
  have_the_bits_of_the_solvers(TypeParam::exec());
}

template <class Memory>
void refuse_fields_of_another_size(const Instance<Memory>& exec) {
  TraveltimeJob<float, 2> job;
  job.grid = {{31, 25}, {10.0, 10.0}, {0.0, 0.0}};
  job.velocity.assign(774, 1500.0f);
  job.sources = {{33.0, 21.0}};
  const auto refusal = [&] { return message_of([&] { compute_traveltimes(exec, job); }); };
  EXPECT_EQ(refusal(), "velocity: it has 774 values (allowed: 775, those of the grid)");
  job.velocity.assign(775, 1500.0f);
  job.epsilon.assign(776, 0.1f);
  EXPECT_EQ(refusal(), "epsilon: it has 776 values (allowed: 775, those of the grid)");
  job.epsilon.assign(775, 0.1f);
  job.delta.assign(1, 0.1f);
  EXPECT_EQ(refusal(), "delta: it has 1 values (allowed: 775, those of the grid)");
}
TYPED_TEST(TraveltimesTest, RefuseFieldsOfAnotherSize) {
  refuse_fields_of_another_size(TypeParam::exec());
}

TEST(TraveltimeMemory, GrowsWithWhatTheSolverHolds) {
  using moho::eikonal::bytes_per_source;
  const moho::Grid<3> grid{{40, 40, 40}, {10.0, 10.0, 10.0}, {0.0, 0.0, 0.0}};
  const double tiles = bytes_per_source<float, 3>(grid, false, 1, false, true);
  EXPECT_GT(tiles, static_cast<double>(grid.size()) * sizeof(float));
  EXPECT_GT((bytes_per_source<float, 3>(grid, false, 1, true, true)), tiles);
  EXPECT_GT((bytes_per_source<double, 3>(grid, false, 1, false, true)), 1.5 * tiles);
}

}  // namespace
