// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
// ctest: sanitizers without *serial_double*
//
// forward() at distances and coordinates of all sizes, on every space and in both precisions:
// slender prisms, far fields, map coordinates, bodies from millimetres to the Earth.

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;

template <class C>
class ForwardDistances : public ::testing::Test {};
TYPED_TEST_SUITE(ForwardDistances, TestCases, CaseName);

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
TYPED_TEST(ForwardDistances, SlenderPrisms) {
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
TYPED_TEST(ForwardDistances, TheFarFieldKeepsItsPromise) {
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
TYPED_TEST(ForwardDistances, LargeCoordinatesCostNoDigits) {
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
      for (const std::size_t slot : all_slots) {
        const double by = slot == U ? factor * factor : slot < GXX ? factor : 1.0;
        scaled.expected.fields[s][slot] *= by;
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
TYPED_TEST(ForwardDistances, SizesOfAllKinds) {
  sizes_of_all_kinds<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
