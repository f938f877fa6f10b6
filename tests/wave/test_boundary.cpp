// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 65
//
// Faces of grids: remaining energy with absorbing layers, free surfaces against image sources,
// random layers, and models extended by layers.

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;
using moho::wave::all_faces;
using moho::wave::extend_model;
using moho::wave::extended_grid;
using moho::wave::interior_box;
using moho::wave::parse_face_kind;
using moho::wave::RandomLayerOptions;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Case>
class BoundaryTest : public ::testing::Test {};
TYPED_TEST_SUITE(BoundaryTest, LongTestCases, CaseName);

/// Returns the sum of p^2 over a box.
template <class T, int Dim, class Memory>
double energy(const Instance<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield,
              const Box<Dim>& box) {
  const std::vector<T> values = fetch<T, Memory>(exec, wavefield.now[0]);
  double sum = 0.0;
  for (std::int64_t n = 0; n < box.size(); ++n) {
    const double p =
        static_cast<double>(values[static_cast<std::size_t>(wavefield.layout.flat(box.node(n)))]);
    sum += p * p;
  }
  return sum;
}

/// Returns a smooth model. With epsilon = delta it supports only P waves.
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> smooth_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   Medium medium, bool elliptic) {
  const auto wavy = [&](double mean, double change, double length, double shift) {
    return field_of<T, Dim, Memory>(exec, grid, [=](const Index<Dim>& node) {
      double product = change;
      for (int d = 0; d < Dim; ++d) {
        product *= std::sin(2.0 * pi * static_cast<double>(node[d]) / length + shift + d);
      }
      return mean + product;
    });
  };
  Model<T, Dim, Memory> model;
  model.vp = wavy(2500.0, 500.0, 60.0, 0.0);
  if (medium == Medium::variable_density) model.density = wavy(2000.0, 600.0, 45.0, 0.4);
  if (moho::wave::fields_of(medium) == 2) {
    model.epsilon = wavy(0.2, 0.08, 70.0, 0.8);
    model.delta = elliptic ? model.epsilon : wavy(0.06, 0.05, 50.0, 1.2);
  }
  if (medium == Medium::tti) {
    model.theta = wavy(0.4, 0.4, 80.0, 0.2);
    if (Dim == 3) model.phi = wavy(0.7, 0.5, 80.0, 0.3);
  }
  return model;
}

struct Remains {
  double after_crossing, late, later;  ///< relative to the largest energy inside
  /// largest between the first two of these times, and between the last two
  double max_until_late, max_until_later;
};

/// Returns the energy inside layers after several crossings, and after many more steps.
template <class T, int Dim, class Memory>
Remains remains_of(const Instance<Memory>& exec, const Kind& kind, bool elliptic,
                   std::int64_t nodes, FaceKind face, int width, int crossing, int late,
                   int later) {
  const Grid<Dim> grid = cube<Dim>(nodes, 10.0);
  PropagatorOptions<Dim> options;
  options.equations = kind.equations;
  options.boundaries = all_faces<Dim>(face, width);
  options.frequency = 36.0;
  const Grid<Dim> extended = extended_grid(grid, options.boundaries);
  const auto model =
      extend_model(exec, grid, smooth_model<T, Dim, Memory>(exec, grid, kind.medium, elliptic),
                   options.boundaries);
  const auto propagator = make_propagator(exec, extended, model, options, 0.8);
  auto wavefield = propagator.make_wavefield(exec);
  Index<Dim> source{};
  for (int d = 0; d < Dim; ++d) source[d] = width + nodes / 3 + 2 * d;
  double max = 0.0;
  Remains remains{};
  run_shot(exec, propagator, wavefield, source, Ricker{15.0, 0.1}, {source}, later, [&](int n) {
    if (n % 25 != 0 && n != later) return;
    const double now = energy(exec, wavefield, propagator.interior());
    max = std::max(max, now);
    if (n == crossing) remains.after_crossing = now;
    if (n == late) remains.late = now;
    if (n == later) remains.later = now;
    double& part = n <= late ? remains.max_until_late : remains.max_until_later;
    if (n > crossing) part = std::max(part, now);
  });
  remains.after_crossing /= max;
  remains.late /= max;
  remains.later /= max;
  remains.max_until_late /= max;
  remains.max_until_later /= max;
  return remains;
}

constexpr int steps_until_quiet = 4000;

MEMORY_TEST(BoundaryTest, CpmlSwallowsWavesAndStaysQuiet) {
  for (const Kind& kind : kinds) {
    if (kind.medium == Medium::tti) continue;
    const Remains remains = remains_of<T, 2, Memory>(exec, kind, true, 80, FaceKind::cpml, 20, 800,
                                                     steps_until_quiet / 2, steps_until_quiet);
    EXPECT_LT(remains.after_crossing, 1e-5) << kind.name();
    EXPECT_LT(remains.late, kind.fields() == 2 ? by_precision<T>(1e-5, 1e-6) : 1e-6) << kind.name();
    // nothing grows; in single precision p and q diverge slightly
    const double rounding = kind.fields() == 2 ? by_precision<T>(1e-5, 1e-8) : 1e-8;
    EXPECT_LE(remains.later, std::max(remains.late, rounding)) << kind.name();
  }
}

MEMORY_TEST(BoundaryTest, CpmlSwallowsWavesIn3D) {
  for (const Kind& kind : kinds) {
    if (kind.medium == Medium::tti) continue;
    const Remains remains =
        remains_of<T, 3, Memory>(exec, kind, true, 20, FaceKind::cpml, 10, 300, 600, 900);
    EXPECT_LT(remains.after_crossing, 1e-5) << kind.name();
    // layers of 10 nodes reflect 1e-9, which arrives until step 400 approximately
    EXPECT_LE(remains.late, remains.after_crossing) << kind.name();
    // p and q diverge slightly in single precision, as above, and contain slow waves
    if (kind.fields() == 1) {
      // the energy of what passes again and again is not monotone, its maxima decrease
      EXPECT_LE(remains.max_until_later, remains.max_until_late) << kind.name();
    } else {
      const double drift = by_precision<T>(1e-7, 0.0);
      EXPECT_LE(remains.later, std::max(remains.after_crossing, drift)) << kind.name();
    }
  }
}

// With epsilon > delta slow shear waves occur also: their energy has to decrease.
MEMORY_TEST(BoundaryTest, SlowWavesLeaveInTheEnd) {
  for (const Kind& kind : kinds) {
    if (kind.fields() != 2) continue;
    const FaceKind face = kind.medium == Medium::tti ? FaceKind::sponge : FaceKind::cpml;
    const Remains remains = remains_of<T, 2, Memory>(exec, kind, false, 80, face, 20, 800,
                                                     steps_until_quiet / 2, steps_until_quiet);
    EXPECT_LT(remains.after_crossing, 0.05) << kind.name();
    EXPECT_LT(remains.late, 0.5 * remains.after_crossing) << kind.name();
    EXPECT_LT(remains.later, 0.9 * remains.late) << kind.name();
  }
}

MEMORY_TEST(BoundaryTest, SpongeSwallowsWaves) {
  for (const Kind& kind : kinds) {
    const Remains remains =
        remains_of<T, 2, Memory>(exec, kind, true, 80, FaceKind::sponge, 40, 800, 1000, 2400);
    EXPECT_LT(remains.after_crossing, 1e-3) << kind.name();
    EXPECT_LE(remains.later, remains.late) << kind.name();
  }
}

/// Returns traces near the faces of a small model with `margin` more nodes on every side.
template <class T, class Memory>
Traces near_faces(const Instance<Memory>& exec, const Kind& kind, FaceKind face, int width,
                  std::int64_t margin) {
  const Grid<2> grid = cube<2>(61 + 2 * margin, 10.0);
  PropagatorOptions<2> options;
  options.dt = 0.001;
  options.equations = kind.equations;
  options.frequency = 36.0;
  options.boundaries = all_faces<2>(face, width);
  const auto model = extend_model(
      exec, grid,
      constant_model<T, 2, Memory>(exec, grid, kind.medium, {2500.0, 1.0, 0.2, 0.1, 0.5}),
      options.boundaries);
  const Propagator<T, 2, Memory> propagator(exec, extended_grid(grid, options.boundaries), model,
                                            options);
  const std::int64_t shift = margin + options.boundaries.lower[0].layer();
  const auto position = [&](std::int64_t x, std::int64_t z) {
    return Index<2>{shift + x, shift + z};
  };
  return run_shot(exec, propagator, position(30, 8), Ricker{15.0, 0.1},
                  {position(30, 0), position(45, 2), position(60, 0), position(55, 55)}, 560);
}

// Near a face, against a grid so large that no reflection arrives.
MEMORY_TEST(BoundaryTest, LayersReflectLittle) {
  for (const Kind& kind : kinds) {
    const Traces expected = near_faces<T, Memory>(exec, kind, FaceKind::rigid, 0, 95);
    const auto reflection = [&](FaceKind face, int width) {
      const Traces found = near_faces<T, Memory>(exec, kind, face, width, 0);
      double max = 0.0;
      for (std::size_t r = 0; r < found.size(); ++r) {
        max = std::max(max, relative_difference(found[r], expected[r]));
      }
      return max;
    };
    EXPECT_GT(reflection(FaceKind::rigid, 0), 0.3);  // this measure detects reflections
    EXPECT_LT(reflection(FaceKind::sponge, 40), 0.05) << kind.name();
    if (kind.medium != Medium::tti) {
      EXPECT_LT(reflection(FaceKind::cpml, 20), 0.002) << kind.name();
    }
  }
}

// A free surface is equivalent to an image source of opposite sign in a full space: equal numbers
// in equal differences.
template <class T, int Dim, class Memory>
void expect_image_source(const Instance<Memory>& exec, const Kind& kind, int axis, bool lower) {
  const std::int64_t nodes = Dim == 2 ? 36 : 22;
  Grid<Dim> half = cube<Dim>(nodes, 10.0), whole = half;
  whole.extents[axis] = 2 * nodes - 1;
  const std::int64_t surface = nodes - 1;  // surface node in the full space
  PropagatorOptions<Dim> options;
  options.dt = 0.001;
  options.equations = kind.equations;
  options.boundaries = all_faces<Dim>(FaceKind::rigid);
  const auto upright = [&](const Grid<Dim>& grid) {
    return constant_model<T, Dim, Memory>(exec, grid, kind.medium, {2500.0, 1000.0, 0.2, 0.1, 0.0});
  };
  const Propagator<T, Dim, Memory> space(exec, whole, upright(whole), options);
  (lower ? options.boundaries.lower : options.boundaries.upper)[axis] = {FaceKind::free_surface, 0};
  const Propagator<T, Dim, Memory> below(exec, half, upright(half), options);
  const Ricker signal{25.0, 0.06};
  Index<Dim> source{}, receiver{};
  for (int d = 0; d < Dim; ++d) {
    source[d] = 7 + d;
    receiver[d] = nodes - 9 - d;
  }
  source[axis] = lower ? 4 : nodes - 5;
  receiver[axis] = lower ? 9 : nodes - 10;
  // both signs of depth in the full space
  const auto position = [&](Index<Dim> node, int sign) {
    const std::int64_t depth = lower ? node[axis] : nodes - 1 - node[axis];
    node[axis] = surface + sign * depth;
    return node;
  };
  const auto found = run_shot(exec, below, source, signal, {receiver}, 170)[0];
  const Traces both = run_shot(exec, space, position(source, 1), signal,
                               {position(receiver, 1), position(receiver, -1)}, 170);
  EXPECT_GT(largest(both[1]), 0.2 * largest(both[0]));
  EXPECT_LT(relative_difference(found, difference(both[0], both[1])), by_precision<T>(2e-5, 1e-12))
      << kind.name() << ' ' << Dim << "D axis " << axis;
}

MEMORY_TEST(BoundaryTest, AFreeSurfaceIsAnImageSource) {
  for (const Kind& kind : kinds) {
    for (const bool lower : {true, false}) {
      for (int axis = 0; axis < 2; ++axis)
        expect_image_source<T, 2, Memory>(exec, kind, axis, lower);
    }
    for (int axis = 0; axis < 3; ++axis)
      expect_image_source<T, 3, Memory>(exec, kind, axis, axis != 1);
  }
}

// S(t - r/v) / (4 pi r) minus that of the image.
MEMORY_TEST(BoundaryTest, AFreeSurfaceInTheoryAndIn3D) {
  const Grid<3> grid{{64, 64, 44}, {10.0, 10.0, 10.0}, {}};
  PropagatorOptions<3> options;
  options.dt = 0.0005;
  options.boundaries = all_faces<3>(FaceKind::rigid);
  options.boundaries.lower[2] = {FaceKind::free_surface, 0};
  const auto model = constant_model<T, 3, Memory>(exec, grid, Medium::isotropic, {2000.0});
  const Propagator<T, 3, Memory> propagator(exec, grid, model, options);
  const Ricker signal{15.0, 0.1};
  const auto found =
      run_shot(exec, propagator, {25, 32, 8}, signal, {{40, 32, 12}, {36, 40, 6}}, 580);
  const double across[] = {150.0, std::hypot(110.0, 80.0)}, depth[] = {120.0, 60.0};
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<double> expected(found[r].size(), 0.0);
    for (const int sign : {1, -1}) {
      const double distance = std::hypot(across[r], depth[r] - sign * 80.0);
      for (std::size_t n = 1; n < expected.size(); ++n) {
        const double t = static_cast<double>(n) * options.dt - distance / 2000.0;
        expected[n] += sign * 1000.0 / (4.0 * pi * distance) * signal(t);
      }
    }
    EXPECT_LT(relative_error(found[r], expected), 0.01) << r;
  }
}

// Random layers scatter, and conserve the energy of the leapfrog: sum (p^n p^n - p^(n-1) p^(n+1)) /
// v^2.
template <class T, class Memory>
struct RandomRun {
  double min = 1e300, max = 0.0;    ///< energy after the end of the source
  std::vector<double> early, late;  ///< parts of the trace
};
template <class T, class Memory>
RandomRun<T, Memory> run_random(const Instance<Memory>& exec, FaceKind face, std::uint64_t seed) {
  const Grid<2> grid = cube<2>(81, 10.0);
  PropagatorOptions<2> options;
  options.dt = 0.0015;
  options.boundaries = all_faces<2>(face, 30);
  options.boundaries.lower[1] = {FaceKind::rigid, 0};
  RandomLayerOptions random;
  random.seed = seed;
  const auto model = extend_model(
      exec, grid, constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {2500.0}),
      options.boundaries, random);
  const Propagator<T, 2, Memory> propagator(exec, extended_grid(grid, options.boundaries), model,
                                            options);
  const auto scale = fetch<T, Memory>(
      exec, Storage<T, Memory>(const_cast<T*>(propagator.source_scale().first.data()),
                               propagator.source_scale().first.extent(0)));
  auto wavefield = propagator.make_wavefield(exec);
  RandomRun<T, Memory> result;
  std::vector<T> before, now;
  const std::int64_t shift = options.boundaries.lower[0].layer();
  const int steps = 1200;
  const Traces traces = run_shot(
      exec, propagator, wavefield, {shift + 40, 40}, Ricker{30.0, 0.05}, {{shift + 50, 30}}, steps,
      [&](int n) {
        if (n < 200 || n % 100 > 2) return;
        const auto next = fetch<T, Memory>(exec, wavefield.now[0]);
        if (n % 100 == 2) {
          double sum = 0.0;
          for (std::size_t i = 0; i < next.size(); ++i) {
            if (scale[i] == T(0)) continue;
            const double p = static_cast<double>(now[i]);
            sum += (p * p - static_cast<double>(before[i]) * static_cast<double>(next[i])) /
                   static_cast<double>(scale[i]);
          }
          result.min = std::min(result.min, sum);
          result.max = std::max(result.max, sum);
        }
        before = now;
        now = next;
      });
  result.early.assign(traces[0].begin(), traces[0].begin() + 180);
  result.late.assign(traces[0].begin() + 700, traces[0].end());
  return result;
}
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / (norm(a) * norm(b));
}

MEMORY_TEST(BoundaryTest, RandomLayersKeepEnergyAndForgetPhases) {
  const auto one = run_random<T, Memory>(exec, FaceKind::random, 1);
  const auto same = run_random<T, Memory>(exec, FaceKind::random, 1);
  const auto other = run_random<T, Memory>(exec, FaceKind::random, 2);
  const auto sponge = run_random<T, Memory>(exec, FaceKind::sponge, 1);
  EXPECT_GT(one.min, 0.0);
  EXPECT_LT(one.max / one.min - 1.0, by_precision<T>(1e-3, 1e-10));
  EXPECT_LT(sponge.min, 0.02 * one.min);
  EXPECT_EQ(same.late, one.late);
  // the direct wave is equal for two seeds; scattered waves are uncorrelated
  EXPECT_GT(correlation(one.early, other.early), 0.999);
  EXPECT_LT(std::fabs(correlation(one.late, other.late)), 0.5);
  EXPECT_GT(norm(one.late), 3.0 * norm(sponge.late));
}

template <class T, int Dim, class Memory>
void expect_extended_model(const Instance<Memory>& exec) {
  Grid<Dim> grid = cube<Dim>(9, 10.0);
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] += d;
    grid.spacing[d] += d;
    grid.origin[d] = 100.0 * d;
  }
  Boundaries<Dim> boundaries = all_faces<Dim>(FaceKind::sponge, 3);
  boundaries.lower[Dim - 1] = {FaceKind::free_surface, 7};
  boundaries.upper[Dim - 1] = {FaceKind::cpml, 5};
  boundaries.upper[0] = {FaceKind::rigid, 7};
  const auto model = random_model<T, Dim, Memory>(exec, grid, Medium::tti, 3);
  const auto extended = extend_model(exec, grid, model, boundaries);
  const Grid<Dim> larger = extended_grid(grid, boundaries);
  const Box<Dim> interior = interior_box(larger, boundaries);
  EXPECT_EQ(larger.extents[0], grid.extents[0] + 3);
  EXPECT_EQ(larger.extents[Dim - 1], grid.extents[Dim - 1] + 5);
  EXPECT_EQ(larger.origin[0], grid.origin[0] - 3 * grid.spacing[0]);
  EXPECT_EQ(larger.origin[Dim - 1], grid.origin[Dim - 1]);
  EXPECT_EQ(interior.lower[0], 3);
  EXPECT_EQ(interior.upper[0], larger.extents[0]);
  EXPECT_EQ(interior.upper[Dim - 1], larger.extents[Dim - 1] - 5);
  EXPECT_EQ(extended.medium(), Medium::tti);
  EXPECT_EQ(extended.density.data(), nullptr);
  const auto compare = [&](const moho::Field<T, Dim, Memory>& from,
                           const moho::Field<T, Dim, Memory>& to) {
    const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
    const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
    moho::check_shape(larger, to, "field");
    for (std::int64_t n = 0; n < larger.size(); ++n) {
      Index<Dim> node = larger.node(n);
      for (int d = 0; d < Dim; ++d) {
        node[d] = std::clamp<std::int64_t>(node[d] - interior.lower[d], 0, grid.extents[d] - 1);
      }
      ASSERT_EQ(b.data()[n], a.data()[grid.flat(node)]);
    }
  };
  compare(model.vp, extended.vp);
  compare(model.epsilon, extended.epsilon);
  compare(model.delta, extended.delta);
  compare(model.theta, extended.theta);
  if (Dim == 3) compare(model.phi, extended.phi);
  // density requires vp alone
  const auto dense = random_model<T, Dim, Memory>(exec, grid, Medium::variable_density, 3);
  compare(dense.density, extend_model(exec, grid, dense, boundaries).density);
  compare(dense.density, moho::wave::extend_field<T, Dim, Memory>(
                             exec, grid, dense.density, boundaries,
                             moho::all_planes(extended_grid(grid, boundaries))));
}
MEMORY_TEST(BoundaryTest, ModelsAreContinuedIntoLayers) {
  expect_extended_model<T, 2, Memory>(exec);
  expect_extended_model<T, 3, Memory>(exec);
}

MEMORY_TEST(BoundaryTest, RandomLayersOnlyEverSlowDown) {
  const Grid<2> grid = cube<2>(30, 10.0);
  Boundaries<2> boundaries = all_faces<2>(FaceKind::random, 20);
  boundaries.lower[1] = {FaceKind::free_surface, 0};
  boundaries.upper[1] = {FaceKind::sponge, 10};
  auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {2000.0});
  const Grid<2> larger = extended_grid(grid, boundaries);
  RandomLayerOptions options;
  options.floor = 1400.0;
  const auto velocity = [&](const RandomLayerOptions& chosen) {
    return Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), extend_model(exec, grid, model, boundaries, chosen).vp);
  };
  const auto one = velocity(options), again = velocity(options);
  options.seed = 5;
  const auto other = velocity(options);
  int different = 0, at_floor = 0;
  double inner = 0.0, outer = 0.0;
  for (std::int64_t x = 0; x < larger.extents[0]; ++x) {
    for (std::int64_t z = 0; z < larger.extents[1]; ++z) {
      const double v = static_cast<double>(one(x, z));
      EXPECT_EQ(one(x, z), again(x, z));
      EXPECT_LE(v, 2000.0);
      EXPECT_GE(v, 1400.0 - 0.001);
      if (x >= 20 && x < larger.extents[0] - 20) {
        EXPECT_EQ(v, 2000.0) << x << ' ' << z;  // the sponge below is not random
      } else {
        different += one(x, z) != other(x, z) ? 1 : 0;
        at_floor += v < 1400.001 ? 1 : 0;
        const bool edge = x < 5 || x >= larger.extents[0] - 5;
        (edge ? outer : inner) += (2000.0 - v) / (edge ? 10.0 : 30.0);
      }
    }
  }
  EXPECT_GT(different, 30 * larger.extents[1]);
  EXPECT_GT(at_floor, 0);
  EXPECT_GT(outer, 1.5 * inner);
  // the stable time step does not decrease
  EXPECT_GE(moho::wave::limits_of(exec, larger, extend_model(exec, grid, model, boundaries), 8)
                .largest_dt,
            0.999999 * moho::wave::limits_of(exec, grid, model, 8).largest_dt);
  // velocities below the floor are not changed
  options.floor = 3000.0;
  EXPECT_EQ(velocity(options)(0, 0), T(2000));
}

TEST(BoundaryNames, ThereAndBack) {
  for (const FaceKind kind : {FaceKind::rigid, FaceKind::sponge, FaceKind::cpml,
                              FaceKind::free_surface, FaceKind::random}) {
    EXPECT_EQ(parse_face_kind(to_string(kind)), kind);
  }
  EXPECT_THAT(message_of([] { parse_face_kind("pml"); }),
              AllOf(HasSubstr("boundary 'pml' is unknown"),
                    HasSubstr("(allowed: rigid, sponge, cpml, free, random): choose one")));
  EXPECT_EQ((Face{FaceKind::free_surface, 30}.layer()), 0);
  EXPECT_EQ((Face{FaceKind::rigid, 30}.layer()), 0);
  EXPECT_EQ((Face{FaceKind::cpml, 30}.layer()), 30);
}

TEST(BoundaryInput, Layers) {
  const Grid<3> grid{{60, 50, 40}, {10.0, 10.0, 10.0}, {}};
  const auto check = [&](const Boundaries<3>& boundaries, Medium medium = Medium::isotropic) {
    return message_of([&] { moho::wave::check_boundaries(grid, boundaries, medium); });
  };
  EXPECT_EQ(check(all_faces<3>(FaceKind::sponge, 19)), "no exception");
  EXPECT_EQ(check(all_faces<3>(FaceKind::rigid, -5)), "no exception");
  EXPECT_THAT(check(all_faces<3>(FaceKind::sponge, 20)),
              AllOf(HasSubstr("the layers along z take 40 of 40 nodes"),
                    HasSubstr("(allowed: fewer than there are): make the grid larger or")));
  auto one = all_faces<3>(FaceKind::rigid);
  for (const int width : {0, -3, 1001}) {
    one.upper[1] = {FaceKind::random, width};
    EXPECT_THAT(check(one), AllOf(HasSubstr("the width of a layer is " + std::to_string(width)),
                                  HasSubstr("(allowed: 1 to 1000 nodes): 20 to 40 are usual")));
  }
  one.upper[1] = {FaceKind::cpml, 65};
  EXPECT_THAT(check(one), AllOf(HasSubstr("the width of a CPML is 65"),
                                HasSubstr("(allowed: 1 to 64 nodes): 10 to 20 are usual")));
  one.upper[1] = {FaceKind::cpml, 10};
  EXPECT_EQ(check(one), "no exception");
  EXPECT_EQ(check(one, Medium::vti), "no exception");
  EXPECT_THAT(check(one, Medium::tti),
              AllOf(HasSubstr("boundary 'cpml' does not go with TTI"), HasSubstr(": use sponge")));
}

}  // namespace
