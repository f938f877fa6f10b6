// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2

#include <moho/core/field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>

#include "spaces.hpp"

namespace {

using moho::Field;
using moho::FieldPerSource;
using moho::Grid;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Grid<2> flat{{4, 3}, {1.0, 1.0}, {}};
const Grid<3> solid{{4, 3, 5}, {1.0, 1.0, 1.0}, {}};

template <class C>
class FieldTest : public ::testing::Test {};
TYPED_TEST_SUITE(FieldTest, moho::testing::TestCases, moho::testing::CaseName);

// A free function, because nvcc accepts no extended lambda in a test body.
template <class FieldType, class Exec>
void number_nodes(const Exec& exec, const Grid<3>& grid, const FieldType& field) {
  using T = typename FieldType::non_const_value_type;
  Kokkos::parallel_for(
      "moho::test::number", Kokkos::RangePolicy<Exec>(exec, 0, grid.size()),
      KOKKOS_LAMBDA(std::int64_t i) {
        const auto node = grid.node(i);
        field(node[0], node[1], node[2]) = static_cast<T>(i);
      });
  exec.fence();
}

TYPED_TEST(FieldTest, HasTheShapeOfTheGridAndAContiguousLastAxis) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Scalar;
  const Exec exec;
  const auto a = moho::make_field<T>(exec, flat, "a");
  static_assert(std::is_same_v<std::remove_const_t<decltype(a)>, Field<T, 2, Exec>>);
  static_assert(std::is_same_v<typename decltype(a)::array_layout, Kokkos::LayoutRight>);
  EXPECT_EQ(a.extent(0), 4u);
  EXPECT_EQ(a.extent(1), 3u);
  EXPECT_EQ(a.label(), "a");

  const auto b = moho::make_field_per_source<T>(exec, 7, solid, "b");
  static_assert(std::is_same_v<std::remove_const_t<decltype(b)>, FieldPerSource<T, 3, Exec>>);
  EXPECT_EQ(b.extent(0), 7u);
  EXPECT_EQ(b.extent(1), 4u);
  EXPECT_EQ(b.extent(2), 3u);
  EXPECT_EQ(b.extent(3), 5u);
  EXPECT_TRUE(b.span_is_contiguous());

  const auto c = moho::make_field_per_source<T>(exec, 2, flat, "c");
  EXPECT_EQ(c.size(), 24u);
}

TYPED_TEST(FieldTest, MemoryOrderIsTheGridsFlatIndex) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Scalar;
  const Exec exec;
  const auto field = moho::make_field<T>(exec, solid, "field");
  number_nodes(exec, solid, field);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  for (std::int64_t i = 0; i < solid.size(); ++i) EXPECT_EQ(host.data()[i], static_cast<T>(i));
}

TYPED_TEST(FieldTest, CheckShapeAcceptsWhatMakeFieldMakes) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Scalar;
  const Exec exec;
  EXPECT_NO_THROW(moho::check_shape(flat, moho::make_field<T>(exec, flat, "f"), "velocity"));
  EXPECT_NO_THROW(moho::check_shape(solid, moho::make_field<T>(exec, solid, "f"), "velocity"));
  EXPECT_NO_THROW(
      moho::check_shape(flat, moho::make_field_per_source<T>(exec, 3, flat, "f"), "times", 3));
}

TYPED_TEST(FieldTest, CheckShapeNamesArgumentShapeAndRemedy) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Scalar;
  const Field<T, 2, Exec> wrong("wrong", 3, 4);
  try {
    moho::check_shape(flat, wrong, "velocity");
    FAIL() << "nothing was thrown";
  } catch (const moho::InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("velocity: its shape is 3 x 4"),
                                    HasSubstr("allowed: 4 x 3"), HasSubstr("moho::make_field")));
  }
  const FieldPerSource<T, 3, Exec> two("two", 2, 4, 3, 5);
  try {
    moho::check_shape(solid, two, "times", 6);
    FAIL() << "nothing was thrown";
  } catch (const moho::InputError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("times: its shape is 2 x 4 x 3 x 5"),
                      HasSubstr("allowed: 6 x 4 x 3 x 5"), HasSubstr("make_field_per_source")));
  }
}

TYPED_TEST(FieldTest, CheckShapeLooksAtEveryAxis) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Scalar;
  EXPECT_THROW(moho::check_shape(solid, Field<T, 3, Exec>("f", 5, 3, 5), "f"), moho::InputError);
  EXPECT_THROW(moho::check_shape(solid, Field<T, 3, Exec>("f", 4, 4, 5), "f"), moho::InputError);
  EXPECT_THROW(moho::check_shape(solid, Field<T, 3, Exec>("f", 4, 3, 6), "f"), moho::InputError);
  EXPECT_THROW(moho::check_shape(solid, Field<T, 3, Exec>(), "f"), moho::InputError);
}

#ifdef MOHO_BOUNDS_CHECK
void write_behind_the_end() {
  const Kokkos::View<double*, Kokkos::HostSpace> view("view", 4);
  const volatile int index = 4;
  try {
    view(index) = 1.0;
  } catch (const std::exception& error) {  // older releases of Kokkos throw, newer ones abort
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

// With the preset debug, an index outside of a view ends the program.
TEST(BoundsCheckDeathTest, StopsTheProgram) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(write_behind_the_end(), "bounds");
}
#endif

}  // namespace
