// SPDX-License-Identifier: BSD-3-Clause
#include "app/boundary.hpp"

#include "app/arguments.hpp"

#include <set>
#include <string>
#include <vector>

namespace moho::examples {

namespace {

// Reads one face: "cpml" or "cpml:20".
wave::Face parse_face(const std::string& what, const std::string& text, const LayerWidths& widths) {
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

}  // namespace

template <int Dim>
wave::Boundaries<Dim> parse_boundaries(const std::string& what, const std::string& text,
                                       wave::FaceKind fallback, const LayerWidths& widths) {
  constexpr const char* faces[3][2] = {{"left", "right"}, {"front", "back"}, {"top", "bottom"}};
  wave::Boundaries<Dim> result = wave::all_faces<Dim>(fallback, widths.of(fallback));
  bool first = true;
  std::set<std::string> named;
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
      if (!named.insert(name).second) {
        throw InputError(concat(what, ": '", name, "' stands twice in '", text,
                                "' (allowed: once): leave one out"));
      }
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

template <int Dim>
std::string boundaries_string(const wave::Boundaries<Dim>& boundaries) {
  constexpr const char* faces[3][2] = {{"left", "right"}, {"front", "back"}, {"top", "bottom"}};
  const auto text_of = [](const wave::Face& face) {
    return face.layered() ? concat(wave::to_string(face.kind), ":", face.width)
                          : std::string(wave::to_string(face.kind));
  };
  const std::string all = text_of(boundaries.upper[Dim - 1]);  // the kind of the top often differs
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

template wave::Boundaries<2> parse_boundaries<2>(const std::string&, const std::string&,
                                                 wave::FaceKind, const LayerWidths&);
template std::string boundaries_string<2>(const wave::Boundaries<2>&);
template wave::Boundaries<3> parse_boundaries<3>(const std::string&, const std::string&,
                                                 wave::FaceKind, const LayerWidths&);
template std::string boundaries_string<3>(const wave::Boundaries<3>&);

}  // namespace moho::examples
