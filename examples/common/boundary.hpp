// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The faces of a model as programs are told about them: "cpml:20,top=free,left=sponge:40".

#include "common/arguments.hpp"

#include <moho/wave/boundary.hpp>

#include <string>
#include <vector>

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

/// "cpml" or "cpml:20".
/// \param what what to call it in messages: "--boundary"
inline wave::Face parse_face(const std::string& what, const std::string& text,
                             const LayerWidths& widths) {
  const std::vector<std::string> pieces = split(text, ':');
  const std::vector<std::string> names{"rigid", "sponge", "cpml", "free", "random"};
  wave::Face face;
  face.kind = static_cast<wave::FaceKind>(parse_name(what, pieces[0], names));
  face.width = widths.of(face.kind);
  if (pieces.size() == 1) return face;
  if (pieces.size() > 2 || !face.layered()) {
    throw InputError(concat(what, ": '", text, "' is not understood (allowed: ", pieces[0],
                            face.layered() ? " or " + pieces[0] + ":WIDTH" : ", it has no width",
                            ")"));
  }
  face.width =
      static_cast<int>(parse_count(concat(what, ": the width of ", pieces[0]), pieces[1], 1, 1000));
  return face;
}

/// \brief All faces of a model: a kind for all of them, or a list in which "face=kind" changes one.
///
/// Faces are left and right (x), front and back (y, in 3D), top and bottom (z).
/// \param what what to call it in messages: "--boundary"
/// \param text "cpml", "sponge:40", "cpml:20,top=free,left=sponge:40"
/// \param fallback the kind of the faces that the text does not mention
template <int Dim>
wave::Boundaries<Dim> parse_boundaries(const std::string& what, const std::string& text,
                                       wave::FaceKind fallback, const LayerWidths& widths) {
  constexpr const char* faces[3][2] = {{"left", "right"}, {"front", "back"}, {"top", "bottom"}};
  wave::Boundaries<Dim> result = wave::all_faces<Dim>(fallback, widths.of(fallback));
  bool first = true;
  for (const std::string& piece : split(text)) {
    const auto equals = piece.find('=');
    if (equals == std::string::npos) {
      if (!first) {
        throw InputError(concat(what, ": '", piece, "' in '", text,
                                "' names no face (allowed: a kind for all faces first, then "
                                "face=kind, as in cpml,top=free)"));
      }
      const wave::Face face = parse_face(what, piece, widths);
      for (int d = 0; d < Dim; ++d) result.lower[d] = result.upper[d] = face;
    } else {
      const std::string name = split(piece.substr(0, equals)).front();
      const wave::Face face = parse_face(what, split(piece.substr(equals + 1)).front(), widths);
      bool found = false;
      std::string known;
      for (int d = 0; d < Dim; ++d) {
        const auto& pair = faces[Dim == 2 && d == 1 ? 2 : d];
        known += concat(d ? ", " : "", pair[0], ", ", pair[1]);
        if (name == pair[0]) result.lower[d] = face;
        if (name == pair[1]) result.upper[d] = face;
        found = found || name == pair[0] || name == pair[1];
      }
      if (!found) {
        throw InputError(
            concat(what, ": there is no face '", name, "' in ", Dim, "D (allowed: ", known, ")"));
      }
    }
    first = false;
  }
  return result;
}

/// "cpml:20", or what each face does where they differ.
template <int Dim>
std::string boundaries_string(const wave::Boundaries<Dim>& boundaries) {
  constexpr const char* faces[3][2] = {{"left", "right"}, {"front", "back"}, {"top", "bottom"}};
  const auto text_of = [](const wave::Face& face) {
    return face.layered() ? concat(wave::to_string(face.kind), ":", face.width)
                          : std::string(wave::to_string(face.kind));
  };
  const std::string all = text_of(boundaries.upper[Dim - 1]);  // the top is often another kind
  std::string text = all;
  for (int d = 0; d < Dim; ++d) {
    const auto& pair = faces[Dim == 2 && d == 1 ? 2 : d];
    for (int k = 0; k < 2; ++k) {
      const std::string own = text_of(k == 0 ? boundaries.lower[d] : boundaries.upper[d]);
      if (own != all) text += concat(",", pair[k], "=", own);
    }
  }
  return text;
}

}  // namespace moho::examples
