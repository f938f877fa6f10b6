// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/field_operator.hpp>

#include <algorithm>
#include <cmath>

namespace moho::gravity {

std::vector<std::size_t> spread_stations(std::size_t count, std::size_t max) {
  std::vector<std::size_t> chosen;
  const std::size_t taken = std::min(count, max);
  for (std::size_t k = 0; k < taken; ++k) chosen.push_back(k * count / taken);
  return chosen;
}

std::vector<double> stations_at(const std::vector<double>& stations,
                                const std::vector<std::size_t>& chosen) {
  std::vector<double> positions;
  for (const std::size_t s : chosen) {
    for (std::size_t n = 0; n < 3; ++n) positions.push_back(stations[3 * s + n]);
  }
  return positions;
}

double largest_difference(const std::vector<double>& values, const std::vector<double>& found,
                          const std::vector<std::size_t>& chosen, std::size_t components) {
  const std::size_t stations = values.size() / components;
  double worst = 0.0;
  for (std::size_t c = 0; c < components; ++c) {
    double largest = 0.0, off = 0.0;
    for (std::size_t s = 0; s < stations; ++s) {
      largest = std::max(largest, std::abs(values[c * stations + s]));
    }
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      off =
          std::max(off, std::abs(values[c * stations + chosen[n]] - found[c * chosen.size() + n]));
    }
    worst = std::max(worst, largest > 0.0 ? off / largest : 0.0);
  }
  return worst;
}

double difference_at(FieldOperator& all, FieldOperator& some,
                     const std::vector<std::size_t>& chosen, std::size_t components) {
  std::vector<double> densities(static_cast<std::size_t>(all.prisms()), 1.0), values, found;
  for (std::size_t k = 0; k < densities.size(); k += 3) densities[k] = -0.5;
  all.apply(densities, values);
  some.apply(densities, found);
  return largest_difference(values, found, chosen, components);
}

}  // namespace moho::gravity
