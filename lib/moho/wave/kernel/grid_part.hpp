// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Interface of a part of a grid, whose other parts are stepped by other devices or ranks
/// (internal).

#include <moho/wave/medium.hpp>
#include <moho/wave/wavefield.hpp>

#include <cstdint>

namespace moho::wave {

/// \brief Planes of a grid that a propagator steps, next to parts of other propagators.
///
/// Each part holds its own planes and those of its neighbours that steps, sources and receivers
/// read. All parts call the same functions in the same order, concurrently. Whatever changes a
/// wavefield between two steps changes it in all planes that a part holds.
template <class T, int Dim, class Memory>
struct GridPart {
  virtual ~GridPart() = default;
  /// Returns the planes that this part steps.
  virtual PlaneRange own() const = 0;
  /// Returns the planes that this part holds.
  virtual PlaneRange held() const = 0;
  /// \brief Advances the own nodes of a box into wavefield.next, and takes the nodes next to them
  /// from the neighbours. Collective.
  ///
  /// It submits to the instance. Later work of the instance may change all planes.
  virtual void step(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                    const MediumCoefficients<T, Dim, Memory>& medium,
                    const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) = 0;
  /// Returns the least of the values of all parts. Collective.
  virtual std::int64_t min(std::int64_t value) = 0;
};

}  // namespace moho::wave
