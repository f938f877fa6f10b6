// SPDX-License-Identifier: BSD-3-Clause

#include <moho/wave/geometry.hpp>
#include <moho/wave/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace moho::wave {

namespace {

// More points than any survey has.
constexpr std::int64_t most_points = 1'000'000'000;

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

// The coordinate of point i of count between two ends, which are met exactly.
double between(double first, double last, std::int64_t i, std::int64_t count) {
  if (i == 0) return first;
  if (i == count - 1) return last;
  return first + (last - first) * (static_cast<double>(i) / static_cast<double>(count - 1));
}

template <int Dim>
void check_ends(const Point<Dim>& first, const Point<Dim>& last) {
  for (int d = 0; d < Dim; ++d) {
    if (std::isfinite(first[d]) && std::isfinite(last[d])) continue;
    throw InputError(concat("points from ", format_point(first), " to ", format_point(last),
                            ": a coordinate is not finite (allowed: finite numbers)"));
  }
}

void check_point_count(double count, bool differ) {
  if (!(count >= 1.0) || count > static_cast<double>(most_points)) {
    throw InputError(
        concat("points: their number is ", count, " (allowed: 1 to ", most_points, ")"));
  }
  if (count == 1.0 && differ) {
    throw InputError(
        "points: there is one for two different ends (allowed: 2 or more, or the same end twice)");
  }
}

// The fields of a row. Commas and semicolons stand between them, or blanks; one at the end of the
// row is followed by an empty field.
void split_row(std::string_view row, std::vector<std::string_view>& fields) {
  fields.clear();
  bool expected = false;
  for (;;) {
    row = detail::trim(row);
    if (row.empty()) {
      if (expected) fields.emplace_back();
      return;
    }
    const auto end = std::min(row.find_first_of(",; \t"), row.size());
    fields.push_back(row.substr(0, end));
    row = detail::trim(row.substr(end));
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
Points<Dim> point_line(const Point<Dim>& first, const Point<Dim>& last, std::int64_t count) {
  check_ends<Dim>(first, last);
  check_point_count(static_cast<double>(count), !same<Dim>({first}, {last}));
  Points<Dim> points(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    for (int d = 0; d < Dim; ++d) {
      points[static_cast<std::size_t>(i)][d] = between(first[d], last[d], i, count);
    }
  }
  return points;
}

template <int Dim>
Points<Dim> point_grid(const Point<Dim>& first, const Point<Dim>& last, const Index<Dim>& counts) {
  check_ends<Dim>(first, last);
  double total = 1.0;
  for (int d = 0; d < Dim; ++d) {
    check_point_count(static_cast<double>(counts[d]), first[d] != last[d]);
    total *= static_cast<double>(counts[d]);
  }
  check_point_count(total, false);
  const Box<Dim> box{{}, counts};
  Points<Dim> points(static_cast<std::size_t>(box.size()));
  for (std::int64_t i = 0; i < box.size(); ++i) {
    const Index<Dim> node = box.node(i);
    for (int d = 0; d < Dim; ++d) {
      points[static_cast<std::size_t>(i)][d] = between(first[d], last[d], node[d], counts[d]);
    }
  }
  return points;
}

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
    const std::vector<std::string> numbers = detail::split(piece, ',');
    if (numbers.size() != Dim) {
      throw refuse(piece, concat("has ", piece.empty() ? 0 : numbers.size(), " coordinate",
                                 numbers.size() == 1 && !piece.empty() ? "" : "s", ", not ", Dim));
    }
    Point<Dim> result{};
    for (int d = 0; d < Dim; ++d) {
      const auto value = detail::to_number(numbers[static_cast<std::size_t>(d)]);
      if (!value) {
        throw refuse(piece, concat("has '", numbers[static_cast<std::size_t>(d)],
                                   "' where a number should be"));
      }
      result[axis_at<Dim>(d, order)] = *value;
    }
    return result;
  };
  Points<Dim> points;
  for (const std::string& piece : detail::split(text, ';')) {
    const std::vector<std::string> parts = detail::split(piece, ':');
    if (parts.size() == 1) {
      points.push_back(point(piece));
      continue;
    }
    if (parts.size() != 3) {
      throw refuse(piece, concat("has ", parts.size(), " parts, neither 1 nor 3"));
    }
    const Point<Dim> first = point(parts[0]), last = point(parts[1]);
    const std::vector<std::string> numbers = detail::split(parts[2], 'x');
    if (numbers.size() != 1 && numbers.size() != Dim) {
      throw refuse(piece, concat("has ", numbers.size(), " counts, neither 1 nor ", Dim));
    }
    Index<Dim> counts{};
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      const auto count = detail::to_count(numbers[d]);
      if (!count || *count < 1) {
        throw refuse(piece, concat("has '", numbers[d], "' where a number of points should be"));
      }
      counts[numbers.size() == 1 ? 0 : axis_at<Dim>(static_cast<int>(d), order)] = *count;
    }
    Points<Dim> more;
    try {
      more = numbers.size() == 1 ? point_line<Dim>(first, last, counts[0])
                                 : point_grid<Dim>(first, last, counts);
    } catch (const InputError& error) {
      throw InputError(concat(what, ": '", piece, "': ", error.what()));
    }
    points.insert(points.end(), more.begin(), more.end());
  }
  return points;
}

template <int Dim>
std::vector<Shot<Dim>> fixed_spread(const Points<Dim>& sources, const Points<Dim>& receivers) {
  std::vector<Shot<Dim>> shots(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    shots[i].number = static_cast<std::int64_t>(i);
    shots[i].sources = {sources[i]};
    shots[i].receivers = receivers;
  }
  return shots;
}

template <int Dim>
std::vector<Shot<Dim>> moving_spread(const Points<Dim>& sources, const Points<Dim>& offsets,
                                     const Grid<Dim>& grid) {
  std::vector<Shot<Dim>> shots(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    shots[i].number = static_cast<std::int64_t>(i);
    shots[i].sources = {sources[i]};
    for (Point<Dim> receiver : offsets) {
      for (int d = 0; d < Dim - 1; ++d) receiver[d] += sources[i][d];
      if (grid.contains(receiver)) shots[i].receivers.push_back(receiver);
    }
    if (shots[i].receivers.empty()) {
      throw InputError(concat("shot ", i, ": none of its ", offsets.size(),
                              " receivers is inside of the model, with its source at ",
                              format_point(sources[i]),
                              " (allowed: 1 receiver or more): move the source or change the "
                              "offsets and depths of the receivers"));
    }
  }
  return shots;
}

template <int Dim>
std::vector<Shot<Dim>> parse_shots(std::string_view text, const std::string& name) {
  constexpr std::int64_t every = -1;
  std::vector<Shot<Dim>> shots;
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
    const std::string_view row = detail::trim(line.substr(0, line.find('#')));
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
        return field == "*" || detail::to_number(field);
      });
      if (names) continue;
    }
    if (fields.size() != Dim + 2) {
      throw refuse(concat("there are ", fields.size(), " fields, not ", Dim + 2));
    }
    const auto number = fields[0] == "*" ? every : detail::to_count(fields[0]).value_or(-2);
    if (number < every) throw refuse(concat("'", fields[0], "' is no shot"));
    const bool source = fields[1] == "source" || fields[1] == "s";
    if (!source && fields[1] != "receiver" && fields[1] != "r") {
      throw refuse(concat("'", fields[1], "' is no kind"));
    }
    Point<Dim> point{};
    for (int d = 0; d < Dim; ++d) {
      const std::string_view field = fields[static_cast<std::size_t>(d + 2)];
      const auto value = detail::to_number(field);
      if (!value) throw refuse(concat("'", field, "' is not a number"));
      point[d] = *value;
    }
    if (number == every) {
      (source ? common_sources : common_receivers).push_back(point);
      continue;
    }
    const auto [at, is_new] = index.emplace(number, shots.size());
    if (is_new) shots.push_back({number, {}, {}});
    Shot<Dim>& shot = shots[at->second];
    (source ? shot.sources : shot.receivers).push_back(point);
  }
  if (shots.empty()) {
    throw FileError(concat(name,
                           ": there is no shot (allowed: 1 or more): give rows \"shot, kind, ",
                           Dim == 2 ? "x, z" : "x, y, z", "\""));
  }
  for (Shot<Dim>& shot : shots) {
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
std::string format_shots(const std::vector<Shot<Dim>>& shots) {
  bool common = shots.size() > 1;
  for (const Shot<Dim>& shot : shots) {
    common = common && same<Dim>(shot.receivers, shots.front().receivers);
  }
  std::string text = Dim == 2 ? "shot, kind, x, z\n" : "shot, kind, x, y, z\n";
  for (const Shot<Dim>& shot : shots) {
    const std::string number = concat(shot.number);
    append_rows<Dim>(text, number, ", source", shot.sources);
    if (!common) append_rows<Dim>(text, number, ", receiver", shot.receivers);
  }
  if (common) append_rows<Dim>(text, "*", ", receiver", shots.front().receivers);
  return text;
}

template <int Dim>
void check_shots(const Grid<Dim>& grid, const std::vector<Shot<Dim>>& shots,
                 const Box<Dim>& interior) {
  if (shots.empty()) throw InputError("shots: there is none (allowed: 1 or more)");
  std::unordered_set<std::int64_t> numbers;
  for (const Shot<Dim>& shot : shots) {
    if (shot.number < 0) {
      throw InputError(
          concat("shot ", shot.number, ": its number is negative (allowed: numbers from 0 up)"));
    }
    if (!numbers.insert(shot.number).second) {
      throw InputError(concat("shot ", shot.number,
                              ": there are two of this number (allowed: one): "
                              "number the shots from 0 up"));
    }
    if (shot.sources.empty() || shot.receivers.empty()) {
      throw InputError(concat("shot ", shot.number, ": it has no ",
                              shot.sources.empty() ? "source" : "receiver",
                              " (allowed: 1 or more)"));
    }
    check_positions<Dim>(grid, shot.sources, concat("shot ", shot.number, ": source"), interior);
    check_positions<Dim>(grid, shot.receivers, concat("shot ", shot.number, ": receiver"),
                         interior);
  }
}

#define MOHO_WAVE_GEOMETRY(Dim)                                                                  \
  template Points<Dim> point_line<Dim>(const Point<Dim>&, const Point<Dim>&, std::int64_t);      \
  template Points<Dim> point_grid<Dim>(const Point<Dim>&, const Point<Dim>&, const Index<Dim>&); \
  template Points<Dim> parse_points<Dim>(const std::string&, const std::string&, TextOrder);     \
  template std::vector<Shot<Dim>> fixed_spread<Dim>(const Points<Dim>&, const Points<Dim>&);     \
  template std::vector<Shot<Dim>> moving_spread<Dim>(const Points<Dim>&, const Points<Dim>&,     \
                                                     const Grid<Dim>&);                          \
  template std::vector<Shot<Dim>> parse_shots<Dim>(std::string_view, const std::string&);        \
  template std::string format_shots<Dim>(const std::vector<Shot<Dim>>&);                         \
  template void check_shots<Dim>(const Grid<Dim>&, const std::vector<Shot<Dim>>&, const Box<Dim>&);

MOHO_WAVE_GEOMETRY(2)
MOHO_WAVE_GEOMETRY(3)
#undef MOHO_WAVE_GEOMETRY

}  // namespace moho::wave
