// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Magnetic anomalies of prisms: quadrature of dipoles, Poisson's relation, symmetries, refusals.

#include "gravity/ensembles.hpp"
#include "gravity/quadrature.hpp"
#include "refusals.hpp"

#include <moho/gravity/magnetic_job.hpp>

#include <gmock/gmock.h>

#include <limits>

namespace {

using namespace moho::testing;
using moho::gravity::AmbientField;
using moho::gravity::MagneticComponent;
using moho::gravity::MagneticComponents;
using moho::gravity::MagneticJob;
using ::testing::HasSubstr;
using Vector = std::array<double, 3>;

template <class C>
class Magnetic : public ::testing::Test {};
TYPED_TEST_SUITE(Magnetic, TestCases, CaseName);

constexpr AmbientField ambient{48000.0, -63.0, 11.0};
const MagneticComponents all_four = moho::gravity::all_magnetic_components();

template <class Function>
void expect_refusal(const Function& function, const std::vector<std::string>& parts) {
  const std::string text = message_of(function);
  for (const std::string& part : parts) EXPECT_THAT(text, HasSubstr(part));
}

template <class Memory>
moho::gravity::RemanenceView<Memory> remanence_of(const Kokkos::View<double*, Memory>& numbers) {
  return moho::gravity::RemanenceView<Memory>(numbers.data(), numbers.size() / 3);
}

// Fields of prisms whose seventh numbers are susceptibilities.
template <class T, class Memory>
Outcome anomaly(const Instance<Memory>& exec, const std::vector<Prism>& prisms,
                const std::vector<Vector>& remanence, const std::vector<Station>& stations,
                const MagneticComponents& components = all_four,
                const AmbientField& field = ambient, const Options& options = {}) {
  const auto rows = numbers_in(exec, flat(prisms)), positions = numbers_in(exec, flat(stations));
  const auto vectors = numbers_in(exec, flat(remanence));
  const auto results = results_in(exec, components.size(), stations.size());
  const auto report =
      moho::gravity::magnetic_field<T>(exec, prisms_of(rows), remanence_of(vectors),
                                       stations_of(positions), components, field, results, options);
  return to_outcome(exec, results, report);
}

std::vector<Prism> with_susceptibility(std::vector<Prism> prisms, double susceptibility) {
  for (Prism& p : prisms) p[6] = susceptibility;
  return prisms;
}

std::vector<Vector> random_vectors(std::size_t count, unsigned seed) {
  Random random(seed);
  std::vector<Vector> vectors;
  for (std::size_t i = 0; i < count; ++i) {
    vectors.push_back(
        {random.between(-3.0, 3.0), random.between(-3.0, 3.0), random.between(-3.0, 3.0)});
  }
  return vectors;
}

// The induced magnetisation of susceptibility 1, A/m, from its definition.
Vector induced(const AmbientField& field) {
  const double i = field.inclination * pi / 180.0, d = field.declination * pi / 180.0;
  const double strength = field.intensity * 1e-9 / (4e-7 * pi);
  return {strength * std::cos(i) * std::cos(d), strength * std::cos(i) * std::sin(d),
          strength * std::sin(i)};
}

// B of a dipole moment at the origin, nT, at a point.
Vector dipole(const Vector& moment, const Vector& at) {
  const double r2 = at[0] * at[0] + at[1] * at[1] + at[2] * at[2], r = std::sqrt(r2);
  const double along = moment[0] * at[0] + moment[1] * at[1] + moment[2] * at[2];
  Vector field;
  for (std::size_t n = 0; n < 3; ++n) {
    field[n] = 100.0 * (3.0 * along * at[n] / r2 - moment[n]) / (r2 * r);
  }
  return field;
}

double norm_of(const Vector& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// ------------------------------------------------------------------------- independent formulas

TYPED_TEST(Magnetic, IsTheIntegralOfDipolesOverAPrism) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const Prism prism{-40.0, 70.0, 10.0, 60.0, 30.0, 190.0, 0.035};
  const Vector rest{1.5, -0.7, 2.25}, unit = induced(ambient);
  Vector j;
  for (std::size_t n = 0; n < 3; ++n) j[n] = prism[6] * unit[n] + rest[n];
  const std::vector<Station> stations{{0, 0, 0},      {100, -20, 0},  {-300, 250, -80},
                                      {15, 35, 25},   {200, 35, 110}, {0, 0, 260},
                                      {-45, 0, 100},  {5000, 0, 100}, {-2000, 9000, -4000},
                                      {71, 61, 29.5}, {0, 30, -1000}};
  const Outcome found = anomaly<T>(exec, {prism}, {rest}, stations);
  const double f = ambient.intensity * 1e-9 / (4e-7 * pi);
  for (std::size_t s = 0; s < stations.size(); ++s) {
    const Station& at = stations[s];
    BoxQuadrature<3>::Box box;
    double nearest = 0.0, volume = 1.0;
    for (std::size_t n = 0; n < 3; ++n) {
      box[2 * n] = prism[2 * n] - at[n];
      box[2 * n + 1] = prism[2 * n + 1] - at[n];
      volume *= box[2 * n + 1] - box[2 * n];
      const double off = std::max({box[2 * n], -box[2 * n + 1], 0.0});
      nearest += off * off;
    }
    Field allowed;
    allowed.fill(1e-8 * norm_of(j) * 100.0 * std::min(1.0, volume / std::pow(nearest, 1.5)));
    const Field integral = BoxQuadrature<3>().integrate(
        [&](const std::array<double, 3>& p) {
          const Vector b = dipole(j, {-p[0], -p[1], -p[2]});
          return Field{b[0], b[1], b[2], 0, 0, 0, 0, 0, 0, 0};
        },
        box, allowed, 9);
    double total = 0.0, scale = 0.0;
    for (std::size_t n = 0; n < 3; ++n) {
      total += integral[n] * unit[n] / f;
      scale = std::max(scale, std::abs(integral[n]));
    }
    const double close = (sizeof(T) == 4 ? 2e-5 : 1e-7) * scale;
    EXPECT_NEAR(found.at(0, s), total, close) << s;
    for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(found.at(1 + n, s), integral[n], close) << s;
  }
}

TYPED_TEST(Magnetic, OfACubeAtADistanceIsThatOfADipole) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const Prism cube{990.0, 1010.0, -510.0, -490.0, 40.0, 60.0, 0.0};
  const Vector j{4.0, 1.0, -2.0}, moment{4.0 * 8000, 8000.0, -2.0 * 8000};
  Random random(5);
  std::vector<Station> stations;
  for (int i = 0; i < 40; ++i) {
    const double distance = random.log_between(4e3, 2e5);
    const Station u = random.direction();
    stations.push_back(
        {1000.0 + distance * u[0], -500.0 + distance * u[1], 50.0 + distance * u[2]});
  }
  const Outcome found = anomaly<T>(exec, {cube}, {j}, stations);
  for (std::size_t s = 0; s < stations.size(); ++s) {
    const Vector expected =
        dipole(moment, {stations[s][0] - 1000.0, stations[s][1] + 500.0, stations[s][2] - 50.0});
    // a cube has no quadrupole; the next term is (a/D)^4, below 1e-9
    const double close = (sizeof(T) == 4 ? 3e-5 : 2e-9) * norm_of(expected);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(found.at(1 + n, s), expected[n], close) << s;
  }
}

// Cells of a sphere: the field of a uniformly magnetised sphere is that of a dipole, outside.
TYPED_TEST(Magnetic, OfASphereIsThatOfADipole) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const double radius = 100.0, step = 8.0;
  std::vector<Prism> cells;
  for (int i = -13; i < 13; ++i) {
    for (int j = -13; j < 13; ++j) {
      for (int k = -13; k < 13; ++k) {
        const double x = step * (i + 0.5), y = step * (j + 0.5), z = step * (k + 0.5);
        if (x * x + y * y + z * z > radius * radius) continue;
        cells.push_back({step * i, step * (i + 1), step * j, step * (j + 1), 200.0 + step * k,
                         200.0 + step * (k + 1), 0.02});
      }
    }
  }
  const std::vector<Station> stations{{0, 0, 0}, {150, 0, 0}, {0, 200, 0}, {-300, 300, 0}};
  const Outcome found = anomaly<T>(exec, cells, {}, stations);
  EXPECT_EQ(found.report.prisms, static_cast<std::int64_t>(cells.size()));
  const double volume = step * step * step * static_cast<double>(cells.size());
  Vector moment = induced(ambient);
  for (double& m : moment) m *= 0.02 * volume;
  for (std::size_t s = 0; s < stations.size(); ++s) {
    const Vector expected = dipole(moment, {stations[s][0], stations[s][1], -200.0});
    // cells differ from a sphere of their volume by moments of the fourth order
    const double distance = norm_of({stations[s][0], stations[s][1], 200.0}) / 200.0;
    const double close = 4e-3 / (distance * distance) * norm_of(expected);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(found.at(1 + n, s), expected[n], close) << s;
  }
}

// Poisson's relation against the gradient tensor in extended precision, for many prisms.
TYPED_TEST(Magnetic, IsTheGradientTensorTimesTheMagnetisation) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const auto& pool = mixed_pool();
  std::vector<Station> outside;
  for (std::size_t s = 0; s < pool.stations().size(); ++s) {
    if (s % 3 != 0) outside.push_back(pool.stations()[s]);
  }
  const auto prisms = with_susceptibility(pool.prisms(), 0.01);
  const auto rest = random_vectors(prisms.size(), 3);
  const Vector unit = induced(ambient);
  std::vector<std::array<double, 4>> expected(outside.size());
  std::vector<double> scales(outside.size());
  for (std::size_t i = 0; i < prisms.size(); ++i) {
    Vector j;
    for (std::size_t n = 0; n < 3; ++n) j[n] = 0.01 * unit[n] + rest[i][n];
    for (std::size_t s = 0; s < outside.size(); ++s) {
      Prism one = prisms[i];
      one[6] = 1.0;
      const Field field = exact_prism(one, outside[s], 1e-9);  // gradient without G rho
      for (std::size_t a = 0; a < 3; ++a) {
        double b = 0.0;
        for (std::size_t c = 0; c < 3; ++c) b += 100.0 * field[gradient_slot(a, c)] * j[c];
        expected[s][1 + a] += b;
        expected[s][0] += b * unit[a] / norm_of(unit);
      }
      scales[s] += 100.0 * norms_of(field)[2] * norm_of(j);
    }
  }
  for (const Strategy strategy : {Strategy::automatic, Strategy::tiles, Strategy::by_stations}) {
    Options options;
    options.strategy = strategy;
    const Outcome found = anomaly<T>(exec, prisms, rest, outside, all_four, ambient, options);
    for (std::size_t s = 0; s < outside.size(); ++s) {
      for (std::size_t c = 0; c < 4; ++c) {
        EXPECT_NEAR(found.at(c, s), expected[s][c], 2.0 * close_enough<T> * scales[s]) << s;
      }
    }
  }
}

// ------------------------------------------------------------------------------------ properties

std::vector<Station> above() {
  Random random(8);
  std::vector<Station> stations;
  for (int i = 0; i < 33; ++i) {
    stations.push_back({random.between(-900.0, 900.0), random.between(-900.0, 900.0), -600.0});
  }
  return stations;
}

TYPED_TEST(Magnetic, InducedEqualsRemanentOfTheSameVector) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const auto stations = above();
  const auto& prisms = mixed_pool().prisms();
  const Outcome first = anomaly<T>(exec, with_susceptibility(prisms, 0.05), {}, stations);
  Vector vector = induced(ambient);
  for (double& v : vector) v *= 0.05;
  const Outcome second = anomaly<T>(exec, with_susceptibility(prisms, 0.0),
                                    std::vector<Vector>(prisms.size(), vector), stations);
  double largest = 0.0;
  for (const double v : first.values) largest = std::max(largest, std::abs(v));
  EXPECT_GT(largest, 5.0);
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    EXPECT_NEAR(first.values[i], second.values[i], (sizeof(T) == 4 ? 1e-5 : 1e-13) * largest);
  }
}

TYPED_TEST(Magnetic, IsLinear) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const auto stations = above();
  const auto& prisms = mixed_pool().prisms();
  const auto rest = random_vectors(prisms.size(), 4);
  auto twice = rest, turned = rest;
  for (Vector& v : twice) {
    for (double& number : v) number *= 2.0;
  }
  for (Vector& v : turned) {
    for (double& number : v) number = -number;
  }
  const auto none = with_susceptibility(prisms, 0.0);
  const Outcome one = anomaly<T>(exec, none, rest, stations);
  const Outcome two = anomaly<T>(exec, none, twice, stations);
  const Outcome minus = anomaly<T>(exec, none, turned, stations);
  const Outcome other = anomaly<T>(exec, with_susceptibility(prisms, 0.02), {}, stations);
  const Outcome both = anomaly<T>(exec, with_susceptibility(prisms, 0.02), rest, stations);
  double largest = 0.0;
  for (const double v : both.values) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    EXPECT_EQ(two.values[i], 2.0 * one.values[i]);
    EXPECT_EQ(minus.values[i], -one.values[i]);
    EXPECT_NEAR(both.values[i], one.values[i] + other.values[i],
                (sizeof(T) == 4 ? 1e-5 : 1e-12) * largest);
  }
}

// A quarter turn of prisms, stations and field about the z axis turns the anomaly.
TYPED_TEST(Magnetic, TurnsWithItsPrismsAndField) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const auto stations = above();
  const auto prisms = with_susceptibility(mixed_pool().prisms(), 0.03);
  std::vector<Prism> turned;
  for (const Prism& p : prisms) turned.push_back({-p[3], -p[2], p[0], p[1], p[4], p[5], p[6]});
  std::vector<Station> positions;
  for (const Station& s : stations) positions.push_back({-s[1], s[0], s[2]});
  const Outcome first = anomaly<T>(exec, prisms, {}, stations);
  const Outcome second =
      anomaly<T>(exec, turned, {}, positions, all_four,
                 {ambient.intensity, ambient.inclination, ambient.declination + 90.0});
  for (std::size_t s = 0; s < stations.size(); ++s) {
    const Vector b{first.at(1, s), first.at(2, s), first.at(3, s)};
    const double close = (sizeof(T) == 4 ? 1e-4 : 1e-11) * norm_of(b);
    EXPECT_NEAR(second.at(0, s), first.at(0, s), close) << s;
    EXPECT_NEAR(second.at(1, s), -b[1], close) << s;
    EXPECT_NEAR(second.at(2, s), b[0], close) << s;
    EXPECT_NEAR(second.at(3, s), b[2], close) << s;
  }
}

TYPED_TEST(Magnetic, AtThePoleTotalIsVerticalAndAtTheEquatorNorth) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const auto stations = above();
  const auto prisms = with_susceptibility(mixed_pool().prisms(), 0.03);
  const Outcome pole = anomaly<T>(exec, prisms, {}, stations, all_four, {60000.0, 90.0, 40.0});
  const Outcome equator = anomaly<T>(exec, prisms, {}, stations, all_four, {30000.0, 0.0, 0.0});
  const Outcome east = anomaly<T>(exec, prisms, {}, stations, all_four, {30000.0, 0.0, -270.0});
  for (std::size_t s = 0; s < stations.size(); ++s) {
    EXPECT_EQ(pole.at(0, s), pole.at(3, s));
    EXPECT_EQ(equator.at(0, s), equator.at(1, s));
    EXPECT_EQ(east.at(0, s), east.at(2, s));
  }
  // a body below the station at the pole, where the field points down, attracts: B points down
  const Outcome over = anomaly<T>(exec, {{-50, 50, -50, 50, 100, 200, 0.01}}, {}, {{0, 0, 0}},
                                  all_four, {60000.0, 90.0, 0.0});
  EXPECT_GT(over.at(0, 0), 0.0);
  const Outcome across = anomaly<T>(exec, {{-50, 50, -50, 50, 100, 200, 0.01}}, {}, {{0, 0, 0}},
                                    all_four, {30000.0, 0.0, 0.0});
  EXPECT_LT(across.at(0, 0), 0.0);
}

// Some components alone, in any order, have the values of all.
TYPED_TEST(Magnetic, ComponentsInAnyOrder) {
  using T = typename TypeParam::Scalar;
  using enum MagneticComponent;
  const auto exec = TypeParam::exec();
  const auto stations = above();
  const auto prisms = with_susceptibility(mixed_pool().prisms(), 0.03);
  const Outcome all = anomaly<T>(exec, prisms, {}, stations);
  for (const MagneticComponents& some :
       {MagneticComponents{total}, {bz, total}, {by}, {bz, by, bx, total}}) {
    const Outcome found = anomaly<T>(exec, prisms, {}, stations, some);
    for (std::size_t c = 0; c < some.size(); ++c) {
      for (std::size_t s = 0; s < stations.size(); ++s) {
        EXPECT_EQ(found.at(c, s), all.at(static_cast<std::size_t>(some[c]), s));
      }
    }
  }
}

// ---------------------------------------------------------------------------- faces and interiors

TYPED_TEST(Magnetic, OnAFaceIsTheLimitFromOutside) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const std::vector<Prism> prism{{0, 100, 0, 100, 0, 100, 0.0}};
  const std::vector<Vector> j{{1.0, 2.0, 3.0}};
  const Outcome found = anomaly<T>(exec, prism, j,
                                   {{30, 40, 0},
                                    {30, 40, -1e-5},
                                    {100, 20, 60},
                                    {100 + 1e-5, 20, 60},
                                    {100, 100, 50},
                                    {100, 100, 100}});
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(found.at(c, 0), found.at(c, 1), 1e-2) << c;
    EXPECT_NEAR(found.at(c, 2), found.at(c, 3), 1e-2) << c;
    EXPECT_TRUE(std::isnan(found.at(c, 5))) << c;
  }
  EXPECT_TRUE(std::isnan(found.at(1, 4)));  // on an edge along z
  EXPECT_TRUE(std::isnan(found.at(2, 4)));
  EXPECT_FALSE(std::isnan(found.at(3, 4)));
}

TYPED_TEST(Magnetic, RefusesStationsInsideOfMagnetisedPrisms) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const std::vector<Prism> prisms{{0, 100, 0, 100, 0, 100, 0.01}, {100, 200, 0, 100, 0, 100, 0.0}};
  const std::vector<Station> stations{{0, 0, -50}, {150, 50, 50}, {50, 50, 50}};
  expect_refusal([&] { anomaly<T>(exec, prisms, {}, stations); },
                 {"stations: row 2", "inside of a magnetised prism", "allowed"});
  const std::vector<Station> others{stations[0], stations[1]};
  EXPECT_EQ(anomaly<T>(exec, prisms, {}, others).report.prisms, 1);
  expect_refusal(
      [&] {
        anomaly<T>(exec, prisms, {{0, 0, 0}, {0, 1, 0}}, others);
      },
      {"stations: row 1", "inside of a magnetised prism"});
}

TYPED_TEST(Magnetic, OfAMeshIsThatOfItsCells) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const RegularMesh mesh{{7, 5, 4}, {-300, -200, 10}, {400, 300, 410}};
  Random random(17);
  std::vector<double> susceptibilities;
  std::vector<Prism> prisms;
  for (std::int64_t i = 0; i < mesh.size(); ++i) {
    susceptibilities.push_back(i % 4 == 0 ? 0.0 : random.between(0.001, 0.05));
    Prism p;
    const std::int64_t k[] = {i % 7, i / 7 % 5, i / 35};
    for (int n = 0; n < 3; ++n) {
      p[2 * static_cast<std::size_t>(n)] = mesh.face(n, k[n]);
      p[2 * static_cast<std::size_t>(n) + 1] = mesh.face(n, k[n] + 1);
    }
    p[6] = susceptibilities.back();
    prisms.push_back(p);
  }
  auto rest = random_vectors(prisms.size(), 9);
  rest[8] = {0, 0, 0};  // cell 8 is not magnetised
  std::vector<Station> stations = above();
  stations.push_back({-150.0, -50.0, 60.0});  // inside of cell 8
  const auto numbers = numbers_in(exec, susceptibilities), vectors = numbers_in(exec, flat(rest));
  const auto run = [&](const std::vector<Station>& at) {
    const auto positions = numbers_in(exec, flat(at));
    const auto results = results_in(exec, 4, at.size());
    const auto report = moho::gravity::magnetic_field<T>(
        exec, mesh, moho::gravity::DensityView<typename TypeParam::Memory>(numbers),
        remanence_of(vectors), stations_of(positions), all_four, ambient, results);
    return to_outcome(exec, results, report);
  };
  const Outcome found = run(stations);
  const Outcome expected = anomaly<T>(exec, prisms, rest, stations);
  EXPECT_EQ(found.report.prisms, mesh.size() - 1);
  double largest = 0.0;
  for (const double v : expected.values) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    EXPECT_NEAR(found.values[i], expected.values[i], (sizeof(T) == 4 ? 1e-5 : 1e-12) * largest);
  }
  stations.push_back({-50.0, -50.0, 60.0});  // inside of cell 9
  expect_refusal([&] { run(stations); }, {"stations: row 34", "inside of a magnetised prism"});
}

// ------------------------------------------------------------------------------ on the host, jobs

MagneticJob mesh_job() {
  MagneticJob job;
  job.regular = true;
  job.mesh = {{9, 6, 3}, {0, 0, 20}, {900, 600, 320}};
  Random random(23);
  for (std::int64_t i = 0; i < job.mesh.size(); ++i) {
    job.densities.push_back(random.between(0.0, 0.05));
    for (int n = 0; n < 3; ++n) job.remanence.push_back(random.between(-1.0, 1.0));
  }
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 11; ++i) {
      for (const double x : {-50.0 + 100.0 * i, -50.0 + 100.0 * j, -30.0}) {
        job.stations.push_back(x);
      }
    }
  }
  job.magnetic_components = all_four;
  job.ambient = ambient;
  return job;
}

template <class S>
class MagneticOnLattice : public ::testing::Test {};
TYPED_TEST_SUITE(MagneticOnLattice, TestSpaces, SpaceName);

TYPED_TEST(MagneticOnLattice, IsTheDirectSum) {
  const auto exec = TypeParam::exec();
  MagneticJob job = mesh_job();
  const auto direct = moho::gravity::compute_magnetic_field<double>(exec, job);
  job.options.strategy = Strategy::lattice;
  const auto found = moho::gravity::compute_magnetic_field<double>(exec, job);
  ASSERT_EQ(found.results.size(), 4u * 88u);
  EXPECT_EQ(found.report.prisms, job.mesh.size());
  double largest = 0.0;
  for (const double v : direct.results) largest = std::max(largest, std::abs(v));
  EXPECT_GT(largest, 1.0);
  for (std::size_t i = 0; i < found.results.size(); ++i) {
    EXPECT_NEAR(found.results[i], direct.results[i], 1e-12 * largest);
  }
  job.stations[0] += 1.0;
  expect_refusal([&] { moho::gravity::compute_magnetic_field<double>(exec, job); }, {"stations"});
}

TEST(MagneticJobs, WithoutMagnetisationAreZero) {
  MagneticJob job = mesh_job();
  job.densities.assign(job.densities.size(), 0.0);
  job.remanence.clear();
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  for (const double v : moho::gravity::compute_magnetic_field<double>(exec, job).results) {
    EXPECT_EQ(v, 0.0);
  }
}

// -------------------------------------------------------------------------------------- refusals

TEST(MagneticJobs, HaveCompleteRows) {
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  const auto refuse = [&](const std::string& words, const auto& change) {
    MagneticJob job;
    job.prisms = {0, 1, 0, 1, 0, 1, 0.01};
    job.stations = {0, 0, -5};
    job.remanence = {0, 0, 1};
    job.magnetic_components = all_four;
    job.ambient = ambient;
    change(job);
    expect_refusal([&] { compute_magnetic_field<double>(exec, job); }, {words});
  };
  refuse("prisms: there are 8 numbers", [](MagneticJob& job) { job.prisms.push_back(1.0); });
  refuse("stations: there are 4 numbers", [](MagneticJob& job) { job.stations.push_back(1.0); });
  refuse("remanence: there are 2 numbers", [](MagneticJob& job) { job.remanence.pop_back(); });
  refuse("remanence: there are 2 rows", [](MagneticJob& job) { job.remanence.resize(6, 1.0); });
}

TEST(MagneticNames, AreParsedInTheirOrder) {
  using enum MagneticComponent;
  using moho::gravity::parse_magnetic_components;
  EXPECT_EQ(parse_magnetic_components("total"), MagneticComponents{total});
  EXPECT_EQ(parse_magnetic_components("bz, total,bx"), (MagneticComponents{bz, total, bx}));
  EXPECT_EQ(parse_magnetic_components("all"), all_four);
  for (const char* wrong : {"", "gz", "total,", "total,all", "Bx"}) {
    expect_refusal([&] { parse_magnetic_components(wrong); }, {"components", "allowed", "total"});
  }
  expect_refusal([&] { parse_magnetic_components("bx,bx"); }, {"'bx' is named twice"});
}

TEST(MagneticInput, IsRefusedWithRowValueAndRange) {
  const moho::Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  const std::vector<Prism> prism{{0, 1, 0, 1, 0, 1, 0.01}};
  const std::vector<Station> station{{0, 0, -5}};
  const auto refuse = [&](const std::vector<std::string>& parts, const std::vector<Prism>& prisms,
                          const std::vector<Vector>& rest, const AmbientField& field,
                          const MagneticComponents& components, Strategy strategy) {
    Options options;
    options.strategy = strategy;
    expect_refusal(
        [&] { anomaly<double>(exec, prisms, rest, station, components, field, options); }, parts);
  };
  constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
  const auto automatic = Strategy::automatic;
  refuse({"susceptibility is -1.5", "row 0", "more than -1"}, {{0, 1, 0, 1, 0, 1, -1.5}}, {},
         ambient, all_four, automatic);
  refuse({"susceptibility is nan"}, {{0, 1, 0, 1, 0, 1, nan_value}}, {}, ambient, all_four,
         automatic);
  refuse({"remanence: row 0", "along z is nan"}, prism, {{0, 0, nan_value}}, ambient, all_four,
         automatic);
  refuse({"remanence: there are 2 rows", "1, one a prism"}, prism, {{0, 0, 1}, {0, 0, 1}}, ambient,
         all_four, automatic);
  refuse({"intensity is 0 nT", "more than 0"}, prism, {}, {0.0, 10.0, 10.0}, all_four, automatic);
  refuse({"inclination is 91", "-90 to 90"}, prism, {}, {5e4, 91.0, 10.0}, all_four, automatic);
  refuse({"declination is nan", "-360 to 360"}, prism, {}, {5e4, 9.0, nan_value}, all_four,
         automatic);
  refuse({"components: the list is empty"}, prism, {}, ambient, {}, automatic);
  refuse({"bz is named twice"}, prism, {}, ambient, {MagneticComponent::bz, MagneticComponent::bz},
         automatic);
  for (const Strategy strategy : {Strategy::by_prisms, Strategy::by_corners, Strategy::lattice}) {
    refuse({"strategy: ", "has no magnetic fields", "take automatic"}, prism, {}, ambient, all_four,
           strategy);
  }
}

}  // namespace
