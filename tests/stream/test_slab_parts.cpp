// SPDX-License-Identifier: BSD-3-Clause
//
// Cuts of slabs that follow an expanding domain.

#include <moho/stream/kernel/slab_parts.hpp>

#include "support.hpp"

namespace moho::testing {
namespace {

/// Boxes of a wave that leaves plane `middle` of `planes`, and later is everywhere.
std::vector<stream::detail::BoxSteps> boxes_of_wave(std::int64_t planes, std::int64_t middle,
                                                    std::int64_t steps) {
  const auto box = [=](std::int64_t level) {
    const std::int64_t r = 5 + level / 4;
    return Box<2>{{std::max<std::int64_t>(middle - r, 0), std::max<std::int64_t>(20 - r, 0)},
                  {std::min(middle + r, planes), std::min<std::int64_t>(20 + r, 90)}};
  };
  return stream::detail::box_steps<2>(box, steps);
}

// The search finds the best cuts, or cuts that are nearly as good, among those that are allowed.
TEST(SlabParts, CutsBalanceTheStepsOfAShot) {
  using namespace stream::detail;
  const auto any = [](const std::vector<PlaneRange>&) { return true; };
  for (const std::int64_t middle : {10, 70, 100, 160}) {
    for (const std::int64_t align : {1, 8}) {
      SlabDivision grid{200, 9, align, {6, 194}};
      const auto boxes = boxes_of_wave(grid.planes, middle, 500);
      double steps = 0.0;
      for (const BoxSteps& box : boxes) steps += box.steps;
      EXPECT_EQ(steps, 500.0);
      const auto min_of_two = [&](std::int64_t max) {
        double min = 1e300;
        for (std::int64_t cut = align; cut < 200; cut += align) {
          if (cut < 9 || cut > 191 || std::max(cut, 200 - cut) > max) continue;
          min = std::min(min, work_of({{0, cut}, {cut, 200}}, boxes).steps);
        }
        return min;
      };
      const auto two = divide(grid, 2);
      const auto best = balanced_parts(grid, two, boxes, any);
      EXPECT_LE(work_of(best, boxes).steps, 1.011 * min_of_two(200)) << middle << " " << align;
      EXPECT_EQ(best[1].begin % align, 0);
      if (middle != 100) {
        EXPECT_LT(work_of(best, boxes).steps, 0.95 * work_of(two, boxes).steps);
      }
      const auto limited = balanced_parts(grid, two, boxes, [](const auto& own) {
        return own[0].count() <= 130 && own[1].count() <= 130;
      });
      EXPECT_LE(std::max(limited[0].count(), limited[1].count()), 130);
      EXPECT_LE(work_of(limited, boxes).steps, 1.011 * min_of_two(130));
      // three slabs, with the least number of planes of the one between the others
      grid.inner = 24;
      double min = 1e300;
      for (std::int64_t a = align; a < 200; a += align) {
        for (std::int64_t b = a + align; b < 200; b += align) {
          const std::vector<PlaneRange> own{{0, a}, {a, b}, {b, 200}};
          if (possible(grid, own)) min = std::min(min, work_of(own, boxes).steps);
        }
      }
      const auto three = balanced_parts(grid, divide(grid, 3), boxes, any);
      EXPECT_TRUE(possible(grid, three));
      EXPECT_EQ(three[0].begin, 0);
      EXPECT_EQ(three[2].end, 200);
      EXPECT_LE(work_of(three, boxes).steps, 1.05 * min) << middle << " " << align;
    }
  }
  // slabs of equal size are kept where nothing is gained
  const SlabDivision grid{200, 9, 1, {0, 200}};
  const std::vector<BoxSteps> whole{{{0, 200}, 90.0, 30.0}};
  EXPECT_EQ(balanced_parts(grid, divide(grid, 4), whole, any), divide(grid, 4));
}

}  // namespace
}  // namespace moho::testing
