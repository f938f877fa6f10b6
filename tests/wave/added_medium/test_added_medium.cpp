// SPDX-License-Identifier: BSD-3-Clause
//
// The medium that medium.patch adds, compiled from headers alone: against Green's function of a
// stretched isotropic medium, its limits, boxes, plans and refusals, and its gradient by vp.

#include <moho/rtm/migration.hpp>
#include <moho/wave/modelling.hpp>

#include <complex>
#include <numeric>

#include "fwi/support.hpp"

namespace moho::testing {
namespace {

using T = double;
using Memory = Kokkos::HostSpace;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Instance<Memory> host() { return Kokkos::DefaultHostExecutionSpace(); }

Model<T, 2, Memory> constant_elliptical(const Grid<2>& grid, double epsilon, double tilt) {
  const auto exec = host();
  Model<T, 2, Memory> model;
  model.vp = constant<T, 2, Memory>(exec, grid, 2000.0);
  model.epsilon = constant<T, 2, Memory>(exec, grid, epsilon);
  model.tilt = constant<T, 2, Memory>(exec, grid, tilt);
  return model;
}

Model<T, 2, Memory> rough_elliptical(const Grid<2>& grid, unsigned seed, double max_epsilon) {
  const auto exec = host();
  Model<T, 2, Memory> model;
  model.vp = random_field<T, 2, Memory>(exec, grid, seed, 1900.0, 2600.0);
  model.epsilon = random_field<T, 2, Memory>(exec, grid, seed + 1, -0.2, max_epsilon);
  model.tilt = random_field<T, 2, Memory>(exec, grid, seed + 2, -3.0, 3.0);
  return model;
}

Boundaries<2> mixed_faces() {
  auto faces = wave::all_faces<2>(FaceKind::sponge, 8);
  faces.lower[1] = {FaceKind::free_surface, 0};
  return faces;
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// In coordinates along and across the axis the medium is an isotropic one that is stretched by
// sqrt(1 + 2 epsilon) across it. A source of one frequency radiates -i/4 H0^(2)(k r) there.
TEST(AddedMedium, IsAStretchedIsotropicMedium) {
  const auto exec = host();
  const Grid<2> grid = cube<2>(301, 10.0);
  const double dt = 0.001;
  const Index<2> center{150, 150};
  const std::vector<Index<2>> receivers{{180, 150}, {150, 185}, {175, 175}, {170, 120}};
  const Ricker signal{12.0, 0.1};
  for (const auto& [epsilon, tilt] :
       std::vector<std::pair<double, double>>{{0.2, 0.7}, {-0.15, -1.1}}) {
    PropagatorOptions<2> options;
    options.dt = dt;
    options.boundaries = wave::all_faces<2>(FaceKind::rigid);
    const Propagator<T, 2, Memory> propagator(exec, grid, constant_elliptical(grid, epsilon, tilt),
                                              options);
    EXPECT_EQ(propagator.medium(), Medium::elliptical);
    const Traces traces = run_shot(exec, propagator, center, signal, receivers, 1000);
    const double stretch = std::sqrt(1.0 + 2.0 * epsilon);
    for (const double frequency : {6.0, 10.0, 15.0, 20.0}) {
      const double omega = 2.0 * pi * frequency;
      for (std::size_t r = 0; r < receivers.size(); ++r) {
        std::complex<double> wave = 0.0, source = 0.0;
        for (std::size_t n = 0; n < traces[r].size(); ++n) {
          const double t = static_cast<double>(n) * dt;
          wave += traces[r][n] * std::polar(1.0, -omega * t);
          source += signal(t) * std::polar(1.0, -omega * t);
        }
        const double x = 10.0 * static_cast<double>(receivers[r][0] - center[0]);
        const double z = 10.0 * static_cast<double>(receivers[r][1] - center[1]);
        const double along = std::sin(tilt) * x + std::cos(tilt) * z;
        const double across = (std::cos(tilt) * x - std::sin(tilt) * z) / stretch;
        // the frequency of leapfrog steps
        const double k = 2.0 / dt * std::sin(0.5 * omega * dt) / 2000.0;
        const double kr = k * std::hypot(along, across);
        const std::complex<double> hankel(std::cyl_bessel_j(0.0, kr), -std::cyl_neumann(0.0, kr));
        const std::complex<double> expected =
            source * (100.0 / stretch) * std::complex<double>(0.0, -0.25) * hankel;
        EXPECT_LT(std::abs(wave - expected) / std::abs(expected), 0.01)
            << "epsilon " << epsilon << ", " << frequency << " Hz, receiver " << r;
      }
    }
  }
}

// <u, D w> = <D u, w> for noise, in any model and between any faces.
TEST(AddedMedium, HasASymmetricOperator) {
  const auto exec = host();
  const Grid<2> grid{{41, 37}, {10.0, 9.0}, {}};
  const auto model = rough_elliptical(grid, 5, 2.0);
  auto free = wave::all_faces<2>(FaceKind::rigid);
  free.lower[1] = free.upper[0] = {FaceKind::free_surface, 0};
  for (const auto& faces : {wave::all_faces<2>(FaceKind::rigid), free}) {
    PropagatorOptions<2> options;
    options.boundaries = faces;
    const auto propagator = make_propagator(exec, grid, model, options);
    std::vector<double> fields[2], changes[2];
    for (const int n : {0, 1}) {
      const auto field = propagator.make_wavefield(exec);
      std::mt19937 random(static_cast<unsigned>(8 + n));
      set_nodes<T, 2, Memory>(exec, field.layout, field.now[0], [&](const Index<2>& node) {
        const double value = uniform(random, -1.0, 1.0);
        const bool zero = faces.lower[1].kind == FaceKind::free_surface &&
                          (node[1] == 0 || node[0] == grid.extents[0] - 1);
        return zero ? 0.0 : value;
      });
      const auto change = wave::make_storage<T>(exec, field.layout, "change");
      wave::apply_operator<T, 2, Memory>(exec, propagator.scheme(), propagator.medium_window(),
                                         field, whole_box(grid), change);
      fields[n] = nodes_of<T, 2, Memory>(exec, field.layout, field.now[0]);
      changes[n] = nodes_of<T, 2, Memory>(exec, field.layout, change);
    }
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    EXPECT_NEAR(product(fields[0], changes[1]), product(changes[0], fields[1]),
                1e-12 * norm(fields[0]) * norm(changes[1]));
    EXPECT_LT(product(fields[0], changes[0]), 0.0) << "energy is not negative";
  }
}

// Noise stays bounded at the largest step in a rough model. The bound is not sharp: a constant
// model is unstable from sqrt(1 + 2 epsilon) of its largest step on.
TEST(AddedMedium, IsStableUpToItsLimit) {
  const auto exec = host();
  const Grid<2> grid = cube<2>(41, 10.0);
  PropagatorOptions<2> options;
  options.boundaries = wave::all_faces<2>(FaceKind::rigid);
  const auto amplitude = [&](const auto& scheme, const auto& medium, int steps) {
    auto field = wave::make_wavefield<T, 2, Memory>(exec, scheme, all_planes(grid));
    set_random(exec, field, 3);
    for (int n = 0; n < steps; ++n) {
      wave::step<T, 2, Memory>(exec, scheme, medium, field, whole_box(grid));
      field.advance();
    }
    return largest(nodes_of<T, 2, Memory>(exec, field.layout, field.now[0]));
  };
  const auto rough = make_propagator(exec, grid, rough_elliptical(grid, 7, 2.0), options, 1.0);
  EXPECT_LT(amplitude(rough.scheme(), rough.medium_window(), 2000), 1e4);
  EXPECT_EQ(rough.limits().clamped_delta_nodes, 0);
  const auto model = constant_elliptical(grid, 0.3, 0.0);
  const auto propagator = make_propagator(exec, grid, model, options, 1.0);
  EXPECT_NEAR(propagator.limits().max_velocity, 2000.0 * std::sqrt(1.6), 1e-6);
  EXPECT_NEAR(propagator.limits().min_velocity, 2000.0, 1e-6);
  const auto longer = with_longer_step(exec, propagator, model, 1.05 * std::sqrt(1.6));
  EXPECT_GT(amplitude(longer.scheme, longer.medium, 200), 1e20);
}

// Boxes in any order give the bits of the complete grid.
TEST(AddedMedium, HasTheSameBitsInBoxes) {
  const auto exec = host();
  const Grid<2> grid{{61, 43}, {10.0, 9.0}, {}};
  PropagatorOptions<2> options;
  options.boundaries = mixed_faces();
  const auto propagator = make_propagator(exec, grid, rough_elliptical(grid, 9, 0.5), options);
  EXPECT_EQ(propagator.scheme().reach(0), propagator.order());
  auto complete = propagator.make_wavefield(exec), boxes = propagator.make_wavefield(exec);
  set_random(exec, complete, 4);
  set_random(exec, boxes, 4);
  for (int n = 0; n < 20; ++n) {
    propagator.step(exec, complete);
    for (const std::int64_t x : {41, 0, 20}) {
      for (const std::int64_t z : {17, 0}) {
        propagator.step(exec, boxes,
                        {{x, z}, {x == 41 ? 61 : x + (x == 0 ? 20 : 21), z == 0 ? 17 : 43}});
      }
    }
    complete.advance();
    boxes.advance();
  }
  const auto expected = nodes_of<T, 2, Memory>(exec, complete.layout, complete.now[0]);
  const auto found = nodes_of<T, 2, Memory>(exec, boxes.layout, boxes.now[0]);
  EXPECT_EQ(found, expected);
  EXPECT_GT(largest(expected), 0.01);
}

// Modelling plans faces, limits and memory from the rows.
TEST(AddedMedium, IsModelled) {
  const auto exec = host();
  const Grid<2> grid = cube<2>(81, 10.0);
  auto model = constant_elliptical(grid, 0.2, 0.5);
  const auto faces = wave::absorbing_faces<2>(model.medium(), true);
  EXPECT_EQ(faces.lower[0].kind, FaceKind::sponge);
  wave::ModellingOptions<2> options;
  options.time.time = 0.4;
  options.sources = {{300.0, 300.0}};
  auto modelling =
      wave::make_modelling(exec, grid, model, faces, wave::ricker_wavelet(12.0), options);
  EXPECT_EQ(modelling.plan().source_taper, 0.0);
  EXPECT_EQ(modelling.plan().memory.model, 3 * static_cast<std::size_t>(grid.size()) * sizeof(T));
  const auto shot = modelling.shot(exec, {1, options.sources, {{500.0, 300.0}}});
  const auto trace = download(exec, shot.traces);
  EXPECT_GT(largest({trace.begin(), trace.end()}), 0.0);
}

// Migration counts as many layers of boundary values as the two passes of the equations reach.
TEST(AddedMedium, IsPlannedInMigration) {
  const Grid<2> grid = cube<2>(61, 10.0);
  auto model = constant_elliptical(grid, 0.2, 0.5);
  rtm::MigrationOptions<2> options;
  options.modelling.time.time = 0.3;
  options.storage.method = "boundary";
  options.storage.error = "snr:40";
  options.concurrent_shots = 1;
  const auto migration = rtm::make_migration(
      host(), grid, model, wave::absorbing_faces<2>(model.medium()), wave::ricker_wavelet(12.0),
      {{1, {{300.0, 20.0}}, {{200.0, 20.0}, {400.0, 20.0}}}}, options);
  const std::int64_t nodes = 4 * grid.extents[0] * options.modelling.order;
  EXPECT_EQ(static_cast<std::int64_t>(migration.plan().storage.strategy.bytes),
            migration.plan().time.steps * nodes * static_cast<std::int64_t>(sizeof(T)));
}

TEST(AddedMedium, RefusesOtherParameters) {
  const auto exec = host();
  const Grid<2> grid = cube<2>(31, 10.0);
  const auto refusal = [&](const auto& change) {
    auto model = constant_elliptical(grid, 0.2, 0.5);
    change(model);
    return message([&] { wave::check_model(exec, grid, model); });
  };
  const auto field = constant<T, 2, Memory>(exec, grid, 0.1);
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_EQ(refusal([&](auto& model) { model.theta = field; }),
            "theta: the medium of the model is 'elliptical' (allowed: vp, epsilon, tilt): leave it "
            "out");
  EXPECT_THAT(refusal([&](auto& model) { model.density = field; }), StartsWith("density: "));
  EXPECT_THAT(refusal([&](auto& model) { model.tilt = constant<T, 2, Memory>(exec, grid, 9.0); }),
              StartsWith("tilt: the value at node (0, 0)"));
  const Grid<3> volume = cube<3>(12, 10.0);
  Model<T, 3, Memory> model;
  model.vp = constant<T, 3, Memory>(exec, volume, 2000.0);
  model.tilt = constant<T, 3, Memory>(exec, volume, 0.1);
  EXPECT_EQ(message([&] { wave::check_model(exec, volume, model); }),
            "tilt: a 3D model has no tilt: leave it out");
  PropagatorOptions<2> options;
  options.boundaries = wave::all_faces<2>(FaceKind::cpml, 8);
  EXPECT_THAT(
      message([&] { make_propagator(exec, grid, constant_elliptical(grid, 0.2, 0.5), options); }),
      HasSubstr("boundary"));
}

SmallShot<T, 2, Memory> make_shot() {
  Grid<2> grid{{37, 34}, {10.0, 9.0}, {}};
  SmallShot<T, 2, Memory> shot(host(), grid, mixed_faces(), rough_elliptical(grid, 60, 0.3));
  const auto start = shot.model;
  shot.set_model(rough_elliptical(grid, 50, 0.3));
  shot.observed = shot.modelled();
  shot.set_model(start);
  return shot;
}

// The gradient by vp against differences of the misfit, and its Taylor remainder.
TEST(AddedMedium, HasAnExactGradient) {
  auto shot = make_shot();
  double value = 0.0;
  const auto exec = shot.exec;
  const auto vp = values_of<T, 2, Memory>(exec, shot.model.vp);
  const auto g =
      values_of<T, 2, Memory>(exec, shot.gradient({}, SourceMethod::shell, false, &value).vp);
  EXPECT_NEAR(value, shot.misfit(), 1e-12 * value);
  for (const SourceMethod method : {SourceMethod::stored, SourceMethod::replay}) {
    const auto other = values_of<T, 2, Memory>(exec, shot.gradient({}, method).vp);
    EXPECT_LT(relative_error(other, g), 1e-11);
  }
  std::mt19937 random(77);
  std::vector<double> direction(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    const Index<2> node = shot.grid.node(static_cast<std::int64_t>(i));
    bool edge = false;  // layers copy the edge
    for (int d = 0; d < 2; ++d) {
      edge = edge || node[d] == 0 || node[d] == shot.grid.extents[d] - 1;
    }
    if (!edge) direction[i] = 100.0 * (0.5 * uniform(random, -1.0, 1.0) + g[i] / largest(g));
  }
  const double along = std::inner_product(g.begin(), g.end(), direction.begin(), 0.0);
  const auto misfit = [&](double h) {
    auto moved = shot.model;
    moved.vp = field_of<T, 2, Memory>(exec, shot.grid, [&](const Index<2>& node) {
      const auto i = static_cast<std::size_t>(shot.grid.flat(node));
      return vp[i] + h * direction[i];
    });
    shot.set_model(moved);
    return shot.misfit();
  };
  EXPECT_NEAR((misfit(1e-4) - misfit(-1e-4)) / (2e-4 * along), 1.0, 1e-6);
  const double rest = std::fabs(misfit(0.01) - value - 0.01 * along);
  const double half = std::fabs(misfit(0.005) - value - 0.005 * along);
  EXPECT_NEAR(std::log2(rest / half), 2.0, 0.2);
}

TEST(AddedMedium, HasNoGradientsByOtherParameters) {
  auto shot = make_shot();
  EXPECT_THAT(message([&] { shot.gradient({.anisotropy = true}, SourceMethod::stored); }),
              HasSubstr("epsilon and delta of a medium 'elliptical'"));
}

}  // namespace
}  // namespace moho::testing
