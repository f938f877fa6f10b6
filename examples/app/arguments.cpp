// SPDX-License-Identifier: BSD-3-Clause
#include "app/arguments.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/survey/points_text.hpp>

#include <cmath>

namespace moho::examples {

std::vector<std::string> split(std::string_view text, char separator) {
  return text::split(text, separator);
}

namespace {

// Reads a number that is one of `count` pieces of a text.
double number_in(const std::string& what, const std::string& piece, const std::string& text,
                 std::size_t count, const std::string& form) {
  if (count > 1 && piece.empty()) {
    throw InputError(concat(what, ": a value is missing in '", text, "' (allowed: ", form, ")"));
  }
  if (const auto value = text::to_number(piece)) return *value;
  throw InputError(concat(what, ": '", piece, count > 1 ? concat("' in '", text) : std::string(),
                          "' is not a number (allowed: ", form, ")"));
}

// Reads a length in metres that is one of `count` pieces of a text; it may end in m or km.
double length_in(const std::string& what, const std::string& piece, const std::string& text,
                 std::size_t count, const std::string& form) {
  const std::size_t unit = piece.ends_with("km") ? 2 : piece.ends_with("m") ? 1 : 0;
  const auto value = text::to_number(piece.substr(0, piece.size() - unit));
  return value ? (unit == 2 ? 1000.0 : 1.0) * *value : number_in(what, piece, text, count, form);
}

}  // namespace

std::vector<double> parse_numbers(const std::string& what, const std::string& text,
                                  const std::vector<std::size_t>& counts, const std::string& form,
                                  bool lengths) {
  const std::vector<std::string> pieces = split(text);
  bool allowed = false;
  for (const std::size_t count : counts) allowed = allowed || count == pieces.size();
  if (!allowed) {
    throw InputError(concat(what, ": '", text, "' has ", text::counted(pieces.size(), "value"),
                            " (allowed: ", form, ")"));
  }
  const auto read = lengths ? length_in : number_in;
  std::vector<double> values;
  for (const std::string& piece : pieces) {
    values.push_back(read(what, piece, text, pieces.size(), form));
  }
  return values;
}

namespace {

// Reads values along the axes, in the order of the axes.
template <class T, class Convert>
std::vector<T> parse_axes(const std::string& what, const std::string& text, bool one,
                          const std::string& form, const Convert& convert) {
  const survey::AxisValues axes = survey::split_axes(what, text);
  const std::size_t count = axes.texts.size();
  if (count != 2 && count != 3 && !(one && count == 1)) {
    throw InputError(concat(what, ": '", text, "' has ", text::counted(count, "value"),
                            " (allowed: ", form, ")"));
  }
  std::vector<T> values;
  for (const std::string& piece : axes.texts) values.push_back(convert(piece, count));
  return values;
}

}  // namespace

std::vector<double> parse_spacing(const std::string& text) {
  const std::string form = "d, or dx,dz, or dx,dy,dz in metres, or with a unit: 10m, 0.01km";
  const auto spacing =
      parse_axes<double>("--spacing", text, true, form, [&](const auto& piece, std::size_t count) {
        return length_in("--spacing", piece, text, count, form);
      });
  for (const double d : spacing) {
    if (d > 0.0) continue;
    throw InputError(concat("--spacing: ", d, " in '", text,
                            "' is not positive (allowed: metres between nodes)"));
  }
  return spacing;
}

std::vector<double> parse_origin(const std::string& text) {
  const std::string form = "x,z or x,y,z in metres, or with a unit: 10m, 0.01km";
  return parse_axes<double>("--origin", text, false, form,
                            [&](const std::string& piece, std::size_t count) {
                              return length_in("--origin", piece, text, count, form);
                            });
}

Rule<std::int64_t> count(std::int64_t lowest, std::int64_t highest) {
  return {[=](const std::string& option, const std::string& text) {
    return parse_count(option, text, lowest, highest);
  }};
}

Rule<std::int64_t> even(std::int64_t highest) {
  return {[=](const std::string& option, const std::string& text) {
    std::string allowed, given = concat("'", text, "'");
    for (std::int64_t n = 2; n <= highest; ++n) {
      const bool is_even = n % 2 == 0;
      if (text == std::to_string(n)) {
        if (is_even) return n;
        given = text;
      }
      if (is_even) allowed += concat(n > 2 ? ", " : "", n);
    }
    throw InputError(concat(option, " is ", given, " (allowed: ", allowed, ")"));
  }};
}

Rule<double> number(const std::string& form, double lowest, bool include_lowest, double limit) {
  return {[=](const std::string& option, const std::string& text) {
    const double value = parse_number(option, text, form);
    const bool above = value > lowest || (include_lowest && value == lowest);
    if (above && value < limit) return value;
    throw InputError(concat(option, " is ", value, " (allowed: ", form, ")"));
  }};
}

Rule<double> positive(const std::string& form) {
  const bool says = form.find("positive") != std::string::npos;
  return number(says ? form : concat(form, " above 0"), 0.0, false);
}

Rule<std::size_t> bytes() {
  return {[](const std::string& option, const std::string& text) {
    std::string digits = text;
    while (!digits.empty() && (digits.back() == 'B' || digits.back() == 'b')) digits.pop_back();
    if (!digits.empty() && digits.back() == 'i') digits.pop_back();
    const std::string units = "KMGTkmgt";
    const auto unit = digits.empty() ? std::string::npos : units.find(digits.back());
    if (unit != std::string::npos) digits.pop_back();
    const double factor =
        unit == std::string::npos ? 1.0 : std::pow(1024.0, static_cast<double>(unit % 4 + 1));
    const auto value = text::to_number(digits);
    if (value && *value * factor >= 1.0 && *value * factor <= 9.0e18) {
      return static_cast<std::size_t>(*value * factor);
    }
    throw InputError(concat(option, ": '", text,
                            "' is no amount of memory (allowed: bytes such as 512M, 8G, or a plain "
                            "number of them)"));
  }};
}

Rule<std::vector<std::int64_t>> nodes_of_axes(std::int64_t max) {
  return {[=](const std::string& option, const std::string& text) {
    const auto parse = [&](const std::string& piece, std::size_t) {
      return parse_count(concat(option, " ", text, ": a number of nodes"), piece, 1, max);
    };
    return parse_axes<std::int64_t>(option, text, false, "nx,nz or nx,ny,nz, nodes along each axis",
                                    parse);
  }};
}

Rule<std::size_t> one_of(const std::vector<std::string>& names) {
  return {[=](const std::string& option, const std::string& text) {
            return parse_name(option, text, names);
          },
          [=](std::size_t position) { return Json(names.at(position)); }};
}

Rule<std::string> name_of(const std::vector<std::string>& names) {
  return {[=](const std::string& option, const std::string& text) {
    return names[parse_name(option, text, names)];
  }};
}

Rule<std::string> nonempty(const std::string& allowed, const std::string& instead) {
  return {[=](const std::string& option, const std::string& text) {
    if (!text.empty()) return text;
    throw InputError(
        concat(option, " is empty (allowed: ", allowed, "): leave it out for ", instead));
  }};
}

}  // namespace moho::examples
