// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Faces of a model as texts: "cpml:20,top=free,left=sponge:40".

#include <moho/wave/types.hpp>

#include <string>

namespace moho::wave {

/// \brief Default width of perfectly matched layers, in nodes.
///
/// Chosen by what layers reflect and what they cost (docs/theory/waves.md).
inline constexpr int default_cpml_width = 10;

/// Default widths of layers, in nodes.
struct LayerWidths {
  int sponge = 30;                ///< of a sponge; see recommended_sponge_width()
  int cpml = default_cpml_width;  ///< of a perfectly matched layer
  int random = 40;                ///< of a layer of random velocities

  /// Returns the width of a kind; 0 for kinds without a layer.
  int of(FaceKind kind) const {
    switch (kind) {
      case FaceKind::sponge:
        return sponge;
      case FaceKind::cpml:
        return cpml;
      case FaceKind::random:
        return random;
      default:
        return 0;
    }
  }
};

/// \brief Returns the faces of a model described by a text: a kind, or a list that changes faces.
///
/// "cpml" or "sponge:40" (40 nodes) is the kind of all faces. In a list, "cpml:20,top=free", an
/// item face=kind changes one face: left and right (x), front and back (y, in 3D), top and bottom
/// (z). Kinds are rigid, sponge, cpml, free and random. Layers have 1 to 1000 nodes. \param text
/// the faces \param fallback kind of the faces that the text does not mention \param widths of
/// layers without a width in the text \param what name of the text in messages \throws InputError
/// with the unreadable piece and the allowed ones
template <int Dim>
Boundaries<Dim> parse_boundaries(const std::string& text, FaceKind fallback = FaceKind::cpml,
                                 const LayerWidths& widths = {},
                                 const std::string& what = "boundaries");

/// Returns a text of faces for parse_boundaries(): "cpml:20", or a list if kinds or widths differ.
template <int Dim>
std::string boundaries_string(const Boundaries<Dim>& boundaries);

}  // namespace moho::wave
