// SPDX-License-Identifier: BSD-3-Clause
#include <moho/rtm/image.hpp>

#include <cmath>

namespace moho::rtm {

std::vector<double> angle_gather(const std::vector<double>& gather, std::int64_t offsets,
                                 std::int64_t depths, double offset_step, double spacing,
                                 const std::vector<double>& angles) {
  if (offsets < 1 || offsets % 2 == 0 || depths < 1 ||
      gather.size() != static_cast<std::size_t>(offsets * depths)) {
    throw InputError(concat("gather: ", offsets, " offsets x ", depths, " depths with ",
                            gather.size(),
                            " values (allowed: an odd number of half offsets around zero, and "
                            "as many values)"));
  }
  if (!(offset_step > 0.0) || !(spacing > 0.0)) {
    throw InputError(concat("gather: half offsets are ", offset_step, " m apart and depths ",
                            spacing, " m (allowed: positive numbers)"));
  }
  std::vector<double> result(angles.size() * static_cast<std::size_t>(depths), 0.0);
  for (std::size_t a = 0; a < angles.size(); ++a) {
    if (!(std::fabs(angles[a]) <= 89.0)) {
      throw InputError(concat("angle ", angles[a], " degrees (allowed: -89 to 89)"));
    }
    const double slope =
        std::tan(angles[a] * 3.14159265358979323846 / 180.0) * offset_step / spacing;
    for (std::int64_t h = 0; h < offsets; ++h) {
      const double shift = slope * static_cast<double>(h - offsets / 2);
      const double below = std::floor(shift);
      const double part = shift - below;
      const double* const from = gather.data() + h * depths;
      double* const to = result.data() + a * static_cast<std::size_t>(depths);
      for (std::int64_t z = 0; z < depths; ++z) {
        const double first = static_cast<double>(z) + below;
        const auto k = static_cast<std::int64_t>(first);
        if (first < 0.0 || k >= depths) continue;
        to[z] += (1.0 - part) * from[k];
        if (k + 1 < depths) to[z] += part * from[k + 1];
      }
    }
  }
  return result;
}

std::vector<double> angle_gathers(const std::vector<double>& gathers, std::int64_t columns,
                                  std::int64_t offsets, std::int64_t depths, double offset_step,
                                  double spacing, const std::vector<double>& angles) {
  const std::int64_t size = offsets * depths;
  if (static_cast<std::int64_t>(gathers.size()) != columns * size) {
    throw InputError(concat("gathers: ", gathers.size(), " values (allowed: ", columns * size,
                            ", columns x half offsets x depths)"));
  }
  std::vector<double> all;
  for (std::int64_t c = 0; c < columns; ++c) {
    const auto begin = gathers.begin() + static_cast<std::ptrdiff_t>(c * size);
    const auto stack = angle_gather({begin, begin + static_cast<std::ptrdiff_t>(size)}, offsets,
                                    depths, offset_step, spacing, angles);
    all.insert(all.end(), stack.begin(), stack.end());
  }
  return all;
}

}  // namespace moho::rtm
