// SPDX-License-Identifier: BSD-3-Clause
//
// L-BFGS, compared with published counts of L-BFGS-B 3.0 on standard test functions.
//
// Also tested are saved states, bounds, masks, noise and invalid arguments.

#include <moho/core/error.hpp>
#include <moho/optimize/lbfgs.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "refusals.hpp"
#include "spaces.hpp"

namespace {

using namespace moho::testing;
using moho::concat;
using moho::copy;
using moho::download;
using moho::HostElements;
using moho::optimize::Constraints;
using moho::optimize::Lbfgs;
using moho::optimize::LbfgsOptions;
using moho::optimize::StopReason;
using moho::optimize::Want;
using ::testing::HasSubstr;

using Values = std::vector<double>;
/// A function that returns f and writes its gradient.
using Function = std::function<double(const Values& x, Values& g)>;

template <class T, class Memory>
Kokkos::View<T*, Memory> to_view(const Instance<Memory>& exec, const Values& values) {
  const std::vector<T> converted(values.begin(), values.end());
  return moho::upload(exec, converted, "values");
}
template <class Memory, class ViewType>
Values to_values(const Instance<Memory>& exec, const ViewType& view) {
  const auto values = download(exec, view);
  return Values(values.begin(), values.end());
}

struct Problem {
  std::string name;
  Values start;
  Function function;
  int published[3];  ///< evaluations of L-BFGS-B 3.0 with 3, 5 and 10 pairs
};

Values repeated(const Values& values, std::size_t count) {
  Values result;
  while (result.size() < count) result.insert(result.end(), values.begin(), values.end());
  return result;
}

double rosenbrock(const Values& x, Values& g) {
  double f = 0.0;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const double a = 1.0 - x[i], b = x[i + 1] - x[i] * x[i];
    f += a * a + 100.0 * b * b;
    g[i] = -2.0 * a - 400.0 * x[i] * b;
    g[i + 1] = 200.0 * b;
  }
  return f;
}
double wood(const Values& x, Values& g) {
  double f = 0.0;
  for (std::size_t i = 0; i < x.size(); i += 4) {
    const double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
    const double c = x[i + 3] - x[i + 2] * x[i + 2], d = 1.0 - x[i + 2];
    const double e = x[i + 1] + x[i + 3] - 2.0, h = x[i + 1] - x[i + 3];
    f += 100.0 * a * a + b * b + 90.0 * c * c + d * d + 10.0 * e * e + 0.1 * h * h;
    g[i] = -400.0 * x[i] * a - 2.0 * b;
    g[i + 1] = 200.0 * a + 20.0 * e + 0.2 * h;
    g[i + 2] = -360.0 * x[i + 2] * c - 2.0 * d;
    g[i + 3] = 180.0 * c + 20.0 * e - 0.2 * h;
  }
  return f;
}
double powell(const Values& x, Values& g) {
  double f = 0.0;
  for (std::size_t i = 0; i < x.size(); i += 4) {
    const double a = x[i] + 10.0 * x[i + 1], b = x[i + 2] - x[i + 3];
    const double c = x[i + 1] - 2.0 * x[i + 2], d = x[i] - x[i + 3];
    f += a * a + 5.0 * b * b + c * c * c * c + 10.0 * d * d * d * d;
    g[i] = 2.0 * a + 40.0 * d * d * d;
    g[i + 1] = 20.0 * a + 4.0 * c * c * c;
    g[i + 2] = 10.0 * b - 8.0 * c * c * c;
    g[i + 3] = -10.0 * b - 40.0 * d * d * d;
  }
  return f;
}
double broyden(const Values& x, Values& g) {
  const std::size_t n = x.size();
  double f = 0.0;
  std::fill(g.begin(), g.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double before = i > 0 ? x[i - 1] : 0.0, after = i + 1 < n ? x[i + 1] : 0.0;
    const double r = (3.0 - 2.0 * x[i]) * x[i] - before - 2.0 * after + 1.0;
    f += r * r;
    g[i] += 2.0 * r * (3.0 - 4.0 * x[i]);
    if (i > 0) g[i - 1] -= 2.0 * r;
    if (i + 1 < n) g[i + 1] -= 4.0 * r;
  }
  return f;
}
double quadratic(const Values& x, Values& g) {
  const std::size_t n = x.size();
  double f = -x[0];
  for (std::size_t i = 0; i < n; ++i) {
    const double before = i > 0 ? x[i - 1] : 0.0, after = i + 1 < n ? x[i + 1] : 0.0;
    const double a = 2.0 * x[i] - before - after;
    f += 0.5 * x[i] * a;
    g[i] = a;
  }
  g[0] -= 1.0;
  return f;
}

std::vector<Problem> problems() {
  return {{"Rosenbrock", {-1.2, 1.0}, rosenbrock, {50, 48, 45}},
          {"Rosenbrock, 100", repeated({-1.2, 1.0}, 100), rosenbrock, {45, 46, 48}},
          {"Rosenbrock, 1000", repeated({-1.2, 1.0}, 1000), rosenbrock, {49, 48, 44}},
          {"Wood", repeated({-3.0, -1.0, -3.0, -1.0}, 1000), wood, {138, 136, 121}},
          {"Powell", repeated({3.0, -1.0, 0.0, 1.0}, 1000), powell, {96, 61, 43}},
          {"Broyden", Values(1000, -1.0), broyden, {44, 35, 35}},
          {"quadratic", Values(100, 0.0), quadratic, {316, 210, 191}}};
}

/// Evaluates at the point of a search and passes the result to tell().
template <class T, class Memory>
void advance(const Instance<Memory>& exec, Lbfgs<T, Memory>& search, const Function& function) {
  const Values x = to_values<Memory>(exec, search.point());
  Values g(x.size());
  const double f = function(x, g);
  search.tell(exec, f, to_view<T, Memory>(exec, g));
}
template <class T, class Memory>
void run(const Instance<Memory>& exec, Lbfgs<T, Memory>& search, const Function& function) {
  while (search.wants() == Want::evaluation) advance<T, Memory>(exec, search, function);
}

template <class C>
class LbfgsTest : public ::testing::Test {};
TYPED_TEST_SUITE(LbfgsTest, TestCases, CaseName);

template <class C>
class LbfgsInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(LbfgsInDouble, TestSpaces, SpaceName);

template <class Memory>
void hold_to_published_counts(const Instance<Memory>& exec) {
  const int memories[] = {3, 5, 10};
  for (const Problem& problem : problems()) {
    for (int k = 0; k < 3; ++k) {
      LbfgsOptions options;
      options.memory = memories[k];
      options.evaluations = 2000;
      Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, problem.start), options);
      run<double, Memory>(exec, search, problem.function);
      EXPECT_EQ(search.reason(), StopReason::gradient) << problem.name << ": " << search.message();
      EXPECT_LE(static_cast<double>(search.evaluations()), 1.25 * problem.published[k])
          << problem.name << ", " << memories[k] << " pairs, " << search.iterations()
          << " iterations";
      ::testing::Test::RecordProperty(
          problem.name + " " + std::to_string(memories[k]),
          std::to_string(search.iterations()) + "/" + std::to_string(search.evaluations()));
    }
  }
}
TYPED_TEST(LbfgsInDouble, NeedsNoMoreEvaluationsThanPublished) {
  hold_to_published_counts<typename TypeParam::Memory>(TypeParam::exec());
}

template <class Memory>
void find_minima(const Instance<Memory>& exec) {
  const auto min = [&](const Problem& problem) {
    LbfgsOptions options;
    options.gradient = 1e-9;
    options.memory = 10;
    options.evaluations = 5000;
    Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, problem.start), options);
    run<double, Memory>(exec, search, problem.function);
    Values g(problem.start.size());
    EXPECT_EQ(problem.function(to_values<Memory>(exec, search.best()), g), search.value());
    EXPECT_EQ(to_values<Memory>(exec, search.best_gradient()), g);
    return search.value();
  };
  const auto list = problems();
  EXPECT_LT(min(list[2]), 1e-15);
  EXPECT_LT(min(list[3]), 1e-15);
  EXPECT_LT(min(list[4]), 1e-10);
  EXPECT_NEAR(min(list[5]), 0.71253, 5e-6);
  // A x = e_1 has x_1 = n / (n + 1)
  EXPECT_NEAR(min(list[6]), -0.5 * 100.0 / 101.0, 1e-12);
}
TYPED_TEST(LbfgsInDouble, FindsTheMinima) {
  find_minima<typename TypeParam::Memory>(TypeParam::exec());
}

// The problem of L-BFGS-B's first driver: 23 iterations, 28 evaluations, f = 1.083490083518e-9.
template <class Memory>
void keep_bounds(const Instance<Memory>& exec) {
  const std::size_t n = 25;
  Values lower(n), upper(n, 100.0);
  for (std::size_t i = 0; i < n; ++i) lower[i] = i % 2 == 0 ? 1.0 : -100.0;
  const Function driver = [&](const Values& x, Values& g) {
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_GE(x[i], lower[i]);
      EXPECT_LE(x[i], upper[i]);
    }
    double f = 0.25 * (x[0] - 1.0) * (x[0] - 1.0);
    std::fill(g.begin(), g.end(), 0.0);
    g[0] = 0.5 * (x[0] - 1.0);
    for (std::size_t i = 1; i < n; ++i) {
      const double r = x[i] - x[i - 1] * x[i - 1];
      f += r * r;
      g[i] += 2.0 * r;
      g[i - 1] -= 4.0 * r * x[i - 1];
    }
    for (double& value : g) value *= 4.0;
    return 4.0 * f;
  };
  LbfgsOptions options;
  options.gradient = 0.0;
  options.ratio = 1.083490083518e-9 / 3460.0;
  options.evaluations = 200;
  const Constraints<double, Memory> bounds{
      to_view<double, Memory>(exec, lower), to_view<double, Memory>(exec, upper), {}};
  Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, Values(n, 3.0)), options,
                               bounds);
  run<double, Memory>(exec, search, driver);
  EXPECT_NEAR(search.first_value(), 3460.0, 1e-9);
  EXPECT_EQ(search.reason(), StopReason::ratio) << search.message();
  EXPECT_LE(search.evaluations(), 35);  // 1.25 times 28
}
TYPED_TEST(LbfgsInDouble, KeepsBounds) {
  keep_bounds<typename TypeParam::Memory>(TypeParam::exec());
}

// The minimum of 1/2 sum c_i (x_i - t_i)^2 in a box is the point of the box nearest to t.
//
// Masked unknowns are constant.
MEMORY_TEST(LbfgsTest, EndsAtBoundsAndKeepsWhatIsMasked) {
  const std::size_t n = 60;
  Values target(n), curvature(n), lower(n, -1.0), upper(n, 0.5), expected(n);
  std::vector<unsigned char> mask(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    target[i] = 2.0 * std::sin(static_cast<double>(i));
    curvature[i] = 1.0 + static_cast<double>(i % 7);
    mask[i] = i % 10 == 3 ? 0 : 1;
    expected[i] = mask[i] == 0 ? 0.25 : std::clamp(target[i], -1.0, 0.5);
  }
  const Function function = [&](const Values& x, Values& g) {
    double f = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      f += 0.5 * curvature[i] * (x[i] - target[i]) * (x[i] - target[i]);
      g[i] = curvature[i] * (x[i] - target[i]);
    }
    return f;
  };
  LbfgsOptions options;
  options.gradient = std::is_same_v<T, float> ? 1e-5 : 1e-9;
  options.evaluations = 200;
  const Constraints<T, Memory> constraints{to_view<T, Memory>(exec, lower),
                                           to_view<T, Memory>(exec, upper),
                                           moho::upload(exec, mask, "mask")};
  Lbfgs<T, Memory> search(exec, to_view<T, Memory>(exec, Values(n, 0.25)), options, constraints);
  run<T, Memory>(exec, search, function);
  EXPECT_EQ(search.reason(), StopReason::gradient) << search.message();
  const Values found = to_values<Memory>(exec, search.best());
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found[i], expected[i], 2e-5) << i;
}

// A quadratic with diagonal Hessian, preconditioned by its inverse, needs one unit step.
MEMORY_TEST(LbfgsTest, PreconditionerIsTheInverseOfTheFirstHessian) {
  const std::size_t n = 40;
  Values curvature(n), factors(n);
  for (std::size_t i = 0; i < n; ++i) {
    curvature[i] = std::ldexp(1.0, static_cast<int>(i % 12));
    factors[i] = 1.0 / curvature[i];
  }
  const Function function = [&](const Values& x, Values& g) {
    double f = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      f += 0.5 * curvature[i] * (x[i] - 1.0) * (x[i] - 1.0);
      g[i] = curvature[i] * (x[i] - 1.0);
    }
    return f;
  };
  const auto evaluations = [&](bool preconditioned) {
    LbfgsOptions options;
    options.first_change = 1.0;  // the complete distance
    options.gradient = 1e-6;
    options.evaluations = 500;
    Lbfgs<T, Memory> search(exec, to_view<T, Memory>(exec, Values(n, 0.0)), options);
    if (preconditioned) search.precondition(exec, to_view<T, Memory>(exec, factors));
    run<T, Memory>(exec, search, function);
    EXPECT_EQ(search.reason(), StopReason::gradient) << search.message();
    return search.evaluations();
  };
  EXPECT_EQ(evaluations(true), 2);
  EXPECT_GT(evaluations(false), 10);
}

MEMORY_TEST(LbfgsTest, FirstStepAndLargestStepAreAsAsked) {
  LbfgsOptions options;
  options.first_change = 0.125;
  options.largest_change = 0.25;
  options.iterations = 6;
  Lbfgs<T, Memory> search(exec, to_view<T, Memory>(exec, {-1.2, 1.0}), options);
  Values before = to_values<Memory>(exec, search.best());
  advance<T, Memory>(exec, search, rosenbrock);
  const Values first = to_values<Memory>(exec, search.point());
  const auto change = [](const Values& a, const Values& b) {
    return std::max(std::fabs(a[0] - b[0]), std::fabs(a[1] - b[1]));
  };
  EXPECT_NEAR(change(first, before), 0.125, 1e-6);
  while (search.wants() == Want::evaluation) {
    EXPECT_LE(
        change(to_values<Memory>(exec, search.point()), to_values<Memory>(exec, search.best())),
        0.2501);
    advance<T, Memory>(exec, search, rosenbrock);
  }
}

struct Folder {
  std::filesystem::path path;
  Folder() {
    path = std::filesystem::temp_directory_path() /
           ("moho_lbfgs_" + std::to_string(std::random_device()()));
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

// A search saved and loaded after every call, with all kinds of vectors, has the same bits.
MEMORY_TEST(LbfgsTest, SavedAndLoadedGoesOnWithTheSameBits) {
  const Folder folder;
  const std::size_t n = 5000;  // more than one block of sums
  const Values start = repeated({-1.2, 1.0}, n);
  LbfgsOptions options;
  options.iterations = 25;
  options.memory = 4;
  const std::vector<unsigned char> mask(n, 1);
  const Constraints<T, Memory> bounds{to_view<T, Memory>(exec, Values(n, -2.0)),
                                      to_view<T, Memory>(exec, Values(n, 1.05)),
                                      moho::upload(exec, mask, "mask")};
  const auto make = [&] {
    Lbfgs<T, Memory> search(exec, to_view<T, Memory>(exec, start), options, bounds);
    search.precondition(exec, to_view<T, Memory>(exec, Values(n, 0.5)));
    return search;
  };
  auto whole = make();
  run<T, Memory>(exec, whole, rosenbrock);
  const auto file = folder.path / "search";
  make().save(exec, file);
  for (int call = 0;; ++call) {
    auto search = Lbfgs<T, Memory>::load(exec, file);
    if (search.wants() == Want::nothing) {
      EXPECT_EQ(search.evaluations(), whole.evaluations());
      EXPECT_EQ(search.value(), whole.value());
      EXPECT_EQ(search.message(), whole.message());
      EXPECT_EQ(to_values<Memory>(exec, search.best()), to_values<Memory>(exec, whole.best()));
      EXPECT_EQ(call, whole.evaluations());
      break;
    }
    advance<T, Memory>(exec, search, rosenbrock);
    search.save(exec, file);
  }
}

#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
// Serial and OpenMP with any number of threads give the same bits.
TEST(Lbfgs, BitsDoNotDependOnThreads) {
  const auto found = [](const Instance<Kokkos::HostSpace>& exec) {
    LbfgsOptions options;
    options.iterations = 30;
    Lbfgs<float, Kokkos::HostSpace> search(
        exec, to_view<float, Kokkos::HostSpace>(exec, repeated({-1.2, 1.0}, 20000)), options);
    run<float, Kokkos::HostSpace>(exec, search, rosenbrock);
    return to_values<Kokkos::HostSpace>(exec, search.best());
  };
  EXPECT_EQ(found(Kokkos::Serial()), found(Kokkos::OpenMP()));
}
#endif

// With relative errors of 1e-7 in the values, the search ends with a reason and a smaller value.
MEMORY_TEST(LbfgsTest, EndsWithAReasonWhereTheFunctionIsNoisy) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> noise(-1e-7, 1e-7);
    const Function noisy = [&](const Values& x, Values& g) {
      return broyden(x, g) * (1.0 + noise(random));
    };
    LbfgsOptions options;
    options.gradient = 0.0;
    options.evaluations = 600;
    Lbfgs<T, Memory> search(exec, to_view<T, Memory>(exec, Values(1000, -1.0)), options);
    run<T, Memory>(exec, search, noisy);
    EXPECT_NE(search.reason(), StopReason::none);
    EXPECT_LT(search.evaluations(), 600) << search.message();
    EXPECT_NEAR(search.value(), 0.71253, 1e-4) << search.message();
  }
}

// With the approximate condition gradients become small although values are rounded.
TYPED_TEST(LbfgsInDouble, SlopesLeadWhereValuesAreRounded) {
  using Memory = typename TypeParam::Memory;
  const auto exec = TypeParam::exec();
  const Function rounded = [](const Values& x, Values& g) {
    return static_cast<double>(static_cast<float>(broyden(x, g)));
  };
  LbfgsOptions options;
  options.evaluations = 200;
  Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, Values(1000, -1.0)), options);
  run<double, Memory>(exec, search, rounded);
  EXPECT_EQ(search.reason(), StopReason::gradient) << search.message();
}

TYPED_TEST(LbfgsInDouble, SaysWhyItStops) {
  using Memory = typename TypeParam::Memory;
  const auto exec = TypeParam::exec();
  const auto search_with = [&](const LbfgsOptions& options, const Function& function) {
    Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, {-1.2, 1.0}), options);
    run<double, Memory>(exec, search, function);
    return std::pair(search.reason(), search.message());
  };
  EXPECT_EQ(search_with({.iterations = 3}, rosenbrock).first, StopReason::iterations);
  EXPECT_THAT(search_with({.iterations = 3}, rosenbrock).second, HasSubstr("after 3 iterations"));
  EXPECT_EQ(search_with({.evaluations = 4}, rosenbrock).first, StopReason::evaluations);
  EXPECT_THAT(search_with({.evaluations = 4}, rosenbrock).second, HasSubstr("4 evaluations"));
  EXPECT_EQ(search_with({.ratio = 0.1}, rosenbrock).first, StopReason::ratio);
  EXPECT_EQ(search_with({.decrease = 0.5}, rosenbrock).first, StopReason::decrease);
  EXPECT_EQ(search_with({}, rosenbrock).first, StopReason::gradient);
  const Function flat = [](const Values&, Values& g) {
    std::fill(g.begin(), g.end(), 0.0);
    return 2.0;
  };
  EXPECT_EQ(search_with({}, flat).second,
            "the gradient is zero after 0 iterations and 1 evaluation");
  const Function wrong = [](const Values& x, Values& g) {
    const double f = rosenbrock(x, g);
    for (double& value : g) value = -value;
    return f;
  };
  EXPECT_EQ(search_with({}, wrong).first, StopReason::search);
  EXPECT_THAT(search_with({}, wrong).second, HasSubstr("no step along the gradient lowers f"));
}

// Beyond 1.5 the function is not finite: shorter steps are tried.
TYPED_TEST(LbfgsInDouble, TurnsBackWhereTheFunctionIsNoNumber) {
  using Memory = typename TypeParam::Memory;
  const auto exec = TypeParam::exec();
  const Function half = [](const Values& x, Values& g) {
    g[0] = x[0] > 1.5 ? std::nan("") : -1.0 / (1.5 - x[0]) + 2.0 * x[0];
    return x[0] > 1.5 ? std::nan("") : std::log(1.5 - x[0]) + x[0] * x[0];
  };
  Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, {-2.0}),
                               {.first_change = 20.0, .evaluations = 60});
  run<double, Memory>(exec, search, half);
  // 2 x (1.5 - x) = 1 at x = 1/2, the minimum, and at x = 1
  EXPECT_NEAR(to_values<Memory>(exec, search.best())[0], 0.5, 1e-4);
}

TYPED_TEST(LbfgsInDouble, RestartGoesOnWithAnotherFunction) {
  using Memory = typename TypeParam::Memory;
  const auto exec = TypeParam::exec();
  Lbfgs<double, Memory> search(exec, to_view<double, Memory>(exec, {-1.2, 1.0}), {.iterations = 5});
  run<double, Memory>(exec, search, rosenbrock);
  search.extend(0, 200, 0.0);
  search.restart(exec);
  EXPECT_EQ(search.pairs(), 0);
  EXPECT_EQ(to_values<Memory>(exec, search.point()), to_values<Memory>(exec, search.best()));
  const Function other = [](const Values& x, Values& g) {
    g = {2.0 * (x[0] - 3.0), 8.0 * (x[1] + 4.0)};
    return (x[0] - 3.0) * (x[0] - 3.0) + 4.0 * (x[1] + 4.0) * (x[1] + 4.0);
  };
  run<double, Memory>(exec, search, other);
  EXPECT_EQ(search.reason(), StopReason::gradient);
  EXPECT_NEAR(to_values<Memory>(exec, search.best())[0], 3.0, 1e-4);
  EXPECT_NEAR(to_values<Memory>(exec, search.best())[1], -4.0, 1e-4);
}

MEMORY_TEST(LbfgsTest, RefusesWhatMakesNoSense) {
  using Search = Lbfgs<T, Memory>;
  const auto start = to_view<T, Memory>(exec, {1.0, 2.0});
  const auto make = [&](const LbfgsOptions& options, const Constraints<T, Memory>& constraints) {
    return message_of([&] { Search(exec, start, options, constraints); });
  };
  const auto view = [&](const Values& values) { return to_view<T, Memory>(exec, values); };
  EXPECT_THAT(make({.memory = 0}, {}), HasSubstr("memory is 0 (allowed: 1 to 64"));
  EXPECT_THAT(make({.first_change = -1.0}, {}), HasSubstr("first_change is -1"));
  EXPECT_THAT(make({.ratio = 1.0}, {}), HasSubstr("ratio is 1 (allowed: 0 to less than 1)"));
  EXPECT_THAT(make({.iterations = -1}, {}), HasSubstr("iterations is -1"));
  EXPECT_THAT(make({.search = {.decrease = 0.7}}, {}), HasSubstr("search.decrease is 0.7"));
  EXPECT_THAT(make({}, {view({0.0}), {}, {}}), HasSubstr("lower: it has 1 elements (allowed: 2"));
  EXPECT_THAT(make({}, {view({0.0, 3.0}), view({5.0, 2.5}), {}}),
              HasSubstr("bounds: unknown 1: 3 to 2.5 holds nothing"));
  EXPECT_THAT(make({}, {view({0.0, 2.5}), view({5.0, 5.0}), {}}),
              HasSubstr("start: it is 2 and outside of the bounds of unknown 1: 2.5 to 5"));
  EXPECT_THAT(message_of([&] { Search(exec, view({})); }), HasSubstr("it has no unknowns"));
  EXPECT_THAT(message_of([&] {
                Search(exec, view({1.0, std::nan("")}));
              }),
              HasSubstr("start: unknown 1 is nan"));
  Search search(exec, start);
  EXPECT_THAT(message_of([&] { search.tell(exec, 1.0, view({1.0})); }),
              HasSubstr("gradient: it has 1 elements (allowed: 2"));
  EXPECT_THAT(message_of([&] {
                search.tell(exec, INFINITY, view({1.0, 1.0}));
              }),
              HasSubstr("f is inf at the start"));
  EXPECT_THAT(message_of([&] {
                search.tell(exec, 1.0, view({1.0, std::nan("")}));
              }),
              HasSubstr("gradient: that of unknown 1 is nan at the start"));
  EXPECT_THAT(message_of([&] {
                search.precondition(exec, view({1.0, 0.0}));
              }),
              HasSubstr("factors: that of unknown 1 is 0 (allowed: positive"));
  search.tell(exec, 1.0, view({0.0, 0.0}));
  EXPECT_THAT(message_of([&] {
                search.tell(exec, 1.0, view({1.0, 1.0}));
              }),
              HasSubstr("tell: the search has stopped (the gradient is zero"));
}

MEMORY_TEST(LbfgsTest, RefusesDamagedFiles) {
  const Folder folder;
  const auto file = folder.path / "search";
  Lbfgs<T, Memory> search(exec, to_view<T, Memory>(exec, {-1.2, 1.0}));
  advance<T, Memory>(exec, search, rosenbrock);
  search.save(exec, file);
  std::string bytes;
  {
    std::ifstream stream(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  const auto write = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary).write(text.data(), static_cast<long>(text.size()));
  };
  const auto load = [&] {
    return message_of<moho::FileError>([&] { Lbfgs<T, Memory>::load(exec, file); });
  };
  EXPECT_EQ(load(), "no exception");
  std::string note;
  search.save(exec, file, "of the caller");
  EXPECT_EQ((Lbfgs<T, Memory>::load(exec, file, &note).evaluations()), 1);
  EXPECT_EQ(note, "of the caller");
  EXPECT_THAT(load(), HasSubstr("has a note of 13 bytes"));
  for (const std::size_t length : {bytes.size() - 1, bytes.size() / 2, std::size_t(40)}) {
    write(bytes.substr(0, length));
    EXPECT_THAT(load(), HasSubstr("is damaged")) << length;
  }
  for (std::size_t at = 50; at < bytes.size(); at += 37) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 16);
    write(other);
    EXPECT_THAT(load(), HasSubstr("is damaged")) << at;
  }
  std::string other = bytes;
  other[15] = '9';
  write(other);
  EXPECT_THAT(load(), HasSubstr("of another version"));
  write("no search at all, but text that is long enough to be read as one");
  EXPECT_THAT(load(), HasSubstr("is no search"));
  using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;
  write(bytes);
  EXPECT_THAT(message_of<moho::FileError>([&] { Lbfgs<Other, Memory>::load(exec, file); }),
              HasSubstr(concat("numbers of ", sizeof(T), " bytes")));
}

}  // namespace
