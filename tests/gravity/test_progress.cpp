// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 11, threads 2
//
// Progress of forward(), and the stop flag of products.

#include <stdexcept>
#include <string>

#include <moho/gravity/field_operator.hpp>
#include <moho/gravity/fmm.hpp>
#include <moho/gravity/lattice.hpp>

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;

struct Way {
  Strategy strategy;
  bool mesh;
};
constexpr Way ways[] = {{Strategy::automatic, false},   {Strategy::tiles, false},
                        {Strategy::by_stations, false}, {Strategy::by_prisms, false},
                        {Strategy::tiles, true},        {Strategy::by_prisms, true},
                        {Strategy::by_corners, true}};

// A mesh with enough prisms for several reports on a host within one call.
const RegularMesh large_mesh{{40, 40, 30}, {0.0, 0.0, 0.0}, {4000.0, 4000.0, 3000.0}};

const std::vector<double>& mesh_densities() {
  static const std::vector<double> densities = [] {
    Random random(41);
    std::vector<double> made;
    for (std::int64_t i = 0; i < large_mesh.size(); ++i) {
      made.push_back(random.between(100.0, 400.0));
    }
    return made;
  }();
  return densities;
}

std::vector<Station> some_stations(int count) {
  Random random(42);
  std::vector<Station> stations;
  for (int i = 0; i < count; ++i) {
    stations.push_back({random.between(0.0, 4000.0), random.between(0.0, 4000.0), -200.0});
  }
  return stations;
}

template <class T, class Exec>
Outcome run(const Exec& exec, const Way& way, const std::vector<Station>& stations,
            const Components& components, Options options) {
  options.strategy = way.strategy;
  if (way.mesh) {
    return compute<T>(exec, large_mesh, mesh_densities(), stations, components, options);
  }
  static const std::vector<Prism> prisms = [] {
    const auto rows = moho::gravity::mesh_prisms(large_mesh, mesh_densities());
    std::vector<Prism> list(rows.size() / 7);
    for (std::size_t i = 0; i < rows.size(); ++i) list[i / 7][i % 7] = rows[i];
    return list;
  }();
  return compute<T>(exec, prisms, stations, components, options);
}

template <class Exec>
class Progress : public ::testing::Test {};
TYPED_TEST_SUITE(Progress, TestSpaces, SpaceName);

template <class Memory>
void never_falls_and_ends_at_one(const moho::Instance<Memory>& exec) {
  // a host reports every 4 million pairs per thread; this call has a few more
  const bool few_threads = moho::is_host_memory<Memory> && exec.concurrency() <= 2;
  const auto stations = some_stations(few_threads ? 90 * static_cast<int>(exec.concurrency()) : 90);
  for (const Way& way : ways) {
    std::vector<double> fractions;
    bool said = true;
    Options options;
    options.progress = [&](double fraction, const std::string& what) {
      fractions.push_back(fraction);
      said = said && !what.empty();
    };
    run<double>(exec, way, stations, {Component::gz}, options);
    const std::string name =
        to_string(way.strategy) + (way.mesh ? " of a mesh" : " of a list of prisms");
    ASSERT_GE(fractions.size(), few_threads ? 2u : 1u) << name;
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end())) << name;
    EXPECT_GE(fractions.front(), 0.0) << name;
    EXPECT_EQ(fractions.back(), 1.0) << name;
    // 1.0 is reported once, at the end
    EXPECT_EQ(std::count(fractions.begin(), fractions.end(), 1.0), 1) << name;
    EXPECT_TRUE(said) << name;
  }
}
TYPED_TEST(Progress, NeverFallsAndEndsAtOne) { never_falls_and_ends_at_one(TypeParam::exec()); }

// A callback may change the order of additions, and thus the last digits only.
template <class Memory>
void changes_nothing(const moho::Instance<Memory>& exec) {
  const auto stations = some_stations(20);
  for (const Way& way : ways) {
    int calls = 0;
    Options options;
    options.progress = [&](double, const std::string&) { ++calls; };
    const Outcome found = run<double>(exec, way, stations, {Component::gz}, options);
    const Outcome quiet = run<double>(exec, way, stations, {Component::gz}, {});
    EXPECT_GE(calls, 1);
    double largest = 0.0;
    for (const double value : quiet.values) largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 0.0);
    for (std::size_t i = 0; i < quiet.values.size(); ++i) {
      EXPECT_NEAR(found.values[i], quiet.values[i], 1e-11 * largest) << to_string(way.strategy);
    }
  }
}
TYPED_TEST(Progress, ChangesNothing) { changes_nothing(TypeParam::exec()); }

// An exception from the callback is propagated, and the next call works.
template <class Memory>
void may_stop_the_work(const moho::Instance<Memory>& exec) {
  const auto stations = some_stations(20);
  for (const Way& way : ways) {
    Options options;
    options.progress = [](double, const std::string&) { throw std::runtime_error("enough"); };
    EXPECT_THROW(run<double>(exec, way, stations, {Component::gz}, options), std::runtime_error);
    EXPECT_NO_THROW(run<double>(exec, way, stations, {Component::gz}, {}));
  }
}
TYPED_TEST(Progress, MayStopTheWork) { may_stop_the_work(TypeParam::exec()); }

// Every strategy ends when the flag is set.
template <class Memory>
void flag_stops_sums(const moho::Instance<Memory>& exec) {
  moho::StopFlag flag;
  const auto stoppable = moho::stopped_by<Memory>(exec, flag);
  const auto stations = some_stations(20);
  flag.request();
  for (const Way& way : ways) {
    EXPECT_THROW(run<double>(stoppable, way, stations, {Component::gz}, {}), moho::Stopped)
        << moho::gravity::to_string(way.strategy);
  }
}
TYPED_TEST(Progress, AFlagStopsSums) { flag_stops_sums(TypeParam::exec()); }

// Products end when the flag is set, and later ones have the same bits as before.
void expect_stops(moho::gravity::FieldOperator& field, moho::StopFlag& flag) {
  const std::vector<double> densities(static_cast<std::size_t>(field.prisms()), 300.0);
  const std::vector<double> weights(static_cast<std::size_t>(field.values()), 1.0);
  std::vector<double> results, sums, again;
  field.apply(densities, results);
  field.adjoint(weights, sums);
  flag.request();
  EXPECT_THROW(field.apply(densities, again), moho::Stopped);
  EXPECT_THROW(field.adjoint(weights, again), moho::Stopped);
  flag.clear();
  field.apply(densities, again);
  EXPECT_EQ(again, results);
  field.adjoint(weights, again);
  EXPECT_EQ(again, sums);
}

template <class Memory>
void flag_stops_products(const moho::Instance<Memory>& exec) {
  const RegularMesh mesh{{12, 10, 4}, {0.0, 0.0, 0.0}, {1200.0, 1000.0, 400.0}};
  const std::vector<double> densities(static_cast<std::size_t>(mesh.size()), 1.0);
  std::vector<double> positions;
  for (int i = 0; i < 120; ++i) {
    positions.insert(positions.end(), {100.0 * (i % 12), 100.0 * (i / 12), -50.0});
  }
  moho::StopFlag flag;
  const auto stoppable = moho::stopped_by<Memory>(exec, flag);
  const Components components{Component::gz, Component::gzz, Component::gxz};
  moho::gravity::LatticeOperator<Memory> lattice(stoppable, mesh, positions, components);
  expect_stops(lattice, flag);
  const std::vector<double> rows = moho::gravity::mesh_prisms(mesh, densities);
  using Fmm = moho::gravity::FmmFieldOperator<Memory>;
  Fmm fmm(stoppable, rows, positions, components);
  expect_stops(fmm, flag);
  using Direct = moho::gravity::DirectFieldOperator<Memory>;
  Direct direct(stoppable, rows, positions, components);
  expect_stops(direct, flag);
  flag.request();
  std::vector<double> squares;
  EXPECT_THROW(direct.column_squares(std::vector<double>(direct.values(), 1.0), squares),
               moho::Stopped);
  EXPECT_THROW(Fmm(stoppable, rows, positions, components), moho::Stopped);
  EXPECT_THROW(moho::gravity::LatticeOperator<Memory>(stoppable, mesh, positions, components),
               moho::Stopped);
}
TYPED_TEST(Progress, AFlagStopsProducts) { flag_stops_products(TypeParam::exec()); }

// A request in a kernel's item of many pairs ends the item and the launch.
moho::StopFlag flag_of_items;
int calls_of_items = 0;

void request_in_sum(const moho::gravity::detail::Record<double>*, int,
                    const moho::gravity::detail::PackedStations<double>&, std::int64_t,
                    const moho::gravity::detail::Distances<double>&,
                    moho::simd::Pack<double>* sums) {
  ++calls_of_items;
  flag_of_items.request();
  sums[0] = moho::simd::Pack<double>(0.0);
}

void request_in_transpose(const moho::gravity::detail::Record<double>*, int,
                          const moho::gravity::detail::TransposeData&, std::int64_t,
                          moho::simd::Pack<double>*) {
  ++calls_of_items;
  flag_of_items.request();
}

TEST(StopOfDirectSums, EndsItems) {
  using Memory = Kokkos::HostSpace;
  namespace detail = moho::gravity::detail;
  constexpr std::int64_t prisms = 10000, lanes = moho::simd::lanes<double>, stations = 1000 * lanes;
  const auto exec = moho::stopped_by<Memory>(
      moho::Instance<Memory>(Kokkos::DefaultHostExecutionSpace()), flag_of_items);
  const std::vector<detail::Record<double>> records(prisms);
  std::vector<double> sums(prisms);
  const detail::HostStop stop(exec);
  EXPECT_FALSE(stop.requested());
  EXPECT_NO_THROW(stop.check());

  detail::TileData<double, detail::Record<double>> tiles{};
  tiles.records = records.data();
  tiles.stations = {nullptr, lanes};
  tiles.sums = {sums.data(), 1, lanes};
  tiles.last = prisms;
  tiles.blocks = tiles.chunks = 1;
  detail::SumTilesOnHost<double, detail::Record<double>>{tiles, &request_in_sum, &stop}(0);
  EXPECT_EQ(calls_of_items, 1);
  flag_of_items.clear();
  EXPECT_THROW(stop.check(), moho::Stopped);  // items are missing, whatever the flag says now

  detail::TransposeData transposed{};
  transposed.records = records.data();
  transposed.prisms = transposed.block = 100;
  transposed.stations = {nullptr, stations};
  transposed.sums = sums.data();
  calls_of_items = 0;
  const detail::HostStop other(exec);
  detail::TransposeOnHost{transposed, &request_in_transpose, &other}(0);
  EXPECT_EQ(calls_of_items, detail::TransposeOnHost::check / lanes);
  EXPECT_THROW(other.check(), moho::Stopped);
  flag_of_items.clear();
}

}  // namespace
