// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms and stations in the form that gravity's kernels read.
///
/// In double precision coordinates are unchanged. In single precision they are relative to the
/// ensemble's centre, scaled by a power of two and split into two floats. The difference of any two
/// coordinates is then correct to a float's last digit.

#include <moho/core/launch.hpp>
#include <moho/gravity/ensemble.hpp>
#include <moho/gravity/prism.hpp>

#include <algorithm>
#include <cmath>

namespace moho::gravity::detail {

/// A prism in double precision: half a cache line, read by four loads.
template <class T>
struct alignas(16) Record {
  T lower[3];
  T upper[3];
  T density;
  T diagonal2;  ///< square of half of the space diagonal
};

/// A prism in single precision; the lowest corner is split into two parts.
template <>
struct alignas(16) Record<float> {
  float lower[3];
  float length[3];
  float density;
  float diagonal2;
  float lower_rest[3];
  float slender;  ///< 1 if the ratio of the prism's sides exceeds largest_ratio, otherwise 0
};

/// Largest ratio of a prism's sides for mid_field() in single precision. mid_field() loses digits
/// in proportion to this ratio; beyond it near_field() in double replaces it.
inline constexpr float largest_ratio = 50.0f;

/// Transformation to the kernels' coordinates: kernel axis n is input axis[n], shifted and scaled.
struct Frame {
  Kokkos::Array<int, 3> axis{0, 1, 2};
  Kokkos::Array<double, 3> origin{0.0, 0.0, 0.0};
  double scale = 1.0;  ///< a power of two

  /// Returns a coordinate along kernel axis n.
  KOKKOS_INLINE_FUNCTION double operator()(int n, double value) const {
    return (value - origin[axis[n]]) * scale;
  }
};

/// Number of parts of a coordinate of type T: one in double precision, two in single precision.
template <class T>
inline constexpr int parts = sizeof(T) == 4 ? 2 : 1;

/// Packs a prism; the prefix sum gives its index.
template <class T, class Source>
struct PackPrisms {
  Source source;
  Frame frame;
  Record<T>* records;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& slot,
                                         const bool final) const {
    if (source.density(i) == 0.0) return;
    if (final) {
      double p[7];
      source.prism(i, p);
      Record<T> record{};
      T diagonal2 = T(0);
      for (int n = 0; n < 3; ++n) {
        const double lower = frame(n, p[2 * frame.axis[n]]);
        const double upper = frame(n, p[2 * frame.axis[n] + 1]);
        record.lower[n] = static_cast<T>(lower);
        if constexpr (parts<T> == 2) {
          // same subtraction as in the kernels, so that an upper face at a station is exactly at
          // zero
          const T upper_high = static_cast<T>(upper);
          const T upper_rest = static_cast<T>(upper - static_cast<double>(upper_high));
          record.lower_rest[n] = static_cast<T>(lower - static_cast<double>(record.lower[n]));
          record.length[n] = (upper_high - record.lower[n]) + (upper_rest - record.lower_rest[n]);
        } else {
          record.upper[n] = upper;
        }
        const T length = static_cast<T>(upper - lower);
        diagonal2 += T(0.25) * length * length;
      }
      if constexpr (parts<T> == 2) {
        T shortest = record.length[0], longest = record.length[0];
        for (int n = 1; n < 3; ++n) {
          shortest = record.length[n] < shortest ? record.length[n] : shortest;
          longest = record.length[n] > longest ? record.length[n] : longest;
        }
        record.slender = longest > largest_ratio * shortest ? T(1) : T(0);
      }
      record.density = static_cast<T>(p[6]);
      record.diagonal2 = diagonal2;
      records[slot] = record;
    }
    ++slot;
  }
};

/// Counts prisms with mass.
template <class Source>
struct CountPrisms {
  Source source;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& count) const {
    if (source.density(i) != 0.0) ++count;
  }
};

/// Finds the lowest and highest coordinates of the prisms with mass.
template <class Source>
struct BoundPrisms {
  /// Bounds along each axis.
  struct Bounds {
    double low[3], high[3];
  };
  using value_type = Bounds;
  Source source;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, Bounds& bounds) const {
    if (source.density(i) == 0.0) return;
    double p[7];
    source.prism(i, p);
    for (int n = 0; n < 3; ++n) {
      if (p[2 * n] < bounds.low[n]) bounds.low[n] = p[2 * n];
      if (p[2 * n + 1] > bounds.high[n]) bounds.high[n] = p[2 * n + 1];
    }
  }
  KOKKOS_INLINE_FUNCTION void init(Bounds& bounds) const {
    for (int n = 0; n < 3; ++n) {
      bounds.low[n] = infinity<double>();
      bounds.high[n] = -infinity<double>();
    }
  }
  KOKKOS_INLINE_FUNCTION void join(Bounds& to, const Bounds& from) const {
    for (int n = 0; n < 3; ++n) {
      if (from.low[n] < to.low[n]) to.low[n] = from.low[n];
      if (from.high[n] > to.high[n]) to.high[n] = from.high[n];
    }
  }
};

/// Stations in the form that kernels read: one row per part of a coordinate.
template <class T>
struct PackedStations {
  const T* data;
  std::int64_t count;  ///< stations with padding
  KOKKOS_FORCEINLINE_FUNCTION const T& operator()(int row, std::int64_t station) const {
    return data[row * count + station];
  }
};

/// Splits stations into parts; entries after the end repeat the last station.
template <class T>
struct PackStations {
  const double* stations;
  std::int64_t last;  ///< index of the last station
  Frame frame;
  T* packed;
  std::int64_t padded;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    for (int n = 0; n < 3; ++n) {
      const double value = frame(n, stations[3 * (i < last ? i : last) + frame.axis[n]]);
      const T high = static_cast<T>(value);
      packed[n * padded + i] = high;
      if constexpr (parts<T> == 2) {
        packed[(3 + n) * padded + i] = static_cast<T>(value - static_cast<double>(high));
      }
    }
  }
};

/// Returns the prisms with mass of a source; `count` is their number.
template <class T, class Memory, class Source>
Kokkos::View<Record<T>*, Memory> pack_prisms(const Instance<Memory>& exec, const Source& source,
                                             const Frame& frame, std::int64_t count) {
  const auto records =
      allocate<Kokkos::View<Record<T>*, Memory>>(exec, "moho::gravity::records", count);
  scan<std::int64_t>("moho::gravity::pack_prisms", exec, source.size(),
                     PackPrisms<T, Source>{source, frame, records.data()});
  return records;
}

/// Returns the stations, padded to the given count.
template <class T, class Memory>
Kokkos::View<T*, Memory> pack_stations(const Instance<Memory>& exec,
                                       const StationView<Memory>& stations, const Frame& frame,
                                       std::int64_t padded) {
  const auto packed =
      allocate<Kokkos::View<T*, Memory>>(exec, "moho::gravity::stations", 3 * parts<T> * padded);
  launch("moho::gravity::pack_stations", exec, padded,
         PackStations<T>{stations.data(), static_cast<std::int64_t>(stations.extent(0)) - 1, frame,
                         packed.data(), padded});
  return packed;
}

/// Returns the coordinate frame: unchanged in double, otherwise relative to the ensemble's centre.
template <class T, class Memory, class Source>
Frame make_frame(const Instance<Memory>& exec, const Source& source,
                 const Kokkos::Array<int, 3>& axis) {
  Frame frame;
  frame.axis = axis;
  if constexpr (parts<T> == 2) {
    const auto bounds =
        reduce("moho::gravity::bounds", exec, source.size(), BoundPrisms<Source>{source});
    double extent = 0.0;
    for (int n = 0; n < 3; ++n) {
      if (bounds.high[n] < bounds.low[n]) return frame;  // no prism has mass
      frame.origin[n] = 0.5 * (bounds.low[n] + bounds.high[n]);
      extent = std::max(extent, bounds.high[n] - bounds.low[n]);
    }
    // products of six lengths stay within a float's range: prisms down to a millionth of the
    // ensemble's size, stations up to a million times its size away
    frame.scale = std::ldexp(1.0, 1 - std::ilogb(extent));
  }
  return frame;
}

/// A station, or a vector of them.
template <class T, class V>
struct Station {
  V at[3];
  V rest[3];  ///< second part, single precision only

  /// Computes the lowest and highest corner of a prism relative to the station, and its sides. A
  /// face at the station's coordinate is exactly at zero.
  KOKKOS_FORCEINLINE_FUNCTION void corners(const Record<T>& record, V (&lower)[3], V (&upper)[3],
                                           V (&length)[3]) const {
    for (int n = 0; n < 3; ++n) {
      if constexpr (parts<T> == 2) {
        length[n] = V(record.length[n]);
        lower[n] = (V(record.lower[n]) - at[n]) + (V(record.lower_rest[n]) - rest[n]);
        upper[n] = lower[n] + length[n];
      } else {
        length[n] = V(record.upper[n] - record.lower[n]);
        lower[n] = V(record.lower[n]) - at[n];
        upper[n] = V(record.upper[n]) - at[n];
      }
    }
  }
};

}  // namespace moho::gravity::detail
