// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Velocities of coarse grids for arrivals: rows of hosts against single nodes. Boxes where delta
// exceeds epsilon.

#include <moho/domain/expand.hpp>
#include <moho/wave/source_region.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace moho;

/// Random numbers for the nodes of a grid.
template <class T, int Dim>
std::vector<T> random_values(const Grid<Dim>& grid, double min, double max, unsigned key) {
  std::mt19937 random(key);
  std::vector<T> values(static_cast<std::size_t>(grid.size()));
  for (T& value : values) {
    value = static_cast<T>(min + (max - min) * (random() / 4294967296.0));
  }
  return values;
}

/// Compares both for a model whose nodes begin at `shift` of a grid with layers.
template <class T, int Dim>
void expect_equal_rows(const Grid<Dim>& model, std::int64_t shift, std::int64_t coarsening,
                       bool anisotropic) {
  Grid<Dim> grid = model, coarse = model;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] += 2 * shift;
    coarse.extents[d] = (grid.extents[d] - 1 + coarsening - 1) / coarsening + 1;
  }
  const auto vp = random_values<T>(model, 1500.0, 4500.0, 1);
  const auto epsilon = random_values<T>(model, -0.2, 0.4, 2);
  const auto delta = random_values<T>(model, -0.2, 0.4, 3);
  domain::detail::FastestVelocity<T, Dim> fastest;
  fastest.vp = vp.data();
  if (anisotropic) fastest.epsilon = epsilon.data(), fastest.delta = delta.data();
  fastest.model = model;
  for (int d = 0; d < Dim; ++d) fastest.shift[d] = shift;
  std::vector<T> by_node(static_cast<std::size_t>(coarse.size())), by_row = by_node;
  const domain::detail::Coarsen<T, Dim> node{fastest, grid, coarse, coarsening, by_node.data()};
  for (std::int64_t i = 0; i < coarse.size(); ++i) node(i);
  domain::detail::Coarsen<T, Dim> of_rows = node;
  of_rows.velocity = by_row.data();
  const domain::detail::CoarsenRow<T, Dim> row{of_rows};
  for (std::int64_t i = 0; i < coarse.size() / coarse.extents[Dim - 1]; ++i) row(i);
  EXPECT_EQ(by_row, by_node) << "shift " << shift << ", coarsening " << coarsening;
  EXPECT_GT(by_node.front(), T(1000));
}

template <class T>
class Coarsening : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Coarsening, Precisions);

TYPED_TEST(Coarsening, HasTheVelocitiesOfSingleNodes) {
  for (const std::int64_t coarsening : {1, 2, 4, 7}) {
    for (const std::int64_t shift : {0, 5}) {
      for (const bool anisotropic : {false, true}) {
        Grid<2> section;
        section.extents = {23, 18};
        Grid<3> volume;
        volume.extents = {11, 9, 14};
        expect_equal_rows<TypeParam>(section, shift, coarsening, anisotropic);
        expect_equal_rows<TypeParam>(volume, shift, coarsening, anisotropic);
      }
    }
  }
}

/// Returns the boxes of 300 steps of a shot from the origin, of a model with or without a taper of
/// delta to epsilon around the source. \param in_core true for those of a domain with propagator
std::vector<Box<2>> boxes_of_shot(wave::Equations equations, domain::ExpansionMethod method,
                                  bool tapered, bool in_core) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const Grid<2> grid{{81, 61}, {10.0, 10.0}, {0.0, 0.0}};
  const auto constant = [&](double value) {
    const auto field = make_field<double>(exec, grid, "constant");
    Kokkos::deep_copy(field, value);
    return field;
  };
  wave::Model<double, 2, Host> model;
  model.vp = constant(2000.0);
  model.epsilon = constant(0.05);
  model.delta = constant(0.2);
  const Points<2> points{{0.0, 300.0}};
  if (tapered) {
    model.delta = wave::taper_delta<double, 2, Host>(exec, grid, model, points, 300.0);
  }
  wave::PropagatorOptions<2> scheme;
  scheme.dt = 0.001;
  scheme.frequency = 20.0;
  scheme.equations = equations;
  scheme.boundaries = wave::all_faces<2>(wave::FaceKind::rigid, 0);
  const wave::Propagator<double, 2, Host> propagator(exec, grid, model, scheme);
  const wave::PointSet<double, 2, Host> sources(exec, grid, propagator.layout(), points,
                                                wave::point_options(propagator, "source", true));
  domain::DomainOptions options;
  options.coarsening = 1;
  std::vector<Box<2>> boxes;
  if (in_core) {
    const auto found =
        domain::make_domain<double, 2, Host>(method, exec, propagator, model, sources, options);
    const auto field = propagator.make_wavefield(exec);
    for (int n = 0; n < 300; ++n) boxes.push_back(found->box(exec, propagator, field, n));
  } else {
    const auto rule = domain::shot_boxes<double, 2, Host>(method, exec, grid, model,
                                                          propagator.scheme(), sources, options);
    for (int n = 0; n < 300; ++n) boxes.push_back(rule.box(n));
  }
  return boxes;
}

// streams know the model without the taper, runs in core the one with it
TEST(BoxesWhereDeltaExceedsEpsilon, DoNotDependOnTheTaperAroundSources) {
  for (const auto method : {domain::ExpansionMethod::layers, domain::ExpansionMethod::eikonal}) {
    SCOPED_TRACE(domain::to_string(method));
    const auto boxes = boxes_of_shot(wave::Equations::self_adjoint, method, false, false);
    EXPECT_TRUE(boxes == boxes_of_shot(wave::Equations::self_adjoint, method, true, true));
    // after Fletcher, waves travel with the larger delta
    const auto faster = boxes_of_shot(wave::Equations::fletcher, method, false, false);
    EXPECT_LT(boxes[250].upper[0], faster[250].upper[0]);
  }
}

}  // namespace
