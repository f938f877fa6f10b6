// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Invalid models and options, and the messages.

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Field;
using moho::Grid;
using moho::Index;
using moho::wave::check_model;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Case>
class ModelTest : public ::testing::Test {};
TYPED_TEST_SUITE(ModelTest, TestCases, CaseName);

Grid<3> model_grid() { return {{20, 21, 22}, {10.0, 11.0, 12.0}, {100.0, 0.0, -12.0}}; }

MEMORY_TEST(ModelTest, ItsMediumIsWhatItHas) {
  for (const Medium medium :
       {Medium::isotropic, Medium::variable_density, Medium::vti, Medium::tti}) {
    EXPECT_EQ((random_model<T, 3, Memory>(exec, model_grid(), medium, 1).medium()), medium);
    EXPECT_EQ((random_model<T, 2, Memory>(exec, cube<2>(20, 1.0), medium, 1).medium()), medium);
  }
  auto model = random_model<T, 3, Memory>(exec, model_grid(), Medium::isotropic, 1);
  model.phi = model.vp;
  EXPECT_EQ(model.medium(), Medium::tti);
  model.phi = {};
  model.delta = model.vp;
  EXPECT_EQ(model.medium(), Medium::vti);
  EXPECT_STREQ(moho::wave::to_string(Medium::variable_density), "variable_density");
  EXPECT_STREQ(moho::wave::to_string(Medium::tti), "tti");
}

/// Checks that the message gives the position of the first bad value, in nodes and in metres.
template <class T, class Memory>
void expect_value_refused(const Instance<Memory>& exec, const char* name, double base, double bad,
                          const std::string& allowed, const std::string& advice) {
  const Index<3> first{7, 3, 11}, second{7, 4, 0};
  const auto field = field_of<T, 3, Memory>(exec, model_grid(), [&](const Index<3>& node) {
    const bool here = node[0] == first[0] && node[1] == first[1] && node[2] == first[2];
    const bool there = node[0] == second[0] && node[1] == second[1] && node[2] == second[2];
    return here || there ? bad : base;
  });
  auto model = constant_model<T, 3, Memory>(exec, model_grid(), Medium::isotropic, {});
  const std::string which = name;
  (which == "vp"        ? model.vp
   : which == "density" ? model.density
   : which == "epsilon" ? model.epsilon
   : which == "delta"   ? model.delta
   : which == "theta"   ? model.theta
                        : model.phi) = field;
  const auto refused =
      AllOf(HasSubstr(which + ": the value at node (7, 3, 11), (170, 33, 120), is " +
                      moho::concat(static_cast<double>(static_cast<T>(bad)))),
            HasSubstr("(allowed: " + allowed + ")"), HasSubstr(advice));
  EXPECT_THAT(message_of([&] { check_model(exec, model_grid(), model); }), refused);
  PropagatorOptions<3> options;
  options.dt = 1e-6;
  options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
  EXPECT_THAT(message_of([&] { Propagator<T, 3, Memory>(exec, model_grid(), model, options); }),
              refused);
}

MEMORY_TEST(ModelTest, BadValuesAndWhere) {
  for (const double bad : {0.0, -1500.0, not_a_number, infinite, -infinite, 2e9}) {
    expect_value_refused<T, Memory>(exec, "vp", 1500.0, bad, "positive, at most 1e9, in m/s",
                                    "correct the");
  }
  for (const double bad : {0.0, -1.0, not_a_number, infinite}) {
    expect_value_refused<T, Memory>(exec, "density", 1000.0, bad, "positive and finite, in kg/m^3",
                                    "correct the model there");
  }
  for (const char* name : {"epsilon", "delta"}) {
    for (const double bad : {-0.5, -0.75, 2.5, 20.0, not_a_number, infinite}) {
      expect_value_refused<T, Memory>(exec, name, 0.1, bad, "-0.4999 to 2, a number without unit",
                                      "not per cent");
    }
  }
  for (const char* name : {"theta", "phi"}) {
    for (const double bad : {45.0, -6.3, not_a_number, -infinite}) {
      expect_value_refused<T, Memory>(exec, name, 0.1, bad, "-2 pi to 2 pi, in radians",
                                      "not degrees");
    }
  }
}

MEMORY_TEST(ModelTest, ValuesAtTheEdgesOfWhatIsAllowed) {
  for (const double thomsen : {-0.49, 2.0}) {
    for (const double angle : {-6.283185, 6.283185}) {
      const auto model = constant_model<T, 3, Memory>(exec, model_grid(), Medium::tti,
                                                      {1.0, 1.0, thomsen, thomsen, angle, angle});
      EXPECT_NO_THROW(check_model(exec, model_grid(), model));
    }
  }
  const auto range =
      check_model(exec, model_grid(),
                  random_model<T, 3, Memory>(exec, model_grid(), Medium::variable_density, 1));
  EXPECT_GE(range.vp.min, 1500.0);
  EXPECT_LT(range.vp.min, 1600.0);
  EXPECT_LE(range.vp.max, 4500.0);
  EXPECT_GT(range.density.max, 2900.0);
  EXPECT_EQ(range.vp.bad, -1);
}

MEMORY_TEST(ModelTest, FieldsThatDoNotGoTogether) {
  const auto check = [&](const Model<T, 3, Memory>& model) {
    return message_of([&] { check_model(exec, model_grid(), model); });
  };
  Model<T, 3, Memory> model;
  EXPECT_THAT(check(model), HasSubstr("vp: it is missing (every model has a P velocity): give it"));
  model.vp = constant<T, 3, Memory>(exec, model_grid(), 2000.0);
  EXPECT_EQ(check(model), "no exception");
  model.density = constant<T, 3, Memory>(exec, model_grid(), 2000.0);
  for (auto* field : {&model.epsilon, &model.delta, &model.theta, &model.phi}) {
    *field = constant<T, 3, Memory>(exec, model_grid(), 0.1);
    EXPECT_THAT(check(model), AllOf(HasSubstr("density: it goes with vp alone"),
                                    HasSubstr("leave out epsilon, delta, theta and phi")));
    *field = {};
  }
  model.density = {};
  const Grid<2> flat = cube<2>(20, 10.0);
  Model<T, 2, Memory> plane;
  plane.vp = plane.phi = constant<T, 2, Memory>(exec, flat, 1.0);
  EXPECT_THAT(message_of([&] { check_model(exec, flat, plane); }),
              HasSubstr("phi: a 2D model has no azimuth: leave it out"));

  // shapes
  const Grid<3> other{{20, 22, 22}, {10.0, 11.0, 12.0}, {}};
  const auto wrong = constant<T, 3, Memory>(exec, other, 0.1);
  const auto expect_shape = [&](const char* name) {
    EXPECT_THAT(check(model), AllOf(HasSubstr(std::string(name) + ": its shape is 20 x 22 x 22"),
                                    HasSubstr("(allowed: 20 x 21 x 22, the shape of the grid)")));
  };
  model.delta = wrong;
  expect_shape("delta");
  model.delta = {};
  model.epsilon = wrong;
  expect_shape("epsilon");
  model.epsilon = {};
  model.theta = wrong;
  expect_shape("theta");
  model.theta = {};
  model.phi = wrong;
  expect_shape("phi");
  model.phi = {};
  model.density = wrong;
  expect_shape("density");
  model.density = {};
  model.vp = wrong;
  expect_shape("vp");
}

MEMORY_TEST(ModelTest, BadOptions) {
  const auto model =
      constant_model<T, 3, Memory>(exec, model_grid(), Medium::tti, {2000.0, 1.0, 0.2});
  PropagatorOptions<3> good;
  good.dt = 0.0005;
  good.boundaries = moho::wave::all_faces<3>(FaceKind::sponge, 4);
  good.frequency = 40.0;
  const auto make = [&](const PropagatorOptions<3>& options) {
    return message_of([&] { Propagator<T, 3, Memory>(exec, model_grid(), model, options); });
  };
  EXPECT_EQ(make(good), "no exception");
  auto options = good;
  options.order = 7;
  EXPECT_THAT(make(options), HasSubstr("order is 7 (allowed: 2, 4, 6, 8, 10, 12, 14, 16)"));
  options.order = 0;
  EXPECT_THAT(make(options), HasSubstr("order is 0 (allowed"));
  options.order = 18;
  EXPECT_THAT(make(options), HasSubstr("order is 18 (allowed"));
  options = good;
  for (const double dt : {0.01, 0.0, -1.0, not_a_number}) {
    options.dt = dt;
    EXPECT_THAT(make(options), AllOf(HasSubstr(moho::concat("dt is ", dt,
                                                            " s (allowed: positive "
                                                            "and at most 0.00")),
                                     HasSubstr("the largest stable step")));
  }
  // the time step of the message is accepted
  const auto limits = moho::wave::limits_of(exec, model_grid(), model, good.order);
  options.dt = limits.largest_dt;
  EXPECT_EQ(make(options), "no exception");
  options.dt = 1.0001 * limits.largest_dt;
  EXPECT_THAT(make(options), HasSubstr("dt is "));
  options = good;
  for (const double sigma : {0.0, -0.75, not_a_number, infinite}) {
    options.sigma = sigma;
    EXPECT_THAT(make(options),
                HasSubstr(moho::concat("sigma is ", sigma, " (allowed: positive numbers)")));
  }
  options = good;
  options.frequency = 100.0;
  EXPECT_THAT(make(options), AllOf(HasSubstr("the shortest wave, 2000 m/s at 100 Hz"),
                                   HasSubstr("points per wavelength at a spacing of 12 m")));
  options.frequency = -1.0;
  EXPECT_THAT(make(options), HasSubstr("highest frequency is -1 Hz"));
  options.frequency = 0.0;  // not checked
  EXPECT_EQ(make(options), "no exception");
  options = good;
  options.boundaries.upper[2] = {FaceKind::cpml, 4};
  EXPECT_THAT(make(options), HasSubstr("'cpml' does not go with TTI"));
  options.boundaries.upper[2] = {FaceKind::sponge, 0};
  EXPECT_THAT(make(options), HasSubstr("the width of a layer is 0"));
  options.boundaries.upper[2] = {FaceKind::sponge, 18};
  EXPECT_THAT(make(options), HasSubstr("the layers along z take 22 of 22 nodes"));
}

MEMORY_TEST(ModelTest, GridsTooSmallForTheOrder) {
  const auto make = [&](const Grid<3>& small, int order) {
    const auto model = constant_model<T, 3, Memory>(exec, small, Medium::isotropic, {2000.0});
    PropagatorOptions<3> options;
    options.dt = 0.0005;
    options.order = order;
    options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
    return message_of([&] { Propagator<T, 3, Memory>(exec, small, model, options); });
  };
  const Grid<3> small{{30, 9, 30}, {10.0, 10.0, 10.0}, {}};
  EXPECT_EQ(make(small, 8), "no exception");
  EXPECT_THAT(make(small, 10),
              AllOf(HasSubstr("order 10 is too large for 9 nodes along y"),
                    HasSubstr("(allowed: fewer than there are nodes): take a lower order or a")));
  EXPECT_THAT(make({{30, 30, 16}, {10.0, 10.0, 10.0}, {}}, 16), HasSubstr("16 nodes along z"));
}

}  // namespace
