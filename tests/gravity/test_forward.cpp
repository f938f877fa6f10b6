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

template <class C>
class Forward : public ::testing::Test {};
TYPED_TEST_SUITE(Forward, TestCases, CaseName);

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
    for (const std::size_t slot : all_slots) {
      EXPECT_NEAR(alone.at(slot, 0), together.at(slot, s),
                  2.0 * close_enough<T> * e.expected.scales[s][order_of(slot)])
          << slot_name(slot) << " at station " << s;
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
  const auto rows = numbers_in(exec, flat(e.prisms)),
             positions = numbers_in(exec, flat(e.stations));
  const Prisms prisms(rows.data(), e.prisms.size());
  const Stations stations(positions.data(), e.stations.size());
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
