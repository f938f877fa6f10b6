// SPDX-License-Identifier: BSD-3-Clause
#include "app/survey_text.hpp"

#include "app/coordinates.hpp"

#include <moho/core/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace moho::examples {

namespace {

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

// Splits a row into fields, which commas, semicolons or blanks separate.
// A comma or semicolon at the end of the row is followed by an empty field.
void split_row(std::string_view row, std::vector<std::string_view>& fields) {
  fields.clear();
  bool expected = false;
  for (;;) {
    row = text::trim(row);
    if (row.empty()) {
      if (expected) fields.emplace_back();
      return;
    }
    const auto end = std::min(row.find_first_of(",; \t"), row.size());
    fields.push_back(row.substr(0, end));
    row = text::trim(row.substr(end));
    expected = !row.empty() && (row.front() == ',' || row.front() == ';');
    if (expected) row.remove_prefix(1);
  }
}

// Columns of shot, kind and the axes in a row of names; unchanged if one is missing.
template <int Dim>
void read_names(const std::vector<std::string_view>& names,
                std::array<std::size_t, Dim + 2>& column) {
  if (names.size() != column.size()) return;
  std::array<std::size_t, Dim + 2> found{};
  for (std::size_t k = 0; k < column.size(); ++k) {
    const std::string wanted = k == 0   ? "shot"
                               : k == 1 ? "kind"
                                        : axis_name<Dim>(static_cast<int>(k) - 2);
    const auto at = std::find(names.begin(), names.end(), wanted);
    if (at == names.end()) return;
    found[k] = static_cast<std::size_t>(at - names.begin());
  }
  column = found;
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

namespace {

template <int Dim>
constexpr const char* all_axes = Dim == 2 ? "xz" : "xyz";

// Reads the points of a text.
template <int Dim>
class PointReader {
 public:
  explicit PointReader(const std::string& what) : m_what(what) {}

  // Reads the points of a piece between semicolons.
  Points<Dim> piece(const std::string& piece) {
    std::vector<std::string> parts = text::split(piece, ':');
    if (parts.size() == 1) {
      const std::vector<std::string> numbers = text::split(piece, ',');
      if (numbers.size() != 2 * Dim + 1) return {point(piece, piece)};
      parts = {join(numbers, 0), join(numbers, Dim), numbers.back()};
    }
    if (parts.size() != 3) {
      throw refuse(piece, concat("has ", parts.size(), " parts, neither 1 nor 3"));
    }
    const Point<Dim> first = point(parts[0], piece);
    const std::string order = m_order;
    const Point<Dim> last = point(parts[1], piece);
    const std::vector<std::string> numbers = text::split(parts[2], 'x');
    if (numbers.size() != 1 && numbers.size() != Dim) {
      throw refuse(piece, concat("has ", numbers.size(), " counts, neither 1 nor ", Dim));
    }
    Index<Dim> counts{};
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      const auto count = text::to_count(numbers[d]);
      if (!count || *count < 1) {
        throw refuse(piece, concat("has '", numbers[d], "' where a number of points should be"));
      }
      counts[numbers.size() == 1 ? 0 : axis(order[d])] = *count;
    }
    try {
      return numbers.size() == 1 ? wave::point_line<Dim>(first, last, counts[0])
                                 : wave::point_grid<Dim>(first, last, counts);
    } catch (const InputError& error) {
      throw InputError(concat(m_what, ": '", piece, "': ", error.what()));
    }
  }

 private:
  static int axis(char letter) { return static_cast<int>(std::string(all_axes<Dim>).find(letter)); }

  // Joins coordinates from a position in a list.
  static std::string join(const std::vector<std::string>& numbers, std::size_t from) {
    std::string text;
    for (std::size_t d = 0; d < Dim; ++d) text += (d ? "," : "") + numbers[from + d];
    return text;
  }

  InputError refuse(const std::string& piece, const std::string& why) const {
    const std::string axes = Dim == 2 ? "x,z" : "x,y,z";
    return InputError(concat(m_what, ": '", piece, "' ", why, " (allowed: \"", axes,
                             "\" for one point, \"", axes, ":", axes, ":n\" for a line of n, \"",
                             axes, ":", axes, ":", Dim == 2 ? "nxm" : "nxmxk",
                             "\" for a grid, several of them joined by \";\")"));
  }

  Point<Dim> point(const std::string& text, const std::string& piece) {
    const AxisValues values = split_axes(m_what, text);
    const std::size_t given = text.empty() ? 0 : values.texts.size();
    if (given != Dim) {
      throw refuse(piece,
                   concat("has ", given, " coordinate", given == 1 ? "" : "s", ", not ", Dim));
    }
    m_order = values.written;
    Point<Dim> result{};
    for (std::size_t d = 0; d < Dim; ++d) {
      const auto value = text::to_number(values.texts[d]);
      if (!value) {
        throw refuse(piece, concat("has '", values.texts[d], "' where a number should be"));
      }
      result[static_cast<int>(d)] = *value;
    }
    return result;
  }

  std::string m_what;
  std::string m_order;  // order of the axes in the last point
};

}  // namespace

template <int Dim>
Points<Dim> parse_points(const std::string& what, const std::string& text) {
  PointReader<Dim> reader(what);
  Points<Dim> points;
  for (const std::string& piece : text::split(text, ';')) {
    const Points<Dim> more = reader.piece(piece);
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
  std::array<std::size_t, Dim + 2> column{};
  std::iota(column.begin(), column.end(), std::size_t(0));
  std::vector<std::string_view> fields, written;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    const std::string_view row = text::trim(line.substr(0, line.find('#')));
    if (row.empty()) continue;
    const auto refuse = [&](const std::string& why) -> FileError {
      return FileError(concat(name, ":", line_number, ": ", why, " (allowed: shot, kind, ",
                              Dim == 2 ? "x, z" : "x, y, z",
                              ", where the shot is a number from 0 up or *, the kind source or "
                              "receiver)"));
    };
    split_row(row, written);
    fields = written;
    if (first_row) {
      first_row = false;
      const bool names = std::none_of(fields.begin(), fields.end(), [](std::string_view field) {
        return field == "*" || text::to_number(field);
      });
      if (names) {
        read_names<Dim>(written, column);
        continue;
      }
    }
    if (fields.size() != Dim + 2) {
      throw refuse(concat("there are ", fields.size(), " fields, not ", Dim + 2));
    }
    for (std::size_t k = 0; k < column.size(); ++k) fields[k] = written[column[k]];
    const auto number = fields[0] == "*" ? every : text::to_count(fields[0]).value_or(-2);
    if (number < every) throw refuse(concat("'", fields[0], "' is no shot"));
    const bool source = fields[1] == "source" || fields[1] == "s";
    if (!source && fields[1] != "receiver" && fields[1] != "r") {
      throw refuse(concat("'", fields[1], "' is no kind"));
    }
    Point<Dim> point{};
    for (int d = 0; d < Dim; ++d) {
      const std::string_view field = fields[static_cast<std::size_t>(d + 2)];
      const auto value = text::to_number(field);
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
  template Points<Dim> parse_points<Dim>(const std::string&, const std::string&);               \
  template std::vector<wave::Shot<Dim>> parse_shots<Dim>(std::string_view, const std::string&); \
  template std::string format_shots<Dim>(const std::vector<wave::Shot<Dim>>&);

MOHO_SURVEY_TEXT(2)
MOHO_SURVEY_TEXT(3)
#undef MOHO_SURVEY_TEXT

}  // namespace moho::examples
