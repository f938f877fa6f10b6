// SPDX-License-Identifier: BSD-3-Clause
#include <moho/snapshot/codec/codec.hpp>

#include <algorithm>
#include <cmath>

namespace moho::snapshot::detail {

double quantum_for_noise(const std::vector<std::uint64_t>& counts, double rounding, double noise) {
  // Values below a quantum are lost completely; errors of values far above it are uniform, so that
  // their sums suffice.
  std::vector<double> magnitudes, often, energy_below(1, 0.0), count_below(1, 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double magnitude = MagnitudeBins::middle(static_cast<int>(i));
    const auto count = static_cast<double>(counts[i]);
    magnitudes.push_back(magnitude);
    often.push_back(count);
    energy_below.push_back(energy_below.back() + count * magnitude * magnitude);
    count_below.push_back(count_below.back() + count);
  }
  const auto below = [&](double limit) {
    return static_cast<std::size_t>(std::lower_bound(magnitudes.begin(), magnitudes.end(), limit) -
                                    magnitudes.begin());
  };
  const double shift = 0.5 - rounding;
  const auto noise_of = [&](double quantum) {
    const std::size_t first = below((1.0 - rounding) * quantum);
    // from here on a bin is wider than a quantum
    const std::size_t last = below(16.0 * quantum);
    double sum = (1.0 / 12.0 + shift * shift) * (count_below.back() - count_below[last]);
    for (std::size_t i = first; i < last; ++i) {
      const double scaled = magnitudes[i] / quantum;
      const double error = scaled - std::floor(scaled + rounding);
      sum += often[i] * error * error;
    }
    return sum * quantum * quantum + energy_below[first];
  };
  double low = MagnitudeBins::lowest, high = 8.0;
  for (int i = 0; i < 30; ++i) {
    const double middle = 0.5 * (low + high);
    (noise_of(std::exp2(middle)) <= noise ? low : high) = middle;
  }
  return std::exp2(low);
}

double quantum_for_error(double max, double error, double unit) {
  // n and n times the quantum are rounded to 24 bits, as are the quantum and its inverse
  const double rounded = error - 6.0 * std::ldexp(max, -24);
  // Rounding to a multiple of the unit moves a value by half the unit. A value that was to move by
  // less than half a unit is exact.
  return 2.0 * (rounded >= 2.0 * unit ? rounded - 0.5 * unit : std::min(rounded, 0.49 * unit));
}

double levels_for_error(double error) {
  // (c + d)^2 - c^2 <= 2 d + d^2 with d = 1 / (2 levels), plus rounding to 24 bits
  const double rest = error - 1e-6;
  return std::ceil((1.0 + std::sqrt(1.0 + rest)) / (2.0 * rest));
}

}  // namespace moho::snapshot::detail
