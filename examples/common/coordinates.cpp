// SPDX-License-Identifier: BSD-3-Clause
#include "common/coordinates.hpp"

#include <moho/core/error.hpp>
#include <moho/wave/text.hpp>

#include <cstddef>

namespace moho::examples {

AxisValues split_axes(const std::string& what, const std::string& text) {
  AxisValues values;
  std::vector<std::string> pieces = wave::detail::split(text, ',');
  std::size_t names = 0;
  for (const std::string& piece : pieces) names += piece.find('=') != std::string::npos;
  values.named = names > 0;
  if (!values.named) {
    values.texts = std::move(pieces);
    values.written = values.texts.size() == 2 ? "xz" : "xyz";
    return values;
  }
  const auto refuse = [&](const std::string& why) {
    return InputError(concat(what, ": '", text, "' ", why,
                             " (allowed: x=..,z=.. in 2D, x=..,y=..,z=.. in 3D, in any order): "
                             "name each axis once"));
  };
  if (names != pieces.size()) throw refuse("has names for some of its values only");
  for (const char axis : std::string("xyz")) {
    bool found = false;
    for (const std::string& piece : pieces) {
      const std::string name(wave::detail::trim(piece.substr(0, piece.find('='))));
      if (name.size() != 1 || std::string("xyz").find(name) == std::string::npos) {
        throw refuse(concat("names '", name, "', which is no axis"));
      }
      if (name[0] != axis) continue;
      if (found) throw refuse(concat("names ", name, " twice"));
      found = true;
      values.texts.emplace_back(wave::detail::trim(piece.substr(piece.find('=') + 1)));
    }
    if (!found && axis != 'y') throw refuse(concat("has no ", std::string(1, axis)));
  }
  for (const std::string& piece : pieces) values.written += wave::detail::trim(piece)[0];
  return values;
}

std::string with_names(const std::string& text, const std::string& axes) {
  std::string named;
  std::string piece;
  const auto flush = [&] {
    const std::vector<std::string> numbers = wave::detail::split(piece, ',');
    const bool bare = numbers.size() == axes.size() && piece.find('=') == std::string::npos;
    if (bare) {
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        named += concat(k > 0 ? "," : "", std::string(1, axes[k]), "=", numbers[k]);
      }
    } else {
      named += piece;
    }
    piece.clear();
  };
  for (const char letter : text) {
    if (letter == ';' || letter == ':') {
      flush();
      named += letter;
    } else {
      piece += letter;
    }
  }
  flush();
  return named;
}

std::string two_orders(const std::string& what, const std::string& example,
                       const std::string& why) {
  const auto said = [&](const char* axes) {
    const std::string text = with_names(example, axes);
    return text.find_first_of("; ") == std::string::npos ? text : concat("'", text, "'");
  };
  return concat(what, ": '", example, "' may be x,y,z, or x,z,y as in former releases", why,
                " (allowed: what can be meant in one way only): write ", what, " ", said("xyz"),
                " or ", what, " ", said("xzy"),
                ", or add --coordinates xyz, with which three numbers are always x,y,z");
}

}  // namespace moho::examples
