// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Estimates of the memory of gradients: source wavefield and extended images.

#include <moho/fwi/extended_image.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/wave/scheme.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace moho::fwi {

/// Bytes of the source wavefield of one shot, by storage method.
struct SourceFieldBytes {
  double shell = 0.0;       ///< boundary values for backward propagation
  double random = 0.0;      ///< one snapshot, without the propagator with random boundaries
  double stored = 0.0;      ///< all snapshots
  double replay = 0.0;      ///< checkpoints, and the snapshots between two of them
  std::int64_t states = 2;  ///< number of checkpoints
  std::int64_t piece = 1;   ///< snapshots between two checkpoints
};

/// \brief Estimates the memory of the source wavefield of one shot.
/// \param scheme of the propagator, with its layers
/// \param snapshot_nodes,outside values of ShotGradients
/// \param steps of the run, 1 or more
/// \param product_interval steps between products, 1 or more
/// \param held planes that a device holds
template <class T, int Dim, class Memory>
SourceFieldBytes source_field_bytes(const wave::Scheme<T, Dim, Memory>& scheme,
                                    std::int64_t snapshot_nodes, std::int64_t outside,
                                    std::int64_t steps, std::int64_t product_interval,
                                    const PlaneRange& held) {
  const auto each = static_cast<double>(sizeof(T) * static_cast<std::size_t>(scheme.fields()));
  const double state = 2.0 * each * static_cast<double>(scheme.layout(held).size);
  const double snapshot = each * static_cast<double>(snapshot_nodes);
  const auto count = static_cast<double>(steps / product_interval);
  SourceFieldBytes bytes;
  bytes.shell = each * static_cast<double>(steps) *
                    static_cast<double>(snapshot::BoundaryStore<T, Dim, Memory>::kept_nodes(
                        scheme, outside, held)) +
                state + snapshot;
  bytes.random = snapshot;
  bytes.stored = snapshot * count;
  // pieces of about the square root of all snapshots minimise the memory of checkpoints and a piece
  const double snapshots = std::max(1.0, count);
  bytes.states = static_cast<std::int64_t>(std::clamp(std::sqrt(snapshots), 2.0, 40.0));
  bytes.piece =
      static_cast<std::int64_t>(std::ceil(snapshots / static_cast<double>(bytes.states + 1)));
  bytes.replay =
      state * static_cast<double>(bytes.states + 1) + snapshot * static_cast<double>(bytes.piece);
  return bytes;
}
/// \overload
template <class T, int Dim, class Memory>
SourceFieldBytes source_field_bytes(const wave::Scheme<T, Dim, Memory>& scheme,
                                    std::int64_t snapshot_nodes, std::int64_t outside,
                                    std::int64_t steps, std::int64_t product_interval) {
  return source_field_bytes(scheme, snapshot_nodes, outside, steps, product_interval,
                            all_planes(scheme.grid()));
}

/// \brief Returns the largest lags whose image fits a number of bytes; {0, 0} if no lags fit.
///
/// The result is at most the given lags.
/// \param box nodes of the image
/// \param bytes available memory
/// \param sum bytes of a sum of images for each lag and node; 0: no sum
template <class T, int Dim, class Memory>
Lags fitting_lags(const Box<Dim>& box, Lags lags, double bytes, double sum = 0.0) {
  const double of_lag = sum * static_cast<double>(box.size());
  const auto taken = [&](const Lags& l) {
    return ExtendedImage<T, Dim, Memory>::bytes_of(box, l) +
           of_lag * static_cast<double>(l.count());
  };
  while (lags.x > 0 && taken(lags) > bytes) {
    --lags.x;
    lags.y = std::min(lags.x, lags.y);
  }
  return lags;
}

}  // namespace moho::fwi
