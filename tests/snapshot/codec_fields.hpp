// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Test fields of the codec, and measures of the difference of two fields.

#include <moho/core/copy.hpp>
#include <moho/snapshot/codec/codec.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace moho::testing {

/// Fronts of Ricker wavelets that travel outwards from some points, and a weaker one after another.
///
/// The field is smooth, and most of the grid is at rest.
template <int Dim>
double fronts(const Index<Dim>& node) {
  constexpr double sources[4][5] = {{20.0, 14.0, 3.0, 25.0, 1.0},
                                    {20.0, 14.0, 3.0, 14.0, 0.3},
                                    {2.0, 30.0, 40.0, 22.0, 0.2},
                                    {44.0, 5.0, 9.0, 9.0, 0.05}};
  double sum = 0.0;
  for (const auto& s : sources) {
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      const double x = static_cast<double>(node[d]) - s[d];
      square += x * x;
    }
    const double r = std::sqrt(square);
    const double u = (r - s[3]) / 2.5;
    sum += s[4] * (1.0 - 2.0 * u * u) * std::exp(-u * u) / (0.1 * r + 1.0);
  }
  return sum;
}

/// Field of a layout on an instance, with its nodes on the host.
template <class T, int Dim, class Memory>
struct CodecField {
  Instance<Memory> exec;
  wave::Layout<Dim> layout;
  wave::Storage<T, Memory> storage;
  std::vector<T> values;  ///< complete array, halos included

  /// Sets nodes to given values and all other elements to `outside`.
  CodecField(const Instance<Memory>& instance, const Grid<Dim>& grid,
             const std::function<double(const Index<Dim>&)>& value, T outside = T(0))
      : exec(instance), layout(wave::make_layout<T>(grid, 4)) {
    storage = wave::make_storage<T>(exec, layout, "field");
    values.assign(static_cast<std::size_t>(layout.size), outside);
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      at(grid.node(i)) = static_cast<T>(value(grid.node(i)));
    }
    put();
  }
  T& at(const Index<Dim>& node) { return values[static_cast<std::size_t>(layout.flat(node))]; }
  const T& at(const Index<Dim>& node) const {
    return values[static_cast<std::size_t>(layout.flat(node))];
  }
  /// Copies the host's values to the instance.
  void put() {
    copy(exec, storage, HostElements<const T>(values.data(), values.size()));
    exec.fence();
  }
  /// Copies the instance's values to the host.
  void get() {
    exec.fence();
    values = download(exec, storage);
  }
};

/// Returns a grid of unit spacing.
template <int Dim>
Grid<Dim> unit_grid(const Index<Dim>& extents) {
  Grid<Dim> grid;
  grid.extents = extents;
  for (int d = 0; d < Dim; ++d) grid.spacing[d] = 1.0;
  return grid;
}

/// Difference of a field from another one in a box.
struct Difference {
  double max = 0.0;             ///< largest magnitude of the first field
  double max_difference = 0.0;  ///< largest magnitude of the difference
  double snr = 0.0;  ///< signal-to-noise ratio, dB: sum of squares of the first field over that of
                     ///< the difference
};

template <class T, int Dim, class Memory>
Difference difference(const CodecField<T, Dim, Memory>& a, const CodecField<T, Dim, Memory>& b,
                      const Box<Dim>& box) {
  Difference result;
  for (std::int64_t i = 0; i < box.size(); ++i) {
    const auto x = static_cast<double>(a.at(box.node(i)));
    const auto y = static_cast<double>(b.at(box.node(i)));
    result.max = std::max(result.max, std::fabs(x));
    const double off = std::fabs(x - y);
    result.max_difference = off <= 1e300 ? std::max(result.max_difference, off) : HUGE_VAL;
  }
  // sums of quotients: squares of denormal numbers vanish
  double squares = 0.0, errors = 0.0;
  for (std::int64_t i = 0; i < box.size() && result.max > 0.0; ++i) {
    const double x = static_cast<double>(a.at(box.node(i))) / result.max;
    const double y = static_cast<double>(b.at(box.node(i))) / result.max;
    squares += x * x;
    errors += (x - y) * (x - y);
  }
  result.snr = errors > 0.0 ? 10.0 * std::log10(squares / errors) : HUGE_VAL;
  return result;
}

/// Returns the bytes of a snapshot that decoding reads, lengths first.
template <int Dim, class Memory>
std::vector<std::uint8_t> bytes_of(const Instance<Memory>& exec,
                                   const snapshot::Packed<Dim, Memory>& packed) {
  const auto host = snapshot::copy_packed<Kokkos::HostSpace>(exec, packed);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < host.lengths.size(); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(host.lengths(i) & 255));
    bytes.push_back(static_cast<std::uint8_t>(host.lengths(i) >> 8));
  }
  bytes.insert(bytes.end(), host.payload.data(), host.payload.data() + host.payload_bytes);
  return bytes;
}

}  // namespace moho::testing
