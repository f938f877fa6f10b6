// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Imaging conditions as types: sums over time, and the image computed from the sums.
///
/// A condition has an accumulator and a function finish(). The accumulator adds to its parts at
/// each snapshot of a shot. finish() computes the image from the parts summed over all shots.
/// docs/theory/migration.md compares the conditions.

#include <moho/core/launch_box.hpp>
#include <moho/rtm/migration_types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::rtm {

/// Operands of an imaging kernel at the nodes of ImagingStep::box().
template <class T, int Dim>
struct ImagingOperands {
  const T *source_values,    ///< S in `box`
      *receiver_values;      ///< R in `layout`
  wave::Layout<Dim> layout;  ///< of R
  Box<Dim> box;              ///< of S
  Index<Dim> strides;        ///< of S
  Index<Dim> shift;          ///< first node of the window
  Grid<Dim> grid;            ///< of the window
  T weight;                  ///< time between snapshots, s

  /// Returns S at a node.
  KOKKOS_INLINE_FUNCTION T source(const Index<Dim>& node) const {
    std::int64_t from = 0;
    for (int d = 0; d < Dim; ++d) from += (node[d] - box.lower[d]) * strides[d];
    return source_values[from];
  }
  /// Returns R at a node.
  KOKKOS_INLINE_FUNCTION T receivers(const Index<Dim>& node) const {
    return receiver_values[layout.flat(node)];
  }
  /// Returns the position of a node in the parts of the accumulator.
  KOKKOS_INLINE_FUNCTION std::int64_t at(const Index<Dim>& node) const {
    std::int64_t to = 0;
    for (int d = 0; d < Dim; ++d) to = to * grid.extents[d] + (node[d] - shift[d]);
    return to;
  }
};

/// Source and receiver wavefield at the time of a snapshot, for an accumulator.
template <class T, int Dim, class Memory>
struct ImagingStep {
  const snapshot::Snapshot<T, Dim, Memory>& source;  ///< p of the source, or p / sqrt(rho) where
                                                     ///< the density varies; its box may contain
                                                     ///< nodes of layers
  const wave::Wavefield<T, Dim, Memory>& receivers;  ///< receiver wavefield; now[0] is the same
  Box<Dim> interior;                                 ///< nodes of the window in the grid of
                                                     ///< `receivers`
  Grid<Dim> grid;                                    ///< of the window
  double weight = 1.0;                               ///< time between snapshots, s
  std::int64_t time = 0;                             ///< step

  /// Returns the nodes of the window with values of the snapshot, in the grid with layers.
  Box<Dim> box() const { return intersection(source.box, interior); }
  /// Returns the operands of a kernel over box().
  ImagingOperands<T, Dim> operands() const {
    return {source.values.data(),
            receivers.now[0].data(),
            receivers.layout,
            source.box,
            dense_strides(source.box),
            interior.lower,
            grid,
            static_cast<T>(weight)};
  }
};

/// \brief Accumulator of the conditions of this header: S R, S S and R R at each node.
///
/// Its three parts are always summed; if possible by the kernel that decompresses a snapshot.
struct PointProducts {
  static constexpr int part_count = 3;  ///< S R, S S, R R
};

/// Parts of an accumulator, summed over all shots.
template <class T, int Dim>
struct ImageParts {
  Grid<Dim> grid;                         ///< of the model
  std::vector<HostField<T, Dim>> fields;  ///< on its nodes
  /// Returns a part.
  const HostField<T, Dim>& operator[](std::size_t part) const { return fields.at(part); }
};

/// \brief A type whose add() adds a snapshot to part_count fields of the window.
///
///     struct Mine {
///       static constexpr int part_count = 1;
///       template <class T, int Dim, class Memory>
///       void add(const Instance<Memory>& exec, const ImagingStep<T, Dim, Memory>& step,
///                const std::vector<Field<T, Dim, Memory>>& parts) const;
///     };
///
/// The fields are zero at the first snapshot. add() submits its work to the instance. Concurrent
/// shots share an object: add() is const. In a stream (MigrationOptions::stream) a step has some
/// planes of the window, which `step.grid` and `parts` describe; S and R are read at the nodes of
/// `step.box()` only.
template <class A>
concept Accumulator = requires(const A& a, const Instance<Kokkos::HostSpace>& exec,
                               const ImagingStep<float, 2, Kokkos::HostSpace>& step,
                               const std::vector<Field<float, 2, Kokkos::HostSpace>>& parts) {
  { A::part_count } -> std::convertible_to<int>;
  a.add(exec, step, parts);
};

/// \brief A type with an accumulator and finish(exec, parts), which returns the image.
///
///     struct Mine {
///       using accumulator = PointProducts;
///       template <class T, int Dim>
///       HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>& exec,
///                                const ImageParts<T, Dim>& parts) const;
///     };
///
/// Parts are those of its accumulator, summed over all shots, on the nodes of the model.
template <class C>
concept ImagingCondition = requires(const C& c, const Instance<Kokkos::HostSpace>& exec,
                                    const ImageParts<float, 2>& parts) {
  typename C::accumulator;
  { c.finish(exec, parts) } -> std::convertible_to<HostField<float, 2>>;
};

namespace detail {
/// Multiplies a field by a factor, in place.
template <class T, int Dim>
HostField<T, Dim> scaled(const HostField<T, Dim>& field, T factor) {
  for (std::size_t i = 0; i < field.size(); ++i) field.data()[i] *= factor;
  return field;
}
}  // namespace detail

/// Zero-lag cross-correlation: the sum of S R (Claerbout, 1971).
struct ZeroLag {
  using accumulator = PointProducts;  ///< sums over time
  /// Returns the image.
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>&,
                           const ImageParts<T, Dim>& parts) const {
    return parts[0];
  }
};

/// The sum of S R divided by the source illumination, see normalised().
struct SourceNormalised {
  using accumulator = PointProducts;  ///< sums over time
  double level = 1e-3;                ///< of the largest illumination, added to the divisor
  /// Returns the image.
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>& exec,
                           const ImageParts<T, Dim>& parts) const {
    return normalised<T, Dim, Kokkos::HostSpace>(exec, parts.grid, parts[0], parts[1], level);
  }
};

/// \brief The sum of S R divided by the receiver illumination, see normalised().
///
/// With domains it needs MigrationOptions::complete_receivers.
struct ReceiverNormalised {
  using accumulator = PointProducts;                ///< sums over time
  static constexpr bool complete_receivers = true;  ///< needs R R of the complete grid
  double level = 1e-3;  ///< of the largest illumination, added to the divisor
  /// Returns the image.
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>& exec,
                           const ImageParts<T, Dim>& parts) const {
    return normalised<T, Dim, Kokkos::HostSpace>(exec, parts.grid, parts[0], parts[2], level);
  }
};

/// \brief Inverse scattering: half the Laplacian of the sum of S R (Douma et al., 2010).
///
/// The Laplacian removes low-frequency artefacts of waves that propagate in similar directions.
struct InverseScattering {
  using accumulator = PointProducts;  ///< sums over time
  /// Returns the image.
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>& exec,
                           const ImageParts<T, Dim>& parts) const {
    return detail::scaled<T, Dim>(laplacian<T, Dim, Kokkos::HostSpace>(exec, parts.grid, parts[0]),
                                  T(0.5));
  }
};

/// The Laplacian of the image of SourceNormalised.
struct LaplacianNormalised {
  using accumulator = PointProducts;  ///< sums over time
  double level = 1e-3;                ///< of the largest illumination, added to the divisor
  /// Returns the image.
  template <class T, int Dim>
  HostField<T, Dim> finish(const Instance<Kokkos::HostSpace>& exec,
                           const ImageParts<T, Dim>& parts) const {
    return laplacian<T, Dim, Kokkos::HostSpace>(exec, parts.grid,
                                                SourceNormalised{level}.finish(exec, parts));
  }
};

}  // namespace moho::rtm
