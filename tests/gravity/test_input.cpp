// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Refused input, and the messages.

#include <gmock/gmock.h>

#include <limits>

#include "gravity/ensembles.hpp"

namespace {

using namespace moho::testing;
using moho::InputError;
using moho::MemoryError;
using moho::gravity::find_overlap;
using moho::gravity::parse_components;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// Returns the message of the expected exception; fails if no exception or another one is thrown.
template <class Exception, class Function>
std::string message(const Function& function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_THAT(text, HasSubstr(part));
}

// ---------------------------------------------------------------------------------- components

TEST(ComponentNames, AreParsedInTheirOrder) {
  using enum Component;
  EXPECT_THAT(parse_components("gz"), ElementsAre(gz));
  EXPECT_THAT(parse_components("gzz,potential,gx"), ElementsAre(gzz, potential, gx));
  EXPECT_THAT(parse_components(" gxz , gy"), ElementsAre(gxz, gy));
  EXPECT_EQ(parse_components("all"), all_ten());
  std::string names;
  for (const Component c : all_ten()) {
    if (!names.empty()) names += ',';
    names += to_string(c);
  }
  EXPECT_EQ(names, "potential,gx,gy,gz,gxx,gyy,gzz,gxy,gxz,gyz");
  EXPECT_EQ(parse_components(names), all_ten());
}

TEST(ComponentNames, BadOnes) {
  const auto of = [](const char* names) {
    return message<InputError>([&] { parse_components(names); });
  };
  // the message lists all valid names
  expect_parts(of("gz,gw"), {"components: ", "'gw' is unknown",
                             "potential, gx, gy, gz, gxx, gyy, "
                             "gzz, gxy, gxz, gyz"});
  expect_parts(of("GZ"), {"'GZ' is unknown"});
  expect_parts(of("gyx"), {"'gyx' is unknown"});
  expect_parts(of("gz,gx,gz"), {"'gz' is named twice", "gz,gx,gz"});
  expect_parts(of(""), {"name is missing"});
  expect_parts(of("gz,,gx"), {"name is missing", "gz,,gx"});
  expect_parts(of("gz,"), {"name is missing"});
  expect_parts(of("gz,all"), {"'all' stands beside others in 'gz,all'", "allowed: all alone"});
}

// -------------------------------------------------------------------------------------- overlaps

std::optional<std::pair<std::int64_t, std::int64_t>> overlap_of(const std::vector<Prism>& prisms) {
  return find_overlap(flat(prisms).data(), static_cast<std::int64_t>(prisms.size()));
}

bool share_volume(const Prism& p, const Prism& q) {
  bool shared = true;
  for (std::size_t a = 0; a < 3; ++a) {
    shared = shared && std::max(p[2 * a], q[2 * a]) < std::min(p[2 * a + 1], q[2 * a + 1]);
  }
  return shared;
}

// Returns a mesh of bricks: faces, edges and vertices touch without shared volume.
std::vector<Prism> bricks() {
  std::vector<Prism> prisms;
  for (int k = 0; k < 6; ++k) {
    for (int j = 0; j < 7; ++j) {
      for (int i = 0; i < 8; ++i) {
        // running bond: alternate rows are shifted by half a brick
        const double shift = 0.5 * (k % 2);
        prisms.push_back(
            {i + shift, i + 1.0 + shift, 2.0 * j, 2.0 * j + 2.0, 0.3 * k, 0.3 * (k + 1), rock});
      }
    }
  }
  return prisms;
}

TEST(Overlap, TouchingIsNoOverlap) {
  EXPECT_FALSE(overlap_of(bricks()));
  EXPECT_FALSE(overlap_of({bricks()[0]}));
  EXPECT_FALSE(overlap_of({}));
}

// origin + (i + 1) * side and origin + i * side + side differ by rounding.
TEST(Overlap, RoundingIsNoOverlap) {
  for (const double origin : {0.0, 3.7, -5e5, 4.5e6}) {
    for (const double side : {0.1, 0.3, 12.7}) {
      std::vector<Prism> row;
      for (int i = 0; i < 200; ++i) {
        const double x = origin + i * side;
        row.push_back({x, x + side, 0.0, 1.0, 0.0, 1.0, rock});
      }
      EXPECT_FALSE(overlap_of(row)) << origin << ", " << side;
      row[100][1] += 0.01 * side;
      EXPECT_TRUE(overlap_of(row)) << origin << ", " << side;
      row[100][6] = 0.0;  // without mass
      EXPECT_FALSE(overlap_of(row)) << origin << ", " << side;
    }
  }
}

TEST(Overlap, ASmallOneAmongMany) {
  for (const std::size_t moved : {std::size_t(0), std::size_t(100), std::size_t(335)}) {
    auto prisms = bricks();
    prisms[moved][1] += 1e-9;  // overlaps at least its neighbour along x
    const auto found = overlap_of(prisms);
    if (moved % 8 == 7) {  // the last brick of a row has no such neighbour
      EXPECT_FALSE(found);
      continue;
    }
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, static_cast<std::int64_t>(moved));
    EXPECT_EQ(found->second, static_cast<std::int64_t>(moved) + 1);
  }
  // the same prism twice, a prism inside another, and a cross without vertices inside the other
  // prism
  auto prisms = bricks();
  prisms.push_back(prisms[17]);
  ASSERT_TRUE(overlap_of(prisms));
  EXPECT_EQ(*overlap_of(prisms), (std::pair<std::int64_t, std::int64_t>(17, 336)));
  EXPECT_TRUE(overlap_of({{0, 10, 0, 10, 0, 10, rock}, {4, 5, 4, 5, 4, 5, rock}}));
  EXPECT_TRUE(overlap_of({{0, 10, 4, 5, 4, 5, rock}, {4, 5, 0, 10, 4, 5, rock}}));
}

// Random boxes, many of which overlap. A pair is found if and only if one exists, and it overlaps.
TEST(Overlap, AgreesWithAllPairs) {
  Random random(31);
  int with = 0, without = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Prism> prisms;
    const int count = 2 + trial;
    for (int i = 0; i < count; ++i) {
      prisms.push_back(random_prism(
          random, 100.0 / std::pow(count, 0.7), 2.0,
          {random.between(0.0, 200.0), random.between(0.0, 200.0), random.between(0.0, 200.0)}));
    }
    bool any = false;
    for (std::size_t i = 0; i < prisms.size(); ++i) {
      for (std::size_t j = i + 1; j < prisms.size(); ++j) {
        any = any || share_volume(prisms[i], prisms[j]);
      }
    }
    const auto found = overlap_of(prisms);
    EXPECT_EQ(found.has_value(), any) << "trial " << trial;
    (any ? with : without) += 1;
    if (!found) continue;
    EXPECT_LT(found->first, found->second);
    EXPECT_TRUE(share_volume(prisms[static_cast<std::size_t>(found->first)],
                             prisms[static_cast<std::size_t>(found->second)]));
  }
  EXPECT_GE(with, 10);
  EXPECT_GE(without, 10);
}

// ------------------------------------------------------------------------------------ ensembles

const Prism good{0.0, 10.0, 0.0, 20.0, 5.0, 30.0, 300.0};

template <class C>
class Input : public ::testing::Test {};
TYPED_TEST_SUITE(Input, TestCases, CaseName);

// Returns the message of forward() for some prisms and one station.
template <class T, class Exec>
std::string message_for(const Exec& exec, const std::vector<Prism>& prisms,
                        const Options& options = {}) {
  return message<InputError>([&] {
    compute<T>(exec, prisms, {{1.0, 2.0, -3.0}}, {Component::gz}, options);
  });
}

template <class T, class Memory>
void prisms_must_be_finite(const moho::Instance<Memory>& exec) {
  const char* columns[] = {"x1", "x2", "y1", "y2", "z1", "z2", "density"};
  for (std::size_t column = 0; column < 7; ++column) {
    for (const auto& [value, text] :
         {std::pair{nan_value, "nan"}, std::pair{infinite, "inf"}, std::pair{-infinite, "-inf"}}) {
      std::vector<Prism> prisms(300, good);
      prisms[217][column] = value;
      prisms[218][0] = nan_value;  // the message names the first invalid row
      expect_parts(message_for<T>(exec, prisms),
                   {"prisms: row 217 ", columns[column], std::string("is ") + text, "finite"});
    }
  }
}
TYPED_TEST(Input, PrismsMustBeFinite) {
  prisms_must_be_finite<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void numbers_may_be_too_large(const moho::Instance<Memory>& exec) {
  std::vector<Prism> prisms(3, good);
  prisms[1][1] = 1e200;
  expect_parts(message_for<T>(exec, prisms), {"prisms: row 1 ", "x2 is 1e+200", "at most 1e+12"});
  prisms[1] = good;
  prisms[2][6] = -1e300;
  expect_parts(message_for<T>(exec, prisms), {"prisms: row 2 ", "density is -1e+300", "at most"});
}
TYPED_TEST(Input, NumbersMayBeTooLarge) {
  numbers_may_be_too_large<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void prisms_must_have_their_faces_in_order(const moho::Instance<Memory>& exec) {
  std::vector<Prism> prisms(50, good);
  prisms[49][4] = 40.5;
  expect_parts(message_for<T>(exec, prisms),
               {"prisms: row 49 ", "bottom above top", "z1 = 40.5", "z2 = 30", "z1 < z2"});
  prisms[12][0] = 11.0;
  expect_parts(message_for<T>(exec, prisms), {"prisms: row 12 ", "x1 = 11", "x2 = 10", "x1 < x2"});
  prisms[11][3] = -1.0;
  expect_parts(message_for<T>(exec, prisms), {"prisms: row 11 ", "y1 = 0", "y2 = -1", "y1 < y2"});
}
TYPED_TEST(Input, PrismsMustHaveTheirFacesInOrder) {
  prisms_must_have_their_faces_in_order<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void prisms_must_have_volume(const moho::Instance<Memory>& exec) {
  const char* axes[] = {"x", "y", "z"};
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<Prism> prisms(20, good);
    prisms[3][2 * a + 1] = prisms[3][2 * a];
    expect_parts(message_for<T>(exec, prisms),
                 {"prisms: row 3 ", std::string("zero thickness along ") + axes[a],
                  std::string(axes[a]) + "1 < " + axes[a] + "2"});
  }
}
TYPED_TEST(Input, PrismsMustHaveVolume) {
  prisms_must_have_volume<typename TypeParam::Scalar>(TypeParam::exec());
}

// Prisms of density 0 are also checked.
template <class T, class Memory>
void prisms_without_density_are_checked_too(const moho::Instance<Memory>& exec) {
  std::vector<Prism> prisms(5, good);
  prisms[4][6] = 0.0;
  EXPECT_NO_THROW(compute<T>(exec, prisms, {{1.0, 2.0, -3.0}}, {Component::gz}));
  prisms[4][5] = nan_value;
  expect_parts(message_for<T>(exec, prisms), {"prisms: row 4 ", "z2 is nan"});
}
TYPED_TEST(Input, PrismsWithoutDensityAreCheckedToo) {
  prisms_without_density_are_checked_too<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void there_must_be_prisms_and_stations(const moho::Instance<Memory>& exec) {
  expect_parts(message_for<T>(exec, {}), {"prisms: there are none"});
  expect_parts(message<InputError>([&] { compute<T>(exec, {good}, {}, {Component::gz}); }),
               {"stations: there are none"});
}
TYPED_TEST(Input, ThereMustBePrismsAndStations) {
  there_must_be_prisms_and_stations<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void stations_must_be_finite(const moho::Instance<Memory>& exec) {
  const char* axes[] = {"x", "y", "z"};
  for (std::size_t a = 0; a < 3; ++a) {
    for (const auto& [value, text] : {std::pair{nan_value, "nan"}, std::pair{-infinite, "-inf"}}) {
      std::vector<Station> stations(300, Station{1.0, 2.0, -3.0});
      stations[299][a] = value;
      expect_parts(
          message<InputError>([&] { compute<T>(exec, {good}, stations, {Component::gz}); }),
          {"stations: row 299 ", std::string(axes[a]) + " is " + text, "finite"});
      stations[33][2] = nan_value;
      expect_parts(
          message<InputError>([&] { compute<T>(exec, {good}, stations, {Component::gz}); }),
          {"stations: row 33 ", "z is nan"});
    }
  }
}
TYPED_TEST(Input, StationsMustBeFinite) {
  stations_must_be_finite<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void shape_of_results(const moho::Instance<Memory>& exec) {
  const auto rows = numbers_in(exec, flat(std::vector<Prism>{good}));
  const auto positions = numbers_in(exec, {1.0, 2.0, -3.0, 4.0, 5.0, -6.0, 7.0, 8.0, -9.0});
  const Components components{Component::gz, Component::gx};
  for (const auto& [components_given, columns] :
       {std::pair{3, 2}, std::pair{2, 2}, std::pair{1, 3}, std::pair{0, 0}, std::pair{2, 4}}) {
    const auto results = results_in(exec, static_cast<std::size_t>(components_given),
                                    static_cast<std::size_t>(columns));
    expect_parts(message<InputError>([&] {
                   moho::gravity::forward<T>(exec, prisms_of(rows), stations_of(positions),
                                             components, results);
                 }),
                 {"results: ", moho::concat(components_given, " x ", columns), "allowed: 2 x 3"});
  }
}
// Parts of larger views have gaps between rows.
template <class T, class Memory>
void parts_of_larger_views_are_refused(const moho::Instance<Memory>& exec) {
  using Wide = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  const auto wide = [&](std::size_t rows, std::size_t columns) {
    const auto view = moho::allocate<Wide>(exec, "wide", rows, columns);
    moho::fill(exec, view, 1.0);
    exec.fence();
    return view;
  };
  const auto part = [](const Wide& view, std::size_t columns) {
    return Kokkos::subview(view, Kokkos::ALL(), std::make_pair(std::size_t(0), columns));
  };
  const auto rows = numbers_in(exec, flat(std::vector<Prism>{good, good}));
  const auto positions = numbers_in(exec, {1.0, 2.0, -3.0, 4.0, 5.0, -6.0});
  const auto results = results_in(exec, 1, 2);
  const Wide prism_part = part(wide(2, 9), 7), station_part = part(wide(2, 4), 3),
             result_part = part(wide(2, 5), 2);
  const moho::gravity::PrismView<Memory> prisms = prism_part;
  const moho::gravity::StationView<Memory> stations = station_part;
  const auto refused = [&](const auto& p, const auto& s, const Components& c, const auto& r) {
    return message<InputError>([&] { moho::gravity::forward<T>(exec, p, s, c, r); });
  };
  const Components gz{Component::gz};
  expect_parts(refused(prisms, stations_of(positions), gz, results),
               {"prisms: it is a part of a larger view", "Kokkos::deep_copy"});
  expect_parts(refused(prisms_of(rows), stations, gz, results),
               {"stations: it is a part of a larger view"});
  expect_parts(
      refused(prisms_of(rows), stations_of(positions), {Component::gz, Component::gx}, result_part),
      {"results: it is a part of a larger view"});
}
TYPED_TEST(Input, PartsOfLargerViewsAreRefused) {
  parts_of_larger_views_are_refused<typename TypeParam::Scalar>(TypeParam::exec());
}

TYPED_TEST(Input, ShapeOfResults) {
  shape_of_results<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void components_of_forward(const moho::Instance<Memory>& exec) {
  using enum Component;
  const std::vector<Station> stations{{1.0, 2.0, -3.0}};
  expect_parts(message<InputError>([&] { compute<T>(exec, {good}, stations, Components{}); }),
               {"components: none is named"});
  expect_parts(message<InputError>([&] {
                 compute<T>(exec, {good}, stations, Components{gz, gxx, gz});
               }),
               {"components: gz is named twice"});
}
TYPED_TEST(Input, ComponentsOfForward) {
  components_of_forward<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void options_must_make_sense(const moho::Instance<Memory>& exec) {
  for (const double constant : {nan_value, infinite, 0.0}) {
    Options options;
    options.constant = constant;
    expect_parts(message_for<T>(exec, {good}, options), {"constant: "});
  }
  for (const double tolerance : {nan_value, 0.5, infinite}) {
    Options options;
    options.far_tolerance = tolerance;
    expect_parts(message_for<T>(exec, {good}, options), {"far_tolerance: "});
  }
  for (const auto& [team_size, teams] : {std::pair{-1, 0}, std::pair{0, -1}, std::pair{4096, 0}}) {
    Options options;
    options.team_size = team_size;
    options.teams = teams;
    expect_parts(message_for<T>(exec, {good}, options),
                 {"team_size, teams: ", moho::concat(team_size, ", ", teams)});
  }
}
TYPED_TEST(Input, OptionsMustMakeSense) {
  options_must_make_sense<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void overlaps_on_request(const moho::Instance<Memory>& exec) {
  auto prisms = bricks();
  Options options;
  options.check_overlaps = true;
  const std::vector<Station> stations{{1.0, 2.0, -3.0}};
  EXPECT_NO_THROW(compute<T>(exec, prisms, stations, {Component::gz}, options));
  prisms.push_back({3.3, 3.4, 5.5, 5.6, 0.05, 0.06, rock});  // overlaps row 2 * 8 + 3
  expect_parts(message_for<T>(exec, prisms, options), {"prisms: rows 19 and 336 ", "overlap"});
  options.check_overlaps = false;
  EXPECT_NO_THROW(compute<T>(exec, prisms, stations, {Component::gz}, options));
}
TYPED_TEST(Input, OverlapsOnRequest) {
  overlaps_on_request<typename TypeParam::Scalar>(TypeParam::exec());
}

// ---------------------------------------------------------------------------------------- meshes

template <class T, class Memory>
void meshes(const moho::Instance<Memory>& exec) {
  const RegularMesh fine{{4, 3, 2}, {0.0, 0.0, 10.0}, {40.0, 30.0, 50.0}};
  std::vector<double> densities(24, 300.0);
  const auto of = [&](const RegularMesh& mesh) {
    return message<InputError>([&] {
      compute<T>(exec, mesh, densities, {{1.0, 2.0, -3.0}}, {Component::gz});
    });
  };
  EXPECT_NO_THROW(compute<T>(exec, fine, densities, {{1.0, 2.0, -3.0}}, {Component::gz}));
  const char* axes[] = {"x", "y", "z"};
  for (int a = 0; a < 3; ++a) {
    for (const std::int64_t cells : {0, -2}) {
      RegularMesh mesh = fine;
      mesh.cells[a] = cells;
      expect_parts(of(mesh), {"mesh: ", moho::concat(cells, " prisms along ", axes[a])});
    }
    for (const double upper : {-5.0, fine.lower[a], nan_value, infinite}) {
      RegularMesh mesh = fine;
      mesh.upper[a] = upper;
      expect_parts(of(mesh), {"mesh: along ", axes[a], moho::concat("to ", upper)});
    }
  }
  densities.pop_back();
  expect_parts(of(fine), {"densities: there are 23", "allowed: 24"});
  densities.assign(24, 300.0);
  densities[17] = nan_value;  // i = 1, j = 1, k = 1
  densities[18] = infinite;
  expect_parts(of(fine), {"densities: prism 17 ", "i = 1, j = 1, k = 1"});
  // mesh_prisms() on the host makes the same check
  densities.pop_back();
  EXPECT_THAT(message<InputError>([&] { moho::gravity::mesh_prisms(fine, densities); }),
              HasSubstr("densities: there are 23"));
}
TYPED_TEST(Input, Meshes) { meshes<typename TypeParam::Scalar>(TypeParam::exec()); }

// by_corners requires a mesh, double precision, and stations outside the mesh.
template <class T, class Memory>
void by_corners_where_it_cannot_be(const moho::Instance<Memory>& exec) {
  Options options;
  options.strategy = Strategy::by_corners;
  expect_parts(message_for<T>(exec, {good}, options), {"by_corners", "regular mesh", "tiles"});
  const RegularMesh mesh{{4, 3, 2}, {0.0, 0.0, 10.0}, {40.0, 30.0, 50.0}};
  const std::vector<double> densities(24, 300.0);
  const auto of = [&](const std::vector<Station>& stations) {
    return message<InputError>(
        [&] { compute<T>(exec, mesh, densities, stations, {Component::gz}, options); });
  };
  if constexpr (std::is_same_v<T, float>) {
    expect_parts(of({{1.0, 2.0, -3.0}}), {"by_corners", "double precision", "tiles"});
  } else {
    EXPECT_NO_THROW(
        compute<T>(exec, mesh, densities, {{1.0, 2.0, -3.0}}, {Component::gz}, options));
    expect_parts(of({{1.0, 2.0, -3.0}, {20.0, 10.0, 20.0}}),
                 {"stations: row 1 ", "by_corners", "outside"});
    expect_parts(of({{20.0, 10.0, 10.0}}), {"stations: row 0 ", "by_corners"});  // on top
  }
}
TYPED_TEST(Input, ByCornersWhereItCannotBe) {
  by_corners_where_it_cannot_be<typename TypeParam::Scalar>(TypeParam::exec());
}

TYPED_TEST(Input, ElevationsOfAGrid) {
  using moho::gravity::station_grid;
  const auto rows = station_grid(3, 2, 10.0, 20.0, 100.0, 200.0, {50.0});
  EXPECT_THAT(rows, ElementsAre(100, 200, -50, 110, 200, -50, 120, 200, -50, 100, 220, -50, 110,
                                220, -50, 120, 220, -50));
  const auto each = station_grid(2, 2, 1.0, 1.0, 0.0, 0.0, {1.0, 2.0, 3.0, 4.0});
  EXPECT_THAT(each, ElementsAre(0, 0, -1, 1, 0, -2, 0, 1, -3, 1, 1, -4));
  EXPECT_THAT(message<InputError>([&] {
                station_grid(3, 2, 1.0, 1.0, 0.0, 0.0, {1.0, 2.0});
              }),
              HasSubstr("elevation: there are 2 values (allowed: 1, or 6"));
}

// ----------------------------------------------------------------------------------------- memory

// The paper's scheme needs one grid of results per thread. The message gives the number that fits,
// and that number works.
template <class T, class Memory>
void no_memory_for_private_grids(const moho::Instance<Memory>& exec) {
  const std::vector<Prism> prisms(200, good);
  const std::vector<Station> stations(500, Station{1.0, 2.0, -3.0});
  Options options;
  options.strategy = Strategy::by_prisms;
  options.team_size = 32;
  options.teams = 4;
  const std::size_t grid = 10 * 500 * sizeof(T);
  options.memory_budget = 40 * grid;
  const auto refused = [&] {
    return message<MemoryError>([&] { compute<T>(exec, prisms, stations, all_ten(), options); });
  };
  const std::string text = refused();
  expect_parts(text, {"by_prisms: 128 private grids take ", "in which ", " fit"});
  const auto at = text.find("in which ");
  ASSERT_NE(at, std::string::npos);
  const int fit = std::stoi(text.substr(at + 9));
  EXPECT_GT(fit, 20);
  EXPECT_LE(fit, 40);
  options.team_size = 1;
  options.teams = fit;
  const Outcome found = compute<T>(exec, prisms, stations, all_ten(), options);
  EXPECT_EQ(found.report.private_grids, fit);
  EXPECT_LE(found.report.memory, options.memory_budget);
  options.teams = fit + 1;
  expect_parts(refused(), {moho::concat("by_prisms: ", fit + 1, " private grids"),
                           moho::concat("in which ", fit, " fit")});
  // too small for a single private grid
  options.memory_budget = grid;
  expect_parts(refused(), {"by_prisms: ", "in which 0 fit"});
  // this budget suffices for the other strategies, and for a few grids
  options.memory_budget = 20 * grid;
  options.strategy = Strategy::tiles;
  const Outcome tiles = compute<T>(exec, prisms, stations, all_ten(), options);
  EXPECT_LE(tiles.report.memory, options.memory_budget);
}
TYPED_TEST(Input, NoMemoryForPrivateGrids) {
  no_memory_for_private_grids<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void no_memory_at_all(const moho::Instance<Memory>& exec) {
  const std::vector<Prism> prisms(200, good);
  const std::vector<Station> stations(500, Station{1.0, 2.0, -3.0});
  for (const Strategy strategy : {Strategy::tiles, Strategy::by_stations, Strategy::automatic}) {
    Options options;
    options.strategy = strategy;
    options.memory_budget = 1000;  // too small for the prisms
    expect_parts(
        message<MemoryError>([&] { compute<T>(exec, prisms, stations, all_ten(), options); }),
        {"200 prisms: ", "allowed: 1000 B"});
    options.memory_budget = 200 * 128 + 2000;  // enough for the prisms, too small for the sums
    expect_parts(
        message<MemoryError>([&] { compute<T>(exec, prisms, stations, all_ten(), options); }),
        {"sums at 500 stations: ", "fewer stations"});
  }
}
TYPED_TEST(Input, NoMemoryAtAll) {
  no_memory_at_all<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
