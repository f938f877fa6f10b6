// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
// ctest: sanitizers without *serial*
//
// The operator of prisms: its field is that of forward(), and its transpose is exact.

#include "gravity/ensembles.hpp"
#include "refusals.hpp"

#include <moho/gravity/field_operator.hpp>
#include <moho/gravity/operator.hpp>

#include <gmock/gmock.h>

namespace {

using namespace moho::testing;
using moho::gravity::Component;
using moho::gravity::OperatorOptions;
using ::testing::HasSubstr;

template <class Memory>
using Operator = moho::gravity::Operator<Memory>;

// Prisms from 20 to 200 m and stations among, above and far away from them.
struct Scene {
  std::vector<double> prisms, stations, densities;
  std::size_t count() const { return prisms.size() / 7; }
  std::size_t positions() const { return stations.size() / 3; }

  Scene(std::size_t count, std::size_t positions, unsigned seed) {
    Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const auto prism = random_prism(random, random.log_between(20.0, 200.0), 2.0,
                                      {random.between(-500.0, 500.0), random.between(-500.0, 500.0),
                                       random.between(0.0, 1000.0)});
      prisms.insert(prisms.end(), prism.begin(), prism.end());
      densities.push_back(i % 7 == 3 ? 0.0 : random.between(-1500.0, 3000.0));
    }
    for (std::size_t i = 0; i < positions; ++i) {
      const double height = i % 5 == 0   ? random.between(0.0, 1000.0)
                            : i % 5 == 1 ? -random.log_between(1e4, 3e5)
                                         : -random.log_between(1.0, 1000.0);
      for (const double value :
           {random.between(-800.0, 800.0), random.between(-800.0, 800.0), height}) {
        stations.push_back(value);
      }
    }
  }
};

std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random.between(-1.0, 1.0));
  return values;
}

template <class Memory>
Operator<Memory> operator_of(const Instance<Memory>& exec, const Scene& scene,
                             const Components& components, const OperatorOptions& options = {}) {
  const auto rows = numbers_in(exec, scene.prisms), positions = numbers_in(exec, scene.stations);
  return Operator<Memory>(exec, prisms_of(rows), stations_of(positions), components, options);
}

template <class Memory>
std::vector<double> apply(const Instance<Memory>& exec, Operator<Memory>& field,
                          const std::vector<double>& densities) {
  const auto results =
      results_in(exec, field.components().size(), static_cast<std::size_t>(field.stations()));
  field.apply(exec, numbers_in(exec, densities), results);
  return download(exec, results);
}

template <class Memory>
std::vector<double> adjoint(const Instance<Memory>& exec, Operator<Memory>& field,
                            const std::vector<double>& weights, bool squares = false) {
  const auto there =
      results_in(exec, field.components().size(), static_cast<std::size_t>(field.stations()));
  copy(exec, there,
       Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace,
                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>(weights.data(), there.extent(0),
                                                             there.extent(1)));
  const auto sums = numbers_in(exec, std::vector<double>(static_cast<std::size_t>(field.prisms())));
  if (squares) {
    field.column_squares(exec, there, sums);
  } else {
    field.adjoint(exec, there, sums);
  }
  return download(exec, sums);
}

// Returns the dot product, and the sum of magnitudes.
std::pair<long double, long double> dot(const std::vector<double>& a,
                                        const std::vector<double>& b) {
  long double sum = 0.0L, size = 0.0L;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double term = static_cast<long double>(a[i]) * b[i];
    sum += term;
    size += std::abs(term);
  }
  return {sum, size};
}

const std::vector<Components> sets{{Component::gz},
                                   {Component::gx},
                                   {Component::gyy},
                                   {Component::gxz},
                                   {Component::potential},
                                   {Component::gz, Component::gx},
                                   {Component::gzz, Component::gxz},
                                   {Component::gz, Component::gzz, Component::gxz},
                                   moho::gravity::nine_components(),
                                   moho::gravity::all_components()};

template <class S>
class GravityOperator : public ::testing::Test {};
TYPED_TEST_SUITE(GravityOperator, TestSpaces, SpaceName);

TYPED_TEST(GravityOperator, ComputesTheFieldOfForward) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  Scene scene(300, 77, 4);
  for (const Components& components : sets) {
    auto field = operator_of(exec, scene, components);
    EXPECT_EQ(field.prisms(), 300);
    EXPECT_GT(field.bytes(), 300u * 64u);
    const auto found = apply(exec, field, scene.densities);
    for (std::size_t i = 0; i < scene.count(); ++i) scene.prisms[7 * i + 6] = scene.densities[i];
    const auto rows = numbers_in(exec, scene.prisms), positions = numbers_in(exec, scene.stations);
    const auto results = results_in(exec, components.size(), scene.positions());
    moho::gravity::forward<double>(exec, prisms_of(rows), stations_of(positions), components,
                                   results);
    const auto known = download(exec, results);
    for (std::size_t c = 0; c < components.size(); ++c) {
      double largest = 0.0;
      const std::size_t begin = c * scene.positions(), end = begin + scene.positions();
      for (std::size_t k = begin; k < end; ++k) largest = std::max(largest, std::abs(known[k]));
      for (std::size_t k = begin; k < end; ++k) {
        ASSERT_NEAR(found[k], known[k], 1e-14 * largest) << to_string(components[c]) << k;
      }
    }
  }
}

TYPED_TEST(GravityOperator, HasAnExactTranspose) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  for (const auto& [prisms, stations] : {std::pair{1100u, 203u}, {3u, 1500u}, {40u, 1u}}) {
    const Scene scene(prisms, stations, prisms);
    for (const Components& components : sets) {
      auto field = operator_of(exec, scene, components);
      const auto image = apply(exec, field, scene.densities);
      const auto weights = random_numbers(image.size(), 5);
      const auto back = adjoint(exec, field, weights);
      const auto [left, size] = dot(image, weights);
      const auto [right, other] = dot(scene.densities, back);
      EXPECT_LE(std::abs(left - right), 1e-15L * std::max(size, other))
          << components.size() << to_string(components[0]) << ", " << prisms << " prisms";
    }
  }
}

TYPED_TEST(GravityOperator, AdjointOfOneWeightIsARow) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Scene scene(50, 30, 8);
  const Components components{Component::gyz, Component::gz};
  auto field = operator_of(exec, scene, components, {.far_tolerance = 0.0});
  std::vector<double> weights(60, 0.0);
  weights[17] = 1.0;
  const auto row = adjoint(exec, field, weights);
  for (std::size_t i = 0; i < scene.count(); ++i) {
    Prism prism;
    std::copy_n(scene.prisms.begin() + static_cast<std::ptrdiff_t>(7 * i), 7, prism.begin());
    prism[6] = 1.0;
    const Field known =
        quick_prism(prism, {scene.stations[51], scene.stations[52], scene.stations[53]});
    EXPECT_NEAR(row[i], known[GYZ], 1e-10 * norms_of(known)[2]) << i;
  }
}

TYPED_TEST(GravityOperator, SumsSquaresOfColumns) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Scene scene(9, 41, 2);
  const Components components{Component::gz, Component::gxz};
  auto field = operator_of(exec, scene, components);
  const auto weights = random_numbers(82, 3);
  const auto squares = adjoint(exec, field, weights, true);
  for (std::size_t j = 0; j < scene.count(); ++j) {
    std::vector<double> unit(scene.count(), 0.0);
    unit[j] = 1.0;
    const auto column = apply(exec, field, unit);
    double known = 0.0;
    for (std::size_t k = 0; k < column.size(); ++k) {
      known += (weights[k] * column[k]) * (weights[k] * column[k]);
    }
    EXPECT_NEAR(squares[j], known, 1e-13 * known) << j;
  }
}

TYPED_TEST(GravityOperator, OfAMeshIsThatOfItsPrisms) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const moho::gravity::RegularMesh mesh{{5, 4, 3}, {0.0, -50.0, 10.0}, {500.0, 350.0, 310.0}};
  Scene scene(60, 20, 6);
  scene.prisms = moho::gravity::mesh_prisms(mesh, std::vector<double>(60, 1.0));
  auto list = operator_of(exec, scene, {Component::gz, Component::gxx});
  const auto positions = numbers_in(exec, scene.stations);
  Operator<Memory> whole(exec, mesh, stations_of(positions), {Component::gz, Component::gxx});
  EXPECT_EQ(apply(exec, whole, scene.densities), apply(exec, list, scene.densities));
  const auto weights = random_numbers(40, 1);
  EXPECT_EQ(adjoint(exec, whole, weights), adjoint(exec, list, weights));
}

TYPED_TEST(GravityOperator, ExcludesWeightsOfZero) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  Scene scene(1, 2, 1);
  scene.prisms = {0.0, 100.0, 0.0, 100.0, 0.0, 100.0, 1.0};
  scene.stations = {0.0, 0.0, -50.0, 0.0, 0.0, 0.0};  // the second one on a vertex
  auto field = operator_of(exec, scene, {Component::gz, Component::gzz});
  const auto values = apply(exec, field, {1.0});
  EXPECT_TRUE(std::isnan(values[3]));
  const auto back = adjoint(exec, field, {1.0, 2.0, 3.0, 0.0});
  EXPECT_NEAR(back[0], values[0] + 2.0 * values[1] + 3.0 * values[2], 1e-14);
  EXPECT_TRUE(std::isnan(adjoint(exec, field, {1.0, 2.0, 3.0, 1.0})[0]));
}

TYPED_TEST(GravityOperator, RefusesWhatItCannotUse) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Scene scene(10, 5, 1);
  EXPECT_THAT(message_of([&] { operator_of(exec, scene, {}); }), HasSubstr("components: none"));
  EXPECT_THAT(
      message_of([&] { operator_of(exec, scene, {Component::gz}, {.far_tolerance = 1.0}); }),
      HasSubstr("far_tolerance: 1"));
  EXPECT_THAT(message_of<moho::MemoryError>(
                  [&] { operator_of(exec, scene, {Component::gz}, {.memory_budget = 100}); }),
              HasSubstr("an operator of 10 prisms and 5 stations: "));
  const Scene small(1, 1, 1);
  EXPECT_THAT(message_of<moho::MemoryError>(
                  [&] { operator_of(exec, small, {Component::gz}, {.memory_budget = 10}); }),
              HasSubstr("an operator of 1 prism and 1 station: "));
  Scene flat = scene;
  flat.prisms[1] = flat.prisms[0];
  EXPECT_THAT(message_of([&] { operator_of(exec, flat, {Component::gz}); }),
              HasSubstr("prisms: row 0"));
  auto field = operator_of(exec, scene, {Component::gz});
  const auto results = results_in(exec, 1, 5);
  const auto ten = numbers_in(exec, scene.densities), five = numbers_in(exec, random_numbers(5, 1));
  EXPECT_THAT(message_of([&] { field.apply(exec, five, results); }),
              HasSubstr("densities: there are 5 (allowed: 10, one a prism)"));
  EXPECT_THAT(message_of([&] { field.apply(exec, ten, results_in(exec, 2, 5)); }),
              HasSubstr("results: the shape is 2 x 5 (allowed: 1 x 5"));
  EXPECT_THAT(message_of([&] { field.adjoint(exec, results_in(exec, 1, 4), ten); }),
              HasSubstr("weights: the shape is 1 x 4 (allowed: 1 x 5"));
}

TYPED_TEST(GravityOperator, BetweenVectorsOnTheHost) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Scene scene(60, 20, 6);
  const Components components{Component::gz, Component::gxx};
  auto field = operator_of(exec, scene, components);
  moho::gravity::DirectFieldOperator<Memory> host(exec, scene.prisms, scene.stations, components);
  EXPECT_EQ(host.prisms(), 60);
  EXPECT_EQ(host.values(), 40);
  EXPECT_GT(host.bytes(), field.bytes());
  std::vector<double> values, sums;
  host.apply(scene.densities, values);
  EXPECT_EQ(values, apply(exec, field, scene.densities));
  const auto weights = random_numbers(40, 1);
  host.adjoint(weights, sums);
  EXPECT_EQ(sums, adjoint(exec, field, weights));
  host.column_squares(weights, sums);
  EXPECT_EQ(sums, adjoint(exec, field, weights, true));
  EXPECT_THAT(message_of([&] { host.apply(values, values); }),
              HasSubstr("densities: there are 40"));
  EXPECT_THAT(message_of([&] { host.adjoint(sums, sums); }), HasSubstr("weights: there are 60"));
}

TEST(GravityOperatorBits, AreIndependentOfThreads) {
#ifdef KOKKOS_ENABLE_OPENMP
  const Scene scene(4000, 150, 12);
  const Components components{Component::gz, Component::gzz};
  const auto weights = random_numbers(300, 7);
  const auto bits = [&](const auto& space) {
    const Instance<Kokkos::HostSpace> exec = space;
    auto field = operator_of(exec, scene, components);
    auto values = apply(exec, field, scene.densities);
    const auto back = adjoint(exec, field, weights);
    values.insert(values.end(), back.begin(), back.end());
    return values;
  };
  EXPECT_EQ(bits(Kokkos::Serial()), bits(Kokkos::OpenMP()));
#endif
}

}  // namespace
