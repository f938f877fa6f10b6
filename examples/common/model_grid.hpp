// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The grid of a model before its number of dimensions is a type.

#include <moho/core/grid.hpp>

#include "common/json.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// A model's name and the nodes it is given on. Lists are in the library's order of axes: (x, z) or
/// (x, y, z).
struct ModelGrid {
  std::string name;                 ///< for messages: the file, or what was made
  std::vector<std::int64_t> shape;  ///< nodes along each axis
  std::vector<double> spacing;      ///< metres
  std::vector<double> origin;       ///< metres
  std::vector<std::string> notes;   ///< what the user should know

  /// Metres from the origin to the last node along an axis, and the coordinate there.
  double upper(std::size_t axis) const {
    return origin[axis] + spacing[axis] * static_cast<double>(shape[axis] - 1);
  }
  /// "x", "z" or "x", "y", "z".
  const char* axis(std::size_t axis) const;
};

/// The grid of a model, checked. \throws InputError
template <int Dim>
Grid<Dim> grid_of(const ModelGrid& model);

/// "x from 0 to 4000, z from 0 to 2000", with `from` and `to` as words of choice.
std::string describe_extent(const ModelGrid& model, const char* from = " ");

/// "401 x 201 nodes, 10 m apart (x 0 to 4000, z 0 to 2000 m)".
std::string describe_grid(const ModelGrid& model);

/// Puts axes, shape, spacing and origin into an object.
void add_grid(const ModelGrid& model, Json& json);

/// Values for all axes from a list of one, or of as many.
/// \param option what to call it in messages
/// \throws InputError
std::vector<double> spread(const char* option, const std::vector<double>& values,
                           std::size_t dimensions, const char* form);

/// The least and the greatest of values, of which there is one at least and none is NaN.
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

/// The mean of values, of which there is one at least.
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

}  // namespace moho::examples
