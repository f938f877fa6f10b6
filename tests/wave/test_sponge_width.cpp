// SPDX-License-Identifier: BSD-3-Clause
//
// Reflections of sponges: estimates against plane waves that are modelled with and without them.

#include <moho/wave/modelling.hpp>
#include <moho/wave/sponge_width.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support.hpp"

namespace moho::testing {
namespace {

using T = double;
using Memory = Kokkos::HostSpace;

// Trace of a plane wave that travels up and down from sources at all nodes of a row. The face at
// the bottom is 60 nodes below the sources and 30 below the receiver. Nodes near the top, whose
// waves arrive too late, have the velocity `top`, all others 2000 m/s.
std::vector<double> plane_wave(std::int64_t more, const wave::Face& bottom, double frequency,
                               double dt, double top) {
  const Instance<Memory> exec{Kokkos::DefaultHostExecutionSpace()};
  constexpr std::int64_t width = 321, depth = 120;
  const Grid<2> grid{{width, depth + more}, {10.0, 10.0}, {0.0, 0.0}};
  wave::Model<T, 2, Memory> model;
  model.vp = make_field<T>(exec, grid, "vp");
  for (std::int64_t x = 0; x < width; ++x) {
    for (std::int64_t z = 0; z < depth + more; ++z) model.vp(x, z) = z < 20 ? top : 2000.0;
  }
  auto faces = wave::all_faces<2>(FaceKind::rigid);
  faces.upper[1] = bottom;
  wave::Shot<2> shot;
  for (int x = 0; x < width; ++x) shot.sources.push_back({10.0 * x, 600.0});
  shot.receivers = {{1600.0, 900.0}};
  wave::ModellingOptions<2> options;
  options.time = {.time = 0.92, .dt = dt, .snapshot_every = 0.0};
  options.sources = shot.sources;
  options.receivers = 1;
  // a plane wave is the time integral of its source: derivative of the wavelet
  const auto wavelet = [=](double step) {
    std::vector<double> samples;
    for (double t = 0.0; t < 4.0 / frequency; t += step) {
      const double a = pi * frequency * (t - 1.5 / frequency);
      samples.push_back(a * (3.0 - 2.0 * a * a) * std::exp(-a * a));
    }
    return samples;
  };
  const auto traces = make_modelling<T, 2, Memory>(exec, grid, model, faces, wavelet, options)
                          .shot(exec, shot)
                          .traces;
  std::vector<double> trace;
  for (std::size_t n = 0; n < traces.extent(1); ++n) trace.push_back(traces(0, n));
  return trace;
}

// Largest amplitude that a sponge reflects, over that which a rigid face reflects.
double measured(int width, double frequency, double courant, double top = 2000.0) {
  const double dt = courant * 10.0 / 2000.0;
  // no wave returns from its lower face
  const auto far = plane_wave(120, {FaceKind::rigid, 0}, frequency, dt, top);
  const auto largest = [&](const wave::Face& bottom) {
    const auto trace = plane_wave(0, bottom, frequency, dt, top);
    double value = 0.0;
    for (std::size_t n = 0; n < far.size(); ++n) {
      value = std::max(value, std::fabs(trace[n] - far[n]));
    }
    return value;
  };
  return largest({FaceKind::sponge, width}) / largest({FaceKind::rigid, 0});
}

TEST(SpongeWidth, EstimatesAreThoseOfModelledWaves) {
  for (const int width : {15, 30}) {
    for (const double frequency : {10.0, 20.0}) {
      for (const double courant : {0.3, 0.5}) {
        const double found = measured(width, frequency, courant);
        const double estimate = wave::sponge_reflection(width, 200.0 / frequency, 0.0, courant);
        EXPECT_NEAR(estimate / found, 1.0, 0.08)
            << width << " nodes, " << frequency << " Hz, " << courant << ": " << found;
      }
    }
  }
}

// Sponges damp for the mean of the smallest and the largest velocity.
TEST(SpongeWidth, EstimatesKnowTheVelocityOfTheSponge) {
  const double found = measured(20, 10.0, 0.3, 3000.0);
  EXPECT_NEAR(wave::sponge_reflection(20, 20.0, 0.0, 0.3, 1.25) / found, 1.0, 0.02);
  EXPECT_LT(wave::sponge_reflection(20, 20.0, 0.0, 0.3) / found, 0.9);
}

// In 2D the wave of a point source is the half integral of its wavelet, of which more returns.
TEST(SpongeWidth, EstimatesAreLargerInTwoDimensions) {
  for (const double wavelength : {13.3, 25.0}) {
    for (const double degrees : {0.0, 45.0}) {
      const auto estimate = [&](int dimensions) {
        return wave::sponge_reflection(30, wavelength, degrees, 0.4, 1.0, dimensions);
      };
      EXPECT_GT(estimate(2), 1.05 * estimate(3)) << wavelength << ' ' << degrees;
    }
  }
}

TEST(SpongeWidth, IsDescribedWithTheStepOfTheRun) {
  const wave::SpongeWave sponge{12, 2000.0, 2000.0, 15.0, 10.0, 2};
  const std::string text = wave::describe(sponge, 0.0015);
  EXPECT_THAT(
      text, ::testing::StartsWith("a sponge of 12 nodes is 0.9 wavelengths of 2000 m/s at 15 Hz"));
  EXPECT_NE(text, wave::describe(sponge, 0.0025));
}

}  // namespace
}  // namespace moho::testing
