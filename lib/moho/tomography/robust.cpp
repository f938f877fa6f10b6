// SPDX-License-Identifier: BSD-3-Clause
#include <moho/tomography/robust.hpp>

#include <algorithm>
#include <cmath>

namespace moho::tomography {

namespace {

double weight_of(Robust robust, double z, double c) {
  const double q = std::abs(z) / c;
  if (robust == Robust::huber) return q <= 1.0 ? 1.0 : 1.0 / q;
  return q < 1.0 ? (1.0 - q * q) * (1.0 - q * q) : 0.0;
}

}  // namespace

double robust_scale(const std::vector<double>& z) {
  std::vector<double> size;
  for (const double value : z) size.push_back(std::abs(value));
  if (size.empty()) return 1.0;
  const auto middle = size.begin() + static_cast<std::ptrdiff_t>(size.size() / 2);
  std::nth_element(size.begin(), middle, size.end());
  return std::max(1.0, 1.4826 * *middle);
}

std::vector<double> robust_weights(Robust robust, const std::vector<double>& z, double limit) {
  std::vector<double> weights(z.size(), 1.0);
  if (robust == Robust::none) return weights;
  for (std::size_t k = 0; k < z.size(); ++k) weights[k] = weight_of(robust, z[k], limit);
  return weights;
}

double robust_kappa(Robust robust, double limit) {
  if (robust == Robust::none) return 1.0;
  double sum = 0.0, weights = 0.0;
  constexpr double step = 1e-3;
  for (double z = -10.0; z <= 10.0; z += step) {
    const double w = weight_of(robust, z, limit) * std::exp(-0.5 * z * z);
    sum += w * z * z;
    weights += w;
  }
  return sum / weights;
}

}  // namespace moho::tomography
