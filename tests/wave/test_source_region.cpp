// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2, sanitizers without *.MakesShotsConverge
//
// Elliptical neighbourhoods of sources: where delta becomes epsilon, and the effect on convergence.

#include "wave/support.hpp"

#include <moho/wave/source_region.hpp>

#include <utility>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::Point;
using moho::Points;
using moho::wave::all_faces;
using moho::wave::extend_model;
using moho::wave::extended_grid;
using moho::wave::FaceKind;
using moho::wave::Model;
using moho::wave::PropagatorOptions;
using moho::wave::taper_delta;
using ::testing::HasSubstr;

template <class Memory>
class SourceRegion : public ::testing::Test {};
TYPED_TEST_SUITE(SourceRegion, TestSpaces, SpaceName);

template <int Dim>
double metres(const Grid<Dim>& grid, const std::type_identity_t<Index<Dim>>& node,
              const std::type_identity_t<Point<Dim>>& point) {
  double square = 0.0;
  for (int d = 0; d < Dim; ++d) {
    square +=
        std::pow(grid.origin[d] + static_cast<double>(node[d]) * grid.spacing[d] - point[d], 2);
  }
  return std::sqrt(square);
}

/// Checks taper_delta() for epsilon = 0.2 + 0.001 ix and the given delta; either may be absent.
template <int Dim, class Memory>
void goes_over(const Instance<Memory>& exec, bool with_epsilon, bool with_delta) {
  Grid<Dim> grid = cube<Dim>(Dim == 2 ? 40 : 22, 10.0);
  grid.spacing[0] = 12.0;
  grid.origin[Dim - 1] = -35.0;
  Points<Dim> sources(2);
  for (int d = 0; d < Dim; ++d) {
    sources[0][d] = grid.origin[d] + 61.0;
    sources[1][d] = grid.upper(d);  // in a corner
  }
  constexpr double radius = 80.0;
  const auto epsilon = [](const Index<Dim>& i) { return 0.2 + 0.001 * static_cast<double>(i[0]); };
  Model<double, Dim, Memory> model;
  if (with_epsilon) model.epsilon = field_of<double, Dim>(exec, grid, epsilon);
  if (with_delta) model.delta = constant<double, Dim>(exec, grid, -0.1);
  const auto tapered = taper_delta<double, Dim, Memory>(exec, grid, model, sources, radius);
  const auto host = Kokkos::create_mirror_view(tapered);
  Kokkos::deep_copy(host, tapered);
  int inner = 0, between = 0;
  for (std::int64_t n = 0; n < grid.size(); ++n) {
    const Index<Dim> node = grid.node(n);
    const double e = with_epsilon ? epsilon(node) : 0.0, d = with_delta ? -0.1 : 0.0;
    const double nearest = std::min(metres(grid, node, sources[0]), metres(grid, node, sources[1]));
    const double value = host.data()[n];
    if (nearest <= 0.5 * radius) {
      EXPECT_NEAR(value, e, 1e-14);
      ++inner;
    } else if (nearest >= radius) {
      EXPECT_EQ(value, d);
    } else {
      EXPECT_GE(value, std::min(d, e) - 1e-14);
      EXPECT_LE(value, std::max(d, e) + 1e-14);
      const double kept = 0.5 - 0.5 * std::cos(pi * (2.0 * nearest / radius - 1.0));
      EXPECT_NEAR(value, e + kept * (d - e), 1e-12);
      ++between;
    }
  }
  EXPECT_GT(inner, 20);
  EXPECT_GT(between, 20);
  if (with_delta) {  // the model's delta is not changed
    const auto own = Kokkos::create_mirror_view(model.delta);
    Kokkos::deep_copy(own, model.delta);
    for (std::int64_t n = 0; n < grid.size(); ++n) EXPECT_EQ(own.data()[n], -0.1);
  }
}

MEMORY_TEST(SourceRegion, DeltaGoesOverIntoEpsilon) {
  goes_over<2, Memory>(exec, true, true);
  goes_over<3, Memory>(exec, true, true);
  goes_over<2, Memory>(exec, true, false);
  goes_over<2, Memory>(exec, false, true);
}

/// Returns traces of a shot in VTI along the axes of the source, divided by their largest sample.
template <class Memory>
Traces shot(const Instance<Memory>& exec, double spacing, double taper) {
  const auto nodes = static_cast<std::int64_t>(600.0 / spacing) + 1;
  const Grid<2> grid = cube<2>(nodes, spacing);
  Model<double, 2, Memory> model;
  model.vp = constant<double, 2>(exec, grid, 2000.0);
  model.epsilon = constant<double, 2>(exec, grid, 0.2);
  model.delta = constant<double, 2>(exec, grid, 0.05);
  if (taper > 0.0) {
    model.delta = taper_delta<double, 2, Memory>(exec, grid, model, {{300.0, 300.0}}, taper);
  }
  PropagatorOptions<2> options;
  options.dt = 0.001;
  options.frequency = 36.0;
  options.boundaries = all_faces<2>(FaceKind::cpml, 20);
  const Propagator<double, 2, Memory> propagator(
      exec, extended_grid(grid, options.boundaries),
      extend_model(exec, grid, model, options.boundaries), options);
  const auto at = [&](double x, double z) {
    return Index<2>{20 + std::llround(x / spacing), 20 + std::llround(z / spacing)};
  };
  Traces traces = run_shot<double, 2, Memory>(
      exec, propagator, at(300, 300), Ricker{15.0, 0.1},
      {at(420, 300), at(500, 300), at(300, 440), at(300, 520), at(440, 460)}, 400);
  for (auto& trace : traces) {
    const double max = largest(trace);
    for (double& value : trace) value /= max;
  }
  return traces;
}

// Where epsilon and delta differ at the source, the waves along its axes depend on the spacing.
MEMORY_TEST(SourceRegion, MakesShotsConverge) {
  const auto change = [&](double taper) {
    const Traces coarse = shot<Memory>(exec, 10.0, taper), fine = shot<Memory>(exec, 5.0, taper);
    double worst = 0.0;
    for (std::size_t r = 0; r < coarse.size(); ++r) {
      worst = std::max(worst, largest(difference(coarse[r], fine[r])));
    }
    return worst;
  };
  EXPECT_GT(change(0.0), 0.05);
  EXPECT_LT(change(2.0 * 2000.0 / 36.0), 0.02);
}

MEMORY_TEST(SourceRegion, RadiiThatAreNone) {
  const Grid<2> grid = cube<2>(9, 10.0);
  Model<float, 2, Memory> model;
  model.epsilon = constant<float, 2>(exec, grid, 0.1);
  for (const double radius : {0.0, -3.0, std::nan("")}) {
    EXPECT_THAT(message_of([&] {
                  taper_delta<float, 2, Memory>(exec, grid, model, {{10.0, 10.0}}, radius);
                }),
                HasSubstr("radius around sources is"));
  }
}

}  // namespace
