// SPDX-License-Identifier: BSD-3-Clause
#include <moho/wave/model_shot.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace moho::wave::detail {

namespace {

/// Returns the weights of resample() for a position between samples first ... first + 63.
std::vector<double> resampling_weights(double position, std::int64_t& first) {
  constexpr std::int64_t radius = resampling_radius;
  constexpr double b = 20.0;  // as in resample()
  const auto below = static_cast<std::int64_t>(std::floor(position));
  first = below - radius + 1;
  std::vector<double> weights(2 * radius);
  const double scale = 1.0 / bessel_i0(b);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double x = static_cast<double>(first + static_cast<std::int64_t>(k)) - position;
    const double inside = 1.0 - x * x / static_cast<double>(radius * radius);
    weights[k] = inside > 0.0 ? bessel_i0(b * std::sqrt(inside)) * scale * sinc(x) : 0.0;
  }
  return weights;
}

}  // namespace

template <class T>
void resample_traces(const Traces<T>& by_step, double dt, double interval,
                     const Traces<T>& traces) {
  const auto steps = static_cast<std::int64_t>(by_step.extent(0));
  const std::size_t receivers = by_step.extent(1), samples = traces.extent(1);
  std::vector<double> sums(receivers);
  for (std::size_t n = 0; n < samples; ++n) {
    std::int64_t first = 0;
    const double position = static_cast<double>(n) * interval / dt;
    const double nearest = std::floor(position + 0.5);
    std::vector<double> weights{1.0};
    if (std::fabs(position - nearest) < sinc_snap) {
      first = static_cast<std::int64_t>(nearest);
    } else {
      weights = resampling_weights(position, first);
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const std::int64_t row = first + static_cast<std::int64_t>(k);
      if (row < 0 || row >= steps) continue;
      const T* const values = by_step.data() + static_cast<std::size_t>(row) * receivers;
      for (std::size_t r = 0; r < receivers; ++r) {
        sums[r] += weights[k] * static_cast<double>(values[r]);
      }
    }
    for (std::size_t r = 0; r < receivers; ++r) traces(r, n) = static_cast<T>(sums[r]);
  }
}

template void resample_traces<float>(const Traces<float>&, double, double, const Traces<float>&);
template void resample_traces<double>(const Traces<double>&, double, double, const Traces<double>&);

}  // namespace moho::wave::detail
