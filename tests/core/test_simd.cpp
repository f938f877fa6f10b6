// SPDX-License-Identifier: BSD-3-Clause
//
// Vectors of hosts: parts of vectors, and lanes of two vectors.

#include <moho/core/simd.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

template <class T>
class Simd : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Simd, Scalars);

template <class T>
std::vector<T> numbers(int count, int first) {
  std::vector<T> result;
  for (int n = 0; n < count; ++n) result.push_back(static_cast<T>(first + n));
  return result;
}

// Lanes outside of a part are zero when loaded, and are not stored.
TYPED_TEST(Simd, PartsOfVectors) {
  using Pack = moho::simd::Pack<TypeParam>;
  constexpr int lanes = moho::simd::lanes<TypeParam>;
  const std::vector<TypeParam> given = numbers<TypeParam>(lanes, 1);
  for (int first = 0; first < lanes; ++first) {
    for (int last = first + 1; last <= lanes; ++last) {
      const Pack part = Pack::load(given.data(), first, last);
      std::vector<TypeParam> stored(lanes, TypeParam(-1));
      Pack::load(given.data()).store(stored.data(), first, last);
      for (int lane = 0; lane < lanes; ++lane) {
        const bool inside = lane >= first && lane < last;
        EXPECT_EQ(part.lanes[lane], inside ? given[lane] : TypeParam(0)) << first << " " << last;
        EXPECT_EQ(stored[lane], inside ? given[lane] : TypeParam(-1)) << first << " " << last;
      }
    }
  }
}

template <class T, int first>
void expect_lanes_from() {
  using Pack = moho::simd::Pack<T>;
  constexpr int lanes = moho::simd::lanes<T>;
  const std::vector<T> given = numbers<T>(2 * lanes, 5);
  const Pack low = Pack::load(given.data()), high = Pack::load(given.data() + lanes);
  const Pack result = moho::simd::lanes_from<first>(low, high);
  for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(result.lanes[lane], given[first + lane]);
  if constexpr (first < lanes) expect_lanes_from<T, first + 1>();
}
TYPED_TEST(Simd, LanesOfTwoVectors) { expect_lanes_from<TypeParam, 0>(); }

}  // namespace
