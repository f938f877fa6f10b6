// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// The field of prisms on the host: the bits of forward(), and nothing where no prism has mass.

#include <moho/core/copy.hpp>
#include <moho/gravity/field.hpp>
#include <moho/gravity/field_operator.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "refusals.hpp"
#include "spaces.hpp"

namespace {

using namespace moho::testing;
using moho::download;
using moho::Instance;
using moho::gravity::compute_field;
using moho::gravity::FieldJob;

template <class C>
class FieldTest : public ::testing::Test {};
TYPED_TEST_SUITE(FieldTest, TestSpaces, SpaceName);

template <class Memory>
void has_the_bits_of_forward(const Instance<Memory>& exec) {
  FieldJob job;
  job.prisms = {400, 600, -100, 100, 100, 300, 300, -50, 20, -30, 60, 40, 90, -120};
  for (int k = 0; k < 5; ++k) {
    for (const double x : {100.0 * k, 10.0 * k, 0.0}) job.stations.push_back(x);
  }
  job.components = moho::gravity::parse_components("gz,gzz");
  const auto found = compute_field<double>(exec, job);

  using Prisms = Kokkos::View<double* [7], Kokkos::LayoutRight, Memory>;
  using Stations = Kokkos::View<double* [3], Kokkos::LayoutRight, Memory>;
  using Results = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Host = Kokkos::HostSpace;
  const Prisms prisms("prisms", 2);
  const Stations stations("stations", 5);
  const Results results("results", 2, 5);
  Kokkos::deep_copy(prisms, Kokkos::View<const double* [7], Kokkos::LayoutRight, Host, Unmanaged>(
                                job.prisms.data(), 2));
  Kokkos::deep_copy(stations, Kokkos::View<const double* [3], Kokkos::LayoutRight, Host, Unmanaged>(
                                  job.stations.data(), 5));
  moho::gravity::forward<double>(exec, moho::gravity::PrismView<Memory>(prisms),
                                 moho::gravity::StationView<Memory>(stations), job.components,
                                 moho::gravity::ResultView<Memory>(results));
  EXPECT_EQ(found.results, download(exec, results));
  EXPECT_GT(found.results[4], 0.0);
  EXPECT_EQ(found.report.prisms, 2);

  job.prisms.clear();
  EXPECT_EQ(compute_field<double>(exec, job).results, std::vector<double>(10, 0.0));
}
TYPED_TEST(FieldTest, HasTheBitsOfForward) { has_the_bits_of_forward(TypeParam::exec()); }

template <class Memory>
void refuses_incomplete_rows(const Instance<Memory>& exec) {
  FieldJob job;
  job.prisms = {400, 600, -100, 100, 100, 300, 300};
  job.stations = {0, 0, -5, 10};
  job.components = moho::gravity::parse_components("gz");
  const auto refusal = [&] { return message_of([&] { compute_field<double>(exec, job); }); };
  EXPECT_EQ(refusal(), "stations: there are 4 numbers (allowed: rows of 3)");
  job.stations.pop_back();
  job.prisms.push_back(1.0);
  EXPECT_EQ(refusal(), "prisms: there are 8 numbers (allowed: rows of 7)");
  using Operator = moho::gravity::DirectFieldOperator<Memory>;
  EXPECT_EQ(message_of([&] { Operator(exec, job.prisms, job.stations, job.components); }),
            "prisms: there are 8 numbers (allowed: rows of 7)");
  job.prisms.pop_back();
  job.stations.push_back(1.0);
  EXPECT_EQ(message_of([&] { Operator(exec, job.prisms, job.stations, job.components); }),
            "stations: there are 4 numbers (allowed: rows of 3)");
  const moho::gravity::RegularMesh mesh{{1, 1, 1}, {0, 0, 0}, {9, 9, 9}};
  EXPECT_EQ(message_of([&] { moho::gravity::find_lattice(mesh, job.stations); }),
            "stations: there are 4 numbers (allowed: rows of 3)");
}
TYPED_TEST(FieldTest, RefusesIncompleteRows) { refuses_incomplete_rows(TypeParam::exec()); }

}  // namespace
