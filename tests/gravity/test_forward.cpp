// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
// ctest: sanitizers without *serial_double*
// ctest: sanitizers without SevenSpheres.SinglePrecisionIsWorthHaving
//
// forward() on every space and in both precisions: comparison with the sum of exact fields.
// Strategies, components and kinds of ensembles are compared with each other.

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;
using moho::gravity::gravitational_constant_2013;
using moho::gravity::mesh_prisms;

template <class C>
class Forward : public ::testing::Test {};
TYPED_TEST_SUITE(Forward, TestCases, CaseName);

Options with(Strategy strategy) {
  Options options;
  options.strategy = strategy;
  return options;
}

// ------------------------------------------------------------------ agreement with exact fields

// Near, mid and far stations alternate in one list: a station's result must not depend on the other
// stations.
template <class T, class Memory>
void is_the_sum_of_the_exact_fields(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(61, 53);
  for (const Strategy strategy : general_strategies) {
    const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(found, all_ten(), e.expected, close_enough<T>))
        << to_string(strategy);
    EXPECT_EQ(found.report.prisms, 61);
    EXPECT_EQ(found.report.stations, 53);
    if (strategy != Strategy::automatic) {
      EXPECT_EQ(found.report.strategy, strategy);
    }
    EXPECT_NE(found.report.strategy, Strategy::automatic);
  }
}
TYPED_TEST(Forward, IsTheSumOfTheExactFields) {
  is_the_sum_of_the_exact_fields<typename TypeParam::Scalar>(TypeParam::exec());
}

// The same stations one by one: neighbours in the list must not change a result beyond rounding.
template <class T, class Memory>
void stations_do_not_influence_each_other(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(61, 12, 3);
  const Outcome together = compute<T>(exec, e.prisms, e.stations, all_ten());
  for (std::size_t s = 0; s < e.stations.size(); ++s) {
    const Outcome alone = compute<T>(exec, e.prisms, {e.stations[s]}, all_ten());
    for (const std::size_t place : all_places) {
      EXPECT_NEAR(alone.at(place, 0), together.at(place, s),
                  2.0 * close_enough<T> * e.expected.scales[s][order_of(place)])
          << place_name(place) << " at station " << s;
    }
  }
}
TYPED_TEST(Forward, StationsDoNotInfluenceEachOther) {
  stations_do_not_influence_each_other<typename TypeParam::Scalar>(TypeParam::exec());
}

// Numbers of prisms and stations not divisible by tiles, and single ones.
template <class T, class Memory>
void any_number_of_prisms_and_stations(const moho::Instance<Memory>& exec) {
  const std::pair<std::size_t, std::size_t> sizes[] = {
      {1, 1}, {1, 127}, {2, 1}, {3, 7}, {127, 1}, {128, 16}, {129, 129}, {1000, 33}, {33, 1000}};
  const Components some{Component::gz, Component::gxx, Component::potential};
  for (const auto& [prisms, stations] : sizes) {
    const Ensemble e = mixed_pool().ensemble(prisms, stations, 4);
    for (const Strategy strategy : general_strategies) {
      const Outcome found = compute<T>(exec, e.prisms, e.stations, some, with(strategy));
      EXPECT_TRUE(outcome_agrees(found, some, e.expected, close_enough<T>))
          << prisms << " prisms, " << stations << " stations, " << to_string(strategy);
    }
  }
}
TYPED_TEST(Forward, AnyNumberOfPrismsAndStations) {
  any_number_of_prisms_and_stations<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void teams_of_any_size(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(700, 77, 5);
  for (const Strategy strategy : general_strategies) {
    for (const auto& [team_size, teams] :
         {std::pair{1, 1}, std::pair{32, 3}, std::pair{64, 1}, std::pair{96, 5}, std::pair{128, 14},
          std::pair{256, 2}, std::pair{0, 7}, std::pair{32, 0}}) {
      Options options = with(strategy);
      options.team_size = team_size;
      options.teams = teams;
      const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten(), options);
      EXPECT_TRUE(outcome_agrees(found, all_ten(), e.expected, close_enough<T>))
          << to_string(strategy) << ", teams of " << team_size << ", " << teams << " of them";
      if (strategy != Strategy::by_prisms) continue;
      const auto& report = found.report;
      if (team_size > 0 && teams > 0) {
        EXPECT_EQ(report.private_grids, team_size * teams);
      }
      EXPECT_EQ(report.passes, (report.prisms + report.private_grids - 1) / report.private_grids);
      // T grids of ten components at 77 stations
      EXPECT_GE(report.memory,
                static_cast<std::size_t>(report.private_grids) * 10 * 77 * sizeof(T));
    }
  }
}
TYPED_TEST(Forward, TeamsOfAnySize) {
  teams_of_any_size<typename TypeParam::Scalar>(TypeParam::exec());
}

// ---------------------------------------------------------------------------------- components

template <class T, class Memory>
void every_component_alone(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(122, 31, 6);
  for (const Strategy strategy : general_strategies) {
    for (const Component c : all_ten()) {
      const Outcome found = compute<T>(exec, e.prisms, e.stations, {c}, with(strategy));
      EXPECT_TRUE(outcome_agrees(found, {c}, e.expected, close_enough<T>)) << to_string(strategy);
    }
  }
}
TYPED_TEST(Forward, EveryComponentAlone) {
  every_component_alone<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void any_set_of_components_in_any_order(const moho::Instance<Memory>& exec) {
  using enum Component;
  const Ensemble e = mixed_pool().ensemble(122, 31, 7);
  Components turned = all_ten();
  std::reverse(turned.begin(), turned.end());
  std::vector<Components> sets{{gz, gzz},
                               {gzz, gx},
                               {gyz, potential, gxx},
                               {gz, gy, gx},
                               {gyz, gxz, gxy, gzz, gyy, gxx},
                               {gxy, gyz},
                               {potential, gz},
                               {gy, gxy, gx, potential, gyy, gxx},
                               {gxz, gzz},
                               moho::gravity::nine_components(),
                               all_ten(),
                               turned};
  Random random(8);
  for (int i = 0; i < 20; ++i) {  // random component sets
    Components left = all_ten(), set;
    for (std::int64_t n = 1 + random.below(9); n > 0; --n) {
      const auto pick = left.begin() + random.below(static_cast<std::int64_t>(left.size()));
      set.push_back(*pick);
      left.erase(pick);
    }
    sets.push_back(set);
  }
  for (const Components& set : sets) {
    std::string names;
    for (const Component c : set) names += std::string(" ") + to_string(c);
    const Outcome found = compute<T>(exec, e.prisms, e.stations, set);
    EXPECT_TRUE(outcome_agrees(found, set, e.expected, close_enough<T>)) << names;
  }
}
TYPED_TEST(Forward, AnySetOfComponentsInAnyOrder) {
  any_set_of_components_in_any_order<typename TypeParam::Scalar>(TypeParam::exec());
}

// ------------------------------------------------------------------------ densities and constants

// A prism of density 0 is not counted, and its vertices are not singular.
template <class T, class Memory>
void prisms_without_density_are_left_out(const moho::Instance<Memory>& exec) {
  const Pool& pool = mixed_pool();
  std::vector<double> densities(2 * pool.prisms().size());
  for (std::size_t i = 0; i < densities.size(); i += 3) densities[i] = 300.0 + double(i);
  Ensemble e = pool.ensemble(densities, 40);
  // station 40 is a vertex of a prism whose density is 0 in both cases
  std::size_t empty = 1;
  while (densities[empty] != 0.0 || densities[empty + pool.prisms().size()] != 0.0) ++empty;
  const Prism& p = pool.prisms()[empty];
  e.stations.push_back({p[1], p[2], p[5]});
  std::int64_t count = 0;
  Field sum{};
  for (std::size_t i = 0; i < densities.size(); ++i) {
    if (densities[i] == 0.0) continue;
    ++count;
    const Field f = exact(e.prisms[i], e.stations.back());
    for (std::size_t c = 0; c < 10; ++c) sum[c] += f[c];
  }
  e.expected.fields.push_back(sum);
  e.expected.scales.push_back(norms_of(sum));
  for (auto& scale : e.expected.scales.back()) scale *= 10.0;  // because as many parts cancel
  for (const Strategy strategy : general_strategies) {
    const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(found, all_ten(), e.expected, close_enough<T>))
        << to_string(strategy);
    EXPECT_EQ(found.report.prisms, count);
  }
  // no prism with mass
  for (Prism& q : e.prisms) q[6] = 0.0;
  for (const Strategy strategy : general_strategies) {
    const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    for (const double value : found.values) EXPECT_EQ(value, 0.0) << to_string(strategy);
    EXPECT_EQ(found.report.prisms, 0);
  }
}
TYPED_TEST(Forward, PrismsWithoutDensityAreLeftOut) {
  prisms_without_density_are_left_out<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void is_linear_in_density_and_constant(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(61, 40, 9);
  const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten());
  std::vector<Prism> negative = e.prisms;
  for (Prism& p : negative) p[6] *= -2.0;
  const Outcome twice = compute<T>(exec, negative, e.stations, all_ten());
  Options options;
  options.constant = gravitational_constant_2013;
  const Outcome paper = compute<T>(exec, e.prisms, e.stations, all_ten(), options);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    // a power of two changes only the exponent; the constant adds one rounding
    EXPECT_EQ(twice.values[i], -2.0 * found.values[i]);
    EXPECT_NEAR(paper.values[i], found.values[i] * (6.673e-11 / 6.6743e-11),
                1e-14 * std::abs(found.values[i]));
  }
}
TYPED_TEST(Forward, IsLinearInDensityAndConstant) {
  is_linear_in_density_and_constant<typename TypeParam::Scalar>(TypeParam::exec());
}

// Units, by known numbers: a cube of 100 m, 300 kg/m^3, centre 200 m below the station. It is
// nearly a point: the quadrupole vanishes, and the remainder is (a / D)^4 / 8 = 0.8 %.
template <class T, class Memory>
void units(const moho::Instance<Memory>& exec) {
  const std::vector<Prism> cube{{-50, 50, -50, 50, 150, 250, 300.0}};
  const Outcome found = compute<T>(exec, cube, {{0.0, 0.0, 0.0}}, all_ten());
  const double mass = 300.0 * 1e6;
  EXPECT_NEAR(found.at(U, 0), 6.6743e-11 * mass / 200.0, 0.01 * found.at(U, 0));  // m^2/s^2
  EXPECT_NEAR(found.at(GZ, 0), 0.050, 0.0006);  // mGal: 6.67e-11 3e8 / 4e4 = 5.0e-7 m/s^2
  EXPECT_NEAR(found.at(GZZ, 0), 5.0, 0.15);     // Eotvos: 2 G M / D^3 = 5.0e-9 /s^2
  EXPECT_NEAR(found.at(GXX, 0), -2.5, 0.08);
  EXPECT_GT(found.at(GZ, 0), 0.0);  // a mass below attracts downwards, along z
}
TYPED_TEST(Forward, Units) { units<typename TypeParam::Scalar>(TypeParam::exec()); }

// ----------------------------------------------------------------------------- regular ensembles

struct Mesh {
  RegularMesh mesh{{9, 7, 5}, {-410.0, 133.0, 20.0}, {511.0, 889.0, 470.0}};
  std::vector<double> densities;
  std::vector<Station> stations;
  Expected expected;
};

bool is_outside(const RegularMesh& mesh, const Station& s) {
  bool inside = true;
  for (int a = 0; a < 3; ++a) {
    const double at = s[static_cast<std::size_t>(a)];
    inside = inside && at >= mesh.lower[a] && at <= mesh.upper[a];
  }
  return !inside;
}

// A mesh with random densities, a third of them 0, and two homogeneous bodies in which corners
// cancel.
const Mesh& random_mesh() {
  static const Mesh mesh = [] {
    Mesh made;
    Random random(10);
    for (std::int64_t i = 0; i < made.mesh.size(); ++i) {
      const std::int64_t x = i % 9, z = i / 63;
      double density = random.between(0.0, 3.0) < 1.0 ? 0.0 : random.between(-500.0, 2900.0);
      if (x < 4) density = z < 3 ? 2500.0 : 0.0;
      made.densities.push_back(density);
    }
    for (int i = 0; i < 24; ++i) {
      made.stations.push_back({random.between(-900.0, 1000.0), random.between(-300.0, 1300.0),
                               random.between(-300.0, 600.0)});
    }
    for (int i = 0; i < 12; ++i) {
      made.stations.push_back({random.between(-410.0, 511.0), random.between(133.0, 889.0),
                               random.between(20.0, 470.0)});
    }
    // above the mesh, over planes of its faces and extensions of its edges
    const auto face = [&](int axis, std::int64_t k) { return made.mesh.face(axis, k); };
    made.stations.push_back({face(0, 2), face(1, 3), -50.0});
    made.stations.push_back({face(0, 5), 300.0, -10.0});
    made.stations.push_back({face(0, 0), face(1, 7), 900.0});
    made.stations.push_back({face(0, 9) + 300.0, face(1, 1), face(2, 2)});
    const auto rows = mesh_prisms(made.mesh, made.densities);
    for (const Station& s : made.stations) {
      ExtendedField sum;
      Norms scale{};
      for (std::size_t i = 0; i < rows.size(); i += 7) {
        Prism p;
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i), 7, p.begin());
        const ExtendedField f = extended_prism(p, s, moho::gravity::gravitational_constant);
        Field one;
        for (std::size_t c = 0; c < 10; ++c) {
          sum[c] += f[c];
          one[c] = to_double(f[c]);
        }
        const Norms norms = norms_of(one);
        for (std::size_t n = 0; n < 3; ++n) scale[n] += norms[n];
      }
      Field field;
      for (std::size_t c = 0; c < 10; ++c) field[c] = to_double(sum[c]);
      made.expected.fields.push_back(field);
      made.expected.scales.push_back(scale);
    }
    return made;
  }();
  return mesh;
}

std::vector<Prism> mesh_rows(const RegularMesh& mesh, const std::vector<double>& densities) {
  const auto rows = mesh_prisms(mesh, densities);
  std::vector<Prism> prisms(rows.size() / 7);
  for (std::size_t i = 0; i < prisms.size(); ++i) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(7 * i), 7, prisms[i].begin());
  }
  return prisms;
}

template <class T, class Memory>
void regular_ensembles_are_irregular_ones(const moho::Instance<Memory>& exec) {
  const Mesh& m = random_mesh();
  const auto prisms = mesh_rows(m.mesh, m.densities);
  ASSERT_GT(prisms.size(), 100u);
  for (const Strategy strategy : general_strategies) {
    const Outcome irregular = compute<T>(exec, prisms, m.stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(irregular, all_ten(), m.expected, close_enough<T>))
        << to_string(strategy);
    const Outcome regular =
        compute<T>(exec, m.mesh, m.densities, m.stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(regular, all_ten(), m.expected, close_enough<T>))
        << to_string(strategy);
    EXPECT_EQ(regular.report.prisms, static_cast<std::int64_t>(prisms.size()));
  }
}
TYPED_TEST(Forward, RegularEnsemblesAreIrregularOnes) {
  regular_ensembles_are_irregular_ones<typename TypeParam::Scalar>(TypeParam::exec());
}

// by_corners evaluates shared corners once, in double, at stations outside the mesh. It loses
// digits as the textbook's form does. Stations are within ten sides of the prisms, where the loss
// is 1e-12 of a prism's field.
template <class T, class Memory>
void corners_give_what_prisms_give(const moho::Instance<Memory>& exec) {
  if constexpr (std::is_same_v<T, double>) {
    Mesh m = random_mesh();
    const Mesh all = m;
    m.stations.clear();
    m.expected = {};
    for (std::size_t s = 0; s < all.stations.size(); ++s) {
      if (!is_outside(m.mesh, all.stations[s])) continue;
      m.stations.push_back(all.stations[s]);
      m.expected.fields.push_back(all.expected.fields[s]);
      m.expected.scales.push_back(all.expected.scales[s]);
    }
    ASSERT_GE(m.stations.size(), 15u);
    const Options options = with(Strategy::by_corners);
    const Outcome found = compute<T>(exec, m.mesh, m.densities, m.stations, all_ten(), options);
    EXPECT_TRUE(outcome_agrees(found, all_ten(), m.expected, close_enough<T>));
    EXPECT_EQ(found.report.strategy, Strategy::by_corners);
    EXPECT_GT(found.report.corners, 0);
    // corners inside the homogeneous bodies do not count
    EXPECT_LT(found.report.corners, 10 * 8 * 6);
    for (const Component c : all_ten()) {
      const Outcome alone = compute<T>(exec, m.mesh, m.densities, m.stations, {c}, options);
      EXPECT_TRUE(outcome_agrees(alone, {c}, m.expected, close_enough<T>));
    }
    using enum Component;
    const Components set{gyz, potential, gz, gxx};
    const Outcome some = compute<T>(exec, m.mesh, m.densities, m.stations, set, options);
    EXPECT_TRUE(outcome_agrees(some, set, m.expected, close_enough<T>));
  }
}
TYPED_TEST(Forward, CornersGiveWhatPrismsGive) {
  corners_give_what_prisms_give<typename TypeParam::Scalar>(TypeParam::exec());
}

// A homogeneous body has the same field as one prism and as a mesh of prisms.
template <class T, class Memory>
void a_homogeneous_mesh_is_one_prism(const moho::Instance<Memory>& exec) {
  const RegularMesh mesh{{6, 5, 4}, {-100.0, -200.0, 0.0}, {200.0, 300.0, 160.0}};
  const std::vector<double> densities(static_cast<std::size_t>(mesh.size()), rock);
  const Prism whole{-100.0, 200.0, -200.0, 300.0, 0.0, 160.0, rock};
  std::vector<Station> stations;
  Expected expected;
  Random random(11);
  for (int i = 0; i < 40; ++i) {
    stations.push_back(
        point_in(whole, random.between(-0.5, 1.5), random.between(-0.5, 1.5),
                 i % 2 == 0 ? random.between(-1.0, -0.01) : random.between(1.01, 2.0)));
    expected.fields.push_back(exact(whole, stations.back()));
    expected.scales.push_back(norms_of(expected.fields.back()));
    for (std::size_t n = 0; n < 3; ++n) expected.scales.back()[n] += own_norms(100.0)[n];
  }
  for (const Strategy strategy : {Strategy::tiles, Strategy::by_corners, Strategy::automatic}) {
    if (strategy == Strategy::by_corners && std::is_same_v<T, float>) continue;
    const Outcome found = compute<T>(exec, mesh, densities, stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(found, all_ten(), expected, close_enough<T>)) << to_string(strategy);
    if (strategy == Strategy::by_corners) {
      EXPECT_EQ(found.report.corners, 8);
    }
  }
}
TYPED_TEST(Forward, AHomogeneousMeshIsOnePrism) {
  a_homogeneous_mesh_is_one_prism<typename TypeParam::Scalar>(TypeParam::exec());
}

// -------------------------------------------------------------------------------------- distances

// Strategy::automatic may select by_corners for a homogeneous mesh, but not where it has lost its
// digits.
template <class T, class Memory>
void automatic_keeps_digits_far_from_a_mesh(const moho::Instance<Memory>& exec) {
  const RegularMesh mesh{{8, 8, 8}, {0.0, 0.0, 0.0}, {1000.0, 1000.0, 1000.0}};
  const std::vector<double> densities(static_cast<std::size_t>(mesh.size()), rock);
  const Prism whole{0.0, 1000.0, 0.0, 1000.0, 0.0, 1000.0, rock};
  for (const double sides : {3.0, 100.0, 1e4}) {
    std::vector<Station> stations;
    Expected expected;
    Random random(5);
    for (int i = 0; i < 120; ++i) {
      const double x = random.between(-1.0, 1.0), y = random.between(-1.0, 1.0);
      stations.push_back({500.0 + 1000.0 * sides * x, 500.0 + 1000.0 * sides * y, -1000.0 * sides});
      expected.fields.push_back(exact(whole, stations.back()));
      expected.scales.push_back(norms_of(expected.fields.back()));
    }
    const Outcome found = compute<T>(exec, mesh, densities, stations, all_ten(), {});
    const bool corners = std::is_same_v<T, double> && sides < 10.0;
    EXPECT_EQ(found.report.strategy, corners ? Strategy::by_corners : Strategy::tiles) << sides;
    EXPECT_TRUE(outcome_agrees(found, all_ten(), expected, std::is_same_v<T, float> ? 1e-5 : 1e-10))
        << sides << " sides away";
  }
}
TYPED_TEST(Forward, AutomaticKeepsDigitsFarFromAMesh) {
  automatic_keeps_digits_far_from_a_mesh<typename TypeParam::Scalar>(TypeParam::exec());
}

// Plates and needles at small distances: single precision must use the double formula.
template <class T, class Memory>
void slender_prisms(const moho::Instance<Memory>& exec) {
  for (const Prism& prism :
       {Prism{0.0, 1000.0, 0.0, 1000.0, 0.0, 1.0, rock},
        Prism{0.0, 5.0, 0.0, 5.0, 0.0, 1000.0, rock}, Prism{0.0, 1e5, 0.0, 1e5, 0.0, 20.0, rock}}) {
    const double longest = std::max(prism[1] - prism[0], prism[5] - prism[4]);
    std::vector<Station> stations;
    Expected expected;
    Random random(6);
    for (int i = 0; i < 60; ++i) {
      stations.push_back({prism[1] * random.between(-2.0, 3.0),
                          prism[3] * random.between(-2.0, 3.0),
                          -longest * random.between(0.02, 3.0)});
      expected.fields.push_back(exact(prism, stations.back()));
      expected.scales.push_back(norms_of(expected.fields.back()));
    }
    const Outcome found = compute<T>(exec, {prism}, stations, all_ten(), {});
    // double also loses digits with the ratio of the sides: 1e-16 x 5000 x a small factor
    EXPECT_TRUE(outcome_agrees(found, all_ten(), expected, std::is_same_v<T, float> ? 1e-5 : 1e-9))
        << prism[1] << " x " << prism[3] << " x " << prism[5];
  }
}
TYPED_TEST(Forward, SlenderPrisms) {
  slender_prisms<typename TypeParam::Scalar>(TypeParam::exec());
}

// One prism at a time, cubes to needles and plates, with stations in all directions in one list.
// Distances are 2 to 1e4 half diagonals. The error of the prism's own field may be the requested
// tolerance plus rounding.
//
// Rounding grows with the distance in shortest sides: by eps per side in each of about four terms
// of a component. It stops growing where the expansion is used: where the first omitted term, 3.3
// (h / D)^6, equals the tolerance, or at 250 half diagonals. For stations that share a vector with
// near ones the limit is up to twice that distance.
template <class T, class Memory>
void the_far_field_keeps_its_promise(const moho::Instance<Memory>& exec) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  Random random(12);
  for (int i = 0; i < 40; ++i) {
    const double limit = i % 4 == 0 ? 1.0 : i % 4 == 1 ? 3.0 : 10.0;
    const Prism p = random_prism(random, 50.0, limit, {1000.0, -2000.0, 300.0});
    const Station c = centre_of(p);
    const double half = 0.5 * std::hypot(side_of(p, 0), side_of(p, 1), side_of(p, 2));
    std::vector<Station> stations;
    Expected expected;
    for (int n = 0; n < 30; ++n) {
      const double d = half * 2.0 * std::pow(5e3, (n * 7 % 30) / 29.0);  // unordered
      const Station u = random.direction();
      stations.push_back({c[0] + d * u[0], c[1] + d * u[1], c[2] + d * u[2]});
      expected.fields.push_back(exact(p, stations.back()));
      expected.scales.push_back(norms_of(expected.fields.back()));
    }
    for (const double tolerance : {0.0, 1e-11, 1e-6, 1e-4, -1.0}) {
      Options options;
      options.far_tolerance = tolerance;
      const double allowed = tolerance < 0.0 ? moho::gravity::default_far_tolerance<T> : tolerance;
      const double reach =
          allowed > 0.0 ? std::clamp(std::pow(3.3 / allowed, 1.0 / 6.0), 4.0, 250.0) : 250.0;
      const Outcome found = compute<T>(exec, {p}, stations, all_ten(), options);
      EXPECT_TRUE(outcome_agrees(found, all_ten(), expected,
                                 allowed + 4.0 * eps * (2.0 + 2.0 * reach * half / shortest_of(p))))
          << "tolerance " << tolerance << ", " << describe(p, {});
      if (std::is_same_v<T, double> && tolerance < 1e-10) {
        EXPECT_TRUE(outcome_agrees(found, all_ten(), expected, 1e-10));
      }
    }
  }
}
TYPED_TEST(Forward, TheFarFieldKeepsItsPromise) {
  the_far_field_keeps_its_promise<typename TypeParam::Scalar>(TypeParam::exec());
}

// Map coordinates (UTM): 500 km east, 5000 km north. All are multiples of an eighth of a metre, so
// that a shift is exact and the field unchanged.
template <class T, class Memory>
void large_coordinates_cost_no_digits(const moho::Instance<Memory>& exec) {
  const auto eighths = [](double value) { return std::round(8.0 * value) / 8.0; };
  Random random(13);
  std::vector<Prism> prisms;
  std::vector<Station> stations;
  for (int i = 0; i < 40; ++i) {
    Prism p = random_prism(random, 60.0, 2.0,
                           {random.between(-500.0, 500.0), random.between(-500.0, 500.0),
                            random.between(30.0, 800.0)});
    for (std::size_t n = 0; n < 6; ++n) p[n] = eighths(p[n]);
    prisms.push_back(p);
  }
  for (int i = 0; i < 25; ++i) {
    stations.push_back({eighths(random.between(-800.0, 800.0)),
                        eighths(random.between(-800.0, 800.0)),
                        eighths(i % 3 == 0 ? random.between(0.0, 700.0) : -10.0 * i)});
  }
  const Pool pool(prisms, stations);
  const Ensemble e = pool.whole();
  const double shift[3] = {5e5, 5e6, -1500.0};
  for (std::size_t a = 0; a < 3; ++a) {
    for (Prism& p : prisms) {
      p[2 * a] += shift[a];
      p[2 * a + 1] += shift[a];
    }
    for (Station& s : stations) s[a] += shift[a];
  }
  for (const Strategy strategy : general_strategies) {
    const Outcome here = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(here, all_ten(), e.expected, close_enough<T>));
    const Outcome there = compute<T>(exec, prisms, stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(there, all_ten(), e.expected, close_enough<T>))
        << to_string(strategy);
  }
}
TYPED_TEST(Forward, LargeCoordinatesCostNoDigits) {
  large_coordinates_cost_no_digits<typename TypeParam::Scalar>(TypeParam::exec());
}

// Ensembles of many sizes: millimetres, the Earth, and a plate of 1e5 km that represents a slab.
// Single precision has 38 decades; the sixth power of a distance needs most of them.
template <class T, class Memory>
void sizes_of_all_kinds(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(61, 53);
  for (const int power : {-22, 13, 20}) {
    const double factor = std::ldexp(1.0, power);
    Ensemble scaled = e;
    for (Prism& p : scaled.prisms) {
      for (std::size_t n = 0; n < 6; ++n) p[n] *= factor;
    }
    for (Station& s : scaled.stations) {
      for (double& v : s) v *= factor;
    }
    for (std::size_t s = 0; s < scaled.stations.size(); ++s) {
      for (const std::size_t place : all_places) {
        const double by = place == U ? factor * factor : place < GXX ? factor : 1.0;
        scaled.expected.fields[s][place] *= by;
      }
      scaled.expected.scales[s][0] *= factor * factor;
      scaled.expected.scales[s][1] *= factor;
    }
    const Outcome found = compute<T>(exec, scaled.prisms, scaled.stations, all_ten());
    EXPECT_TRUE(outcome_agrees(found, all_ten(), scaled.expected, close_enough<T>))
        << "times 2^" << power;
  }
  // small prisms near a slab of field 2 pi G rho h
  for (const double width : {1e5, 1e7, 1e9}) {
    const Prism slab{-0.5 * width, 0.5 * width, -0.5 * width, 0.5 * width, 10.0, 60.0, rock};
    const Prism small{-5.0, 6.0, -7.0, 4.0, 2.0, 9.0, 500.0};
    const std::vector<Station> stations{{0.0, 0.0, 0.0}, {3.0, 20.0, -30.0}, {100.0, 50.0, 35.0}};
    const Pool pool({slab, small}, stations);
    Ensemble both = pool.whole();
    // terms as wide as the slab cancel to its thickness, as in any closed form
    for (auto& scale : both.expected.scales) {
      const Norms own = own_norms(width);
      for (std::size_t n = 0; n < 3; ++n) {
        scale[n] += own[n] * (n == 2 ? 1.0 : 1e-3);
      }
    }
    const Outcome found = compute<T>(exec, both.prisms, both.stations, all_ten());
    EXPECT_TRUE(outcome_agrees(found, all_ten(), both.expected, close_enough<T>))
        << "width " << width;
  }
}
TYPED_TEST(Forward, SizesOfAllKinds) {
  sizes_of_all_kinds<typename TypeParam::Scalar>(TypeParam::exec());
}

// ------------------------------------------------------------------------------- singular points

// Stations on vertices, edges and faces of separate prisms, mixed with regular stations. Components
// that do not exist are NaN at these stations only; all others are exact.
template <class T, class Memory>
void singular_stations(const moho::Instance<Memory>& exec) {
  Random random(14);
  std::vector<Prism> prisms;
  for (int i = 0; i < 9; ++i) {  // at a distance from each other
    prisms.push_back(random_prism(random, 60.0, 1.5, {200.0 * (i % 3), 200.0 * (i / 3), 150.0}));
    prisms.back()[6] = random.between(-500.0, 2900.0);
  }
  std::vector<Station> stations;
  std::size_t nan_t = 0;
  for (int code = 0; code < 27; ++code) {
    const Prism& p = prisms[static_cast<std::size_t>(code % 9)];
    double f[3];
    int on = 0, rest = code;
    for (double& fraction : f) {
      fraction = rest % 3 == 2 ? 0.3 : rest % 3;
      on += rest % 3 != 2;
      rest /= 3;
    }
    Station s = point_in(p, f[0], f[1], f[2]);
    for (std::size_t a = 0; a < 3; ++a) {
      if (f[a] == 1.0) s[a] = p[2 * a + 1];
    }
    stations.push_back(s);
    nan_t += on == 3 ? 6 : on == 2 ? 3 : 0;
    stations.push_back({random.between(-100.0, 500.0), random.between(-100.0, 500.0), 20.0});
    // extensions of edges, and planes of faces
    stations.push_back({p[0], p[3], p[4] - random.between(1.0, 40.0)});
    stations.push_back({p[1] + 7.0, 0.5 * (p[2] + p[3]), p[5]});
  }
  const Ensemble e = Pool(prisms, stations).whole();
  for (const Strategy strategy : general_strategies) {
    const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(found, all_ten(), e.expected, close_enough<T>))
        << to_string(strategy);
    const auto nans = std::count_if(found.values.begin(), found.values.end(),
                                    [](double v) { return std::isnan(v); });
    EXPECT_EQ(static_cast<std::size_t>(nans), nan_t) << to_string(strategy);
    for (const Component c : all_ten()) {  // kernels for one component have the same contract
      const Outcome alone = compute<T>(exec, e.prisms, e.stations, {c}, with(strategy));
      EXPECT_TRUE(outcome_agrees(alone, {c}, e.expected, close_enough<T>)) << to_string(strategy);
    }
  }
}
TYPED_TEST(Forward, SingularStations) {
  singular_stations<typename TypeParam::Scalar>(TypeParam::exec());
}

// Singular stations at map coordinates, where floats cannot resolve a metre.
template <class T, class Memory>
void singular_stations_at_large_coordinates(const moho::Instance<Memory>& exec) {
  const std::vector<Prism> prisms{{500000.1, 500100.3, 5000000.7, 5000090.9, 100.3, 180.7, rock},
                                  {501000.1, 501100.3, 5000500.7, 5000590.9, 300.3, 380.7, rock}};
  std::vector<Station> stations;
  for (const Prism& p : prisms) {
    for (int code = 0; code < 8; ++code) {
      stations.push_back({p[code & 1], p[2 + (code >> 1 & 1)], p[4 + (code >> 2)]});  // vertices
    }
    for (std::size_t a = 0; a < 3; ++a) {
      Station edge{p[0], p[3], p[4]};
      edge[a] = 0.3 * p[2 * a] + 0.7 * p[2 * a + 1];
      stations.push_back(edge);
      Station face = centre_of(p);
      face[a] = p[2 * a + 1];
      stations.push_back(face);
      face[a] = p[2 * a];
      stations.push_back(face);
    }
  }
  const Ensemble e = Pool(prisms, stations).whole();
  const Outcome found = compute<T>(exec, e.prisms, e.stations, all_ten());
  EXPECT_TRUE(outcome_agrees(found, all_ten(), e.expected, close_enough<T>));
}
TYPED_TEST(Forward, SingularStationsAtLargeCoordinates) {
  singular_stations_at_large_coordinates<typename TypeParam::Scalar>(TypeParam::exec());
}

// On shared faces of a mesh every strategy gives the result for a list of its prisms. Each prism
// contributes its limit from outside.
template <class T, class Memory>
void stations_on_faces_of_a_mesh(const moho::Instance<Memory>& exec) {
  const RegularMesh mesh{{3, 2, 2}, {0.0, 0.0, 0.0}, {300.0, 160.0, 100.0}};
  std::vector<double> densities;
  for (std::int64_t i = 0; i < mesh.size(); ++i)
    densities.push_back(2000.0 + 50.0 * double(i * i % 7));
  std::vector<Station> stations{{100.0, 30.0, 20.0},  // between two prisms
                                {50.0, 80.0, 70.0},   {250.0, 20.0, 50.0},
                                {50.0, 30.0, 0.0},     // on top
                                {150.0, 30.0, 100.0},  // at the bottom
                                {0.0, 30.0, 70.0},     // at the side
                                {100.0, 80.0, 20.0},   // an edge of four prisms
                                {100.0, 30.0, 0.0},    // an edge of two
                                {100.0, 80.0, 50.0},   // a vertex of eight
                                {0.0, 0.0, 0.0},       // a vertex of one
                                {100.0, 80.0, -20.0}, {400.0, 80.0, 50.0}};
  const Ensemble e = Pool(mesh_rows(mesh, densities), stations).whole();
  for (const Strategy strategy : general_strategies) {
    const Outcome found = compute<T>(exec, mesh, densities, stations, all_ten(), with(strategy));
    EXPECT_TRUE(outcome_agrees(found, all_ten(), e.expected, close_enough<T>))
        << to_string(strategy);
  }
}
TYPED_TEST(Forward, StationsOnFacesOfAMesh) {
  stations_on_faces_of_a_mesh<typename TypeParam::Scalar>(TypeParam::exec());
}

// A station counts as on a face's plane if the square of its distance underflows, in all
// strategies. NaN occurs only where the contract requires it.
template <class T, class Memory>
void stations_at_tiny_distances(const moho::Instance<Memory>& exec) {
  const std::vector<Prism> prisms{{0.0, 100.0, -50.0, 50.0, 0.0, 40.0, rock}};
  const RegularMesh mesh{{1, 1, 1}, {0.0, -50.0, 0.0}, {100.0, 50.0, 40.0}};
  const std::vector<Station> places{{0.0, 20.0, 10.0}, {30.0, 50.0, 0.0}, {30.0, 20.0, 0.0},
                                    {0.0, 50.0, 0.0},  {0.0, 50.0, 20.0}, {0.0, 70.0, 0.0},
                                    {0.0, 50.0, -9.0}, {-50.0, 0.0, 0.0}, {0.0, -90.0, 0.0}};
  const auto moved = [](std::vector<Station> stations, double tiny) {
    for (Station& s : stations) {
      for (double& v : s) v = v == 0.0 ? tiny : v;
    }
    return stations;
  };
  const auto same = [](const Outcome& found, const Outcome& expected, double tiny) {
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      const double value = found.values[i], wanted = expected.values[i];
      const bool missing = std::isnan(wanted);
      EXPECT_EQ(std::isnan(value), missing) << "number " << i << ", " << tiny;
      if (!missing) {
        EXPECT_NEAR(value, wanted, 1e-12 * (1.0 + std::abs(wanted))) << i << ", " << tiny;
      }
    }
  };
  // by_corners: outside the mesh only
  const std::vector<Station> outside(places.begin() + 5, places.end());
  for (const Strategy strategy : general_strategies) {
    const Outcome expected = compute<T>(exec, prisms, places, all_ten(), with(strategy));
    for (const double tiny : {1e-320, 1e-200, -1e-158}) {
      same(compute<T>(exec, prisms, moved(places, tiny), all_ten(), with(strategy)), expected,
           tiny);
    }
  }
  if (std::is_same_v<T, double>) {
    const Options corners = with(Strategy::by_corners);
    const Outcome expected = compute<double>(exec, mesh, {rock}, outside, all_ten(), corners);
    for (const double tiny : {1e-320, 1e-200, -1e-158}) {
      same(compute<double>(exec, mesh, {rock}, moved(outside, tiny), all_ten(), corners), expected,
           tiny);
    }
  }
}
TYPED_TEST(Forward, StationsAtTinyDistances) {
  stations_at_tiny_distances<typename TypeParam::Scalar>(TypeParam::exec());
}

// --------------------------------------------------------------- single precision against double

// The paper's problem with fewer stations: seven spheres of prisms, stations 100 m above. The
// paper's errors in single precision are 1.308 mGal for gz and 0.031 Eotvos for gzz. They are
// square roots of sums of squares over 15,000 stations; the bound here is 1e-3 of each. The sum is
// extrapolated to 15,000 stations.
TEST(SevenSpheres, SinglePrecisionIsWorthHaving) {
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  const RegularMesh mesh{{88, 88, 32}, {0.0, 0.0, 0.0}, {22e3, 22e3, 8e3}};
  const double spheres[][5] = {{4e3, 4e3, 2.0e3, 1.2e3, 300.0},   {11e3, 5e3, 3.0e3, 1.8e3, -250.0},
                               {18e3, 4e3, 2.2e3, 1.4e3, 200.0},  {6e3, 11e3, 4.0e3, 2.0e3, 350.0},
                               {16e3, 12e3, 3.5e3, 2.2e3, 150.0}, {5e3, 18e3, 2.5e3, 1.5e3, -200.0},
                               {17e3, 18e3, 5.0e3, 2.4e3, 400.0}};
  std::vector<double> densities;
  for (std::int64_t i = 0; i < mesh.size(); ++i) {
    const std::int64_t at[3] = {i % 88, i / 88 % 88, i / (88 * 88)};
    double density = 0.0;
    for (const auto& sphere : spheres) {
      double square = 0.0;
      for (int a = 0; a < 3; ++a) {
        square += std::pow(0.5 * (mesh.face(a, at[a]) + mesh.face(a, at[a] + 1)) - sphere[a], 2);
      }
      if (square < sphere[3] * sphere[3]) density = sphere[4];
    }
    densities.push_back(density);
  }
  std::vector<Station> stations;
  for (int j = 0; j < 10; ++j) {
    for (int i = 0; i < 15; ++i)
      stations.push_back({300.0 + 1528.0 * i, 200.0 + 2400.0 * j, -100.0});
  }
  const Components nine = moho::gravity::nine_components();
  const Outcome reference = compute<double>(exec, mesh, densities, stations, nine);
  const Outcome single = compute<float>(exec, mesh, densities, stations, nine);
  EXPECT_GT(reference.report.prisms, 10000);
  for (std::size_t row = 0; row < nine.size(); ++row) {
    double sum = 0.0, size = 0.0;
    for (std::size_t s = 0; s < stations.size(); ++s) {
      sum += std::pow(single.at(row, s) - reference.at(row, s), 2);
      size = std::max(size, std::abs(reference.at(row, s)));
    }
    const double error = std::sqrt(sum * 15000.0 / static_cast<double>(stations.size()));
    EXPECT_LE(error, 1e-3) << to_string(nine[row]);
    EXPECT_GT(error, 0.0);                 // results are in single precision
    EXPECT_GT(size, row < 3 ? 2.0 : 5.0);  // mGal, Eotvos: the field is not negligible
  }
}

// ---------------------------------------------------------------- repetition, views and reports

// Two identical calls give the same bits: the order of sums does not depend on the scheduling.
template <class T, class Memory>
void repeats_itself(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(2500, 53, 15);
  for (const Strategy strategy : general_strategies) {
    const Outcome once = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    const Outcome again = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy));
    EXPECT_EQ(once.values, again.values) << to_string(strategy);
    EXPECT_TRUE(outcome_agrees(once, all_ten(), e.expected, close_enough<T>));
  }
}
TYPED_TEST(Forward, RepeatsItself) {
  repeats_itself<typename TypeParam::Scalar>(TypeParam::exec());
}

// Views of the caller's types: not const, on the host.
template <class T, class Memory>
void takes_views_that_convert(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(20, 10, 16);
  using Prisms = Kokkos::View<double* [7], Kokkos::LayoutRight, Memory>;
  using Stations = Kokkos::View<double* [3], Kokkos::LayoutRight, Memory>;
  const auto rows = numbers_in(exec, flat(e.prisms)), places = numbers_in(exec, flat(e.stations));
  const Prisms prisms(rows.data(), e.prisms.size());
  const Stations stations(places.data(), e.stations.size());
  const auto results = results_in(exec, 1, e.stations.size());
  const auto report = moho::gravity::forward<T>(exec, prisms, stations, {Component::gz}, results);
  const Outcome found = to_outcome(exec, results, report);
  EXPECT_TRUE(outcome_agrees(found, {Component::gz}, e.expected, close_enough<T>));
}
TYPED_TEST(Forward, TakesViewsThatConvert) {
  takes_views_that_convert<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void tells_what_it_did(const moho::Instance<Memory>& exec) {
  const Ensemble e = mixed_pool().ensemble(1000, 33, 17);
  for (const Strategy strategy : general_strategies) {
    const Report report = compute<T>(exec, e.prisms, e.stations, all_ten(), with(strategy)).report;
    EXPECT_EQ(report.prisms, 1000);
    EXPECT_EQ(report.stations, 33);
    EXPECT_GE(report.private_grids, 1);
    EXPECT_GE(report.passes, 1);
    EXPECT_GE(report.memory, 33u * 10u * sizeof(T));
    for (const char* phase : {"check", "prepare", "sum", "reduce"}) {
      EXPECT_GT(report.times.seconds(phase), 0.0) << phase;
    }
  }
}
TYPED_TEST(Forward, TellsWhatItDid) {
  tells_what_it_did<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
