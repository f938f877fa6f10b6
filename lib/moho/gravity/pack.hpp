// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms and stations as the kernels of gravity read them.
///
/// In double precision coordinates stay as they are. In single precision they are taken relative to
/// the ensemble's centre, scaled by a power of two and split into two floats, so that the
/// difference of two coordinates is right to a float's last digit wherever the two are.

#include <moho/gravity/ensemble.hpp>
#include <moho/gravity/prism.hpp>

#include <cmath>

namespace moho::gravity::detail {

/// A prism in double precision: half a cache line, read in four loads.
template <class T>
struct alignas(16) Record {
  T lower[3];
  T upper[3];
  T density;
  T diagonal2;  ///< square of half of the space diagonal
};

/// A prism in single precision, the lowest corner in two parts.
template <>
struct alignas(16) Record<float> {
  float lower[3];
  float length[3];
  float density;
  float diagonal2;
  float lower_rest[3];
  float
      slender;  ///< 1 for a prism whose sides differ so much that mid_field() wants double, else 0
};

/// In single precision mid_field() loses digits in proportion to the ratio of a prism's sides; with
/// a larger one than this, near_field() in double takes its place.
inline constexpr float largest_ratio = 50.0f;

/// From input to the kernels' coordinates: axis n there is input axis[n], shifted and scaled.
struct Frame {
  Kokkos::Array<int, 3> axis{0, 1, 2};
  Kokkos::Array<double, 3> origin{0.0, 0.0, 0.0};
  double scale = 1.0;  ///< a power of two

  /// A coordinate along kernel axis n.
  KOKKOS_INLINE_FUNCTION double operator()(int n, double value) const {
    return (value - origin[axis[n]]) * scale;
  }
};

/// A coordinate in as many parts of type T as it takes.
template <class T>
inline constexpr int parts = sizeof(T) == 4 ? 2 : 1;

/// Reads a prism from its source, once the sum says where it goes.
template <class T, class Source, class Exec>
struct PackPrisms {
  Source source;
  Frame frame;
  Kokkos::View<Record<T>*, typename Exec::memory_space> records;
  std::int64_t first;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& place,
                                         const bool final) const {
    if (source.density(first + i) == 0.0) return;
    if (final) {
      double p[7];
      source.prism(first + i, p);
      Record<T> record{};
      T diagonal2 = T(0);
      for (int n = 0; n < 3; ++n) {
        const double lower = frame(n, p[2 * frame.axis[n]]);
        const double upper = frame(n, p[2 * frame.axis[n] + 1]);
        record.lower[n] = static_cast<T>(lower);
        if constexpr (parts<T> == 2) {
          // as the kernels subtract, so that an upper face at a station is at zero exactly
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
      records(place) = record;
    }
    ++place;
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

/// Lowest and highest coordinate of the prisms with mass along an axis.
template <class Source>
struct BoundPrisms {
  Source source;
  int axis;
  using Value = Kokkos::MinMaxScalar<double>;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, Value& bounds) const {
    if (source.density(i) == 0.0) return;
    double p[7];
    source.prism(i, p);
    if (p[2 * axis] < bounds.min_val) bounds.min_val = p[2 * axis];
    if (p[2 * axis + 1] > bounds.max_val) bounds.max_val = p[2 * axis + 1];
  }
};

/// Stations, a row a part of a coordinate.
template <class T, class Exec>
using PackedStations = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

/// Splits stations into parts; those behind the end repeat the last.
template <class T, class Exec>
struct PackStations {
  StationView<Exec> stations;
  Frame frame;
  PackedStations<T, Exec> packed;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t last = static_cast<std::int64_t>(stations.extent(0)) - 1;
    for (int n = 0; n < 3; ++n) {
      const double value = frame(n, stations(i < last ? i : last, frame.axis[n]));
      const T high = static_cast<T>(value);
      packed(n, i) = high;
      if constexpr (parts<T> == 2) {
        packed(3 + n, i) = static_cast<T>(value - static_cast<double>(high));
      }
    }
  }
};

template <class Exec>
using LongRange = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// The prisms with mass of a source.
template <class T, class Exec, class Source>
Kokkos::View<Record<T>*, typename Exec::memory_space> pack_prisms(const Exec& exec,
                                                                  const Source& source,
                                                                  const Frame& frame,
                                                                  std::int64_t count) {
  auto records = allocate<Kokkos::View<Record<T>*, typename Exec::memory_space>>(
      exec, "moho::gravity::records", count);
  std::int64_t total = 0;
  Kokkos::parallel_scan("moho::gravity::pack_prisms", LongRange<Exec>(exec, 0, source.size()),
                        PackPrisms<T, Source, Exec>{source, frame, records, 0}, total);
  exec.fence();
  return records;
}

/// The stations, as many more as the padded count says.
template <class T, class Exec>
PackedStations<T, Exec> pack_stations(const Exec& exec, const StationView<Exec>& stations,
                                      const Frame& frame, std::int64_t padded) {
  auto packed =
      allocate<PackedStations<T, Exec>>(exec, "moho::gravity::stations", 3 * parts<T>, padded);
  Kokkos::parallel_for("moho::gravity::pack_stations", LongRange<Exec>(exec, 0, padded),
                       PackStations<T, Exec>{stations, frame, packed});
  return packed;
}

/// Coordinates for a precision: as they are in double, else about the ensemble's centre.
template <class T, class Exec, class Source>
Frame make_frame(const Exec& exec, const Source& source, const Kokkos::Array<int, 3>& axis) {
  Frame frame;
  frame.axis = axis;
  if constexpr (parts<T> == 2) {
    double extent = 0.0;
    for (int n = 0; n < 3; ++n) {
      Kokkos::MinMaxScalar<double> bounds;
      Kokkos::parallel_reduce("moho::gravity::bounds", LongRange<Exec>(exec, 0, source.size()),
                              BoundPrisms<Source>{source, n}, Kokkos::MinMax<double>(bounds));
      exec.fence();
      if (bounds.max_val < bounds.min_val) return frame;  // no prism has mass
      frame.origin[n] = 0.5 * (bounds.min_val + bounds.max_val);
      extent = std::max(extent, bounds.max_val - bounds.min_val);
    }
    // products of six lengths stay within a float's range, from prisms of a millionth of the
    // ensemble to stations a million times its extent away
    frame.scale = std::ldexp(1.0, 1 - std::ilogb(extent));
  }
  return frame;
}

/// A station, or a vector of them.
template <class T, class V>
struct Station {
  V at[3];
  V rest[3];  ///< single precision only

  /// The lowest and the highest corner of a prism as seen from here, and its sides. A face at the
  /// station's coordinate is at zero exactly.
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
