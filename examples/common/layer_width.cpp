// SPDX-License-Identifier: BSD-3-Clause
#include "common/layer_width.hpp"

#include "common/acquisition.hpp"
#include "common/format.hpp"

#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/types.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace moho::examples {

namespace {
// The part of a wave's amplitude that comes back from the width that is chosen.
constexpr double usual_return = 0.01;
}  // namespace

double sponge_return(int width, double wave, double degrees) {
  constexpr int radius = 4;
  constexpr double pi = 3.14159265358979323846;
  const double length = std::clamp(wave, 4.0, 100.0);
  // a plane wave is the same everywhere along the face but for its delay, so that derivatives along
  // the face are `along` times those in time: one dimension, in which it is longer
  const double cosine = std::cos(degrees * pi / 180.0), along = 1.0 - cosine * cosine;
  const double courant = 0.5 * cosine;
  const wave::Coefficients c = wave::second_derivative(radius);
  // a rigid face with the source, five wavelengths, the sponge, a rigid face
  const auto inner = static_cast<std::size_t>(std::ceil(5.0 * length / cosine));
  const std::size_t nodes = inner + static_cast<std::size_t>(width);
  const auto receiver = static_cast<std::size_t>(length / cosine);
  std::vector<double> now(nodes + 2 * radius, 0.0), next(now), taper(nodes, 1.0);
  for (int depth = 1; depth <= width; ++depth) {
    taper[inner + static_cast<std::size_t>(depth) - 1] = wave::sponge_factor(width, depth, courant);
  }
  const double period = length / courant, delay = 1.5 * period;
  // the wave has passed after its three periods, and comes back eight wavelengths later
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
    // in one dimension the wave is the integral of its source: this is the slope of the wavelet
    next[radius] += a * (3.0 - 2.0 * a * a) * std::exp(-a * a);
    std::swap(now, next);
    const double amplitude = std::fabs(now[radius + receiver]);
    (step < passed ? sent : returned) = std::max(step < passed ? sent : returned, amplitude);
  }
  return returned / sent;
}

int usual_sponge(double wave) {
  int width = least_usual_sponge;
  while (width < most_usual_sponge && sponge_return(width, wave) > usual_return) width += 5;
  return width;
}

double peak_frequency(const std::string& wavelet) {
  const wave::WaveletText text = wave::parse_wavelet(wavelet);
  if (text.kind == wave::WaveletText::Kind::ricker) return text.frequency;
  constexpr double dt = 1e-3;
  const double of_ricker = wave::highest_frequency(wave::ricker(10.0, dt), dt) / 10.0;
  return wave::highest_frequency(read_wavelet(text, dt), dt) / of_ricker;
}

std::string describe_sponge(int width, double velocity, double frequency, double spacing) {
  const double wave = velocity / (frequency * spacing);
  return concat("a sponge of ", width, " nodes is ", significant(width / wave, 2),
                " wavelengths of ", std::llround(velocity), " m/s at ", significant(frequency, 4),
                " Hz: of the amplitude of a wave that meets it head on about ",
                significant(100.0 * sponge_return(width, wave), 2), " % comes back, at 45 degrees ",
                significant(100.0 * sponge_return(width, wave, 45.0), 2), " %");
}

}  // namespace moho::examples
