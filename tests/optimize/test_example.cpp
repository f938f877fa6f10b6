// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// The example of docs/theory/inversion.md: the smoothest curve through noisy points within bounds.
//
// The function does not involve waves.

#include <moho/core/copy.hpp>
#include <moho/optimize/lbfgs.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

// [example]
// Half the squared misfit of a curve to points plus half its weighted squared curvature.
double smooth(const std::vector<double>& x, const std::vector<double>& points,
              std::vector<double>& gradient) {
  double f = 0.0;
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    gradient[i] = x[i] - points[i];
    f += 0.5 * gradient[i] * gradient[i];
  }
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double bend = x[i - 1] - 2.0 * x[i] + x[i + 1];
    f += 0.5 * 100.0 * bend * bend;
    gradient[i - 1] += 100.0 * bend;
    gradient[i] -= 200.0 * bend;
    gradient[i + 1] += 100.0 * bend;
  }
  return f;
}

std::vector<double> fit(const std::vector<double>& points) {
  using Memory = Kokkos::HostSpace;
  const moho::Instance<Memory> exec = Kokkos::DefaultHostExecutionSpace();
  const std::vector<double> lower(points.size(), 0.0);
  moho::optimize::Constraints<double, Memory> constraints;
  constraints.lower = moho::upload(exec, lower, "lower");
  moho::optimize::Lbfgs<double, Memory> search(exec, moho::upload(exec, points, "start"),
                                               {.memory = 8, .gradient = 1e-7, .iterations = 1000},
                                               constraints);
  std::vector<double> gradient(points.size());
  while (search.wants() == moho::optimize::Want::evaluation) {
    const double f = smooth(moho::download(exec, search.point()), points, gradient);
    search.tell(exec, f, moho::upload(exec, gradient, "gradient"));
    // a search saved here with search.save(exec, "fit.state") is resumed by Lbfgs::load()
  }
  return moho::download(exec, search.best());
}
// [example]

TEST(Example, FindsASmoothCurveAboveZero) {
  std::vector<double> points, truth;
  for (int i = 0; i < 200; ++i) {
    truth.push_back(std::fmax(0.0, std::sin(0.04 * i)));
    points.push_back(std::fmax(0.0, truth.back() + (i % 2 == 0 ? 0.1 : -0.1)));
  }
  const auto found = fit(points);
  std::vector<double> gradient(points.size());
  const double min = smooth(found, points, gradient);
  EXPECT_LT(min, 0.5 * smooth(points, points, gradient));
  smooth(found, points, gradient);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_GE(found[i], 0.0);
    // the conditions of Karush, Kuhn and Tucker
    if (found[i] > 0.0) {
      EXPECT_NEAR(gradient[i], 0.0, 1e-4) << i;
    } else {
      EXPECT_GE(gradient[i], -1e-4) << i;
    }
    EXPECT_NEAR(found[i], truth[i], 0.15) << i;
  }
}

}  // namespace
