// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 25
//
// The largest stable step and the shortest wavelength: whether the bounds hold, whether they are
// sharp, and their messages.

#include "wave/support.hpp"

#include <moho/wave/plan.hpp>

#include <random>
#include <string>

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;
using moho::wave::Limits;
using moho::wave::limits_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Case>
class StabilityTest : public ::testing::Test {};
TYPED_TEST_SUITE(StabilityTest, LongTestCases, CaseName);

#ifdef MOHO_BOUNDS_CHECK
constexpr int steps_from_noise = 300;
#else
constexpr int steps_from_noise = 1500;
#endif

/// Returns the largest amplitude after steps from noise of amplitude 1; infinity if not finite.
template <class T, int Dim, class Memory>
double grown(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
             const MediumCoefficients<T, Dim, Memory>& medium, int steps) {
  auto wavefield = make_wavefield(exec, scheme, moho::all_planes(scheme.grid()));
  set_random(exec, wavefield, 9);
  // the same field at both times: at rest
  for (int f = 0; f < wavefield.fields; ++f) {
    moho::copy(exec, wavefield.next[f], wavefield.now[f]);
  }
  double max = 0.0;
  const Box<Dim> box = moho::whole_box(scheme.grid());
  for (int n = 1; n <= steps; ++n) {
    step(exec, scheme, medium, wavefield, box);
    wavefield.advance();
    if (n % 100 != 0 && n != steps) continue;
    for (int f = 0; f < wavefield.fields; ++f) {
      const auto found =
          moho::wave::amplitude<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f], box);
      if (found.bad >= 0) return moho::infinity<double>();
      max = std::max(max, found.max);
    }
  }
  return max;
}
template <class T, int Dim, class Memory>
double grown(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
             int steps) {
  return grown(exec, propagator.scheme(), propagator.medium_window(), steps);
}
/// Returns layers of two kinds in random order.
std::string random_layers(std::size_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::string layers(count, '.');
  for (char& layer : layers) {
    if (random() % 2 == 0) layer = '#';
  }
  return layers;
}

template <int Dim>
Grid<Dim> small_grid() {
  Grid<Dim> grid = cube<Dim>(Dim == 2 ? 41 : 19, 10.0);
  grid.spacing[0] = 12.0;
  grid.extents[Dim - 1] += 3;
  return grid;
}

// Noise in noise, at 99.9 % of the limit, on any faces. A self-adjoint operator conserves energy,
// so that only modes close to the limit grow.
template <class T, int Dim, class Memory>
void expect_bounded_below_the_limit(const Instance<Memory>& exec) {
  const Grid<Dim> grid = small_grid<Dim>();
  for (const Kind& kind : kinds) {
    if (kind.fletcher()) continue;
    for (const int order : {2, 8, 16}) {
      for (const FaceKind top : {FaceKind::rigid, FaceKind::free_surface}) {
        const auto model = random_model<T, Dim, Memory>(exec, grid, kind.medium, 31);
        PropagatorOptions<Dim> options;
        options.order = order;
        options.boundaries = moho::wave::all_faces<Dim>(FaceKind::rigid);
        options.boundaries.lower[Dim - 1].kind = top;
        const auto propagator = make_propagator(exec, grid, model, options, 0.999);
        EXPECT_LT(grown(exec, propagator, Dim == 2 ? steps_from_noise : steps_from_noise / 5),
                  100.0)
            << kind.name() << ' ' << Dim << "D order " << order << " top " << to_string(top);
      }
    }
  }
}
MEMORY_TEST(StabilityTest, BoundedBelowTheLimitIn2D) {
  expect_bounded_below_the_limit<T, 2, Memory>(exec);
}
MEMORY_TEST(StabilityTest, BoundedBelowTheLimitIn3D) {
  expect_bounded_below_the_limit<T, 3, Memory>(exec);
}

// Layers do not lower the limit.
MEMORY_TEST(StabilityTest, BoundedWithLayers) {
  const Grid<2> grid = small_grid<2>();
  for (const Kind& kind : kinds) {
    for (const FaceKind face : {FaceKind::sponge, FaceKind::cpml, FaceKind::random}) {
      if (face == FaceKind::cpml && kind.medium == Medium::tti) continue;
      PropagatorOptions<2> options;
      options.equations = kind.equations;
      options.boundaries = moho::wave::all_faces<2>(face, 10);
      const auto inside =
          constant_model<T, 2, Memory>(exec, grid, kind.medium, {2000.0, 1000.0, 0.2, 0.1, 0.5});
      const auto model = moho::wave::extend_model(exec, grid, inside, options.boundaries);
      const auto propagator = make_propagator(
          exec, moho::wave::extended_grid(grid, options.boundaries), model, options, 0.99);
      EXPECT_LT(grown(exec, propagator, steps_from_noise), 100.0)
          << kind.name() << ' ' << to_string(face);
    }
  }
}

// Noise in noise, with the default layers around it and below a free surface.
MEMORY_TEST(StabilityTest, BoundedWithDefaultLayersAroundNoise) {
  const Grid<2> grid = small_grid<2>();
  for (const Kind& kind : kinds) {
    if (kind.fletcher() || kind.medium == Medium::tti) continue;
    PropagatorOptions<2> options;
    options.boundaries = moho::wave::absorbing_faces<2>(kind.medium, true);
    const auto model = moho::wave::extend_model(
        exec, grid, random_model<T, 2, Memory>(exec, grid, kind.medium, 31), options.boundaries);
    const auto propagator =
        make_propagator(exec, moho::wave::extended_grid(grid, options.boundaries), model, options);
    EXPECT_LT(grown(exec, propagator, steps_from_noise), 100.0) << kind.name();
  }
}

// Densities that differ strongly up to the faces, as far as the layers permit
// (docs/theory/waves.md).
MEMORY_TEST(StabilityTest, BoundedWithLayersNextToContrasts) {
  const Grid<2> grid = small_grid<2>();
  struct Case {
    int width;
    double ratio;
    bool stripes;
    int steps;
  };
  for (const Case& c :
       {Case{3, 1.5, false, 8000}, Case{5, 1.5, false, 12000}, Case{8, 4.0, false, 12000},
        Case{10, 16.0, true, 30000}, Case{10, 16.0, false, 12000}}) {
    auto inside =
        constant_model<T, 2, Memory>(exec, grid, Medium::variable_density, {2000.0, 1000.0});
    std::mt19937 numbers(7);
    inside.density = field_of<T, 2, Memory>(exec, grid, [&](const Index<2>& node) {
      const bool high = c.stripes ? node[0] % 2 == 0 : numbers() % 2 == 0;
      return high ? 1000.0 * c.ratio : 1000.0;
    });
    PropagatorOptions<2> options;
    options.boundaries = moho::wave::all_faces<2>(FaceKind::cpml, c.width);
    const auto model = moho::wave::extend_model(exec, grid, inside, options.boundaries);
    const auto propagator =
        make_propagator(exec, moho::wave::extended_grid(grid, options.boundaries), model, options);
    EXPECT_LT(grown(exec, propagator, c.steps), 100.0) << c.width << ' ' << c.ratio;
  }
}

// In a homogeneous model growth begins at the limit: 1 % above it, waves diverge.
template <class T, int Dim, class Memory>
void expect_sharp_limit(const Instance<Memory>& exec) {
  const Grid<Dim> grid = small_grid<Dim>();
  for (const Medium medium : {Medium::isotropic, Medium::variable_density}) {
    for (int order = 2; order <= 16; order += 2) {
      const auto model = constant_model<T, Dim, Memory>(exec, grid, medium, {3000.0, 2000.0});
      PropagatorOptions<Dim> options;
      options.order = order;
      options.boundaries = moho::wave::all_faces<Dim>(FaceKind::free_surface);
      const auto propagator = make_propagator(exec, grid, model, options, 0.9999);
      double symbol = 0.0;
      for (int d = 0; d < Dim; ++d) {
        symbol += moho::wave::largest_symbol(order / 2) / (grid.spacing[d] * grid.spacing[d]);
      }
      EXPECT_NEAR(propagator.limits().largest_dt, 2.0 / (3000.0 * std::sqrt(symbol)), 1e-9);
      const int steps = 600;
      EXPECT_LT(grown(exec, propagator, steps), 200.0) << Dim << "D order " << order;
      const auto beyond = with_longer_step(exec, propagator, model, 1.02);
      EXPECT_GT(grown(exec, beyond.scheme, beyond.medium, steps), 1e6)
          << Dim << "D order " << order;
    }
  }
}
MEMORY_TEST(StabilityTest, TheLimitIsSharpIn2D) { expect_sharp_limit<T, 2, Memory>(exec); }
MEMORY_TEST(StabilityTest, TheLimitIsSharpIn3D) { expect_sharp_limit<T, 3, Memory>(exec); }

MEMORY_TEST(StabilityTest, VelocitiesOfTheModel) {
  const Grid<2> grid = small_grid<2>();
  const auto set = [&](double base, const Index<2>& where, double value) {
    return field_of<T, 2, Memory>(exec, grid, [=](const Index<2>& node) {
      return node[0] == where[0] && node[1] == where[1] ? value : base;
    });
  };
  Model<T, 2, Memory> model;
  model.vp = set(2000.0, {40, 43}, 4000.0);
  const Limits isotropic = limits_of(exec, grid, model, 8);
  EXPECT_NEAR(isotropic.min_velocity, 2000.0, 1e-3);
  EXPECT_NEAR(isotropic.max_velocity, 4000.0, 1e-3);
  EXPECT_EQ(isotropic.clamped_delta_nodes, 0);
  // twice the velocity, half the step
  const auto slow = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {2000.0});
  EXPECT_NEAR(limits_of(exec, grid, slow, 8).largest_dt, 2.0 * isotropic.largest_dt, 1e-9);
  EXPECT_GT(limits_of(exec, grid, slow, 2).largest_dt, limits_of(exec, grid, slow, 8).largest_dt);
  // epsilon makes waves faster across the axis; a delta below zero slower in between
  model.epsilon = set(0.0, {40, 43}, 0.28);
  model.delta = set(0.0, {3, 5}, -0.18);
  const Limits anisotropic = limits_of(exec, grid, model, 8);
  EXPECT_NEAR(anisotropic.max_velocity, 4000.0 * std::sqrt(1.56), 1e-2);
  EXPECT_NEAR(anisotropic.min_velocity, 2000.0 * std::sqrt(0.64), 1e-2);
  EXPECT_LT(anisotropic.largest_dt, isotropic.largest_dt / std::sqrt(1.56) * 1.0001);
  EXPECT_GT(anisotropic.largest_dt, 0.95 * isotropic.largest_dt / std::sqrt(1.56));
  EXPECT_EQ(anisotropic.clamped_delta_nodes, 0);
  model.delta = set(0.1, {40, 43}, 0.2);
  EXPECT_EQ(limits_of(exec, grid, model, 8).clamped_delta_nodes, grid.size() - 1);
  EXPECT_EQ(limits_of(exec, grid, model, 8, Equations::fletcher).clamped_delta_nodes, 0);
  EXPECT_GT(limits_of(exec, grid, model, 8, Equations::fletcher, 10.0).largest_dt,
            limits_of(exec, grid, model, 8, Equations::fletcher, 0.01).largest_dt);
}

// Layers of two densities along an axis, given by the letters of a text that repeats.
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> layered_density(const Instance<Memory>& exec, const Grid<Dim>& grid, int axis,
                                      const std::string& layers, double ratio) {
  auto model = constant_model<T, Dim, Memory>(exec, grid, Medium::variable_density, {});
  model.density = field_of<T, Dim, Memory>(exec, grid, [&](const Index<Dim>& node) {
    const bool dense = layers[static_cast<std::size_t>(node[axis]) % layers.size()] == '#';
    return dense ? 1000.0 * ratio : 1000.0;
  });
  return model;
}

MEMORY_TEST(StabilityTest, RefusesContrastsOfDensity) {
  const Grid<3> grid{{12, 13, 14}, {10.0, 11.0, 12.0}, {100.0, 0.0, -12.0}};
  auto model = constant_model<T, 3, Memory>(exec, grid, Medium::variable_density, {2000.0, 1000.0});
  model.density = field_of<T, 3, Memory>(exec, grid, [](const Index<3>& node) {
    return node[0] == 5 && node[1] == 6 && node[2] == 7 ? 17000.0 : 1000.0;
  });
  EXPECT_EQ(message_of([&] { limits_of(exec, grid, model, 8); }),
            "density: 1000 at node (1, 6, 7), (110, 66, 72) m, and 17000 at node (5, 6, 7), (150, "
            "66, 72) m, differ by a ratio of 17, with which wavefields may grow without bound "
            "(allowed: 16 within 4 nodes along an axis at order 8): smooth the density there, or "
            "take order 6 or less");
  EXPECT_NO_THROW(limits_of(exec, grid, model, 6));
  EXPECT_THAT(message_of([&] { limits_of(exec, grid, model, 16); }),
              HasSubstr("(allowed: 8.5 within 8 nodes along an axis at order 16)"));
  PropagatorOptions<3> options;
  options.dt = 1e-5;
  options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
  EXPECT_THAT(message_of([&] { Propagator<T, 3, Memory>(exec, grid, model, options); }),
              HasSubstr("differ by a ratio of 17"));
  // beyond the reach of the differences, any ratio is allowed
  model.density = field_of<T, 3, Memory>(exec, grid, [](const Index<3>& node) {
    return 1000.0 * std::pow(1.6, static_cast<double>(node[2]));
  });
  EXPECT_NO_THROW(limits_of(exec, grid, model, 8));
  EXPECT_THROW(limits_of(exec, grid, model, 16), moho::InputError);
  EXPECT_NO_THROW(limits_of(exec, grid, model, 2));
}

// Patterns of layers that grow at the smallest ratios, and random ones.
MEMORY_TEST(StabilityTest, ContrastsJustBelowTheBoundAreBounded) {
#ifdef MOHO_BOUNDS_CHECK
  constexpr int steps = 500;
#else
  constexpr int steps = 12000;
#endif
  const std::string patterns[] = {"",         "#",        "..#..#..#..#",
                                  ".#.#.#.#", ".#.#.#.#", ".#.#.#.#",
                                  "#.#.#.#.", ".#.#.#.#", "#.#.#.#.#.#.#."};
  for (int order = 2; order <= 16; order += 2) {
    const double largest = moho::wave::largest_density_ratio(order);
    const double ratio = std::isfinite(largest) ? 0.9999 * largest : 100.0;
    for (const FaceKind top : {FaceKind::rigid, FaceKind::free_surface}) {
      const std::string layers =
          top == FaceKind::rigid ? patterns[order / 2] : random_layers(48, order);
      const Grid<2> grid{{18, 48}, {10.0, 10.0}, {}};
      const auto model = layered_density<T, 2, Memory>(exec, grid, 1, layers, ratio);
      PropagatorOptions<2> options;
      options.order = order;
      options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
      options.boundaries.lower[1].kind = top;
      const auto propagator = make_propagator(exec, grid, model, options, 0.999);
      EXPECT_LT(grown(exec, propagator, steps), 100.0)
          << "order " << order << " layers " << layers << " top " << to_string(top);
    }
  }
}

TEST(StabilityInput, TheStep) {
  const Limits limits{0.00123456789, 1500.0, 4500.0};
  EXPECT_NO_THROW(moho::wave::check_dt(0.00123456789, limits));
  EXPECT_NO_THROW(moho::wave::check_dt(1e-9, limits));
  for (const double bad : {0.00124, 0.0, -0.001, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(message_of([&] { moho::wave::check_dt(bad, limits); }),
                AllOf(HasSubstr(moho::concat("dt is ", bad, " s ")),
                      HasSubstr("(allowed: positive and at most 0.0012345 s"),
                      HasSubstr("largest stable step of this model, grid and order"),
                      HasSubstr("take a smaller step or a wider grid spacing")));
  }
  // the number in the message is allowed
  EXPECT_NO_THROW(moho::wave::check_dt(0.0012345, limits));
}

TEST(StabilityInput, TheShortestWave) {
  const Grid<2> grid{{50, 50}, {10.0, 12.5}, {}};
  const Limits limits{0.001, 1500.0, 4500.0};
  const double points = moho::wave::required_points_per_wavelength(8);
  const double highest = 1500.0 / (12.5 * points);
  EXPECT_NO_THROW(moho::wave::check_dispersion(grid, limits, 8, 0.999 * highest));
  EXPECT_NO_THROW(moho::wave::check_dispersion(grid, limits, 16, 1.05 * highest));
  EXPECT_THAT(
      message_of([&] { moho::wave::check_dispersion(grid, limits, 8, 60.0); }),
      AllOf(HasSubstr("the shortest wave, 1500 m/s at 60 Hz, has 2 points per wavelength at a "
                      "spacing of 12.5 m"),
            HasSubstr(moho::concat("(allowed: at least ", points, " at order 8)")),
            HasSubstr(moho::concat("lower the frequency below ", highest, " Hz")),
            HasSubstr(moho::concat("refine the spacing below ", 1500.0 / (points * 60.0), " m")),
            HasSubstr("or take a higher order")));
  for (const double bad : {0.0, -5.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(message_of([&] { moho::wave::check_dispersion(grid, limits, 8, bad); }),
                HasSubstr(moho::concat("highest frequency is ", bad, " Hz (allowed: positive")));
  }
}

}  // namespace
