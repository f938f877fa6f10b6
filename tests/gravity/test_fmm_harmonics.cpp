// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Solid harmonics, their derivatives, translations and moments against sums over points.

#include "gravity/fields.hpp"

#include <moho/gravity/fmm.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace fmm_harmonics {

using moho::testing::Random;
using namespace moho::gravity::detail;
using Point = std::array<double, 3>;

constexpr int order = 16;
constexpr int lanes = fmm_lanes;

std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

// The tables exist while the tests run.
class GravityFmmHarmonics : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    made.emplace(moho::Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace()),
                 fmm_tables(order));
  }
  static void TearDownTestSuite() { made.reset(); }
  static inline std::optional<FmmTablesIn<Kokkos::HostSpace>> made;
};

const FmmTablesIn<Kokkos::HostSpace>& tables() { return *GravityFmmHarmonics::made; }

std::vector<double> harmonics_of(const Point& x) {
  std::vector<double> values(at(fmm_count(order)), 0.0);
  const FmmConstants& constants = tables().constants;
  regular_harmonics<double>(order, constants.upward, order, constants.root, x[0], x[1], x[2],
                            [&](int, int n, int m, double cosine, double sine) {
                              values[at(cos_at(n, m))] = cosine;
                              if (m > 0) values[at(sin_at(n, m))] = sine;
                            });
  return values;
}

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t r = 0; r < a.size(); ++r) sum += a[r] * b[r];
  return sum;
}

// Translates an expansion by eight vectors; returns those of all lanes.
template <Shift kind>
std::vector<std::vector<double>> translated(const std::vector<double>& from,
                                            const std::vector<Point>& vectors, double in,
                                            double out) {
  std::vector<double> scratch(at(translation_scratch(order, lanes)));
  const Translation<lanes> work(tables().constants, order, scratch.data());
  for (int lane = 0; lane < lanes; ++lane) {
    const Point& d = vectors[at(lane)];
    const double length = std::hypot(d[0], d[1], d[2]);
    const bool far = kind == Shift::far_pair;
    work.set_lane(lane, order, {d[0], d[1], d[2]}, far ? in / length : in, far ? out / length : out,
                  length, far ? 1.0 / length : 1.0);
    for (std::size_t r = 0; r < from.size(); ++r) work.first[r * lanes + at(lane)] = from[r];
  }
  work.template run<kind>(HostTeam(), order, order);
  std::vector<std::vector<double>> found(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t r = 0; r < from.size(); ++r) {
      found[lane].push_back(work.second[r * lanes + lane]);
    }
  }
  return found;
}

// Vectors along and between the axes.
std::vector<Point> vectors_of(double length, unsigned seed) {
  Random random(seed);
  std::vector<Point> vectors{
      {0.0, 0.0, length}, {0.0, 0.0, -length}, {length, 0.0, 0.0}, {0.0, -length, 0.0}};
  while (vectors.size() < lanes) {
    const auto u = random.direction();
    vectors.push_back({length * u[0], length * u[1], length * u[2]});
  }
  return vectors;
}

TEST_F(GravityFmmHarmonics, AreThoseOfTheInverseDistance) {
  const Point s{0.3, 0.2, -0.15}, x{2.0, -1.4, 3.0};
  const auto a = harmonics_of(s), b = harmonics_of(x);
  const double r = distance(x, {0.0, 0.0, 0.0});
  double sum = 0.0;
  for (int n = 0; n <= order; ++n) {
    for (int k = n * n; k < (n + 1) * (n + 1); ++k) {
      sum += a[at(k)] * b[at(k)] * std::pow(r, -2 * n - 1);
    }
  }
  EXPECT_NEAR(sum * distance(s, x), 1.0, 1e-14);
}

TEST_F(GravityFmmHarmonics, TablesOfDevicesHaveTheSameElements) {
  const FmmTables& known = fmm_tables(order);
  const FmmTables found = arranged_for_devices(known);
  ASSERT_EQ(found.rows.size(), known.rows.size());
  const int pairs = (order + 1) * (order + 2) / 2;
  for (std::size_t r = 0; r < known.rows.size(); ++r) {
    const HarmonicRow &row = known.rows[r], &own = found.rows[r];
    const int n = row.degree;
    for (int m = first_exchanged(row), k = 0; m <= n; m += 2, ++k) {
      ASSERT_EQ(found.exchange[at(own.exchange + k * (2 * n + 1))],
                known.exchange[at(row.exchange + k)]);
    }
    for (int k = row.order; k <= order; ++k) {
      const std::size_t to = at(own.shift + k * pairs), from = at(row.shift + k - row.order);
      ASSERT_EQ(found.inverse[to], known.inverse[from]);
      ASSERT_EQ(found.shift[to], known.shift[from]);
    }
  }
}

// Calls sink(tile, element of the tile) for tiles of `rows` and `columns` from `begin` on.
template <class Sink>
void for_tile_elements(const std::vector<double>& tiles, std::int32_t begin, int count,
                       const Sink& sink) {
  for (int tile = 0; tile < count; ++tile) {
    for (int k = 0; k < warp_threads; ++k) sink(tile, k, tiles.at(at(begin + 32 * tile + k)));
  }
}

TEST_F(GravityFmmHarmonics, TilesHaveTheElementsOfTheTables) {
  constexpr int max = 20;
  const FmmTables& known = fmm_tables(max);
  const FmmTiles tiles = tiles_of(known);
  for (int n = 0; n <= max; ++n) {
    const int steps = (block_of_degree(n) + 3) / 4, rows = (block_of_degree(n) + 7) / 8;
    std::vector<double> found(at((2 * n + 1) * (2 * n + 1)), 0.0), wanted = found;
    const auto slot = [&](bool sine, int row, int column) {
      return at((sine ? n + row : row) * (2 * n + 1) + (sine ? n + column : column));
    };
    double outside = 0.0;
    const auto set = [&](int tile, int element, double value) {
      const bool sine = tile % 2 != 0;
      const int block = tile / 2 % rows, step = tile / 2 / rows % steps;
      const int parity = tile / 2 / rows / steps;
      const int row = 2 * (8 * block + element / 4) + ((n + parity + (sine ? 1 : 0)) & 1);
      const int column = 2 * (4 * step + element % 4) + parity;
      const int min = sine ? 1 : 0;
      if (row < min || row > n || column < min || column > n) {
        outside += std::abs(value);
      } else {
        found[slot(sine, row, column)] = value;
      }
    };
    for_tile_elements(tiles.exchange, tiles.exchange_begin[at(n)], 4 * steps * rows, set);
    for (int r = n * n; r < (n + 1) * (n + 1); ++r) {
      const HarmonicRow& row = known.rows[at(r)];
      for (int m = first_exchanged(row), k = 0; m <= n; m += 2, ++k) {
        wanted[slot(row.sine != 0, row.order, m)] = known.exchange[at(row.exchange + k)];
      }
    }
    EXPECT_EQ(outside, 0.0) << n;
    EXPECT_EQ(found, wanted) << n;
  }
  for (int m = 0; m <= max; ++m) {
    const int rows = (max - m) / 8 + 1, steps = (max - m) / 4 + 1;
    for_tile_elements(tiles.inverse, tiles.inverse_begin[at(m)], rows * steps,
                      [&](int tile, int element, double value) {
                        const int k = m + 8 * (tile % rows) + element / 4,
                                  n = m + 4 * (tile / rows) + element % 4;
                        const bool inside = k <= max && n <= max;
                        const double element_of_table =
                            inside ? known.inverse[at(known.rows[at(cos_at(k, m))].shift + n - m)]
                                   : 0.0;
                        ASSERT_EQ(value, element_of_table) << k << ' ' << n;
                      });
  }
}

#ifdef KOKKOS_ENABLE_CUDA
// Far pairs of some nodes: along the axes, of all orders, with nodes of one station.
struct FarScene {
  std::vector<FmmNode> nodes;
  std::vector<std::int32_t> items, begin{0};
  std::vector<FarPair> pairs;
  std::vector<double> expansions;

  FarScene(int max, unsigned seed) {
    Random random(seed);
    for (int k = 0; k < 40; ++k) {
      FmmNode node{};
      for (double& c : node.centre) c = k < 8 ? 30.0 * (k % 3) : random.between(0.0, 100.0);
      node.centre[2] += k < 8 ? 40.0 * k : 0.0;
      node.radius = k % 5 == 3 ? 0.0 : 1.0;
      node.scale = k % 2 == 0 ? 1.0 : 2.0;
      node.begin = k;
      node.end = k + 1;
      nodes.push_back(node);
    }
    for (std::int32_t k = 0; k < 40; ++k) {
      for (int p = 8; p <= max; p += 4) {
        const int count = (k * 7 + p) % 20;
        for (int pair = 0; pair < count; ++pair) {
          const auto other = static_cast<std::int32_t>((k + 1 + pair) % 40);
          pairs.push_back({other, p});
        }
      }
      if (static_cast<std::int32_t>(pairs.size()) > begin.back()) items.push_back(k);
      begin.push_back(static_cast<std::int32_t>(pairs.size()));
    }
    expansions.resize(nodes.size() * at(fmm_count(max)));
    for (double& value : expansions) value = random.between(-1.0, 1.0);
  }
};

TEST_F(GravityFmmHarmonics, TilesTranslateLikeTables) {
  using Memory = Kokkos::CudaSpace;
  if (!has_matrix_units<Memory>) GTEST_SKIP() << "needs matrix units";
  const moho::Instance<Memory> exec{Kokkos::Cuda()};
  for (const int max : {8, 20, 28}) {
    for (const bool transposed : {false, true}) {
      const FarScene scene(max, 5);
      const FmmTablesIn<Memory> tables_in(exec, fmm_tables(max));
      const FmmTilesIn<Memory> tiles_in(exec, tiles_of(fmm_tables(max)));
      const char* const label = "moho::test::far_pairs";
      const auto nodes = moho::upload(exec, scene.nodes, label);
      const auto items = moho::upload(exec, scene.items, label);
      const auto begin = moho::upload(exec, scene.begin, label);
      const auto pairs = moho::upload(exec, scene.pairs, label);
      const auto from = moho::upload(exec, scene.expansions, label);
      const auto translated_by = [&](bool by_tiles) {
        const auto to =
            moho::upload(exec, std::vector<double>(scene.expansions.size(), 0.0), label);
        FarPairs far{};
        far.tables = tables_in.constants;
        far.nodes = nodes.data();
        far.others = nodes.data();
        far.items = items.data();
        far.begin = begin.data();
        far.pairs = pairs.data();
        far.from = from.data();
        far.to = to.data();
        far.numbers = fmm_count(max);
        far.min = 2;
        far.transposed = transposed;
        far.first = 3;
        far.last = 38;
        const auto count = static_cast<std::int64_t>(scene.items.size());
        // the second turn adds to the first
        for (int turn = 0; turn < 2; ++turn) {
          if (by_tiles) {
            launch_cuda_blocks(label, exec, count, FarPairTiles{far, tiles_in.addresses()});
          } else {
            launch_teams(label, exec, count, far);
          }
        }
        return moho::download(exec, to);
      };
      const auto wanted = translated_by(false), found = translated_by(true);
      // numbers of higher degrees are smaller
      for (int n = 0; n <= max; ++n) {
        double largest = 0.0, difference = 0.0;
        for (std::size_t node = 0; node < scene.nodes.size(); ++node) {
          for (int r = n * n; r < (n + 1) * (n + 1); ++r) {
            const std::size_t k = node * at(fmm_count(max)) + at(r);
            largest = std::max(largest, std::abs(wanted[k]));
            difference = std::max(difference, std::abs(found[k] - wanted[k]));
          }
        }
        EXPECT_LE(difference, 1e-13 * largest) << max << ' ' << n << ' ' << transposed;
        EXPECT_GT(largest, 0.0);
      }
    }
  }
}
#endif

TEST_F(GravityFmmHarmonics, SlicesHaveTheRowsOfTheMatrix) {
  const FmmTables& known = fmm_tables(order);
  const SlicedRows slices = slice_rows(known.row_begin, known.row_monomial, known.row_value);
  ASSERT_EQ(slices.row.size() % fmm_slice, 0u);
  const SlicedAddresses matrix{static_cast<std::int32_t>(slices.row.size()), slices.row.data(),
                               slices.begin.data(), slices.column.data(), slices.value.data()};
  Random random(11);
  std::vector<double> monomials(at(monomial_count(order)));
  for (double& value : monomials) value = random.direction()[0];
  std::vector<int> times(known.rows.size(), 0);
  multiply_slices(HostTeam(), matrix, monomials.data(), [&](std::int32_t row, double value) {
    ++times[at(row)];
    double sum = 0.0, size = 0.0;
    for (std::int32_t e = known.row_begin[at(row)]; e < known.row_begin[at(row + 1)]; ++e) {
      sum += known.row_value[at(e)] * monomials[at(known.row_monomial[at(e)])];
      size += std::abs(known.row_value[at(e)]);
    }
    EXPECT_NEAR(value, sum, 1e-14 * size) << row;
  });
  EXPECT_EQ(times, std::vector<int>(known.rows.size(), 1));
}

TEST_F(GravityFmmHarmonics, ExchangeOfAxesIsOrthogonal) {
  const Point s{0.7, -0.4, 0.5};
  std::vector<double> scratch(at(translation_scratch(order, lanes)));
  const Translation<lanes> work(tables().constants, order, scratch.data());
  const auto here = harmonics_of(s), known = harmonics_of({s[2], s[1], s[0]});
  for (std::size_t r = 0; r < here.size(); ++r) {
    for (std::size_t lane = 0; lane < lanes; ++lane) work.first[r * lanes + lane] = here[r];
  }
  work.exchange(HostTeam(), work.first, work.second, 0, order + 1, nullptr);
  for (std::size_t r = 0; r < here.size(); ++r) {
    ASSERT_NEAR(work.second[r * lanes + 3], known[r], 1e-15) << r;
  }
  work.exchange(HostTeam(), work.second, work.first, 0, order + 1, nullptr);
  for (std::size_t r = 0; r < here.size(); ++r) {
    ASSERT_NEAR(work.first[r * lanes], here[r], 1e-15) << r;
  }
}

TEST_F(GravityFmmHarmonics, TranslationsAreSumsOverPoints) {
  const Point s{0.3, 0.2, -0.5}, x{0.2, -0.25, 0.1};
  const auto near = vectors_of(0.7, 3), away = vectors_of(9.0, 4);
  // to a parent of the double scale: harmonics about the other centre
  const auto parent = translated<Shift::to_parent>(harmonics_of(s), near, 1.0, 1.0);
  const auto far = translated<Shift::far_pair>(harmonics_of(s), away, 1.0, 1.0);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Point& d = near[lane];
    const auto known = harmonics_of({s[0] + d[0], s[1] + d[1], s[2] + d[2]});
    for (std::size_t r = 0; r < known.size(); ++r) {
      ASSERT_NEAR(parent[lane][r], known[r], 5e-14) << lane << " " << r;
    }
    const Point& c = away[lane];
    const double value = dot(far[lane], harmonics_of(x));
    EXPECT_NEAR(value * distance({c[0] + x[0], c[1] + x[1], c[2] + x[2]}, s), 1.0, 1e-12) << lane;
    // to a child at d: the same field at points about the child
    const Point y{x[0] - 0.3 * d[0], x[1] - 0.3 * d[1], x[2] - 0.3 * d[2]};
    std::vector<Point> down(lanes, {0.3 * d[0], 0.3 * d[1], 0.3 * d[2]});
    const auto child = translated<Shift::to_children>(far[lane], down, 1.0, 1.0);
    EXPECT_NEAR(dot(child[lane], harmonics_of(y)), value, 1e-14) << lane;
  }
}

TEST_F(GravityFmmHarmonics, DerivativesAndTheirTransposes) {
  Random random(6);
  const std::size_t count = at(fmm_count(order)), lower = at(fmm_count(order - 1));
  std::vector<double> f, g;
  for (std::size_t r = 0; r < count; ++r) f.push_back(random.between(-1.0, 1.0));
  for (std::size_t r = 0; r < lower; ++r) g.push_back(random.between(-1.0, 1.0));
  const Point x{0.5, -0.3, 0.4};
  const double h = 1e-5;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> derivative(count, 0.0), back(count, 0.0);
    for (std::size_t r = 0; r < count; ++r) {
      const HarmonicRow row = tables().constants.rows[r];
      if (r < lower) {
        derivative[r] = derivative_of(tables().constants.root, axis, NumbersByDegree{f.data()},
                                      row.degree, row.order, row.sine != 0);
      }
      back[r] = derivative_transposed(tables().constants.root, axis, NumbersByDegree{g.data()},
                                      row.degree, row.order, row.sine != 0);
    }
    Point high = x, low = x;
    high[at(axis)] += h;
    low[at(axis)] -= h;
    const double known = (dot(f, harmonics_of(high)) - dot(f, harmonics_of(low))) / (2.0 * h);
    EXPECT_NEAR(dot(derivative, harmonics_of(x)), known, 1e-7 * std::abs(known)) << axis;
    double left = 0.0;
    for (std::size_t r = 0; r < lower; ++r) left += derivative[r] * g[r];
    EXPECT_NEAR(left, dot(f, back), 1e-11) << axis;
  }
}

// Cubature of 40^3 points, also for a prism of 1 : 300.
TEST_F(GravityFmmHarmonics, MomentsAreIntegralsOverPrisms) {
  for (const double thickness : {0.3, 0.001}) {
    Record<double> record{};
    const double low[3] = {0.1, -0.2, 0.05}, high[3] = {0.4, 0.1, 0.05 + thickness};
    for (int n = 0; n < 3; ++n) {
      record.lower[n] = low[n];
      record.upper[n] = high[n];
    }
    record.density = 2.0;  // the moments have half of the mass
    FmmNode node{};
    node.scale = 1.0;
    node.end = 1;
    const std::int32_t leaf = 0;
    std::vector<double> found(at(fmm_count(order))), sums(1, 0.0), known(found.size(), 0.0);
    PrismMoments moments{tables().constants, &node,       &leaf, &record,
                         found.data(),       sums.data(), false};
    HostItems<PrismMoments>{moments}(0);
    const int points = 40;
    const double volume = 0.3 * 0.3 * thickness;
    for (int k = 0; k < points * points * points; ++k) {
      const int index[3] = {k % points, k / points % points, k / points / points};
      Point x;
      for (std::size_t n = 0; n < 3; ++n) {
        x[n] = low[n] + (high[n] - low[n]) * (index[n] + 0.5) / points;
      }
      const auto values = harmonics_of(x);
      for (std::size_t r = 0; r < known.size(); ++r) {
        known[r] += values[r] * volume / (points * points * points);
      }
    }
    for (std::size_t r = 0; r < known.size(); ++r) {
      ASSERT_NEAR(found[r], known[r], 2e-5 * volume) << r;
    }
    // the transpose: the product of an expansion with the moments of density 1
    moments.transposed = true;
    const auto expansion = harmonics_of({0.4, 0.5, -0.6});
    const std::vector<double> own = found;
    found = expansion;
    HostItems<PrismMoments>{moments}(0);
    EXPECT_NEAR(sums[0], dot(expansion, own) / 2.0, 1e-15 * volume);
  }
}

}  // namespace fmm_harmonics
