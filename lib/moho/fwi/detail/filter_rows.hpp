// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The filter of remove_aliases() on a device.

#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/points.hpp>

#include <cstdint>
#include <vector>

namespace moho::fwi::detail {

/// Functor of one filtered sample. Sums are in double precision, in the order of remove_aliases().
template <class T>
struct FilterRows {
  const T* from;
  T* to;
  const double* weights;
  std::int64_t rows, points, radius;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t n = i / points, r = i % points;
    double sum = 0.0;
    for (std::int64_t j = -radius; j <= radius; ++j) {
      double weight = weights[j < 0 ? -j : j];
      std::int64_t row = n + j;
      if (row >= rows) {
        row = 2 * (rows - 1) - row;
        weight = -weight;
      }
      if (row >= 0) sum += weight * static_cast<double>(from[row * points + r]);
    }
    to[i] = static_cast<T>(sum);
  }
};

/// Filters the rows of a series into another one. \param weights of alias_weights()
template <class T, class Memory>
void filter_rows(const Instance<Memory>& exec, const wave::PointSeries<T, Memory>& from,
                 const wave::PointSeries<T, Memory>& to, const std::vector<double>& weights) {
  const auto on_device = upload(exec, weights, "moho::fwi::filter");
  const auto rows = static_cast<std::int64_t>(from.extent(0));
  const auto points = static_cast<std::int64_t>(from.extent(1));
  launch("moho::fwi::filter_rows", exec, rows * points,
         FilterRows<T>{from.data(), to.data(), on_device.data(), rows, points,
                       static_cast<std::int64_t>(weights.size()) - 1});
  exec.fence();
}

}  // namespace moho::fwi::detail
