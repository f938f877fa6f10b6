// SPDX-License-Identifier: BSD-3-Clause
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
}  // namespace

double sponge_reflection(int width, double wavelength, double degrees) {
  constexpr int radius = 4;
  constexpr double pi = 3.14159265358979323846;
  const double length = std::clamp(wavelength, 4.0, 100.0);
  // a plane wave varies along the face by a delay only: derivatives along the face are `along`
  // times those in time, and the problem has one dimension
  const double cosine = std::cos(degrees * pi / 180.0), along = 1.0 - cosine * cosine;
  const double courant = 0.5 * cosine;
  const Coefficients c = second_derivative(radius);
  // rigid face with the source, five wavelengths, sponge, rigid face
  const auto inner = static_cast<std::size_t>(std::ceil(5.0 * length / cosine));
  const std::size_t nodes = inner + static_cast<std::size_t>(width);
  const auto receiver = static_cast<std::size_t>(length / cosine);
  std::vector<double> now(nodes + 2 * radius, 0.0), next(now), taper(nodes, 1.0);
  for (int depth = 1; depth <= width; ++depth) {
    taper[inner + static_cast<std::size_t>(depth) - 1] = sponge_factor(width, depth, courant);
  }
  const double period = length / courant, delay = 1.5 * period;
  // the wave passes within three periods, and returns eight wavelengths later
  const double passed = 4.2 * period, end = 12.5 * period + 2.0 * width / courant;
  double sent = 0.0, returned = 0.0;
  for (int step = 0; step < end; ++step) {
    for (int k = 0; k < radius; ++k) {
      now[static_cast<std::size_t>(radius - 1 - k)] = now[static_cast<std::size_t>(radius + k)];
      now[nodes + radius + static_cast<std::size_t>(k)] =
          now[nodes + radius - 1 - static_cast<std::size_t>(k)];
    }
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
    const double a = pi * (step - delay) / period;
    // in one dimension the wave is the time integral of the source: derivative of the wavelet
    next[radius] += a * (3.0 - 2.0 * a * a) * std::exp(-a * a);
    std::swap(now, next);
    const double amplitude = std::fabs(now[radius + receiver]);
    (step < passed ? sent : returned) = std::max(step < passed ? sent : returned, amplitude);
  }
  return returned / sent;
}

int recommended_sponge_width(double wavelength) {
  int width = min_sponge_width;
  while (width < max_sponge_width && sponge_reflection(width, wavelength) > allowed_reflection)
    width += 5;
  return width;
}

}  // namespace moho::wave
