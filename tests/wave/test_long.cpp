// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, needs moho::io
//
// Twenty thousand steps of TTI: nothing grows, also in rough models.

#include <moho/io/npy.hpp>

#include "io/files.hpp"
#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;

template <class Case>
class LongTest : public ::testing::Test {};
TYPED_TEST_SUITE(LongTest, LongTestCases, CaseName);

#ifdef MOHO_BOUNDS_CHECK
constexpr int steps_of_long_run = 1000;
#else
constexpr int steps_of_long_run = 20000;
#endif

/// Largest amplitude of p and q in the first tenth of the steps, and in the rest.
struct Greatest {
  double early = 0.0, late = 0.0;
};
template <class T, int Dim, class Memory>
Greatest max_of(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                Wavefield<T, Dim, Memory>& wavefield) {
  Greatest max;
  const Box<Dim> whole = moho::whole_box(propagator.grid());
  for (int n = 1; n <= steps_of_long_run; ++n) {
    propagator.step(exec, wavefield);
    wavefield.advance();
    if (n % 20 != 0) continue;
    double& current = n <= steps_of_long_run / 10 ? max.early : max.late;
    current = std::max(current,
                       moho::wave::check_finite(exec, propagator.grid(), wavefield, whole, n).max);
  }
  return max;
}

// epsilon 0 to 0.6, delta -0.3 to 0.5, any axis, velocities 1500 to 4500, random at every node.
// Rigid faces conserve all energy.
MEMORY_TEST(LongTest, RoughAndStrongTti) {
  const Grid<2> grid{{45, 50}, {10.0, 8.0}, {}};
  auto model = random_model<T, 2, Memory>(exec, grid, Medium::tti, 41);
  model.epsilon = random_field<T, 2, Memory>(exec, grid, 1, 0.0, 0.6);
  model.delta = random_field<T, 2, Memory>(exec, grid, 2, -0.3, 0.5);
  PropagatorOptions<2> options;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  options.boundaries.lower[1] = {FaceKind::free_surface, 0};
  const auto propagator = make_propagator(exec, grid, model, options, 0.99);
  EXPECT_GT(propagator.limits().clamped_delta_nodes, grid.size() / 10);
  auto wavefield = propagator.make_wavefield(exec);
  set_random(exec, wavefield, 3);
  for (int f = 0; f < 2; ++f) moho::copy(exec, wavefield.next[f], wavefield.now[f]);
  const Greatest max = max_of(exec, propagator, wavefield);
  EXPECT_GT(max.early, 0.1);
  EXPECT_LT(max.early, 100.0);
  EXPECT_LT(max.late, 2.0 * max.early);
}

// A salt-like section with the dip of its layers, every second node of a file of the test data, not
// smoothed. A shot inside rigid faces.
MEMORY_TEST(LongTest, BgCompassSection) {
  if (std::is_same_v<T, double>) GTEST_SKIP() << "in single precision, as the section is used";
  const Grid<2> grid{{163, 86}, {25.0, 25.0}, {}};
  Model<T, 2, Memory> model;
  for (const auto& [name, field] :
       {std::pair{"vp", &model.vp}, std::pair{"epsilon", &model.epsilon},
        std::pair{"delta", &model.delta}, std::pair{"theta", &model.theta}}) {
    const std::string file = std::string("bgcompass_") + name + "_325x171_12.5m.npy";
    const auto path = moho::io::test::shared_data(file);
    if (!path) GTEST_SKIP() << file << " is not here; MOHO_SHARED_DATA names its folder";
    const auto array = moho::io::read_npy<double>(*path);
    ASSERT_EQ(array.shape, (std::vector<std::int64_t>{325, 171}));
    *field = field_of<T, 2, Memory>(exec, grid, [&](const Index<2>& node) {
      return array.data[static_cast<std::size_t>(2 * node[0] * 171 + 2 * node[1])];
    });
  }
  PropagatorOptions<2> options;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  options.boundaries.lower[1] = {FaceKind::free_surface, 0};
  const auto propagator = make_propagator(exec, grid, model, options, 0.99);
  auto wavefield = propagator.make_wavefield(exec);
  run_shot(exec, propagator, wavefield, {80, 4}, Ricker{10.0, 0.15}, {{80, 4}}, 150, [](int) {});
  const Greatest max = max_of(exec, propagator, wavefield);
  EXPECT_GT(max.early, 0.0);
  EXPECT_LT(max.late, 2.0 * max.early);
}

}  // namespace
