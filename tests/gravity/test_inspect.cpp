// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Ensembles on the host: parts of ranks, and stations inside of prisms.

#include <moho/gravity/inspect.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace moho::gravity;

TEST(HostEnsembles, PartsOfRanksHaveEqualMasses) {
  const RegularMesh mesh{{4, 3, 1}, {0.0, 0.0, 0.0}, {40.0, 30.0, 10.0}};
  const std::vector<double> densities{0, 0, 300, 0, -100, 0, 0, 0, 200, 500, 0, 0};
  const HostEnsemble ensemble{&mesh, densities};
  const auto masses = count_masses(ensemble);
  EXPECT_EQ(masses.prisms, 4);
  EXPECT_EQ(masses.lowest, -100.0);
  EXPECT_EQ(masses.highest, 500.0);
  for (int ranks = 1; ranks <= 6; ++ranks) {
    const auto parts = divide_ensemble(ensemble, masses.prisms, ranks);
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(parts.front().first, 0);
    for (int q = 0; q < ranks; ++q) {
      const auto& part = parts[static_cast<std::size_t>(q)];
      if (q > 0) {
        EXPECT_EQ(part.first, parts[static_cast<std::size_t>(q) - 1].last);
      }
      std::int64_t count = 0;
      for (auto k = part.first; k < part.last; ++k) count += ensemble.density(k) != 0.0;
      EXPECT_EQ(count, moho::mpi::part_of(masses.prisms, ranks, q).size()) << q << " of " << ranks;
    }
  }
  const std::vector<double> empty(12, 0.0);
  EXPECT_EQ(count_masses({&mesh, empty}).highest, 0.0);
}

TEST(Extremes, LeaveOutWhatDoesNotExist) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{none, 2.0, -3.0, none, 1.0}, empty{none, none};
  const auto found = moho::gravity::extremes_of(values);
  EXPECT_TRUE(found.any);
  EXPECT_EQ(found.lowest, -3.0);
  EXPECT_EQ(found.highest, 2.0);
  EXPECT_EQ(found.missing, 2);
  EXPECT_FALSE(moho::gravity::extremes_of(empty).any);
}

TEST(HostEnsembles, StationsInsideOfPrismsAreFound) {
  const RegularMesh mesh{{2, 1, 1}, {0.0, 0.0, 0.0}, {20.0, 10.0, 10.0}};
  const std::vector<double> densities{0.0, 300.0};
  const std::vector<double> rows{0,  10, 0, 10, 0, 10, 0.0,  // without mass
                                 10, 20, 0, 10, 0, 10, 300.0};
  // inside of the cell without mass; on the common face; inside; outside
  const std::vector<double> stations{5, 5, 5, 10, 5, 5, 15, 5, 5, 25, 5, 5};
  for (const HostEnsemble& ensemble : {HostEnsemble{&mesh, densities}, {nullptr, rows}}) {
    const auto found = find_inner_stations(ensemble, stations, 100.0);
    EXPECT_TRUE(found.searched);
    EXPECT_EQ(found.candidates, 3u);
    EXPECT_EQ(found.inside, 2u);
    EXPECT_EQ(found.first, 1u);
    EXPECT_EQ(found.prism, 1);
    EXPECT_FALSE(find_inner_stations(ensemble, stations, 2.0).searched);
  }
}

}  // namespace
