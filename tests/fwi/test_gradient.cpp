// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 90, threads 2 for *openmp*.IsThatOfTheMisfitIn2D
//
// Gradients of shots against differences of the misfit: all media, faces and methods of the source
// wavefield.

#include "fwi/support.hpp"

#include <array>
#include <numeric>

namespace {

using namespace moho::testing;
using moho::Field;
using moho::Grid;
using moho::Index;
using moho::Points;
using moho::fwi::InvertedParameters;
using moho::fwi::ShotGradients;
using ::testing::HasSubstr;

template <class C>
class Gradient : public ::testing::Test {};
TYPED_TEST_SUITE(Gradient, LongTestCases, CaseName);

/// Name and typical change of a parameter.
struct ParameterInfo {
  const char* name;
  double change;
};
constexpr ParameterInfo parameters[] = {
    {"vp", 100.0}, {"density", 100.0}, {"epsilon", 0.02}, {"delta", 0.02}};

std::vector<int> numbers_of_unknowns(const InvertedParameters& unknowns) {
  std::vector<int> result{0};
  if (unknowns.density) result.push_back(1);
  if (unknowns.anisotropy) result.insert(result.end(), {2, 3});
  return result;
}

// A smooth medium with random details; delta is above epsilon at some nodes.
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> seeded_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   Medium medium, unsigned seed) {
  Model<T, Dim, Memory> model;
  model.vp = random_field<T, Dim, Memory>(exec, grid, seed, 1900.0, 2600.0);
  if (medium == Medium::variable_density) {
    model.density = random_field<T, Dim, Memory>(exec, grid, seed + 1, 1500.0, 2500.0);
  }
  if (moho::wave::fields_of(medium) == 2) {
    model.epsilon = random_field<T, Dim, Memory>(exec, grid, seed + 2, 0.0, 0.3);
    model.delta = random_field<T, Dim, Memory>(exec, grid, seed + 3, -0.1, 0.15);
  }
  if (medium == Medium::tti) {
    model.theta = random_field<T, Dim, Memory>(exec, grid, seed + 4, 0.1, 1.0);
    if (Dim == 3) model.phi = random_field<T, Dim, Memory>(exec, grid, seed + 5, -1.0, 1.0);
  }
  return model;
}

// Returns true for nodes whose derivatives need no layers. Potentials in layers depend on densities
// of order / 2 nodes at the edge of the model.
template <class T, int Dim, class Memory>
bool is_inside(const SmallShot<T, Dim, Memory>& shot, int number,
               const std::type_identity_t<Index<Dim>>& node, std::int64_t edge_nodes) {
  if (number == 1) edge_nodes = std::max<std::int64_t>(edge_nodes, shot.options.order / 2);
  bool inside = true;
  for (int d = 0; d < Dim; ++d) {
    inside = inside && node[d] >= edge_nodes && node[d] < shot.grid.extents[d] - edge_nodes;
  }
  return inside;
}

// Compares differences of the misfit along a random direction in one parameter with those that the
// gradient predicts. Layers copy the nodes at the edge of the model. Without gradients of layers
// these nodes are unchanged.
template <class T, int Dim, class Memory>
void expect_gradient(SmallShot<T, Dim, Memory>& shot, const InvertedParameters& unknowns,
                     SourceMethod method, bool layers, const std::string& what,
                     std::int64_t edge_nodes = 1) {
  const auto exec = shot.exec;
  double value = 0.0;
  const auto gradient = shot.gradient(unknowns, method, layers, &value);
  EXPECT_NEAR(value, shot.misfit(), by_precision<T>(1e-4, 1e-12) * value);
  for (const int number : numbers_of_unknowns(unknowns)) {
    const auto g = values_of<T, Dim, Memory>(exec, parameter(gradient, number));
    const auto start = values_of<T, Dim, Memory>(exec, parameter(shot.model, number));
    // half of it random, half of it along the gradient
    std::mt19937 random(77);
    std::vector<double> direction(g.size());
    const double max = largest(g);
    for (std::size_t i = 0; i < g.size(); ++i) {
      const Index<Dim> node = shot.grid.node(static_cast<std::int64_t>(i));
      if (!layers && !is_inside(shot, number, node, edge_nodes)) continue;
      direction[i] = parameters[number].change * (0.5 * uniform(random, -1.0, 1.0) + g[i] / max);
    }
    const double expected = std::inner_product(g.begin(), g.end(), direction.begin(), 0.0);
    const double h = by_precision<T>(2e-2, 1e-4);
    double side[2];
    for (const int sign : {0, 1}) {
      auto moved = shot.model;
      parameter(moved, number) =
          field_of<T, Dim, Memory>(exec, shot.grid, [&](const Index<Dim>& node) {
            const auto i = static_cast<std::size_t>(shot.grid.flat(node));
            return start[i] + (sign == 0 ? -h : h) * direction[i];
          });
      shot.set_model(moved);
      side[sign] = shot.misfit();
    }
    shot.set_model(shot.model);
    const double found = (side[1] - side[0]) / (2.0 * h);
    EXPECT_NEAR(found / expected, 1.0, by_precision<T>(1e-2, 1e-6))
        << what << ", " << parameters[number].name << ", " << Dim << "D";
  }
}

template <class T, int Dim, class Memory>
SmallShot<T, Dim, Memory> make_shot(const Instance<Memory>& exec, Medium medium,
                                    const Boundaries<Dim>& faces, int order = 4) {
  Grid<Dim> grid = cube<Dim>(Dim == 2 ? 34 : 17, 10.0);
  grid.extents[0] += 3;
  grid.spacing[Dim - 1] = 9.0;
  const auto truth = seeded_model<T, Dim, Memory>(exec, grid, medium, 50);
  const auto start = seeded_model<T, Dim, Memory>(exec, grid, medium, 60);
  SmallShot<T, Dim, Memory> shot(exec, grid, faces, start, order);
  if (Dim == 3) shot.steps = 60;
  shot.set_model(truth);
  shot.observed = shot.modelled();
  shot.set_model(start);
  return shot;
}

template <int Dim>
Boundaries<Dim> mixed_faces() {
  auto faces = moho::wave::all_faces<Dim>(FaceKind::sponge, 8);
  faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return faces;
}

struct Case3 {
  Medium medium;
  InvertedParameters unknowns;
};
const std::array<Case3, 5> media = {{{Medium::isotropic, {}},
                                     {Medium::variable_density, {.density = true}},
                                     {Medium::vti, {}},
                                     {Medium::vti, {.anisotropy = true}},
                                     {Medium::tti, {.anisotropy = true}}}};

MEMORY_TEST(Gradient, IsThatOfTheMisfitIn2D) {
  std::vector<Case3> all(media.begin(), media.end());
  all.push_back({Medium::tti, {}});
  for (const auto& [medium, unknowns] : all) {
    auto shot = make_shot<T, 2, Memory>(exec, medium, mixed_faces<2>());
    expect_gradient<T, 2, Memory>(shot, unknowns, SourceMethod::shell, false, to_string(medium));
    // snapshots and checkpoints give the same gradient
    const auto expected = shot.gradient(unknowns, SourceMethod::shell);
    for (const SourceMethod method : {SourceMethod::stored, SourceMethod::replay}) {
      const auto found = shot.gradient(unknowns, method);
      for (const int number : numbers_of_unknowns(unknowns)) {
        EXPECT_LT(relative_error(values_of<T, 2, Memory>(exec, parameter(found, number)),
                                 values_of<T, 2, Memory>(exec, parameter(expected, number))),
                  by_precision<T>(2e-4, 1e-11))
            << to_string(medium) << ", " << parameters[number].name;
      }
    }
  }
}

MEMORY_TEST(Gradient, IsThatOfTheMisfitIn3D) {
  for (const auto& [medium, unknowns] : media) {
    auto shot = make_shot<T, 3, Memory>(exec, medium, mixed_faces<3>());
    expect_gradient<T, 3, Memory>(shot, unknowns, SourceMethod::shell, false, to_string(medium));
  }
}

MEMORY_TEST(Gradient, IsThatOfTheMisfitBehindOtherFaces) {
  for (const FaceKind kind : {FaceKind::rigid, FaceKind::cpml, FaceKind::random}) {
    for (const auto& [medium, unknowns] : media) {
      if (kind == FaceKind::cpml && medium == Medium::tti) continue;
      auto shot = make_shot<T, 2, Memory>(exec, medium, moho::wave::all_faces<2>(kind, 8), 8);
      expect_gradient<T, 2, Memory>(shot, unknowns, SourceMethod::shell, false,
                                    moho::concat(to_string(medium), ", ", to_string(kind)),
                                    kind == FaceKind::cpml ? shot.options.order / 2 : 1);
    }
  }
}

// Layers copy the edge of the model. Its nodes may change if the gradient includes layers.
MEMORY_TEST(Gradient, OfLayersIsFoldedBack) {
  for (const auto& [medium, unknowns] : media) {
    for (const auto& faces : {mixed_faces<2>(), moho::wave::all_faces<2>(FaceKind::rigid),
                              moho::wave::all_faces<2>(FaceKind::random, 8)}) {
      auto shot = make_shot<T, 2, Memory>(exec, medium, faces);
      expect_gradient<T, 2, Memory>(
          shot, unknowns, SourceMethod::stored, true,
          moho::concat(to_string(medium), ", layers of ", to_string(faces.upper[0].kind)));
    }
  }
}

// f(m + h d) - f(m) decreases with h; minus h g.d it decreases with h^2.
MEMORY_TEST(Gradient, TaylorRestFallsWithTheSquare) {
  if (std::is_same_v<T, float>) return;  // rounding is larger than the remainder
  for (const auto& [medium, unknowns] : media) {
    auto shot = make_shot<T, 2, Memory>(exec, medium, mixed_faces<2>());
    double value = 0.0;
    const auto gradient = shot.gradient(unknowns, SourceMethod::shell, false, &value);
    for (const int number : numbers_of_unknowns(unknowns)) {
      const auto g = values_of<T, 2, Memory>(exec, parameter(gradient, number));
      const auto start = values_of<T, 2, Memory>(exec, parameter(shot.model, number));
      const double max = largest(g);
      std::vector<double> direction(g.size());
      double along = 0.0;
      for (std::size_t i = 0; i < g.size(); ++i) {
        const Index<2> node = shot.grid.node(static_cast<std::int64_t>(i));
        if (!is_inside(shot, number, node, 1)) continue;
        direction[i] = parameters[number].change * g[i] / max;
        along += direction[i] * g[i];
      }
      std::array<double, 3> rest{};
      for (std::size_t k = 0; k < 3; ++k) {
        const double h = 0.01 * std::pow(0.5, static_cast<double>(k));
        auto moved = shot.model;
        parameter(moved, number) =
            field_of<T, 2, Memory>(exec, shot.grid, [&](const Index<2>& node) {
              const auto i = static_cast<std::size_t>(shot.grid.flat(node));
              return start[i] + h * direction[i];
            });
        shot.set_model(moved);
        rest[k] = std::fabs(shot.misfit() - value - h * along);
      }
      shot.set_model(shot.model);
      for (const std::size_t k : {0, 1}) {
        EXPECT_NEAR(std::log2(rest[k] / rest[k + 1]), 2.0, 0.2)
            << to_string(medium) << ", " << parameters[number].name;
      }
    }
  }
}

// Products every few steps change the gradient little if they sample the waves well.
MEMORY_TEST(Gradient, EveryFewStepsIsNearlyTheSame) {
  auto shot = make_shot<T, 2, Memory>(exec, Medium::vti, mixed_faces<2>());
  shot.receivers = shot.points(9, 12);  // at all depths
  const auto each = shot.gradient({.anisotropy = true}, SourceMethod::shell);
  shot.product_interval = 2;
  for (const SourceMethod method :
       {SourceMethod::stored, SourceMethod::shell, SourceMethod::replay}) {
    const auto few = shot.gradient({.anisotropy = true}, method);
    for (const int number : {0, 2, 3}) {
      EXPECT_LT(relative_error(values_of<T, 2, Memory>(exec, parameter(few, number)),
                               values_of<T, 2, Memory>(exec, parameter(each, number))),
                0.02)
          << parameters[number].name << ", way " << static_cast<int>(method);
    }
  }
}

// Source wavefield with random layers: before waves return from these layers the gradient is equal,
// up to the rounding of backward propagation.
MEMORY_TEST(Gradient, SourceMayRunBehindRandomLayers) {
  const auto medium = Medium::isotropic;
  auto shot = make_shot<T, 2, Memory>(exec, medium, mixed_faces<2>());
  shot.steps = 36;
  const auto expected = shot.gradient({}, SourceMethod::stored);
  auto faces = moho::wave::all_faces<2>(FaceKind::random, 20);
  faces.lower[1] = {FaceKind::free_surface, 0};
  const auto extended = moho::wave::extended_grid(shot.grid, faces);
  auto options = shot.options;
  options.boundaries = faces;
  options.dt = shot.propagator->dt();
  const Propagator<T, 2, Memory> other(
      exec, extended, moho::wave::extend_model<T, 2, Memory>(exec, shot.grid, shot.model, faces),
      options);
  const moho::wave::PointSet<T, 2, Memory> sources(
      exec, extended, other.layout(), shot.sources.positions(),
      moho::wave::point_options(other, "source", true));
  const moho::wave::SourceTerm<T, 2, Memory> leg{&other, &sources, shot.forward.amplitudes};
  ShotGradients<T, 2, Memory> gradients(exec, *shot.propagator);
  auto field = shot.propagator->make_wavefield(exec);
  moho::snapshot::BoundaryStore<T, 2, Memory> store(exec, leg, shot.arena);
  moho::fwi::ShotGradientOptions<T, 2, Memory> run;
  run.steps = shot.steps;
  run.source = &leg;
  gradients.add(exec, field, shot.forward, shot.receivers, shot.least_squares(), store, run);
  const auto found = gradients.derivatives(exec, shot.grid, shot.model);
  EXPECT_LT(relative_error(values_of<T, 2, Memory>(exec, found.vp),
                           values_of<T, 2, Memory>(exec, expected.vp)),
            0.02);
}

MEMORY_TEST(Gradient, RefusesWhatMakesNoSense) {
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const moho::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  auto shot =
      make_shot<T, 2, Memory>(exec, Medium::isotropic, moho::wave::all_faces<2>(FaceKind::cpml, 8));
  const auto make = [&](const InvertedParameters& unknowns, int product_interval, bool layers) {
    return message([&] {
      ShotGradients<T, 2, Memory>(exec, *shot.propagator, unknowns, product_interval, layers);
    });
  };
  EXPECT_THAT(make({.density = true}, 1, false), HasSubstr("the density of a medium 'isotropic'"));
  EXPECT_THAT(make({.anisotropy = true}, 1, false), HasSubstr("epsilon and delta of a medium"));
  EXPECT_THAT(make({}, 0, false), HasSubstr("product_interval is 0 (allowed: 1 or more"));
  EXPECT_THAT(make({}, 1, true), HasSubstr("layers: perfectly matched ones have no gradient"));
  shot.steps = 2;
  shot.product_interval = 5;
  EXPECT_THAT(message([&] { shot.gradient({}, SourceMethod::shell); }),
              HasSubstr("steps is 2 (allowed: 5"));
  shot.steps = 20;
  shot.product_interval = 1;
  shot.observed.assign(shot.observed.size(), std::nan(""));
  EXPECT_THAT(message([&] { shot.gradient({}, SourceMethod::shell); }),
              HasSubstr("the misfit is nan"));
}

}  // namespace
