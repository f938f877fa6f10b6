// SPDX-License-Identifier: BSD-3-Clause
#include "app/builtin_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace moho::examples {

double salt_velocity(double x, double y, double z) {
  constexpr double pi = 3.14159265358979323846;
  constexpr double salt = 4500.0;
  const double dy = y - 0.5;

  // The body: its axis leans slightly; lengths along y are scaled by 1.3, so it is oval.
  const double axis = 0.47 + 0.05 * std::sin(2.2 * z + 0.4) + 0.06 * dy;
  const double side = x - axis;
  const double distance = std::hypot(side, 1.3 * dy);

  // Cap: a flattened ellipsoid below an undulating top.
  const double rugged = 0.020 * std::sin(31.0 * x + 5.0 * y) +
                        0.012 * std::sin(67.0 * x - 9.0 * y + 1.0) +
                        0.007 * std::cos(139.0 * x + 17.0 * y);
  const double reach = distance / (0.205 + 0.03 * std::sin(3.0 * pi * y + x));
  if (reach < 1.0) {
    const double dome = std::sqrt(1.0 - reach * reach);
    const double top = 0.41 - 0.17 * dome + rugged * dome;
    const double base = 0.43 + 0.06 * dome + 0.05 * side / 0.2;
    if (z > top && z < base) return salt;
  }
  // Stem, widest at its foot, and the bed that feeds it.
  const double floor = 0.955 + 0.012 * std::sin(7.0 * x + 2.0 * y);
  const double foot = std::clamp((z - 0.45) / 0.43, 0.0, 1.0);
  if (z > 0.4 && z < floor && distance < 0.045 + 0.10 * std::pow(foot, 4)) return salt;
  const double bed =
      0.89 + 0.02 * std::sin(5.0 * x + 3.0 * y) - 0.06 * std::exp(-distance * distance / 0.03);
  if (z > bed && z < floor) return salt;

  // Sediments: layers that thicken to one side, fold with depth and are dragged up along the salt.
  const double drag = 0.13 * std::exp(-distance * distance / 0.03) * z;
  const double fold = 0.028 * std::sin(2.0 * pi * (1.3 * x + 0.2 * y)) * std::min(1.0, 4.0 * z);
  const double level = z + drag + fold + 0.05 * z * (x - 0.5);
  constexpr std::array<double, 8> tops{-1.0, 0.07, 0.17, 0.29, 0.40, 0.55, 0.68, 0.82};
  constexpr std::array<double, 8> speeds{1500.0, 1700.0, 1920.0, 2250.0,
                                         2150.0, 2560.0, 2800.0, 3150.0};
  std::size_t layer = 0;
  while (layer + 1 < tops.size() && level >= tops[layer + 1]) ++layer;
  const double inside = level - std::max(0.0, tops[layer]);
  return std::clamp(speeds[layer] + 1100.0 * inside, 1500.0, 3500.0);
}

namespace {

// Values of v(x, y, z) on a grid, the last axis contiguous.
// x, y and z are fractions of the model's size.
template <class T, class Function>
std::vector<T> sample_model(const std::vector<std::int64_t>& extents, const Function& velocity) {
  const bool volume = extents.size() == 3;
  const std::int64_t nx = extents.front();
  const std::int64_t ny = volume ? extents[1] : 1;
  const std::int64_t nz = extents.back();
  const auto fraction = [](std::int64_t i, std::int64_t n, double single) {
    return n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : single;
  };
  std::vector<T> values(static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny) *
                        static_cast<std::size_t>(nz));
  std::size_t k = 0;
  for (std::int64_t ix = 0; ix < nx; ++ix) {
    for (std::int64_t iy = 0; iy < ny; ++iy) {
      for (std::int64_t iz = 0; iz < nz; ++iz, ++k) {
        values[k] = static_cast<T>(
            velocity(fraction(ix, nx, 0.5), fraction(iy, ny, 0.5), fraction(iz, nz, 0.0)));
      }
    }
  }
  return values;
}

}  // namespace

template <class T>
std::vector<T> salt_model(const ModelGrid& grid) {
  return sample_model<T>(grid.shape, salt_velocity);
}

template <class T>
std::vector<T> gradient_model(const ModelGrid& grid, double v0, double gradient) {
  const double top = grid.origin.back();
  const double depth = grid.spacing.back() * static_cast<double>(grid.shape.back() - 1);
  return sample_model<T>(
      grid.shape, [&](double, double, double z) { return v0 + gradient * (top + depth * z); });
}

template std::vector<float> salt_model<float>(const ModelGrid&);
template std::vector<double> salt_model<double>(const ModelGrid&);
template std::vector<float> gradient_model<float>(const ModelGrid&, double, double);
template std::vector<double> gradient_model<double>(const ModelGrid&, double, double);

}  // namespace moho::examples
