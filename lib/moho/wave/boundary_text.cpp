// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/boundary_text.hpp>

#include <set>
#include <string>
#include <vector>

namespace moho::wave {

namespace {

constexpr const char* face_names[3][2] = {{"left", "right"}, {"front", "back"}, {"top", "bottom"}};

// Names of the lower and the upper face across an axis.
template <int Dim>
const auto& names_of_faces(int axis) {
  return face_names[axis == Dim - 1 ? 2 : axis];
}

// Reads one face: "cpml" or "cpml:20".
Face parse_face(const std::string& what, const std::string& text, const LayerWidths& widths) {
  const std::vector<std::string> pieces = text::split(text, ':');
  std::vector<std::string> names;
  for (const FaceKind kind : {FaceKind::rigid, FaceKind::sponge, FaceKind::cpml,
                              FaceKind::free_surface, FaceKind::random}) {
    names.emplace_back(to_string(kind));
  }
  Face face;
  face.kind = static_cast<FaceKind>(text::parse_name(what, pieces[0], names));
  face.width = widths.of(face.kind);
  if (pieces.size() == 1) return face;
  if (pieces.size() > 2 || !face.layered()) {
    throw InputError(concat(what, ": '", text, "' is not understood (allowed: ", pieces[0],
                            face.layered() ? " or " + pieces[0] + ":WIDTH" : ", it has no width",
                            ")"));
  }
  face.width =
      static_cast<int>(text::parse_count(concat(what, ": the width of ", pieces[0]), pieces[1], 1,
                                         face.kind == FaceKind::cpml ? largest_cpml_width : 1000));
  return face;
}

}  // namespace

template <int Dim>
Boundaries<Dim> parse_boundaries(const std::string& text, FaceKind fallback,
                                 const LayerWidths& widths, const std::string& what) {
  Boundaries<Dim> result = all_faces<Dim>(fallback, widths.of(fallback));
  bool first = true;
  std::set<std::string> named;
  for (const std::string& piece : text::split(text, ',')) {
    const auto equals = piece.find('=');
    if (equals == std::string::npos) {
      if (!first) {
        throw InputError(concat(what, ": '", piece, "' in '", text,
                                "' names no face (allowed: a kind for all faces first, then "
                                "face=kind, as in cpml,top=free)"));
      }
      const Face face = parse_face(what, piece, widths);
      for (int d = 0; d < Dim; ++d) result.lower[d] = result.upper[d] = face;
    } else {
      const std::string name(text::trim(piece.substr(0, equals)));
      const Face face = parse_face(what, std::string(text::trim(piece.substr(equals + 1))), widths);
      if (!named.insert(name).second) {
        throw InputError(concat(what, ": '", name, "' stands twice in '", text,
                                "' (allowed: once): leave one out"));
      }
      bool found = false;
      std::string known;
      for (int d = 0; d < Dim; ++d) {
        const auto& pair = names_of_faces<Dim>(d);
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
std::string boundaries_string(const Boundaries<Dim>& boundaries) {
  const auto text_of = [](const Face& face) {
    return face.layered() ? concat(to_string(face.kind), ":", face.width)
                          : std::string(to_string(face.kind));
  };
  const std::string all = text_of(boundaries.upper[Dim - 1]);  // the kind of the top often differs
  std::string text = all;
  for (int d = 0; d < Dim; ++d) {
    const auto& pair = names_of_faces<Dim>(d);
    for (int k = 0; k < 2; ++k) {
      const std::string own = text_of(k == 0 ? boundaries.lower[d] : boundaries.upper[d]);
      if (own != all) text += concat(",", pair[k], "=", own);
    }
  }
  return text;
}

template Boundaries<2> parse_boundaries<2>(const std::string&, FaceKind, const LayerWidths&,
                                           const std::string&);
template Boundaries<3> parse_boundaries<3>(const std::string&, FaceKind, const LayerWidths&,
                                           const std::string&);
template std::string boundaries_string<2>(const Boundaries<2>&);
template std::string boundaries_string<3>(const Boundaries<3>&);

}  // namespace moho::wave
