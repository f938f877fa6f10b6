// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// The division of prisms among ranks: the paper's example, no prism lost or counted twice. Any
// number of parts gives the same field. MPI is not needed.

#include <gmock/gmock.h>

#include <moho/core/error.hpp>
#include <moho/core/ranks.hpp>

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;
using moho::mpi::device_of;
using moho::mpi::Part;
using moho::mpi::part_of;
using ::testing::HasSubstr;

// 251,946 prisms for 8 ranks, with the paper's ranges (from 1, both ends included).
TEST(Ranks, ThePapersExample) {
  const std::int64_t listed[][2] = {{1, 31494},       {31495, 62988},   {62989, 94481},
                                    {94482, 125974},  {125975, 157467}, {157468, 188960},
                                    {188961, 220453}, {220454, 251946}};
  for (int q = 0; q < 8; ++q) {
    const Part part = part_of(251946, 8, q);
    EXPECT_EQ(part.first + 1, listed[q][0]) << "rank " << q;
    EXPECT_EQ(part.last, listed[q][1]) << "rank " << q;
  }
}

// Equations 7 to 10 of the paper, with prisms counted from 1.
TEST(Ranks, EquationsSevenToTen) {
  for (const std::int64_t count : {0, 1, 2, 5, 7, 8, 9, 64, 1000, 99991}) {
    for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 29, 64, 1000}) {
      for (int q = 0; q < ranks; ++q) {
        const std::int64_t s = count / ranks, r = count % ranks;
        std::int64_t start = q * s + 1, end = (q + 1) * s;
        if (r != 0 && q < r) {
          start += q;
          end += q + 1;
        } else if (r != 0) {
          start += r;
          end += r;
        }
        const Part part = part_of(count, ranks, q);
        EXPECT_EQ(part.first, start - 1);
        EXPECT_EQ(part.last, end);
      }
    }
  }
}

TEST(Ranks, EveryPrismBelongsToOneRank) {
  for (const std::int64_t count :
       {std::int64_t(0), std::int64_t(1), std::int64_t(31), std::int64_t(251946),
        std::int64_t(24500000), (std::int64_t(1) << 40) + 12345}) {
    for (const int ranks : {1, 2, 3, 5, 8, 31, 512}) {
      std::int64_t next = 0, smallest = count, largest = 0;
      for (int q = 0; q < ranks; ++q) {
        const Part part = part_of(count, ranks, q);
        ASSERT_EQ(part.first, next) << count << " prisms, rank " << q << " of " << ranks;
        ASSERT_GE(part.last, part.first);
        next = part.last;
        smallest = std::min(smallest, part.last - part.first);
        largest = std::max(largest, part.last - part.first);
      }
      EXPECT_EQ(next, count);
      EXPECT_LE(largest - smallest, 1);  // balanced
    }
  }
}

TEST(Ranks, DevicesInTurns) {
  EXPECT_EQ(device_of(4, 4), 0);  // the paper's example
  for (const int devices : {1, 2, 3, 4, 8}) {
    std::vector<int> used(static_cast<std::size_t>(devices));
    for (int rank = 0; rank < 8 * devices; ++rank) {
      const int device = device_of(rank, devices);
      ASSERT_GE(device, 0);
      ASSERT_LT(device, devices);
      EXPECT_EQ(device, rank % devices);
      ++used[static_cast<std::size_t>(device)];
    }
    for (const int count : used) EXPECT_EQ(count, 8);
  }
}

template <class Function>
std::string input_error(const Function& function) {
  try {
    function();
  } catch (const moho::InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Ranks, BadNumbers) {
  EXPECT_THAT(input_error([] { part_of(-1, 2, 0); }), HasSubstr("-1 items"));
  EXPECT_THAT(input_error([] { part_of(10, 0, 0); }), HasSubstr("of 0 ranks"));
  EXPECT_THAT(input_error([] { part_of(10, 2, 2); }), HasSubstr("rank 2 of 2"));
  EXPECT_THAT(input_error([] { part_of(10, 2, -1); }), HasSubstr("rank -1"));
  EXPECT_THAT(input_error([] { device_of(3, 0); }), HasSubstr("0 devices"));
  EXPECT_THAT(input_error([] { device_of(-3, 2); }), HasSubstr("rank -3"));
}

template <class C>
class Parts : public ::testing::Test {};
TYPED_TEST_SUITE(Parts, TestCases, CaseName);

// The sum over the parts of 1 to 5 ranks is the field of all prisms. Only the order of additions
// differs. The tolerance in double is 1e-12. In single precision the pairs are identical, and the
// sums must be exact to 1e-6.
template <class T, class Memory>
void add_up_to_the_whole(const moho::Instance<Memory>& exec) {
  const double same = std::is_same_v<T, float> ? 1e-6 : 1e-12;
  const Ensemble e = mixed_pool().ensemble(503, 29, 5);
  for (const Strategy strategy : general_strategies) {
    Options options;
    options.strategy = strategy;
    const Outcome whole = compute<T>(exec, e.prisms, e.stations, all_ten(), options);
    Expected expected;
    expected.scales = e.expected.scales;
    for (std::size_t s = 0; s < e.stations.size(); ++s) {
      Field field;
      for (std::size_t c = 0; c < 10; ++c) field[c] = whole.at(c, s);
      expected.fields.push_back(field);
    }
    for (int ranks = 1; ranks <= 5; ++ranks) {
      Outcome sum = whole;
      std::fill(sum.values.begin(), sum.values.end(), 0.0);
      for (int q = 0; q < ranks; ++q) {
        const Part part = part_of(static_cast<std::int64_t>(e.prisms.size()), ranks, q);
        const std::vector<Prism> prisms(e.prisms.begin() + part.first,
                                        e.prisms.begin() + part.last);
        const Outcome one = compute<T>(exec, prisms, e.stations, all_ten(), options);
        for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += one.values[i];
      }
      EXPECT_TRUE(outcome_agrees(sum, all_ten(), expected, same))
          << to_string(strategy) << ", " << ranks << " ranks";
    }
  }
}
TYPED_TEST(Parts, AddUpToTheWhole) {
  add_up_to_the_whole<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
