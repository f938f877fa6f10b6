// SPDX-License-Identifier: BSD-3-Clause
// Parameters in codes of 16 bits: rounding, steps from codes and from numbers, stability, refusals.
// ctest: quick
// ctest: sanitizers without *.ChangeLittle
// ctest: sanitizers without *.AreStable

#include <moho/wave/parameter_codes.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "wave/support.hpp"

namespace {

using moho::Box;
using moho::Grid;
using moho::Instance;
using moho::wave::ParameterCode;
using moho::wave::ParameterStorage;
using moho::wave::ValueRange;
using namespace moho::testing;

template <class S>
class ParameterCodes : public ::testing::Test {};
TYPED_TEST_SUITE(ParameterCodes, TestSpaces, SpaceName);

TEST(ParameterCode, KeepsItsLowValueAndRange) {
  const struct {
    double low;
    ValueRange range;
    int spare;
  } cases[] = {{1.5, {1.5, 4.5}, 0},
               {0.0, {-2.0e-3, 3.5e-2}, 0},
               {1.0, {0.4, 0.9}, 8},
               {1.0, {0.8, 1.8}, 8},
               {2.0, {2.0, 2.0}, 0}};
  for (const auto& c : cases) {
    const ParameterCode code = moho::wave::detail::make_code(c.low, c.range, c.spare);
    const auto low = static_cast<float>(c.low);
    EXPECT_EQ(code.decode(code.encode(c.low)), low);
    const double width = std::max(c.low, c.range.max) - std::min(c.low, c.range.min);
    EXPECT_LE(static_cast<double>(code.step), 1.01 * width / (65533.0 - c.spare));
    for (int n = 0; n <= 100000; ++n) {
      const double value =
          c.range.min + (c.range.max - c.range.min) * static_cast<double>(n) / 100000.0;
      const std::uint32_t encoded = code.encode(value);
      ASSERT_LT(encoded, 65536U);
      const float decoded = code.decode(encoded);
      ASSERT_LE(decoded, static_cast<float>(std::max(c.low, c.range.max)));
      // the last code below `max` may be a whole step away
      const double bound = value > c.range.max - static_cast<double>(code.step) ? 1.01 : 0.501;
      ASSERT_LE(std::abs(static_cast<double>(decoded) - value),
                bound * static_cast<double>(code.step) + 1.0e-7 * std::abs(value));
      // with and without fused operations
      ASSERT_EQ(decoded, std::fma(static_cast<float>(encoded) - code.zero, code.step, code.low));
    }
  }
}

TEST(ParameterCode, ErrorOfVelocities) {
  moho::wave::Limits limits;
  limits.vp = {1500.0, 4500.0};
  EXPECT_LT(moho::wave::velocity_code_error(limits), 1.6e-5);
  EXPECT_GT(moho::wave::velocity_code_error(limits), 1.5e-5);
  limits.vp = {300.0, 6000.0};
  EXPECT_GT(moho::wave::velocity_code_error(limits), moho::wave::largest_code_error);
}

// Self-adjoint media with all kinds of faces.
std::vector<moho::wave::Boundaries<3>> faces_of_codes() {
  std::vector<moho::wave::Boundaries<3>> result{moho::wave::all_faces<3>(FaceKind::sponge, 6),
                                                moho::wave::all_faces<3>(FaceKind::cpml, 6)};
  result.back().lower[2] = {FaceKind::free_surface, 0};
  return result;
}

// Steps from codes have the bits of steps from decoded numbers, in boxes and windows too.
template <class Memory>
void expect_bits_of_numbers(const Instance<Memory>& exec) {
  constexpr bool small = moho::is_host_memory<Memory>;
  const Grid<3> grid{{small ? 23 : 47, small ? 25 : 61, small ? 27 : 83}, {10.0, 12.0, 9.0}, {}};
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    const auto model = random_model<float, 3, Memory>(exec, grid, medium, 5);
    for (int order = 2; order <= 16; order += small ? 6 : 2) {
      for (const auto& faces : faces_of_codes()) {
        PropagatorOptions<3> options;
        options.order = order;
        options.boundaries = faces;
        options.parameters = ParameterStorage::codes;
        const auto coded = make_propagator(exec, grid, model, options);
        const auto& scheme = coded.scheme();
        EXPECT_TRUE(scheme.rounds_parameters());
        EXPECT_EQ(scheme.reads_codes(), !small);
        auto numbers =
            MediumCoefficients<float, 3, Memory>::numbers(exec, scheme, moho::all_planes(grid));
        numbers.load(exec, scheme, model);
        auto of_codes = coded.make_wavefield(exec), of_numbers = coded.make_wavefield(exec);
        auto boxes = coded.make_wavefield(exec);
        for (auto* wavefield : {&of_codes, &of_numbers, &boxes}) set_random(exec, *wavefield, 8);
        for (int step = 0; step < 3; ++step) {
          coded.step(exec, of_codes);
          moho::wave::step<float, 3, Memory>(exec, scheme, numbers, of_numbers,
                                             moho::whole_box(grid));
          for (const auto& [begin, end] : {std::pair{0, 9}, {9, 10}, {10, int(grid.extents[0])}}) {
            Box<3> box = moho::whole_box(grid);
            box.lower[0] = begin;
            box.upper[0] = end;
            coded.step(exec, boxes, box);
          }
          for (auto* wavefield : {&of_codes, &of_numbers, &boxes}) wavefield->advance();
        }
        const std::string what = moho::concat(to_string(medium), ", order ", order, ", ",
                                              to_string(faces.lower[0].kind));
        for (int f = 0; f < of_codes.fields; ++f) {
          const auto values = nodes_of<float, 3, Memory>(exec, of_codes.layout, of_codes.now[f]);
          EXPECT_GT(norm(values), 1.0);
          EXPECT_EQ((nodes_of<float, 3, Memory>(exec, of_numbers.layout, of_numbers.now[f])),
                    values)
              << what;
          EXPECT_EQ((nodes_of<float, 3, Memory>(exec, boxes.layout, boxes.now[f])), values) << what;
        }
      }
    }
  }
}
TYPED_TEST(ParameterCodes, HaveTheBitsOfNumbers) {
  expect_bits_of_numbers(
      Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

// Where delta is epsilon, the equations are stable if the exact r^2 does not exceed a.
template <class T, class Memory>
void expect_squares_below(const Instance<Memory>& exec, Medium medium, ParameterStorage storage) {
  const Grid<2> grid{{101, 99}, {10.0, 10.0}, {}};
  auto model = random_model<T, 2, Memory>(exec, grid, medium, 5);
  model.delta = model.epsilon;
  PropagatorOptions<2> options;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  options.parameters = storage;
  const auto propagator = make_propagator(exec, grid, model, options);
  const auto& scheme = propagator.scheme();
  auto numbers = MediumCoefficients<T, 2, Memory>::numbers(exec, scheme, moho::all_planes(grid));
  numbers.load(exec, scheme, model);
  const auto arrays = numbers.arrays();
  const auto a = nodes_of<T, 2, Memory>(exec, numbers.layout(), arrays[1]);
  const auto r = nodes_of<T, 2, Memory>(exec, numbers.layout(), arrays[2]);
  const double ulp = std::numeric_limits<T>::epsilon();
  const double step = storage == ParameterStorage::codes ? 1e-4 : 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    ASSERT_LE(std::fma(r[n], r[n], -a[n]), 0.0) << a[n];
    ASSERT_GE(std::fma(r[n], r[n], -a[n]), -(6.0 * ulp + step) * a[n]) << a[n];
  }
}
TYPED_TEST(ParameterCodes, SquaresDoNotExceedA) {
  using Memory = moho::MemoryOf<typename TypeParam::Exec>;
  const Instance<Memory> exec{typename TypeParam::Exec()};
  for (const Medium medium : {Medium::vti, Medium::tti}) {
    expect_squares_below<float>(exec, medium, ParameterStorage::full);
    expect_squares_below<double>(exec, medium, ParameterStorage::full);
  }
  expect_squares_below<float>(exec, Medium::vti, ParameterStorage::codes);
}

// A wavefield of codes differs from one of double precision by little more than one of numbers.
template <class Memory>
void expect_small_error(const Instance<Memory>& exec) {
  const Grid<3> grid = cube<3>(36, 10.0);
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    const auto in_double = random_model<double, 3, Memory>(exec, grid, medium, 5);
    const auto in_single = random_model<float, 3, Memory>(exec, grid, medium, 5);
    PropagatorOptions<3> options;
    options.boundaries = moho::wave::all_faces<3>(FaceKind::sponge, 6);
    const auto numbers = make_propagator(exec, grid, in_single, options);
    options.dt = numbers.dt();
    const Propagator<double, 3, Memory> exact(exec, grid, in_double, options);
    options.parameters = ParameterStorage::codes;
    const Propagator<float, 3, Memory> coded(exec, grid, in_single, options);
    auto expected = exact.make_wavefield(exec);
    auto of_numbers = numbers.make_wavefield(exec), of_codes = coded.make_wavefield(exec);
    set_random(exec, expected, 8);
    set_random(exec, of_numbers, 8);
    set_random(exec, of_codes, 8);
    for (int step = 0; step < 100; ++step) {
      exact.step(exec, expected);
      numbers.step(exec, of_numbers);
      coded.step(exec, of_codes);
      expected.advance();
      of_numbers.advance();
      of_codes.advance();
    }
    const auto values = nodes_of<double, 3, Memory>(exec, expected.layout, expected.now[0]);
    const double plain = relative_difference(
        nodes_of<float, 3, Memory>(exec, of_numbers.layout, of_numbers.now[0]), values);
    const double rounded = relative_difference(
        nodes_of<float, 3, Memory>(exec, of_codes.layout, of_codes.now[0]), values);
    EXPECT_LT(plain, 5e-5) << to_string(medium);
    // 100 steps of waves of all lengths, with the phase of each in error by about 1e-5 a radian
    EXPECT_LT(rounded, 2e-3) << to_string(medium);
    EXPECT_GT(rounded, 1e-5) << to_string(medium) << ": codes are not used";
  }
}
TYPED_TEST(ParameterCodes, ChangeLittle) {
  expect_small_error(
      Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

// Neighbouring densities with the largest ratio: a random field neither grows nor overflows.
template <class Memory>
void expect_stable(const Instance<Memory>& exec) {
  const Grid<3> grid = cube<3>(20, 10.0);
  moho::wave::Model<float, 3, Memory> model;
  model.vp = random_field<float, 3, Memory>(exec, grid, 3, 1500.0, 4500.0);
  std::mt19937 random(4);
  model.density = field_of<float, 3, Memory>(exec, grid, [&](const moho::Index<3>&) {
    return uniform(random, 0.0, 1.0) < 0.5 ? 500.0 : 7999.0;
  });
  PropagatorOptions<3> options;
  options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
  options.parameters = ParameterStorage::codes;
  options.dt = moho::wave::coded_step_fraction *
               moho::wave::limits_of(exec, grid, model, options.order).largest_dt;
  const Propagator<float, 3, Memory> propagator(exec, grid, model, options);
  auto wavefield = propagator.make_wavefield(exec);
  set_random(exec, wavefield, 8);
  double early = 0.0;
  for (int step = 1; step <= 5000; ++step) {
    propagator.step(exec, wavefield);
    wavefield.advance();
    if (step % 500 != 0) continue;
    const double now = norm(nodes_of<float, 3, Memory>(exec, wavefield.layout, wavefield.now[0]));
    if (step == 500) early = now;
    EXPECT_LT(now, 1.5 * early) << "step " << step;
  }
  EXPECT_GT(early, 0.0);
}
TYPED_TEST(ParameterCodes, AreStable) {
  expect_stable(Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

/// Expects an InputError whose text has all parts.
template <class Function>
void expect_refused(const Function& function, const std::vector<std::string>& parts) {
  const std::string text = message_of(function);
  for (const std::string& part : parts) EXPECT_THAT(text, ::testing::HasSubstr(part));
}

// The automatic choice depends on precision, dimension, space, medium and step; codes are refused
// where they do not exist.
template <class Memory>
void expect_choice(const Instance<Memory>& exec) {
  const auto bits = [&]<class T, int Dim>(T, std::integral_constant<int, Dim>, Medium medium,
                                          ParameterStorage storage, double fraction) {
    const Grid<Dim> grid = cube<Dim>(20, 10.0);
    const auto model = random_model<T, Dim, Memory>(exec, grid, medium, 5);
    PropagatorOptions<Dim> options;
    options.boundaries = moho::wave::all_faces<Dim>(FaceKind::rigid);
    options.parameters = storage;
    options.dt = fraction * moho::wave::limits_of(exec, grid, model, options.order).largest_dt;
    return Propagator<T, Dim, Memory>(exec, grid, model, options).scheme().parameter_bits();
  };
  constexpr std::integral_constant<int, 3> in_3d;
  constexpr std::integral_constant<int, 2> in_2d;
  constexpr auto automatic = ParameterStorage::automatic, codes = ParameterStorage::codes;
  const int device = moho::is_host_memory<Memory> ? 32 : 16;
  EXPECT_EQ(bits(0.0F, in_3d, Medium::isotropic, automatic, 0.9), device);
  EXPECT_EQ(bits(0.0F, in_3d, Medium::variable_density, automatic, 0.9), device);
  EXPECT_EQ(bits(0.0F, in_3d, Medium::vti, automatic, 0.9), device);
  EXPECT_EQ(bits(0.0F, in_3d, Medium::tti, automatic, 0.9), 32);
  EXPECT_EQ(bits(0.0F, in_3d, Medium::isotropic, automatic, 0.99999), 32);
  EXPECT_EQ(bits(0.0F, in_2d, Medium::isotropic, automatic, 0.9), 32);
  EXPECT_EQ(bits(0.0F, in_2d, Medium::isotropic, codes, 0.9), 16);
  EXPECT_EQ(bits(0.0, in_3d, Medium::isotropic, automatic, 0.9), 64);
  EXPECT_EQ(bits(0.0F, in_3d, Medium::isotropic, ParameterStorage::full, 0.9), 32);
  expect_refused([&] { bits(0.0, in_3d, Medium::isotropic, codes, 0.9); },
                 {"16 bits", "double precision", "32 bits"});
  expect_refused([&] { bits(0.0F, in_3d, Medium::tti, codes, 0.9); },
                 {"16 bits", "these equations", "32 bits"});
  expect_refused([&] { bits(0.0F, in_3d, Medium::isotropic, codes, 0.99999); },
                 {"dt is", "16 bits", "0.9999"});
}
TYPED_TEST(ParameterCodes, AreChosen) {
  expect_choice(Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

// Another model has other ranges, and the codes of a new propagator.
template <class Memory>
void expect_update(const Instance<Memory>& exec) {
  const Grid<3> grid = cube<3>(20, 10.0);
  PropagatorOptions<3> options;
  // factors of sponges would be those of the first model
  options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
  options.parameters = ParameterStorage::codes;
  options.dt = 5.0e-4;
  const auto first = random_model<float, 3, Memory>(exec, grid, Medium::variable_density, 5);
  auto second = random_model<float, 3, Memory>(exec, grid, Medium::variable_density, 6);
  second.vp = random_field<float, 3, Memory>(exec, grid, 3, 2000.0, 3000.0);
  Propagator<float, 3, Memory> updated(exec, grid, first, options);
  updated.update(exec, second);
  const Propagator<float, 3, Memory> fresh(exec, grid, second, options);
  auto one = updated.make_wavefield(exec), other = fresh.make_wavefield(exec);
  set_random(exec, one, 8);
  set_random(exec, other, 8);
  updated.step(exec, one);
  fresh.step(exec, other);
  EXPECT_EQ((nodes_of<float, 3, Memory>(exec, one.layout, one.next[0])),
            (nodes_of<float, 3, Memory>(exec, other.layout, other.next[0])));
}
TYPED_TEST(ParameterCodes, FollowAnotherModel) {
  expect_update(Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

}  // namespace
