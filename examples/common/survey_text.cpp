// SPDX-License-Identifier: BSD-3-Clause
#include "common/survey_text.hpp"

#include <moho/wave/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace moho::examples {

namespace {

// The axis of the grid that stands at a place in a text.
template <int Dim>
int axis_at(int place, TextOrder order) {
  return Dim == 3 && order == TextOrder::xzy && place > 0 ? 3 - place : place;
}

template <int Dim>
bool same(const Points<Dim>& a, const Points<Dim>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (int d = 0; d < Dim; ++d) {
      if (a[i][d] != b[i][d]) return false;
    }
  }
  return true;
}

// The fields of a row. Commas and semicolons stand between them, or blanks; one at the end of the
// row is followed by an empty field.
void split_row(std::string_view row, std::vector<std::string_view>& fields) {
  fields.clear();
  bool expected = false;
  for (;;) {
    row = wave::detail::trim(row);
    if (row.empty()) {
      if (expected) fields.emplace_back();
      return;
    }
    const auto end = std::min(row.find_first_of(",; \t"), row.size());
    fields.push_back(row.substr(0, end));
    row = wave::detail::trim(row.substr(end));
    expected = !row.empty() && (row.front() == ',' || row.front() == ';');
    if (expected) row.remove_prefix(1);
  }
}

void append_number(std::string& text, double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

template <int Dim>
void append_rows(std::string& text, const std::string& shot, const char* kind,
                 const Points<Dim>& points) {
  for (const Point<Dim>& point : points) {
    text += shot;
    text += kind;
    for (int d = 0; d < Dim; ++d) {
      text += ", ";
      append_number(text, point[d]);
    }
    text += '\n';
  }
}

}  // namespace

template <int Dim>
Points<Dim> parse_points(const std::string& what, const std::string& text, TextOrder order) {
  std::string axes_text;
  for (int d = 0; d < Dim; ++d) {
    axes_text += concat(d ? "," : "", axis_name<Dim>(axis_at<Dim>(d, order)));
  }
  const std::string forms =
      concat("\"", axes_text, "\" for one point, \"", axes_text, ":", axes_text,
             ":n\" for a line of n, \"", axes_text, ":", axes_text, ":", Dim == 2 ? "nxm" : "nxmxk",
             "\" for a grid, several of them joined by \";\"");
  const auto refuse = [&](const std::string& piece, const std::string& why) -> InputError {
    return InputError(concat(what, ": '", piece, "' ", why, " (allowed: ", forms, ")"));
  };
  const auto point = [&](const std::string& piece) {
    const std::vector<std::string> numbers = wave::detail::split(piece, ',');
    if (numbers.size() != Dim) {
      throw refuse(piece, concat("has ", piece.empty() ? 0 : numbers.size(), " coordinate",
                                 numbers.size() == 1 && !piece.empty() ? "" : "s", ", not ", Dim));
    }
    Point<Dim> result{};
    for (int d = 0; d < Dim; ++d) {
      const auto value = wave::detail::to_number(numbers[static_cast<std::size_t>(d)]);
      if (!value) {
        throw refuse(piece, concat("has '", numbers[static_cast<std::size_t>(d)],
                                   "' where a number should be"));
      }
      result[axis_at<Dim>(d, order)] = *value;
    }
    return result;
  };
  Points<Dim> points;
  for (const std::string& piece : wave::detail::split(text, ';')) {
    const std::vector<std::string> parts = wave::detail::split(piece, ':');
    if (parts.size() == 1) {
      points.push_back(point(piece));
      continue;
    }
    if (parts.size() != 3) {
      throw refuse(piece, concat("has ", parts.size(), " parts, neither 1 nor 3"));
    }
    const Point<Dim> first = point(parts[0]), last = point(parts[1]);
    const std::vector<std::string> numbers = wave::detail::split(parts[2], 'x');
    if (numbers.size() != 1 && numbers.size() != Dim) {
      throw refuse(piece, concat("has ", numbers.size(), " counts, neither 1 nor ", Dim));
    }
    Index<Dim> counts{};
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      const auto count = wave::detail::to_count(numbers[d]);
      if (!count || *count < 1) {
        throw refuse(piece, concat("has '", numbers[d], "' where a number of points should be"));
      }
      counts[numbers.size() == 1 ? 0 : axis_at<Dim>(static_cast<int>(d), order)] = *count;
    }
    Points<Dim> more;
    try {
      more = numbers.size() == 1 ? wave::point_line<Dim>(first, last, counts[0])
                                 : wave::point_grid<Dim>(first, last, counts);
    } catch (const InputError& error) {
      throw InputError(concat(what, ": '", piece, "': ", error.what()));
    }
    points.insert(points.end(), more.begin(), more.end());
  }
  return points;
}

template <int Dim>
std::vector<wave::Shot<Dim>> parse_shots(std::string_view text, const std::string& name) {
  constexpr std::int64_t every = -1;
  std::vector<wave::Shot<Dim>> shots;
  std::unordered_map<std::int64_t, std::size_t> index;
  Points<Dim> common_sources, common_receivers;
  std::int64_t line_number = 0;
  bool first_row = true;
  std::vector<std::string_view> fields;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    const std::string_view row = wave::detail::trim(line.substr(0, line.find('#')));
    if (row.empty()) continue;
    const auto refuse = [&](const std::string& why) -> FileError {
      return FileError(concat(name, ":", line_number, ": ", why, " (allowed: shot, kind, ",
                              Dim == 2 ? "x, z" : "x, y, z",
                              ", where the shot is a number from 0 up or *, the kind source or "
                              "receiver)"));
    };
    split_row(row, fields);
    if (first_row) {
      first_row = false;
      const bool names = std::none_of(fields.begin(), fields.end(), [](std::string_view field) {
        return field == "*" || wave::detail::to_number(field);
      });
      if (names) continue;
    }
    if (fields.size() != Dim + 2) {
      throw refuse(concat("there are ", fields.size(), " fields, not ", Dim + 2));
    }
    const auto number = fields[0] == "*" ? every : wave::detail::to_count(fields[0]).value_or(-2);
    if (number < every) throw refuse(concat("'", fields[0], "' is no shot"));
    const bool source = fields[1] == "source" || fields[1] == "s";
    if (!source && fields[1] != "receiver" && fields[1] != "r") {
      throw refuse(concat("'", fields[1], "' is no kind"));
    }
    Point<Dim> point{};
    for (int d = 0; d < Dim; ++d) {
      const std::string_view field = fields[static_cast<std::size_t>(d + 2)];
      const auto value = wave::detail::to_number(field);
      if (!value) throw refuse(concat("'", field, "' is not a number"));
      point[d] = *value;
    }
    if (number == every) {
      (source ? common_sources : common_receivers).push_back(point);
      continue;
    }
    const auto [at, is_new] = index.emplace(number, shots.size());
    if (is_new) shots.push_back({number, {}, {}});
    wave::Shot<Dim>& shot = shots[at->second];
    (source ? shot.sources : shot.receivers).push_back(point);
  }
  if (shots.empty()) {
    throw FileError(concat(name,
                           ": there is no shot (allowed: 1 or more): give rows \"shot, kind, ",
                           Dim == 2 ? "x, z" : "x, y, z", "\""));
  }
  for (wave::Shot<Dim>& shot : shots) {
    shot.sources.insert(shot.sources.end(), common_sources.begin(), common_sources.end());
    shot.receivers.insert(shot.receivers.end(), common_receivers.begin(), common_receivers.end());
    if (shot.sources.empty() || shot.receivers.empty()) {
      throw FileError(concat(name, ": shot ", shot.number, " has no ",
                             shot.sources.empty() ? "source" : "receiver",
                             " (allowed: 1 or more): add its row"));
    }
  }
  return shots;
}

template <int Dim>
std::string format_shots(const std::vector<wave::Shot<Dim>>& shots) {
  bool common = shots.size() > 1;
  for (const wave::Shot<Dim>& shot : shots) {
    common = common && same<Dim>(shot.receivers, shots.front().receivers);
  }
  std::string text = Dim == 2 ? "shot, kind, x, z\n" : "shot, kind, x, y, z\n";
  for (const wave::Shot<Dim>& shot : shots) {
    const std::string number = concat(shot.number);
    append_rows<Dim>(text, number, ", source", shot.sources);
    if (!common) append_rows<Dim>(text, number, ", receiver", shot.receivers);
  }
  if (common) append_rows<Dim>(text, "*", ", receiver", shots.front().receivers);
  return text;
}

#define MOHO_SURVEY_TEXT(Dim)                                                                   \
  template Points<Dim> parse_points<Dim>(const std::string&, const std::string&, TextOrder);    \
  template std::vector<wave::Shot<Dim>> parse_shots<Dim>(std::string_view, const std::string&); \
  template std::string format_shots<Dim>(const std::vector<wave::Shot<Dim>>&);

MOHO_SURVEY_TEXT(2)
MOHO_SURVEY_TEXT(3)
#undef MOHO_SURVEY_TEXT

}  // namespace moho::examples
