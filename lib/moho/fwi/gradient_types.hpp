// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What gradients of shots are asked, and what they report.

#include <moho/fwi/extended_image.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/run.hpp>
#include <moho/wave/source_term.hpp>

#include <cstdint>
#include <functional>

namespace moho::fwi {

/// Parameters of a model that derivatives are wanted of. The P velocity is always among them.
struct InvertedParameters {
  bool density = false;     ///< of media with variable density
  bool anisotropy = false;  ///< epsilon and delta of VTI and TTI media
};

/// \brief The misfit of a shot: reads what was modelled, (steps + 1) x receivers, writes its
/// derivative by each of these samples, and returns the misfit.
template <class T, class Memory>
using ShotMisfit = std::function<double(const wave::PointSeries<const T, Memory>& modelled,
                                        const wave::PointSeries<T, Memory>& derivative)>;

/// Options of ShotGradients::add().
template <class T, int Dim, class Memory>
struct ShotGradientOptions {
  std::int64_t steps = 0;          ///< of either leg, 1 or more
  std::int64_t check_every = 200;  ///< look for NaN and overflow every so many steps; 0: never
  /// \brief The source's leg whose wavefield is correlated, where it is not the one that data are
  /// modelled with: behind random layers, which it can be run back from. Its model has to be the
  /// same, its grid may have other layers. The store belongs to it.
  const wave::SourceTerm<T, Dim, Memory>* source = nullptr;
  /// Gets the products at points apart, too, of p and of q, if it is there: an image of box().
  ExtendedImage<T, Dim, Memory>* extended = nullptr;
  /// Called about twice a second with how far a leg has come: 0 forward, 1 the source's own, 2
  /// backward.
  std::function<void(int leg, const wave::ShotProgress&)> progress = {};
};

/// What ShotGradients::add() did.
template <int Dim>
struct ShotGradientReport {
  double misfit = 0.0;            ///< what the misfit said
  double forward_seconds = 0.0;   ///< of modelling
  double backward_seconds = 0.0;  ///< of the adjoint field, the source's again and the products
  double points = 0.0;            ///< nodes stepped, of all wavefields
  snapshot::SnapshotReport snapshots;  ///< what keeping the source's wavefield took
};

}  // namespace moho::fwi
