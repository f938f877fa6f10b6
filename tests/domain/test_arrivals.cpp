// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Velocities of coarse grids for arrivals: rows of hosts against single nodes.

#include <moho/domain/arrivals.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace moho;

/// Random numbers for the nodes of a grid.
template <class T, int Dim>
std::vector<T> random_values(const Grid<Dim>& grid, double least, double most, unsigned key) {
  std::mt19937 random(key);
  std::vector<T> values(static_cast<std::size_t>(grid.size()));
  for (T& value : values) {
    value = static_cast<T>(least + (most - least) * (random() / 4294967296.0));
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

}  // namespace
