// SPDX-License-Identifier: BSD-3-Clause
#include <moho/rtm/codec/codec.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace moho::rtm::detail {

double quantum_for_noise(const std::vector<std::uint64_t>& counts, double rounding, double noise) {
  std::vector<std::pair<double, double>> bins;  // magnitude, how often
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      bins.emplace_back(MagnitudeBins::middle(static_cast<int>(i)), static_cast<double>(counts[i]));
    }
  }
  const double shift = 0.5 - rounding;
  const auto noise_of = [&](double quantum) {
    double sum = 0.0;
    for (const auto& [magnitude, count] : bins) {
      const double scaled = magnitude / quantum;
      // a bin is wider than a quantum from here on: errors are spread evenly
      const double error = scaled < 16.0 ? scaled - std::floor(scaled + rounding)
                                         : std::sqrt(1.0 / 12.0 + shift * shift);
      sum += count * error * error;
    }
    return sum * quantum * quantum;
  };
  double low = MagnitudeBins::lowest, high = 8.0;
  for (int i = 0; i < 30; ++i) {
    const double middle = 0.5 * (low + high);
    (noise_of(std::exp2(middle)) <= noise ? low : high) = middle;
  }
  return std::exp2(low);
}

double quantum_for_error(double greatest, double error, double unit) {
  // n and n times the quantum are rounded to 24 bits, the quantum and its inverse, too
  const double rounded = error - 6.0 * std::ldexp(greatest, -24);
  // what is then rounded to a multiple of the unit moves by half of it; with less than half to go,
  // the value comes out as it was
  return 2.0 * (rounded >= 2.0 * unit ? rounded - 0.5 * unit : std::min(rounded, 0.49 * unit));
}

double levels_for_error(double error) {
  // (c + d)^2 - c^2 <= 2 d + d^2, d = 1 / (2 levels) and what rounding to 24 bits adds
  const double rest = error - 1e-6;
  return std::ceil((1.0 + std::sqrt(1.0 + rest)) / (2.0 * rest));
}

}  // namespace moho::rtm::detail
