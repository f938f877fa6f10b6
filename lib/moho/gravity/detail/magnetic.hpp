// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Magnetised prisms as items of the sums over tiles, and their checks.

#include <moho/gravity/detail/tiles.hpp>
#include <moho/gravity/magnetic_types.hpp>

namespace moho::gravity::detail {

/// A prism of density 1 and its magnetisation, A/m.
template <class T>
struct alignas(16) MagneticRecord {
  Record<T> prism;
  T magnetisation[3];
};

/// \brief Magnetised prisms: susceptibility times the induced magnetisation, plus remanence.
///
/// The density of a prism is 1 if it is magnetised, otherwise 0.
template <class Source>
struct MagneticSource {
  Source source;                     ///< its densities are susceptibilities
  const double* remanence;           ///< rows of three numbers, A/m; null: zero
  Kokkos::Array<double, 3> induced;  ///< magnetisation of susceptibility 1, A/m

  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return source.size(); }
  /// Sets the magnetisation of a prism, A/m.
  KOKKOS_INLINE_FUNCTION void magnetisation(std::int64_t i, double (&vector)[3]) const {
    const double susceptibility = source.density(i);
    for (int n = 0; n < 3; ++n) {
      vector[n] = susceptibility * induced[n];
      if (remanence != nullptr) vector[n] += remanence[3 * i + n];
    }
  }
  KOKKOS_INLINE_FUNCTION double density(std::int64_t i) const {
    double vector[3];
    magnetisation(i, vector);
    return vector[0] == 0.0 && vector[1] == 0.0 && vector[2] == 0.0 ? 0.0 : 1.0;
  }
  KOKKOS_INLINE_FUNCTION void prism(std::int64_t i, double (&p)[7]) const {
    source.box(i, p);
    p[6] = 1.0;
  }
};

/// Packs a magnetised prism; the prefix sum gives its index.
template <class T, class Source>
struct PackMagneticPrisms {
  MagneticSource<Source> source;
  Frame frame;
  MagneticRecord<T>* records;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& slot,
                                         const bool final) const {
    if (source.density(i) == 0.0) return;
    if (final) {
      MagneticRecord<T> record{};
      std::int64_t first = 0;
      PackPrisms<T, MagneticSource<Source>>{source, frame, &record.prism}(i, first, true);
      double vector[3];
      source.magnetisation(i, vector);
      for (int n = 0; n < 3; ++n) record.magnetisation[n] = static_cast<T>(vector[n]);
      records[slot] = record;
    }
    ++slot;
  }
};

/// Predicate: a number, index i, is outside of a range or not finite.
struct IsOutOfRange {
  const double* numbers;
  std::int64_t stride, offset;
  double min, largest;
  bool open;  ///< the smallest number is not allowed
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const double value = numbers[stride * i + offset];
    return !(value >= min && value <= largest) || (open && value == min);
  }
};

/// Predicate: a station is inside of a magnetised prism of a list.
template <class Source>
struct IsInMagneticPrism {
  const double* stations;
  MagneticSource<Source> source;
  double low[3], high[3];  ///< bounds of the magnetised prisms

  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const double* const at = stations + 3 * i;
    for (int n = 0; n < 3; ++n) {
      if (!(at[n] > low[n] && at[n] < high[n])) return false;
    }
    for (std::int64_t k = 0; k < source.size(); ++k) {
      if (holds(k, at)) return true;
    }
    return false;
  }

 private:
  KOKKOS_INLINE_FUNCTION bool holds(std::int64_t k, const double* at) const {
    double p[7];
    source.source.box(k, p);
    for (int n = 0; n < 3; ++n) {
      if (!(at[n] > p[2 * n] && at[n] < p[2 * n + 1])) return false;
    }
    return source.density(k) != 0.0;
  }
};

/// In a mesh the cell around the station is found from its position.
template <>
struct IsInMagneticPrism<MeshSource> {
  const double* stations;
  MagneticSource<MeshSource> source;
  double low[3], high[3];  ///< bounds of the magnetised prisms

  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const RegularMesh& mesh = source.source.mesh;
    std::int64_t index[3];
    for (int n = 0; n < 3; ++n) {
      const double at = stations[3 * i + n];
      if (!(at > low[n] && at < high[n])) return false;
      const double steps = (at - mesh.lower[n]) / (mesh.upper[n] - mesh.lower[n]) *
                           static_cast<double>(mesh.cells[n]);
      std::int64_t k = static_cast<std::int64_t>(steps);
      // rounding may give a neighbour
      if (k >= mesh.cells[n]) k = mesh.cells[n] - 1;
      if (at < mesh.face(n, k)) --k;
      if (k + 1 < mesh.cells[n] && at > mesh.face(n, k + 1)) ++k;
      if (!(at > mesh.face(n, k) && at < mesh.face(n, k + 1))) return false;
      index[n] = k;
    }
    return source.density((index[2] * mesh.cells[1] + index[1]) * mesh.cells[0] + index[0]) != 0.0;
  }
};

/// Multiplies the six components of a gradient by a magnetisation, and adds.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void add_magnetic_field(const V (&gradient)[6], const V (&vector)[3],
                                                    V* sums) {
  // gxx, gyy, gzz, gxy, gxz, gyz
  const V* const g = gradient;
  sums[0] = multiply_add(g[0], vector[0],
                         multiply_add(g[3], vector[1], multiply_add(g[4], vector[2], sums[0])));
  sums[1] = multiply_add(g[3], vector[0],
                         multiply_add(g[1], vector[1], multiply_add(g[5], vector[2], sums[1])));
  sums[2] = multiply_add(g[4], vector[0],
                         multiply_add(g[5], vector[1], multiply_add(g[2], vector[2], sums[2])));
}

/// Adds the field of one magnetised prism at one station to the sums, on a device. Without the
/// factor mu0 / (2 pi).
template <unsigned Mask, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_pair(const MagneticRecord<T>& record,
                                          const Station<T, T>& station, const Distances<T>& limits,
                                          T* sums) {
  static_assert(Mask == mask_attraction);
  T gradient[6], vector[3];
  pair_field<mask_gradient, T>(record.prism, station, limits, gradient);
  for (int n = 0; n < 3; ++n) vector[n] = record.magnetisation[n];
  add_magnetic_field(gradient, vector, sums);
}

/// Adds the field of one magnetised prism at a vector of stations to the sums, on a host.
template <unsigned Mask, class T>
inline void add_pairs(const MagneticRecord<T>& record, const Station<T, simd::Pack<T>>& station,
                      const Distances<T>& limits, simd::Pack<T>* sums) {
  static_assert(Mask == mask_attraction);
  using V = simd::Pack<T>;
  V gradient[6], vector[3];
  pair_fields<mask_gradient, T>(record.prism, station, limits, gradient);
  for (int n = 0; n < 3; ++n) vector[n] = V(record.magnetisation[n]);
  add_magnetic_field(gradient, vector, sums);
}

/// \overload
/// Adds the field of magnetised prisms first to last to the partial sums: x, y and z.
template <class T, class Memory>
void sum_tiles(const Instance<Memory>& exec, unsigned mask,
               const TileData<T, MagneticRecord<T>>& data, int block) {
  using Item = MagneticRecord<T>;
  (void)mask;
  const std::int64_t items = static_cast<std::int64_t>(data.blocks) * data.chunks;
  exec.check_stop();
  if constexpr (is_host_memory<Memory>) {
    (void)block;
    const HostStop stop(exec);
    launch_dynamic("moho::gravity::sum_magnetic_tiles", exec, items,
                   SumTilesOnHost<T, Item>{data, &sum_records<mask_attraction, T, Item>, &stop});
    stop.check();
  } else {
    using Kernel = SumTilesOnDevice<mask_attraction, T, Item, DeviceOf<Memory>>;
    const Kernel kernel{data};
    const auto policy =
        light_weight(typename Kernel::Policy(exec.space(), static_cast<int>(items), block)
                         .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(block))));
    check_team_size(block, policy.team_size_max(kernel, Kokkos::ParallelForTag()));
    Kokkos::parallel_for("moho::gravity::sum_magnetic_tiles", policy, kernel);
  }
}

/// Makes requested components of the field along x, y and z.
struct SelectMagnetic {
  const double* field;  ///< 3 x stations
  double* results;      ///< components x stations
  std::int64_t stations;
  Kokkos::Array<int, magnetic_component_count> component{};
  Kokkos::Array<double, 3> direction{};  ///< of the ambient field

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t s = item % stations;
    const int c = component[static_cast<int>(item / stations)];
    double value = 0.0;
    if (c > 0) {
      value = field[(c - 1) * stations + s];
    } else {
      for (int n = 0; n < 3; ++n) value += direction[n] * field[n * stations + s];
    }
    results[item] = value;
  }
};

/// Throws InputError for an ambient field out of range.
void check_ambient(const AmbientField& ambient);
/// Throws InputError for components that are empty or named twice, for options that magnetic
/// fields do not have, or results that are not components x stations.
void check_magnetic(const MagneticComponents& components, const AmbientField& ambient,
                    Strategy strategy, std::size_t stations, std::size_t rows, std::size_t columns);
/// Throws InputError for the susceptibility of prism `row`.
[[noreturn]] void refuse_susceptibility(std::int64_t row, double value);
/// Throws InputError for number i of the remanent magnetisations.
[[noreturn]] void refuse_remanence(std::int64_t i, double value);
/// Throws InputError for a station at x, y, z inside of a magnetised prism.
[[noreturn]] void refuse_inner_station(std::int64_t row, double x, double y, double z);
/// Throws InputError unless there are no remanent magnetisations, or one a prism.
void check_remanence(std::size_t rows, std::int64_t prisms);

}  // namespace moho::gravity::detail
