// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Labels, instances and fences of L-BFGS, which waits because it decides on the host.

#include "events.hpp"
#include "spaces.hpp"

#include <moho/core/instances.hpp>
#include <moho/optimize/cgls.hpp>
#include <moho/optimize/lbfgs.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace {

using namespace moho::testing;
using moho::Instance;
using moho::optimize::Lbfgs;

const Contract waits{{"optimize"}, true};

template <class S>
class OptimizeContract : public ::testing::Test {};
TYPED_TEST_SUITE(OptimizeContract, TestSpaces, SpaceName);

template <class Memory>
void hold_search(const Instance<Memory>& exec) {
  const auto view = [&](double value) {
    return moho::upload(exec, std::vector<float>(100, static_cast<float>(value)), "values");
  };
  const auto start = view(1.0), lower = view(0.0), factors = view(2.0);
  std::optional<Lbfgs<float, Memory>> search;
  hold(exec, "Lbfgs", waits, [&] {
    search.emplace(exec, start, moho::optimize::LbfgsOptions{.memory = 2},
                   moho::optimize::Constraints<float, Memory>{lower, {}, {}});
  });
  hold(exec, "precondition", waits, [&] { search->precondition(exec, factors); });
  for (int call = 0; call < 5 && search->wants() == moho::optimize::Want::evaluation; ++call) {
    auto x = moho::download(exec, search->point());
    double f = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float c = 1.0f + static_cast<float>(i % 5);
      f += 0.5 * c * (x[i] - 0.3f) * (x[i] - 0.3f);
      x[i] = c * (x[i] - 0.3f);
    }
    const auto gradient = moho::upload(exec, x, "gradient");
    hold(exec, "tell", waits, [&] { search->tell(exec, f, gradient); });
  }
  EXPECT_GT(search->iterations(), 0);
}
TYPED_TEST(OptimizeContract, Search) {
  hold_search<typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

template <class Memory>
void hold_linear_search(const Instance<Memory>& exec) {
  using moho::optimize::Cgls;
  using moho::optimize::LinearWant;
  const auto view = [&](std::size_t count, double value) {
    return moho::upload(exec, std::vector<float>(count, static_cast<float>(value)), "values");
  };
  const auto start = view(50, 0.0), residual = view(80, 1.0), factors = view(50, 2.0);
  std::optional<Cgls<float, Memory>> search;
  hold(exec, "Cgls", waits, [&] { search.emplace(exec, start, residual); });
  hold(exec, "precondition", waits, [&] { search->precondition(exec, factors); });
  const auto gradient = view(50, 0.5), image = view(80, 0.25);
  hold(exec, "tell_transposed", waits, [&] { search->tell_transposed(exec, gradient); });
  ASSERT_EQ(search->wants(), LinearWant::product);
  hold(exec, "tell_product", waits, [&] { search->tell_product(exec, image); });
  EXPECT_EQ(search->iterations(), 1);
}
TYPED_TEST(OptimizeContract, LinearSearch) {
  hold_linear_search<typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

}  // namespace
