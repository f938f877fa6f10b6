// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Fourier transforms, and the operator of a mesh at stations on its lattice.

#include "gravity/ensembles.hpp"
#include "refusals.hpp"

#include <moho/gravity/lattice.hpp>

#include <gmock/gmock.h>

#include <complex>

namespace {

using namespace moho::testing;
using moho::gravity::Component;
using moho::gravity::DirectFieldOperator;
using moho::gravity::LatticeOperator;
using moho::gravity::detail::Complex;
using ::testing::HasSubstr;

template <class S>
class GravityLattice : public ::testing::Test {};
TYPED_TEST_SUITE(GravityLattice, TestSpaces, SpaceName);

std::vector<double> numbers(std::size_t count, unsigned seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random.between(-1.0, 1.0));
  return values;
}

TYPED_TEST(GravityLattice, TransformsAreThoseOfTheirDefinition) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  for (const std::int64_t n :
       {2, 3, 4, 5, 6, 8, 9, 12, 15, 16, 20, 30, 32, 36, 60, 75, 100, 128, 250}) {
    for (const auto& [outer, inner] : {std::pair<std::int64_t, std::int64_t>{3, 1}, {1, 3}}) {
      const auto values = numbers(static_cast<std::size_t>(6 * n), 5);
      std::vector<Complex> lines;
      for (std::int64_t k = 0; k < 3 * n; ++k) {
        const auto at = static_cast<std::size_t>(2 * k);
        lines.push_back({values[at], values[at + 1]});
      }
      const auto data = moho::upload(exec, lines, "data"), work = moho::upload(exec, lines, "work");
      const moho::gravity::detail::Fourier<Memory> fourier(exec, n);
      Complex* const there =
          fourier.run(exec, data.data(), work.data(), outer, inner, n * inner, false);
      exec.fence();
      const auto found = moho::download(exec, there == data.data() ? data : work);
      const double pi_2 = 2.0 * pi / static_cast<double>(n);
      for (std::int64_t line = 0; line < 3; ++line) {
        const auto at = [&](std::int64_t k) {
          return static_cast<std::size_t>(inner == 1 ? line * n + k : k * inner + line);
        };
        for (std::int64_t k = 0; k < n; ++k) {
          std::complex<double> sum = 0.0;
          for (std::int64_t j = 0; j < n; ++j) {
            sum += std::complex<double>(lines[at(j)].re, lines[at(j)].im) *
                   std::polar(1.0, -pi_2 * static_cast<double>(j * k % n));
          }
          ASSERT_NEAR(found[at(k)].re, sum.real(), 2e-14 * std::sqrt(double(n))) << n << " " << k;
          ASSERT_NEAR(found[at(k)].im, sum.imag(), 2e-14 * std::sqrt(double(n))) << n << " " << k;
        }
      }
      // and back
      Complex* const other = there == data.data() ? work.data() : data.data();
      Complex* const back = fourier.run(exec, there, other, outer, inner, n * inner, true);
      exec.fence();
      const auto again = moho::download(exec, back == data.data() ? data : work);
      for (std::size_t k = 0; k < lines.size(); ++k) {
        ASSERT_NEAR(again[k].re / static_cast<double>(n), lines[k].re, 1e-14) << n;
      }
    }
  }
}

// All planes are counted, with a number for each cell, value and point.
template <class Memory>
void expect_bytes(const LatticeOperator<Memory>& lattice, const moho::gravity::RegularMesh& mesh,
                  const std::vector<double>& stations, std::size_t components) {
  const double planes =
      moho::gravity::lattice_bytes(mesh, moho::gravity::find_lattice(mesh, stations), components);
  const auto bytes = static_cast<double>(lattice.bytes());
  EXPECT_GT(bytes, planes);
  EXPECT_LT(bytes, planes + 8.0 * static_cast<double>(lattice.prisms() + lattice.values() + 400));
}

TYPED_TEST(GravityLattice, IsTheDirectSumAndItsTranspose) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  struct Setting {
    moho::gravity::RegularMesh mesh;
    std::int64_t sx, sy;
    double x0, y0;
  };
  const Setting settings[] = {
      {{{12, 9, 4}, {0.0, 100.0, 10.0}, {600.0, 460.0, 250.0}}, 14, 5, 25.0, 120.0},
      {{{7, 10, 19}, {-300.0, 0.0, 0.0}, {400.0, 900.0, 300.0}}, 9, 12, -333.3, 17.7},
      {{{5, 1, 1}, {0.0, 0.0, 5.0}, {50.0, 10.0, 20.0}}, 1, 1, 12.0, 3.0}};
  // terms of a prism's corners cancel, by three digits in the potential
  constexpr double tolerance = 1e-12;
  for (const Setting& setting : settings) {
    const auto& mesh = setting.mesh;
    const double dx = (mesh.upper[0] - mesh.lower[0]) / static_cast<double>(mesh.cells[0]);
    const double dy = (mesh.upper[1] - mesh.lower[1]) / static_cast<double>(mesh.cells[1]);
    auto stations =
        moho::gravity::station_grid(setting.sx, setting.sy, dx, dy, setting.x0, setting.y0, {30.0});
    if (setting.sx > 9) {  // without a point, with another twice
      stations.erase(stations.begin() + 9, stations.begin() + 12);
      stations.insert(stations.end(), stations.begin(), stations.begin() + 3);
    }
    const auto cells = static_cast<std::size_t>(mesh.size());
    const auto prisms = moho::gravity::mesh_prisms(mesh, std::vector<double>(cells, 1.0));
    for (const Components& components :
         {Components{Component::gz}, Components{Component::gz, Component::gzz, Component::gxz},
          moho::gravity::all_components()}) {
      DirectFieldOperator<Memory> direct(exec, prisms, stations, components,
                                         {.far_tolerance = 0.0});
      LatticeOperator<Memory> lattice(exec, mesh, stations, components, {.far_tolerance = 0.0});
      ASSERT_EQ(lattice.values(), direct.values());
      ASSERT_EQ(lattice.prisms(), direct.prisms());
      expect_bytes(lattice, mesh, stations, components.size());
      const auto densities = numbers(cells, 2);
      const auto weights = numbers(static_cast<std::size_t>(direct.values()), 3);
      std::vector<double> known, found, back, known_back;
      direct.apply(densities, known);
      lattice.apply(densities, found);
      const std::size_t count = stations.size() / 3;
      for (std::size_t c = 0; c < components.size(); ++c) {
        double largest = 0.0;
        for (std::size_t s = 0; s < count; ++s) {
          largest = std::max(largest, std::abs(known[c * count + s]));
        }
        for (std::size_t s = 0; s < count; ++s) {
          ASSERT_NEAR(found[c * count + s], known[c * count + s], tolerance * largest)
              << to_string(components[c]) << " at " << s;
        }
      }
      lattice.adjoint(weights, back);
      direct.adjoint(weights, known_back);
      double largest = 0.0;
      for (const double value : known_back) largest = std::max(largest, std::abs(value));
      for (std::size_t k = 0; k < cells; ++k) {
        ASSERT_NEAR(back[k], known_back[k], tolerance * largest) << k;
      }
      long double left = 0.0L, right = 0.0L, size = 0.0L;
      for (std::size_t k = 0; k < found.size(); ++k) {
        left += static_cast<long double>(found[k]) * weights[k];
        size += std::abs(static_cast<long double>(found[k]) * weights[k]);
      }
      for (std::size_t k = 0; k < cells; ++k) {
        right += static_cast<long double>(densities[k]) * back[k];
      }
      EXPECT_LE(std::abs(left - right), 1e-14L * size);
      const auto chosen = moho::gravity::spread_stations(count, 4);
      DirectFieldOperator<Memory> some(exec, prisms, moho::gravity::stations_at(stations, chosen),
                                       components, {.far_tolerance = 0.0});
      EXPECT_LT(moho::gravity::difference_at(lattice, some, chosen, components.size()), tolerance);
      EXPECT_GT(moho::gravity::difference_at(lattice, some, std::vector<std::size_t>(chosen.size()),
                                             components.size()),
                count > 1 ? 1e-3 : -1.0);
      lattice.column_squares(weights, back);
      direct.column_squares(weights, known_back);
      EXPECT_EQ(back, known_back);
    }
  }
}

TEST(GravityLatticeOf, StationsOffItIsRefused) {
  const moho::gravity::RegularMesh mesh{{4, 4, 2}, {0.0, 0.0, 0.0}, {400.0, 400.0, 200.0}};
  const auto why = [&](std::vector<double> stations) {
    return moho::gravity::find_lattice(mesh, stations).why;
  };
  EXPECT_EQ(why({10.0, 20.0, -5.0, 210.0, 320.0, -5.0}), "");
  EXPECT_THAT(why({10.0, 20.0, -5.0, 215.0, 320.0, -5.0}), HasSubstr("station 2 is 5"));
  EXPECT_THAT(why({10.0, 20.0, -5.0, 210.0, 320.0, -6.0}), HasSubstr("station 2 has z = -6"));
  EXPECT_THAT(why({10.0, 20.0, 5.0}), HasSubstr("not above the mesh's top"));
  EXPECT_THAT(why({}), HasSubstr("no stations"));
  using Memory = Kokkos::HostSpace;
  const Instance<Memory> exec = Kokkos::DefaultHostExecutionSpace();
  EXPECT_THAT(message_of([&] {
                LatticeOperator<Memory>(exec, mesh, {10.0, 20.0, 5.0}, {Component::gz});
              }),
              HasSubstr("take the strategy automatic"));
  EXPECT_THAT(message_of<moho::MemoryError>([&] {
                LatticeOperator<Memory>(exec, mesh, {10.0, 20.0, -5.0}, {Component::gz},
                                        {.memory_budget = 100});
              }),
              HasSubstr("spectra of 2 layers and 1 component: "));
  EXPECT_EQ(moho::gravity::detail::fourier_length(97), 100);
  EXPECT_EQ(moho::gravity::detail::fourier_length(1), 2);
}

}  // namespace
