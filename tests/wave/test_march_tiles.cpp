// SPDX-License-Identifier: BSD-3-Clause
//
// Division of a box among the teams of a device.

#include <moho/wave/detail/cpml_pieces.hpp>
#include <moho/wave/kernel/march_device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace {

using moho::wave::kernel::march_planes;

constexpr std::int64_t device_teams = 264;
constexpr int max_planes = 64;

std::int64_t march_teams(std::int64_t tiles, std::int64_t depth) {
  const std::int64_t planes = march_planes(tiles, depth, max_planes, device_teams);
  return tiles * ((depth + planes - 1) / planes);
}

TEST(MarchPlanes, AreWithinTheirLimits) {
  for (const std::int64_t tiles : {1, 7, 26, 64, 200, 256, 1000}) {
    for (std::int64_t depth = 1; depth < 600; depth += depth < 20 ? 1 : 37) {
      const int planes = march_planes(tiles, depth, max_planes, device_teams);
      EXPECT_GE(planes, std::min<std::int64_t>(depth, 3)) << tiles << ", " << depth;
      EXPECT_LE(planes, max_planes) << tiles << ", " << depth;
    }
  }
}

TEST(MarchPlanes, FillADevice) {
  // boxes whose marches of 64 planes leave half of the device idle, or more
  for (const std::int64_t tiles : {26, 40, 64, 100}) {
    for (const std::int64_t depth : {60, 100, 128}) {
      if (tiles * ((depth + max_planes - 1) / max_planes) > device_teams / 2) continue;
      EXPECT_GE(march_teams(tiles, depth), device_teams * 7 / 10) << tiles << ", " << depth;
    }
  }
}

TEST(MarchPlanes, AreManyInLargeBoxes) {
  EXPECT_EQ(march_planes(256, 512, max_planes, device_teams), max_planes);
  EXPECT_EQ(march_planes(64, 256, max_planes, device_teams), max_planes);
  EXPECT_GE(march_planes(256, 8, max_planes, device_teams), 8);
  for (const std::int64_t depth : {256, 400, 600, 1024}) {
    EXPECT_GE(march_planes(400, depth, max_planes, device_teams), max_planes / 2) << depth;
  }
}

TEST(FillingCut, ShortensMarchesOfVolumes) {
  using moho::wave::detail::LayerCut;
  for (const std::int64_t columns : {5, 50, 500}) {
    LayerCut used;
    const auto cover = [&](const LayerCut& cut) {
      used = cut;
      return columns * (128 / cut.rim_planes + 128 / cut.planes);
    };
    const LayerCut usual;
    EXPECT_EQ(moho::wave::detail::filling_cut(usual, 2, 132, cover), cover(usual));
    EXPECT_EQ(used.rim_planes, usual.rim_planes);
    const std::int64_t teams = moho::wave::detail::filling_cut(usual, 3, 132, cover);
    EXPECT_EQ(teams, cover(used));
    EXPECT_TRUE(teams >= 5 * 132 || used.rim_planes == 8) << columns;
    EXPECT_EQ(used.rim_planes < usual.rim_planes, columns < 500) << columns;
    EXPECT_GE(used.planes, 8);
  }
}

}  // namespace
