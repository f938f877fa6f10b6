// SPDX-License-Identifier: BSD-3-Clause
#include "app/coordinates.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>

#include <cstddef>

namespace moho::examples {

AxisValues split_axes(const std::string& what, const std::string& text) {
  AxisValues values;
  std::vector<std::string> pieces = text::split(text, ',');
  std::size_t names = 0;
  for (const std::string& piece : pieces) names += piece.find('=') != std::string::npos;
  if (names == 0) {
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
      const std::string name(text::trim(piece.substr(0, piece.find('='))));
      if (name.size() != 1 || std::string("xyz").find(name) == std::string::npos) {
        throw refuse(concat("names '", name, "', which is no axis"));
      }
      if (name[0] != axis) continue;
      if (found) throw refuse(concat("names ", name, " twice"));
      found = true;
      values.texts.emplace_back(text::trim(piece.substr(piece.find('=') + 1)));
    }
    if (!found && axis != 'y') throw refuse(concat("has no ", std::string(1, axis)));
  }
  for (const std::string& piece : pieces) values.written += text::trim(piece)[0];
  return values;
}

}  // namespace moho::examples
