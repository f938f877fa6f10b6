// SPDX-License-Identifier: BSD-3-Clause
//
// Models from values on the host: contents, ownership of the memory, invalid values.

#include <moho/wave/model_values.hpp>

#include <vector>

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::download;
using moho::Grid;
using moho::is_host_memory;
using moho::wave::borrow_model;
using moho::wave::make_model;
using moho::wave::ModelValues;
using moho::wave::Parameter;

template <class Case>
class ModelValuesTest : public ::testing::Test {};
TYPED_TEST_SUITE(ModelValuesTest, TestCases, CaseName);

constexpr Parameter all_parameters[] = {Parameter::vp,    Parameter::density, Parameter::epsilon,
                                        Parameter::delta, Parameter::theta,   Parameter::phi};

template <class T>
std::vector<T> ascending(const Grid<3>& grid, int first) {
  std::vector<T> values(static_cast<std::size_t>(grid.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(first) + T(i) / 1024;
  return values;
}

MEMORY_TEST(ModelValuesTest, EveryParameterHasItsField) {
  const Grid<3> grid{{3, 4, 5}, {10.0, 10.0, 10.0}, {}};
  std::vector<std::vector<T>> values;
  ModelValues<T> given;
  for (int k = 0; k < 6; ++k) values.push_back(ascending<T>(grid, 7 * k));
  for (std::size_t k = 0; k < 6; ++k) given.emplace(all_parameters[k], values[k]);
  for (const bool borrows : {false, true}) {
    auto model = borrows ? borrow_model(exec, grid, given) : make_model(exec, grid, given);
    static_assert(std::is_same_v<decltype(model), moho::wave::Model<T, 3, Memory>>);
    for (std::size_t k = 0; k < 6; ++k) {
      const auto& field = model.field(all_parameters[k]);
      EXPECT_EQ(download(exec, field), values[k]) << moho::wave::to_string(all_parameters[k]);
      EXPECT_EQ(field.data() == values[k].data(), borrows && is_host_memory<Memory>);
    }
    EXPECT_EQ(model.vp.extent(1), 4u);
    EXPECT_EQ(download(exec, model.density), values[1]);
    EXPECT_EQ(download(exec, model.phi), values[5]);
  }
}

MEMORY_TEST(ModelValuesTest, ConstantsAreOnAllNodes) {
  const Grid<3> grid{{3, 4, 5}, {10.0, 10.0, 10.0}, {}};
  const std::vector<T> vp = ascending<T>(grid, 2000), rho(vp.size(), T(2200.5));
  const auto model =
      make_model<T>(exec, grid, {{Parameter::vp, vp}, {Parameter::density, T(2200.5)}});
  EXPECT_EQ(model.medium(), moho::wave::Medium::variable_density);
  EXPECT_EQ(model.theta.data(), nullptr);
  EXPECT_EQ(download(exec, model.vp), vp);
  EXPECT_EQ(download(exec, model.density), rho);
  for (const bool of_nodes : {false, true}) {
    ModelValues<T> values{{Parameter::vp, vp}};
    if (of_nodes) {
      values.insert({Parameter::density, {rho, T(2200.5)}});
    } else {
      values.insert({Parameter::density, T(2200.5)});
    }
    const auto borrowed = borrow_model(exec, grid, values);
    EXPECT_EQ(download(exec, borrowed.density), rho);
    EXPECT_EQ(borrowed.density.data() == rho.data(), of_nodes && is_host_memory<Memory>);
  }
}

MEMORY_TEST(ModelValuesTest, RefusesAnotherNumberOfValues) {
  const Grid<2> grid{{3, 4}, {10.0, 10.0}, {}};
  const std::vector<T> right(12, T(1500)), wrong(11, T(2200)), empty;
  for (const std::vector<T>* bad : {&wrong, &empty}) {
    const auto message = message_of([&] {
      make_model<T>(exec, grid, {{Parameter::vp, right}, {Parameter::density, *bad}});
    });
    EXPECT_EQ(message, moho::concat("density: it has ", bad->size(),
                                    " values (allowed: 12, one for each of the 3 x 4 nodes): give "
                                    "it on all nodes of the grid"));
  }
}

MEMORY_TEST(ModelValuesTest, RefusesModelsWithoutVelocity) {
  const Grid<2> grid{{3, 4}, {10.0, 10.0}, {}};
  const char* const text = "vp: it is missing (every model has a P velocity): give it";
  const ModelValues<T> values{{Parameter::density, T(2200)}};
  EXPECT_EQ(message_of([&] { make_model<T>(exec, grid, values); }), text);
  EXPECT_EQ(message_of([&] { borrow_model<T>(exec, grid, values); }), text);
  EXPECT_EQ(message_of([&] { make_model<T>(exec, grid, {}); }), text);
}

}  // namespace
