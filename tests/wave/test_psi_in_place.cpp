// SPDX-License-Identifier: BSD-3-Clause
//
// Steps on hosts that update psi of perfectly matched layers in place, compared with steps that
// keep two levels of it.

#include <moho/wave/run.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "random.hpp"
#include "support.hpp"

namespace {

using namespace moho::testing;
using Host = Kokkos::HostSpace;

/// Box that grows by `by` nodes at each step.
template <class T, int Dim>
struct GrowingDomain : moho::wave::Domain<T, Dim, Host> {
  moho::Box<Dim> start;
  std::int64_t by = 5;

  moho::Box<Dim> box(const moho::Instance<Host>&, const Propagator<T, Dim, Host>&,
                     const Wavefield<T, Dim, Host>&, std::int64_t step) override {
    return start.grown(by * (step + 1));
  }
};

template <class T, int Dim>
struct PsiCase {
  Medium medium;
  moho::Grid<Dim> grid;
  Boundaries<Dim> faces;
  int order = 8;
  bool grows = false;  ///< true: noise in the middle alone, and a box that grows
  bool fletcher = false;
};

/// Steps of one box in run_steps() and two levels of psi give the same bits.
template <class T, int Dim>
void expect_same_bits(const PsiCase<T, Dim>& c) {
  const moho::Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  PropagatorOptions<Dim> options;
  options.order = c.order;
  options.dt = 2e-4;
  options.boundaries = c.faces;
  if (c.fletcher) options.equations = moho::wave::Equations::fletcher;
  const Propagator<T, Dim, Host> propagator(
      exec, c.grid, random_model<T, Dim, Host>(exec, c.grid, c.medium, 5), options);
  const moho::Box<Dim> whole = moho::whole_box(c.grid);
  GrowingDomain<T, Dim> domain;
  domain.start = whole;
  if (c.grows) {
    for (int d = 0; d < Dim; ++d) {
      domain.start.lower[d] = whole.extent(d) / 2 - 2;
      domain.start.upper[d] = whole.extent(d) / 2 + 2;
    }
  }
  std::vector<Wavefield<T, Dim, Host>> waves;
  for (int k = 0; k < 2; ++k) {
    auto& wave = waves.emplace_back(propagator.make_wavefield(exec));
    for (int f = 0; f < wave.fields; ++f) {
      std::mt19937 random(static_cast<unsigned>(f) + 1);
      for (std::int64_t n = 0; n < domain.start.size(); ++n) {
        const std::int64_t at = wave.layout.flat(domain.start.node(n));
        wave.now[f](static_cast<std::size_t>(at)) = static_cast<T>(uniform(random, -0.5, 0.5));
      }
    }
  }
  constexpr int steps = 7;
  moho::wave::RunOptions<T, Dim, Host> run;
  run.first = 0;
  run.last = steps;
  if (c.grows) run.domain = &domain;
  moho::wave::run_steps(exec, propagator, waves[0], run);
  for (int k = 0; k < steps; ++k) {
    const moho::Box<Dim> box =
        moho::intersection(c.grows ? domain.box(exec, propagator, waves[1], k) : whole, whole);
    propagator.step(exec, waves[1], box);
    waves[1].advance();
  }
  double max = 0.0;
  for (std::size_t k = 0; k < waves[0].layers.size(); ++k) {
    const auto &a = waves[0].layers[k], &b = waves[1].layers[k];
    ASSERT_NE(a.psi_now.data(), a.psi_next.data());
    for (std::size_t n = 0; n < a.psi_now.size(); ++n) {
      ASSERT_EQ(a.psi_now(n), b.psi_now(n)) << "psi of layer " << k << ", element " << n;
      ASSERT_EQ(a.zeta(n), b.zeta(n)) << "zeta of layer " << k << ", element " << n;
      max = std::max(max, static_cast<double>(std::abs(a.psi_now(n))));
    }
  }
  EXPECT_GT(max, 0.0);
  for (int f = 0; f < waves[0].fields; ++f) {
    for (std::size_t n = 0; n < waves[0].now[f].size(); ++n) {
      ASSERT_EQ(waves[0].now[f](n), waves[1].now[f](n)) << "field " << f << ", element " << n;
    }
  }
}

template <int Dim>
moho::Grid<Dim> grid_of(const moho::Index<Dim>& extents) {
  moho::Grid<Dim> grid = cube<Dim>(10, 10.0);
  grid.extents = extents;
  return grid;
}

// Tiles of 32 rows or less are cut inside the layers across y, those of few planes inside the
// layers across x.
TEST(PsiInPlace, VolumesHaveTheBitsOfTwoLevels) {
  const auto faces = moho::wave::all_faces<3>(moho::wave::FaceKind::cpml, 14);
  const moho::Grid<3> grid = grid_of<3>({41, 45, 50});
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    for (const int order : {2, 4, 8, 12}) {
      SCOPED_TRACE(std::string(to_string(medium)) + ", order " + std::to_string(order));
      expect_same_bits<float, 3>({medium, grid, faces, order});
    }
  }
  expect_same_bits<double, 3>({Medium::isotropic, grid, faces});
  expect_same_bits<float, 3>({Medium::vti, grid, faces, 8, false, true});
}

TEST(PsiInPlace, BoxesGrowIntoLayers) {
  auto faces = moho::wave::all_faces<3>(moho::wave::FaceKind::cpml, 11);
  faces.lower[2] = {moho::wave::FaceKind::free_surface, 0};
  for (const Medium medium : {Medium::isotropic, Medium::vti}) {
    expect_same_bits<float, 3>({medium, grid_of<3>({47, 44, 43}), faces, 8, true});
  }
}

// One to three nodes between the layers.
TEST(PsiInPlace, LayersNearlyMeet) {
  const auto faces = moho::wave::all_faces<3>(moho::wave::FaceKind::cpml, 20);
  expect_same_bits<float, 3>({Medium::isotropic, grid_of<3>({41, 42, 43}), faces});
  expect_same_bits<float, 3>({Medium::vti, grid_of<3>({43, 41, 41}), faces});
}

TEST(PsiInPlace, SectionsHaveTheBitsOfTwoLevels) {
  const auto faces = moho::wave::all_faces<2>(moho::wave::FaceKind::cpml, 30);
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    expect_same_bits<float, 2>({medium, grid_of<2>({121, 77}), faces});
  }
  expect_same_bits<double, 2>({Medium::isotropic, grid_of<2>({64, 139}), faces, 8, true});
}

}  // namespace
