// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 20, threads 2
// ctest: sanitizers without *openmp*
// ctest: sanitizers without *.KeepsItsTolerance
// ctest: sanitizers without *.ComputesEachSetOfComponents
// ctest: sanitizers without GravityFmmBits.*
//
// The fast multipole operator of prisms against direct sums, and its exact transpose.

#include "gravity/ensembles.hpp"
#include "refusals.hpp"

#include <moho/gravity/fmm.hpp>

#include <gmock/gmock.h>

#include <functional>

namespace {

using namespace moho::testing;
using moho::gravity::Component;
using moho::gravity::FmmFieldOperator;
using moho::gravity::FmmOptions;
using ::testing::HasSubstr;

template <class Memory>
using Direct = moho::gravity::DirectFieldOperator<Memory>;

// Prisms, stations and densities of one kind of scene.
struct Layout {
  std::vector<double> prisms, stations, densities;

  std::size_t count() const { return prisms.size() / 7; }
  std::size_t positions() const { return stations.size() / 3; }
  void add_prism(const Prism& prism, double density) {
    prisms.insert(prisms.end(), prism.begin(), prism.end());
    densities.push_back(density);
  }
};

enum class Kind { slab, layer, clusters, cube };

// Scenes of 20 km: stations up to 100 m above a slab, 1 m above the faces of a layer, along flight
// lines over clusters, and among the prisms of a cube.
Layout layout_of(Kind kind, std::size_t count, std::size_t positions, unsigned seed) {
  Random random(seed);
  Layout made;
  const double size = 20e3, n = static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = random.between(0.0, size), y = random.between(0.0, size);
    if (kind == Kind::layer) {
      const double half = 0.4 * size / std::sqrt(n);
      made.add_prism(
          {x - half, x + half, y - half, y + half, 0.0, random.between(50.0, 400.0), 1.0},
          random.between(500.0, 3000.0));
      continue;
    }
    const double depth = kind == Kind::slab ? 4e3 : size;
    std::array<double, 3> at{x, y, random.between(100.0, depth)};
    if (kind == Kind::clusters) {
      const auto k = static_cast<double>(i % 5);
      const auto u = random.direction();
      for (std::size_t d = 0; d < 3; ++d) {
        at[d] = 2e3 + 3e3 * k + 300.0 * u[d] * random.between(0.0, 1.0);
      }
    }
    const double side = kind == Kind::clusters ? 20.0 : 0.5 * size / std::cbrt(n);
    auto prism = random_prism(random, random.log_between(0.2 * side, side), 3.0, at);
    made.add_prism(prism, random.between(-1500.0, 3000.0));
  }
  for (std::size_t s = 0; s < positions; ++s) {
    double z = -random.between(1.0, 100.0);
    if (kind == Kind::layer) z = -1.0;
    if (kind == Kind::cube) z = random.between(0.0, size);
    if (kind == Kind::clusters) z = -60.0;
    const double y =
        kind == Kind::clusters ? 500.0 * static_cast<double>(s % 40) : random.between(0.0, size);
    for (const double value : {random.between(0.0, size), y, z}) made.stations.push_back(value);
  }
  return made;
}

template <class Memory>
std::vector<double> product_of(moho::gravity::FieldOperator& field, const Layout& layout) {
  std::vector<double> values;
  field.apply(layout.densities, values);
  return values;
}

// Largest difference of each component, relative to its largest value; NaN must agree.
double largest_error(const std::vector<double>& found, const std::vector<double>& known,
                     std::size_t components) {
  double worst = found.size() == known.size() ? 0.0 : 1e300;
  const std::size_t stations = known.size() / components;
  for (std::size_t c = 0; c < components && worst < 1e300; ++c) {
    double largest = 0.0, error = 0.0;
    for (std::size_t s = c * stations; s < (c + 1) * stations; ++s) {
      if (std::isnan(known[s]) != std::isnan(found[s])) return 1e300;
      if (std::isnan(known[s])) continue;
      largest = std::max(largest, std::abs(known[s]));
      error = std::max(error, std::abs(known[s] - found[s]));
    }
    if (error > 0.0) worst = std::max(worst, error / largest);
  }
  return worst;
}

std::vector<double> random_weights(std::size_t count, unsigned seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random.between(-1.0, 1.0));
  return values;
}

// Difference of (G m, w) and (m, G^T w), relative to the sum of the magnitudes of their terms.
double dot_difference(moho::gravity::FieldOperator& field, const std::vector<double>& densities,
                      unsigned seed) {
  std::vector<double> values, back;
  field.apply(densities, values);
  const auto weights = random_weights(values.size(), seed);
  field.adjoint(weights, back);
  long double left = 0.0L, right = 0.0L, size = 0.0L;
  for (std::size_t k = 0; k < values.size(); ++k) {
    left += static_cast<long double>(values[k]) * weights[k];
    size += std::abs(static_cast<long double>(values[k]) * weights[k]);
  }
  for (std::size_t k = 0; k < back.size(); ++k) {
    right += static_cast<long double>(back[k]) * densities[k];
  }
  return static_cast<double>(std::abs(left - right) / size);
}

template <class S>
class GravityFmm : public ::testing::Test {};
TYPED_TEST_SUITE(GravityFmm, TestSpaces, SpaceName);

TYPED_TEST(GravityFmm, KeepsItsTolerance) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Components components = moho::gravity::all_components();
  for (const Kind kind : {Kind::slab, Kind::layer, Kind::clusters, Kind::cube}) {
    const Layout layout = layout_of(kind, 1500, 600, 3);
    Direct<Memory> direct(exec, layout.prisms, layout.stations, components);
    const auto known = product_of<Memory>(direct, layout);
    for (const double tolerance : {1e-6, 1e-9, 1e-10}) {
      FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, components,
                                     {.tolerance = tolerance});
      EXPECT_EQ(field.prisms(), 1500);
      EXPECT_EQ(field.values(), 6000);
      const auto& report = field.field().report();
      EXPECT_GT(report.far_pairs, 50) << static_cast<int>(kind);
      EXPECT_LT(report.near_pairs, 0.98 * 1500 * 600) << static_cast<int>(kind);
      const double error =
          largest_error(product_of<Memory>(field, layout), known, components.size());
      EXPECT_LT(error, tolerance) << static_cast<int>(kind);
      EXPECT_GT(error, 0.0);
    }
  }
}

TYPED_TEST(GravityFmm, ComputesEachSetOfComponents) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Layout layout = layout_of(Kind::slab, 600, 300, 5);
  const std::vector<Components> sets{{Component::potential},
                                     {Component::gx},
                                     {Component::gz},
                                     {Component::gyy},
                                     {Component::gzz},
                                     {Component::gxz},
                                     {Component::gz, Component::gy},
                                     {Component::gyz, Component::gxx},
                                     {Component::gzz, Component::gz}};
  for (const Components& components : sets) {
    Direct<Memory> direct(exec, layout.prisms, layout.stations, components);
    for (const double tolerance : {1e-6, 1e-9}) {
      FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, components,
                                     {.tolerance = tolerance});
      EXPECT_LT(largest_error(product_of<Memory>(field, layout), product_of<Memory>(direct, layout),
                              components.size()),
                tolerance)
          << to_string(components[0]);
      EXPECT_LT(dot_difference(field, layout.densities, 3), 1e-15) << to_string(components[0]);
    }
  }
}

TYPED_TEST(GravityFmm, HasAnExactTranspose) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  for (const Kind kind : {Kind::layer, Kind::cube}) {
    const Layout layout = layout_of(kind, 1500, 700, 8);
    for (const double tolerance : {1e-2, 1e-9}) {
      FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations,
                                     moho::gravity::nine_components(), {.tolerance = tolerance});
      EXPECT_GT(field.field().report().far_pairs, 0);
      EXPECT_LT(dot_difference(field, layout.densities, 5), 1e-15);
    }
  }
}

// A plate of 20 km among small prisms is a leaf under the root, and no child of it.
TYPED_TEST(GravityFmm, SeparatesALongPlate) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  Layout layout = layout_of(Kind::slab, 2000, 600, 4);
  const auto pairs_of = [&] {
    FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, {Component::gz});
    Direct<Memory> direct(exec, layout.prisms, layout.stations, {Component::gz});
    EXPECT_LT(
        largest_error(product_of<Memory>(field, layout), product_of<Memory>(direct, layout), 1),
        1e-9);
    return field.field().report().near_pairs;
  };
  const double without = pairs_of();
  layout.add_prism({0.0, 20e3, 0.0, 20e3, 4500.0, 4510.0, 1.0}, 3000.0);
  EXPECT_LT(pairs_of(), without + 600.0 + 1.0);
}

TYPED_TEST(GravityFmm, OfFewPrismsAndStations) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Components components = moho::gravity::all_components();
  const auto agrees = [&](const Layout& layout) {
    Direct<Memory> direct(exec, layout.prisms, layout.stations, components);
    FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, components);
    EXPECT_LT(
        largest_error(product_of<Memory>(field, layout), product_of<Memory>(direct, layout), 10),
        1e-9)
        << layout.count() << " prisms, " << layout.positions() << " stations";
    EXPECT_LT(dot_difference(field, layout.densities, 5), 1e-15);
  };
  Layout one;
  one.add_prism({0.0, 100.0, 0.0, 100.0, 0.0, 100.0, 1.0}, 2000.0);
  one.stations = {50.0, 50.0, -1.0};
  agrees(one);
  one.stations = {5000.0, 50.0, -1e6};
  agrees(one);
  // many stations of one prism, and one station of many prisms
  Layout many = layout_of(Kind::slab, 1500, 1, 4);
  agrees(many);
  one.stations = layout_of(Kind::slab, 1, 900, 4).stations;
  agrees(one);
  // all prisms with one centre, all stations at one point
  Layout coincident;
  for (int k = 1; k <= 100; ++k) {
    const double half = k;
    coincident.add_prism({-half, half, -half, half, -half, half, 1.0}, 10.0 * k);
    for (const double value : {1000.0, 200.0, -300.0}) coincident.stations.push_back(value);
  }
  agrees(coincident);
}

// Components that do not exist are NaN, as in direct sums, and their neighbours are not.
TYPED_TEST(GravityFmm, KeepsMissingValues) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Components components = moho::gravity::all_components();
  const moho::gravity::RegularMesh mesh{{16, 16, 8}, {0.0, 0.0, 0.0}, {1600.0, 1600.0, 800.0}};
  Layout layout;
  layout.densities = random_weights(2048, 4);
  layout.prisms = moho::gravity::mesh_prisms(mesh, layout.densities);
  Random random(2);
  for (int k = 0; k < 300; ++k) {
    // vertices, points on edges and faces, and inside
    const double at[3] = {100.0 * (k % 17), 100.0 * (k % 13), 100.0 * (k % 5)};
    for (int d = 0; d < 3; ++d) {
      layout.stations.push_back(at[d] + (d < k % 4 ? random.between(20.0, 80.0) : 0.0));
    }
  }
  Direct<Memory> direct(exec, layout.prisms, layout.stations, components);
  FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, components);
  const auto known = product_of<Memory>(direct, layout), found = product_of<Memory>(field, layout);
  std::size_t missing = 0;
  for (const double value : known) missing += std::isnan(value);
  EXPECT_GT(missing, 300u);
  EXPECT_LT(largest_error(found, known, components.size()), 1e-9);
  // weights of 0 exclude them
  auto weights = random_weights(known.size(), 6);
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (std::isnan(known[k])) weights[k] = 0.0;
  }
  std::vector<double> ours, theirs;
  field.adjoint(weights, ours);
  direct.adjoint(weights, theirs);
  EXPECT_LT(largest_error(ours, theirs, 1), 1e-9);
  field.column_squares(weights, ours);
  direct.column_squares(weights, theirs);
  EXPECT_EQ(ours, theirs);
}

TYPED_TEST(GravityFmm, PartsAreTheWhole) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Layout layout = layout_of(Kind::layer, 1200, 800, 6);
  const Components components{Component::gz, Component::gxz};
  FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, components);
  const auto whole = product_of<Memory>(field, layout);
  EXPECT_EQ(product_of<Memory>(field, layout), whole);  // and again
  for (const int parts : {2, 5}) {
    std::vector<double> sum(whole.size(), 0.0);
    for (int part = 0; part < parts; ++part) {
      FmmOptions options;
      options.part = part;
      options.parts = parts;
      FmmFieldOperator<Memory> one(exec, layout.prisms, layout.stations, components, options);
      const auto values = product_of<Memory>(one, layout);
      EXPECT_NE(values, whole);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += values[k];
    }
    EXPECT_EQ(sum, whole) << parts;
  }
}

TYPED_TEST(GravityFmm, OfAMeshIsThatOfItsPrisms) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const moho::gravity::RegularMesh mesh{{12, 10, 6}, {0.0, -50.0, 10.0}, {1200.0, 950.0, 310.0}};
  Layout layout = layout_of(Kind::slab, 1, 300, 6);
  layout.densities = random_weights(720, 1);
  layout.prisms = moho::gravity::mesh_prisms(mesh, layout.densities);
  const Components components{Component::gz, Component::gxx};
  FmmFieldOperator<Memory> list(exec, layout.prisms, layout.stations, components);
  const auto positions = numbers_in(exec, layout.stations);
  moho::gravity::FmmOperator<Memory> whole(exec, mesh, stations_of(positions), components);
  const auto results = results_in(exec, 2, layout.positions());
  whole.apply(exec, numbers_in(exec, layout.densities), results);
  EXPECT_EQ(moho::download(exec, results), product_of<Memory>(list, layout));
  EXPECT_EQ(whole.prisms(), 720);
  EXPECT_EQ(whole.stations(), 300);
  EXPECT_EQ(whole.components(), components);
  EXPECT_GT(whole.bytes(), 720u * 64u);
}

TYPED_TEST(GravityFmm, RefusesWhatItCannotUse) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Layout layout = layout_of(Kind::slab, 40, 20, 6);
  const auto made = [&](const FmmOptions& options) {
    FmmFieldOperator<Memory>(exec, layout.prisms, layout.stations, {Component::gz}, options);
  };
  EXPECT_THAT(message_of([&] { made({.tolerance = 1e-13}); }),
              HasSubstr("tolerance: 1e-13 (allowed: 1e-10 to 0.01"));
  EXPECT_THAT(message_of([&] { made({.tolerance = 0.1}); }), HasSubstr("tolerance: 0.1"));
  EXPECT_THAT(message_of([&] { made({.far_tolerance = 1.0}); }), HasSubstr("far_tolerance: 1"));
  EXPECT_THAT(message_of([&] { made({.part = 2, .parts = 2}); }), HasSubstr("part, parts: 2, 2"));
  EXPECT_THAT(message_of<moho::MemoryError>([&] { made({.memory_budget = 100}); }),
              HasSubstr("trees of 40 prisms and 20 stations"));
  FmmFieldOperator<Memory> field(exec, layout.prisms, layout.stations, {Component::gz});
  std::vector<double> values;
  EXPECT_THAT(message_of([&] { field.apply(values, values); }),
              HasSubstr("densities: there are 0"));
  EXPECT_THAT(message_of([&] { field.adjoint(values, values); }),
              HasSubstr("weights: there are 0"));
  Layout flat = layout;
  flat.prisms[1] = flat.prisms[0];
  EXPECT_THAT(message_of([&] {
                FmmFieldOperator<Memory>(exec, flat.prisms, flat.stations, {Component::gz});
              }),
              HasSubstr("prisms: row 0"));
}

TYPED_TEST(GravityFmm, IsAStrategyOfComputeField) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  const Layout layout = layout_of(Kind::slab, 800, 400, 6);
  moho::gravity::FieldJob job;
  job.prisms = layout.prisms;
  for (std::size_t k = 0; k < layout.count(); ++k) job.prisms[7 * k + 6] = layout.densities[k];
  job.stations = layout.stations;
  job.components = {Component::gz, Component::gzz};
  job.options.strategy = Strategy::fmm;
  const auto found = moho::gravity::compute_field<double>(exec, job);
  EXPECT_EQ(found.report.strategy, Strategy::fmm);
  EXPECT_GT(found.report.difference, 0.0);
  EXPECT_LT(found.report.difference, 1e-9);
  job.options.strategy = Strategy::automatic;  // too few pairs
  const auto known = moho::gravity::compute_field<double>(exec, job);
  EXPECT_EQ(known.report.strategy, Strategy::tiles);
  EXPECT_LT(largest_error(found.results, known.results, 2), 1e-9);
  EXPECT_FALSE(moho::gravity::fmm_pays(800, 400, job.components, true));
  EXPECT_TRUE(moho::gravity::fmm_pays(1000000, 1000000, job.components, false));
  EXPECT_THAT(message_of([&] {
                job.options.strategy = Strategy::fmm;
                moho::gravity::compute_field<float>(exec, job);
              }),
              HasSubstr("fmm works in double precision"));
  const auto rows = numbers_in(exec, job.prisms), positions = numbers_in(exec, job.stations);
  const auto results = results_in(exec, 2, layout.positions());
  EXPECT_THAT(message_of([&] {
                moho::gravity::forward<double>(exec, prisms_of(rows), stations_of(positions),
                                               job.components, results, job.options);
              }),
              HasSubstr("forward() has no fmm"));
}

TEST(GravityFmmBits, AreIndependentOfThreads) {
#ifdef KOKKOS_ENABLE_OPENMP
  const Layout layout = layout_of(Kind::cube, 3000, 700, 12);
  const Components components{Component::gz, Component::gzz};
  const auto weights = random_weights(1400, 7);
  const auto bits = [&](const auto& space) {
    const Instance<Kokkos::HostSpace> exec = space;
    FmmFieldOperator<Kokkos::HostSpace> field(exec, layout.prisms, layout.stations, components);
    auto values = product_of<Kokkos::HostSpace>(field, layout);
    std::vector<double> back;
    field.adjoint(weights, back);
    values.insert(values.end(), back.begin(), back.end());
    return values;
  };
  EXPECT_EQ(bits(Kokkos::Serial()), bits(Kokkos::OpenMP()));
#endif
}

}  // namespace
