// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/suggestions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace moho::text;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Suggestions, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("receivers", "receivers"), 0U);
  EXPECT_EQ(edit_distance("recievers", "receivers"), 1U);  // two letters exchanged
  EXPECT_EQ(edit_distance("compresed", "compressed"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Suggestions, NearestNames) {
  const std::vector<std::string> names{"vp",   "shots", "receivers", "receiver-line",
                                       "band", "bands"};
  EXPECT_THAT(nearest_names("recievers", names), ElementsAre("receivers"));
  EXPECT_THAT(nearest_names("rece", names), ElementsAre("receivers", "receiver-line"));
  EXPECT_THAT(nearest_names("bansd", names), ElementsAre("band", "bands"));
  EXPECT_THAT(nearest_names("v", names), ElementsAre("vp"));
  EXPECT_THAT(nearest_names("colour", names), IsEmpty());
  EXPECT_THAT(nearest_names("xy", names), IsEmpty());
  EXPECT_THAT(nearest_names("", names), IsEmpty());
  EXPECT_THAT(nearest_names(std::string(100000, 'r'), names), IsEmpty());
}

TEST(Suggestions, Text) {
  EXPECT_EQ(suggestion({}, "--"), "");
  EXPECT_EQ(suggestion({"band"}, "--"), "did you mean --band?");
  EXPECT_EQ(suggestion({"a", "b", "c"}), "did you mean a, b or c?");
}

}  // namespace
