// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Faces of a model in options: "cpml:20,top=free,left=sponge:40".

#include <moho/wave/boundary.hpp>

#include <string>

namespace moho::examples {

/// Default widths of layers, in nodes.
struct LayerWidths {
  int sponge = 30;  ///< of a sponge
  int cpml = 20;    ///< of a perfectly matched layer
  int random = 40;  ///< of a layer of random velocities

  /// Returns the width of a kind; 0 for kinds without a layer.
  int of(wave::FaceKind kind) const {
    switch (kind) {
      case wave::FaceKind::sponge:
        return sponge;
      case wave::FaceKind::cpml:
        return cpml;
      case wave::FaceKind::random:
        return random;
      default:
        return 0;
    }
  }
};

/// Reads all faces of a model: one kind, or a list in which "face=kind" changes a face.
/// Faces are left and right (x), front and back (y, in 3D), top and bottom (z).
/// \param what name of the option in messages: "--boundary"
/// \param text "cpml", "sponge:40", "cpml:20,top=free,left=sponge:40"
/// \param fallback kind of the faces that the text does not mention
template <int Dim>
wave::Boundaries<Dim> parse_boundaries(const std::string& what, const std::string& text,
                                       wave::FaceKind fallback, const LayerWidths& widths);

/// Returns the text of the faces: "cpml:20", or a list of the faces where their kinds differ.
template <int Dim>
std::string boundaries_string(const wave::Boundaries<Dim>& boundaries);

}  // namespace moho::examples
