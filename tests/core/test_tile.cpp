// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2

#include <moho/core/tile.hpp>

#include <gtest/gtest.h>

#include "spaces.hpp"

namespace {

using moho::TileBox;

TEST(TileBox, SizesAndStrides) {
  const TileBox<3> box{{4, 5, 6}};
  EXPECT_EQ(box.size(), 120);
  EXPECT_EQ(box.stride(0), 30);
  EXPECT_EQ(box.stride(1), 6);
  EXPECT_EQ(box.stride(2), 1);
  const TileBox<2> row{{1, 9}};
  EXPECT_EQ(row.size(), 9);
  EXPECT_EQ(row.stride(0), 9);
}

// Returns a value that differs for all offsets.
template <int Dim>
struct Encode {
  KOKKOS_INLINE_FUNCTION int operator()(const Kokkos::Array<int, Dim>& offset) const {
    int code = 0;
    for (int d = 0; d < Dim; ++d) code = 100 * code + offset[d];
    return code;
  }
};

// Loads the box into the scratch memory of every team, and counts differences from a plain loop.
template <class Exec, int Dim>
struct CountWrong {
  TileBox<Dim> box;

  KOKKOS_INLINE_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& member, int& wrong) const {
    const moho::ScratchView<int, Exec> tile(member.team_scratch(0), box.size());
    moho::load_tile<Exec>(member, box, tile.data(), Encode<Dim>());
    member.team_barrier();
    if (member.team_rank() != 0) return;
    for (int i = 0; i < box.size(); ++i) {
      Kokkos::Array<int, Dim> offset{};
      for (int d = 0; d < Dim; ++d) offset[d] = i / box.stride(d) % box.extents[d];
      if (tile(i) != Encode<Dim>()(offset)) ++wrong;
    }
  }

  int run(int team_size) const {
    const auto bytes = moho::ScratchView<int, Exec>::shmem_size(box.size());
    int wrong = -1;
    Kokkos::parallel_reduce(
        "moho::test::load_tile",
        Kokkos::TeamPolicy<Exec>(Exec(), 3, team_size).set_scratch_size(0, Kokkos::PerTeam(bytes)),
        *this, wrong);
    return wrong;
  }
};

template <class Exec>
class LoadTile : public ::testing::Test {};
TYPED_TEST_SUITE(LoadTile, moho::testing::TestSpaces, moho::testing::SpaceName);

TYPED_TEST(LoadTile, FillsEveryElement) {
  const int team_size = moho::is_host_space<typename TypeParam::Exec> ? 1 : 64;
  const TileBox<2> boxes[] = {{{1, 1}}, {{1, 17}}, {{13, 1}}, {{12, 44}}};
  for (const auto& box : boxes)
    EXPECT_EQ((CountWrong<typename TypeParam::Exec, 2>{box}.run(team_size)), 0);
  const TileBox<3> cubes[] = {{{1, 1, 1}}, {{3, 5, 7}}, {{8, 9, 10}}};
  for (const auto& box : cubes)
    EXPECT_EQ((CountWrong<typename TypeParam::Exec, 3>{box}.run(team_size)), 0);
}

}  // namespace
