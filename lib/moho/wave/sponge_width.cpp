// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/sponge_width.hpp>
#include <moho/wave/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace moho::wave {

namespace {
// Amplitude reflection coefficient of the recommended width.
constexpr double allowed_reflection = 0.01;
// Returns a source at each step up to `end`. In one dimension the wave is its time integral: a
// Ricker wavelet, in two dimensions the half integral of one.
std::vector<double> source_of(double period, double end, int dimensions) {
  const auto count = static_cast<std::size_t>(std::ceil(end));
  std::vector<double> source(count, 0.0), weights(count, 1.0);
  // derivative of order 1/2 of Gruenwald and Letnikov
  for (std::size_t k = 1; k < count; ++k) {
    weights[k] = weights[k - 1] * (1.0 - 1.5 / static_cast<double>(k));
  }
  for (std::size_t k = 0; k < count && static_cast<double>(k) < 4.0 * period; ++k) {
    const double a = 3.14159265358979323846 * (static_cast<double>(k) / period - 1.5);
    if (dimensions != 2) {
      source[k] = a * (3.0 - 2.0 * a * a) * std::exp(-a * a);
      continue;
    }
    const double ricker = (1.0 - 2.0 * a * a) * std::exp(-a * a);
    for (std::size_t n = k; n < count; ++n) source[n] += ricker * weights[n - k];
  }
  return source;
}

}  // namespace

double sponge_reflection(int width, double wavelength, double degrees, double courant,
                         double strength, int dimensions) {
  constexpr int radius = 4;
  constexpr double pi = 3.14159265358979323846;
  const double length = std::clamp(wavelength, 4.0, 100.0);
  // a plane wave varies along the face by a delay only: derivatives along the face are `along`
  // times those in time, and the problem has one dimension
  const double cosine = std::cos(degrees * pi / 180.0), along = 1.0 - cosine * cosine;
  courant = std::clamp(courant, 0.1, 0.75 * cosine);  // the scheme is stable up to 0.78
  const Coefficients c = second_derivative(radius);
  // a rigid face too far to matter, the source, five wavelengths, sponge, rigid face
  const auto left = static_cast<std::size_t>(std::ceil((6.25 * length + width) / cosine));
  const std::size_t inner = left + static_cast<std::size_t>(std::ceil(5.0 * length / cosine));
  const std::size_t nodes = inner + static_cast<std::size_t>(width);
  const std::size_t receiver = left + static_cast<std::size_t>(length / cosine);
  // zero beyond the faces
  std::vector<double> now(nodes + 2 * radius, 0.0), next(now), taper(nodes, 1.0);
  for (int depth = 1; depth <= width; ++depth) {
    taper[inner + static_cast<std::size_t>(depth) - 1] =
        sponge_factor(width, depth, strength * courant);
  }
  const double period = length / courant;
  // the wave passes within three periods, and returns eight wavelengths later
  const double passed = 4.2 * period, back = 8.5 * period,
               end = 12.5 * period + 2.0 * width / courant;
  const std::vector<double> source = source_of(period, end, dimensions);
  double sent = 0.0, returned = 0.0;
  for (int step = 0; step < end; ++step) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const double* p = now.data() + i + radius;
      double second = c[0] * p[0];
      for (int k = 1; k <= radius; ++k) second += c[k] * (p[k] + p[-k]);
      const double w = taper[i], before = next[i + radius];
      // w (2 p + dt^2 (Laplacian p)) - w^2 before, with (next - 2 p + before) along the face
      next[i + radius] =
          (w * (2.0 * p[0] + courant * courant * second + along * (before - 2.0 * p[0])) -
           w * w * before) /
          (1.0 - w * along);
    }
    next[left + radius] += source[static_cast<std::size_t>(step)];
    std::swap(now, next);
    const double amplitude = std::fabs(now[radius + receiver]);
    if (step < passed) sent = std::max(sent, amplitude);
    if (step > back) returned = std::max(returned, amplitude);
  }
  return returned / sent;
}

std::string describe(const SpongeWave& wave, double dt) {
  const double wavelength = wave.velocity / (wave.frequency * wave.spacing);  // nodes
  const auto percent = [&](double degrees) {
    return text::significant(
        100.0 * sponge_reflection(wave.width, wavelength, degrees,
                                  wave.velocity * dt / wave.spacing,
                                  wave.sponge_velocity / wave.velocity, wave.dimensions),
        2);
  };
  return concat("a sponge of ", text::counted(wave.width, "node"), " is ",
                text::significant(wave.width / wavelength, 2), " wavelengths of ",
                std::llround(wave.velocity), " m/s at ", text::significant(wave.frequency, 4),
                " Hz: of the amplitude of a wave that meets it head on about ", percent(0.0),
                " % comes back, at 45 degrees ", percent(45.0), " %");
}

int recommended_sponge_width(double wavelength) {
  int width = min_sponge_width;
  while (width < max_sponge_width && sponge_reflection(width, wavelength) > allowed_reflection)
    width += 5;
  return width;
}

}  // namespace moho::wave
