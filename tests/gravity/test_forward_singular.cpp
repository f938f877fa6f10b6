// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
// ctest: sanitizers without *serial_double*
//
// forward() at stations on vertices, edges and faces of prisms, on every space and in both
// precisions.

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;

template <class C>
class ForwardSingular : public ::testing::Test {};
TYPED_TEST_SUITE(ForwardSingular, TestCases, CaseName);

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
TYPED_TEST(ForwardSingular, SingularStations) {
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
TYPED_TEST(ForwardSingular, SingularStationsAtLargeCoordinates) {
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
TYPED_TEST(ForwardSingular, StationsOnFacesOfAMesh) {
  stations_on_faces_of_a_mesh<typename TypeParam::Scalar>(TypeParam::exec());
}

// A station counts as on a face's plane if the square of its distance underflows, in all
// strategies. NaN occurs only where the contract requires it.
template <class T, class Memory>
void stations_at_tiny_distances(const moho::Instance<Memory>& exec) {
  const std::vector<Prism> prisms{{0.0, 100.0, -50.0, 50.0, 0.0, 40.0, rock}};
  const RegularMesh mesh{{1, 1, 1}, {0.0, -50.0, 0.0}, {100.0, 50.0, 40.0}};
  const std::vector<Station> positions{{0.0, 20.0, 10.0}, {30.0, 50.0, 0.0}, {30.0, 20.0, 0.0},
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
  const std::vector<Station> outside(positions.begin() + 5, positions.end());
  for (const Strategy strategy : general_strategies) {
    const Outcome expected = compute<T>(exec, prisms, positions, all_ten(), with(strategy));
    for (const double tiny : {1e-320, 1e-200, -1e-158}) {
      same(compute<T>(exec, prisms, moved(positions, tiny), all_ten(), with(strategy)), expected,
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
TYPED_TEST(ForwardSingular, StationsAtTinyDistances) {
  stations_at_tiny_distances<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
