// SPDX-License-Identifier: BSD-3-Clause
#include "common/arguments.hpp"

#include "common/coordinates.hpp"
#include "common/suggestions.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace moho::examples {

std::vector<std::string> split(std::string_view text, char separator) {
  return text::split(text, separator);
}

double parse_number(const std::string& what, const std::string& text, const std::string& form) {
  if (const auto value = text::to_number(text)) return *value;
  throw InputError(concat(what, ": '", text, "' is not a number (allowed: ", form, ")"));
}

std::vector<double> parse_numbers(const std::string& what, const std::string& text,
                                  const std::vector<std::size_t>& counts, const std::string& form) {
  const std::vector<std::string> pieces = split(text);
  bool allowed = false;
  for (const std::size_t count : counts) allowed = allowed || count == pieces.size();
  if (!allowed) {
    throw InputError(concat(what, ": '", text, "' has ", pieces.size(),
                            pieces.size() == 1 ? " value" : " values", " (allowed: ", form, ")"));
  }
  std::vector<double> values;
  for (const std::string& piece : pieces) {
    if (pieces.size() == 1 || !piece.empty()) {
      try {
        values.push_back(parse_number(what, piece, form));
      } catch (const InputError&) {
        throw InputError(pieces.size() == 1
                             ? concat(what, ": '", text, "' is not a number (allowed: ", form, ")")
                             : concat(what, ": '", piece, "' in '", text,
                                      "' is not a number (allowed: ", form, ")"));
      }
    } else {
      throw InputError(concat(what, ": a value is missing in '", text, "' (allowed: ", form, ")"));
    }
  }
  return values;
}

std::int64_t parse_count(const std::string& what, const std::string& text, std::int64_t lowest,
                         std::int64_t highest) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < lowest || value > highest) {
    throw InputError(concat(
        what, " is '", text, "' (allowed: whole numbers from ", lowest,
        highest == std::numeric_limits<std::int64_t>::max() ? " up" : concat(" to ", highest),
        ")"));
  }
  return value;
}

std::size_t parse_bytes(const std::string& what, const std::string& text) {
  const std::string form = "bytes such as 512M, 8G, or a plain number of them";
  std::string digits = text;
  while (!digits.empty() && (digits.back() == 'B' || digits.back() == 'b')) digits.pop_back();
  if (!digits.empty() && (digits.back() == 'i')) digits.pop_back();
  double unit = 1.0;
  if (!digits.empty()) {
    const std::string letters = "KMGT";
    const char last =
        digits.back() >= 'a' ? static_cast<char>(digits.back() - 'a' + 'A') : digits.back();
    const auto power = letters.find(last);
    if (power != std::string::npos) {
      unit = std::pow(1024.0, static_cast<double>(power + 1));
      digits.pop_back();
    }
  }
  double value = 0.0;
  try {
    value = parse_number(what, digits, form);
  } catch (const InputError&) {
    throw InputError(concat(what, ": '", text, "' is no amount of memory (allowed: ", form, ")"));
  }
  if (!(value * unit >= 1.0) || value * unit > 9.0e18) {
    throw InputError(concat(what, ": '", text, "' is no amount of memory (allowed: ", form, ")"));
  }
  return static_cast<std::size_t>(value * unit);
}

std::size_t parse_name(const std::string& what, const std::string& text,
                       const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
    list += (i ? ", " : "") + names[i];
  }
  const std::string near = suggestion(nearest_names(text, names));
  throw InputError(concat(what, " '", text, "' is unknown (allowed: ", list, ")",
                          near.empty() ? "" : ": ", near));
}

namespace {

// Values along the axes, in the order of the axes.
template <class T, class Convert>
std::vector<T> parse_axes(const std::string& what, const std::string& text, bool one,
                          const std::string& form, const Convert& convert) {
  const AxisValues axes = split_axes(what, text);
  const std::size_t count = axes.texts.size();
  if (count != 2 && count != 3 && !(one && count == 1)) {
    throw InputError(concat(what, ": '", text, "' has ", count, count == 1 ? " value" : " values",
                            " (allowed: ", form, ")"));
  }
  std::vector<T> values;
  for (const std::string& piece : axes.texts) values.push_back(convert(piece, count));
  return values;
}

double number_in(const std::string& what, const std::string& piece, const std::string& text,
                 std::size_t count, const std::string& form) {
  if (count > 1 && piece.empty()) {
    throw InputError(concat(what, ": a value is missing in '", text, "' (allowed: ", form, ")"));
  }
  if (const auto value = text::to_number(piece)) return *value;
  throw InputError(concat(what, ": '", piece, count > 1 ? concat("' in '", text) : std::string(),
                          "' is not a number (allowed: ", form, ")"));
}

}  // namespace

std::vector<std::int64_t> parse_shape(const std::string& text, std::int64_t most) {
  return parse_axes<std::int64_t>(
      "--shape", text, false, "nx,nz or nx,ny,nz, nodes along each axis",
      [&](const std::string& piece, std::size_t) {
        return parse_count("--shape " + text + ": a number of nodes", piece, 1, most);
      });
}

std::vector<double> parse_spacing(const std::string& text) {
  const std::string form = "d, or dx,dz, or dx,dy,dz in metres, or with a unit: 10m, 0.01km";
  const auto spacing =
      parse_axes<double>("--spacing", text, true, form, [&](std::string piece, std::size_t count) {
        double metres = 1.0;
        const auto ends = [&](const std::string& unit) {
          return piece.size() > unit.size() &&
                 piece.compare(piece.size() - unit.size(), unit.size(), unit) == 0;
        };
        if (ends("km")) {
          metres = 1000.0;
          piece.resize(piece.size() - 2);
        } else if (ends("m")) {
          piece.resize(piece.size() - 1);
        }
        return metres * number_in("--spacing", piece, text, count, form);
      });
  for (const double d : spacing) {
    if (d > 0.0) continue;
    throw InputError(concat("--spacing: ", d, " in '", text,
                            "' is not positive (allowed: metres between nodes)"));
  }
  return spacing;
}

std::vector<double> parse_origin(const std::string& text) {
  const std::string form = "x,z or x,y,z in metres";
  return parse_axes<double>("--origin", text, false, form,
                            [&](const std::string& piece, std::size_t count) {
                              return number_in("--origin", piece, text, count, form);
                            });
}

}  // namespace moho::examples
