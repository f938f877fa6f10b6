// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Range and mean of values on the host.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace moho {

/// Returns the smallest and the largest of values. \param values one or more, no NaN
template <class T>
std::pair<T, T> range_of(const std::vector<T>& values) {
  // in lanes, so that it is as fast as the memory
  constexpr std::size_t lanes = 64 / sizeof(T);
  T low[lanes], high[lanes];
  std::fill(low, low + lanes, values.front());
  std::fill(high, high + lanes, values.front());
  const std::size_t whole = values.size() / lanes * lanes;
  const T* const from = values.data();
  for (std::size_t begin = 0; begin < whole; begin += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const T value = from[begin + i];
      low[i] = value < low[i] ? value : low[i];
      high[i] = value > high[i] ? value : high[i];
    }
  }
  for (std::size_t n = whole; n < values.size(); ++n) {
    low[0] = std::min(low[0], from[n]);
    high[0] = std::max(high[0], from[n]);
  }
  return {*std::min_element(low, low + lanes), *std::max_element(high, high + lanes)};
}

/// Returns the mean of values, as a sum of eight partial sums. \param values one or more
template <class T>
double mean_of(const std::vector<T>& values) {
  constexpr std::size_t lanes = 8;
  double sum[lanes] = {};
  const std::size_t whole = values.size() / lanes * lanes;
  for (std::size_t begin = 0; begin < whole; begin += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) sum[i] += static_cast<double>(values[begin + i]);
  }
  for (std::size_t n = whole; n < values.size(); ++n) sum[0] += static_cast<double>(values[n]);
  double total = 0.0;
  for (const double part : sum) total += part;
  return total / static_cast<double>(values.size());
}

}  // namespace moho
