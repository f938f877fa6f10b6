// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The faces of a model as programs are told about them: "cpml:20,top=free,left=sponge:40".

#include <moho/wave/boundary.hpp>

#include <string>

namespace moho::examples {

/// Widths of layers that were not told.
struct LayerWidths {
  int sponge = 30;
  int cpml = 20;
  int random = 40;

  /// That of a kind; 0 for kinds without a layer.
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

/// \brief All faces of a model: a kind for all of them, or a list in which "face=kind" changes one.
///
/// Faces are left and right (x), front and back (y, in 3D), top and bottom (z).
/// \param what what to call it in messages: "--boundary"
/// \param text "cpml", "sponge:40", "cpml:20,top=free,left=sponge:40"
/// \param fallback the kind of the faces that the text does not mention
template <int Dim>
wave::Boundaries<Dim> parse_boundaries(const std::string& what, const std::string& text,
                                       wave::FaceKind fallback, const LayerWidths& widths);

/// "cpml:20", or what each face does where they differ.
template <int Dim>
std::string boundaries_string(const wave::Boundaries<Dim>& boundaries);

}  // namespace moho::examples
