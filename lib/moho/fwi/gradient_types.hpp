// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options and report of ShotGradients.

#include <moho/core/arena.hpp>
#include <moho/fwi/extended_image.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/run.hpp>
#include <moho/wave/source_term.hpp>

#include <cstdint>
#include <functional>

namespace moho::fwi {

/// Parameters with derivatives, besides the P velocity.
struct InvertedParameters {
  bool density = false;     ///< density of media with variable density
  bool anisotropy = false;  ///< epsilon and delta of VTI and TTI media
};

/// \brief Misfit function of a shot: returns the misfit and writes the adjoint source.
///
/// Arguments: modelled samples, (steps + 1) x receivers, and the derivatives with respect to them.
template <class T, class Memory>
using ShotMisfit = std::function<double(const wave::PointSeries<const T, Memory>& modelled,
                                        const wave::PointSeries<T, Memory>& derivative)>;

/// Options of ShotGradients::add().
template <class T, int Dim, class Memory>
struct ShotGradientOptions {
  std::int64_t steps = 0;          ///< steps of each propagation, 1 or more
  std::int64_t check_every = 200;  ///< steps between checks for NaN and overflow; 0: no checks;
                                   ///< see wave::RunOptions
  /// \brief Source term of a separate source wavefield for the correlation; null: the modelled one.
  ///
  /// A wavefield with random layers is reversible in time. Its model must be the same; the layers
  /// of its grid may differ. The store belongs to this source term.
  const wave::SourceTerm<T, Dim, Memory>* source = nullptr;
  /// Extended image of box() that receives products of p and of q also; null: no extended image.
  ExtendedImage<T, Dim, Memory>* extended = nullptr;
  /// Memory of the samples of a batch, which calls reuse; null: each call allocates its own.
  Arena<T, Memory>* series = nullptr;
  /// Threads that call the misfit functions of a batch, with one shot each at a time.
  int misfit_threads = 1;
  /// Reports the progress of a propagation about twice a second.
  /// Propagations: 0 forward, 1 separate source wavefield, 2 backward.
  std::function<void(int propagation, const wave::ShotProgress&)> progress = {};
};

/// Report of ShotGradients::add().
template <int Dim>
struct ShotGradientReport {
  double misfit = 0.0;            ///< value of the misfit function
  double forward_seconds = 0.0;   ///< seconds of modelling
  double backward_seconds = 0.0;  ///< seconds of adjoint field, recomputed source wavefield and
                                  ///< products
  double points = 0.0;            ///< nodes stepped in all wavefields
  snapshot::SnapshotReport snapshots;  ///< cost of storing the source wavefield
};

}  // namespace moho::fwi
