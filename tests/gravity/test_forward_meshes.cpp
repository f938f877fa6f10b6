// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
// ctest: sanitizers without *serial_double*
//
// forward() of regular meshes, on every space and in both precisions: comparison with exact fields,
// of meshes with lists of their prisms, and of corners with prisms.

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;
using moho::gravity::mesh_prisms;

template <class C>
class ForwardMeshes : public ::testing::Test {};
TYPED_TEST_SUITE(ForwardMeshes, TestCases, CaseName);

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
TYPED_TEST(ForwardMeshes, RegularEnsemblesAreIrregularOnes) {
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
TYPED_TEST(ForwardMeshes, CornersGiveWhatPrismsGive) {
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
TYPED_TEST(ForwardMeshes, AHomogeneousMeshIsOnePrism) {
  a_homogeneous_mesh_is_one_prism<typename TypeParam::Scalar>(TypeParam::exec());
}

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
TYPED_TEST(ForwardMeshes, AutomaticKeepsDigitsFarFromAMesh) {
  automatic_keeps_digits_far_from_a_mesh<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
