// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/survey/points_text.hpp>
#include <moho/survey/tables.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace moho::survey {

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

namespace {

template <int Dim>
constexpr const char* axis_letters = Dim == 2 ? "xz" : "xyz";
template <int Dim>
constexpr const char* axes_text = Dim == 2 ? "x,z" : "x,y,z";

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
  static int axis(char letter) {
    return static_cast<int>(std::string(axis_letters<Dim>).find(letter));
  }

  // Joins coordinates from a position in a list.
  static std::string join(const std::vector<std::string>& numbers, std::size_t from) {
    std::string text;
    for (std::size_t d = 0; d < Dim; ++d) text += (d ? "," : "") + numbers[from + d];
    return text;
  }

  InputError refuse(const std::string& piece, const std::string& why) const {
    const std::string axes = axes_text<Dim>;
    return InputError(concat(m_what, ": '", piece, "' ", why, " (allowed: \"", axes,
                             "\" for one point, \"", axes, ":", axes, ":n\" for a line of n, \"",
                             axes, ":", axes, ":", Dim == 2 ? "nxm" : "nxmxk",
                             "\" for a grid, several of them joined by \";\")"));
  }

  Point<Dim> point(const std::string& text, const std::string& piece) {
    const AxisValues values = split_axes(m_what, text);
    const std::size_t given = text.empty() ? 0 : values.texts.size();
    if (given != Dim) {
      throw refuse(piece, concat("has ", text::counted(given, "coordinate"), ", not ", Dim));
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

// Returns the points of a text that is no path.
template <int Dim>
Points<Dim> points_of_text(const std::string& what, const std::string& text) {
  PointReader<Dim> reader(what);
  Points<Dim> points;
  for (const std::string& piece : text::split(text, ';')) {
    const Points<Dim> more = reader.piece(piece);
    points.insert(points.end(), more.begin(), more.end());
  }
  return points;
}

// Returns the points of a table, and its columns of text.
template <int Dim>
Points<Dim> points_of_table(const std::string& what, const std::string& text,
                            std::vector<io::TextColumn>& texts) {
  io::Table table;
  try {
    std::vector<std::string> axes;
    for (int d = 0; d < Dim; ++d) axes.emplace_back(axis_name<Dim>(d));
    const bool npy = std::filesystem::path(text).extension() == ".npy";
    table = npy ? read_table(text) : io::read_csv_with_texts(text, axes, texts);
  } catch (const FileError& error) {
    throw FileError(concat(what, ": ", error.what()));
  }
  Index<Dim> columns{};
  for (int d = 0; d < Dim; ++d) {
    columns[d] = d;
    if (table.names.empty()) continue;
    columns[d] = io::find_column(concat(what, " ", text), table, axis_name<Dim>(d));
    if (columns[d] < 0) {
      throw InputError(concat(what, " ", text, ": there is no column '", axis_name<Dim>(d),
                              "' (allowed for a ", Dim, "D model: ", axes_text<Dim>,
                              "): name the columns in the first line"));
    }
  }
  if (table.names.empty() && table.columns != Dim) {
    throw InputError(concat(what, " ", text, ": it has ", text::counted(table.columns, "column"),
                            " without names", " (allowed for a ", Dim, "D model: ", axes_text<Dim>,
                            ")"));
  }
  Points<Dim> points(static_cast<std::size_t>(table.rows()));
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (int d = 0; d < Dim; ++d) {
      points[static_cast<std::size_t>(row)][d] = table.at(row, columns[d]);
    }
  }
  return points;
}

}  // namespace

template <int Dim>
Points<Dim> points_from_text(const std::string& text, const std::string& what,
                             std::vector<io::TextColumn>* columns) {
  std::vector<io::TextColumn> unused;
  std::vector<io::TextColumn>& texts = columns != nullptr ? *columns : unused;
  texts.clear();
  const std::string kind = std::filesystem::path(text).extension().string();
  if (kind == ".csv" || kind == ".txt" || kind == ".npy") {
    return points_of_table<Dim>(what, text, texts);
  }
  const bool a_name = kind.size() > 1 && text.find_first_of(",;:") == std::string::npos &&
                      std::isalpha(static_cast<unsigned char>(kind[1])) != 0;
  if (a_name) {
    throw InputError(concat(what, " ", text, ": '", kind,
                            "' is no kind of table (allowed: .csv, .txt, .npy, or points ",
                            axes_text<Dim>, "): convert it"));
  }
  return points_of_text<Dim>(what, text);
}

template <int Dim>
Points<Dim> points_from_texts(const std::vector<std::string>& texts, const std::string& what) {
  Points<Dim> points;
  for (const std::string& text : texts) {
    const Points<Dim> more = points_from_text<Dim>(text, what);
    points.insert(points.end(), more.begin(), more.end());
  }
  return points;
}

template <int Dim>
std::size_t count_points(const std::vector<std::string>& texts) {
  std::size_t count = 0;
  for (const std::string& text : texts) {
    try {
      count += points_from_text<Dim>(text).size();
    } catch (const Error&) {
      ++count;
    }
  }
  return std::max<std::size_t>(count, 1);
}

template Points<2> points_from_text<2>(const std::string&, const std::string&,
                                       std::vector<io::TextColumn>*);
template Points<3> points_from_text<3>(const std::string&, const std::string&,
                                       std::vector<io::TextColumn>*);
template Points<2> points_from_texts<2>(const std::vector<std::string>&, const std::string&);
template Points<3> points_from_texts<3>(const std::vector<std::string>&, const std::string&);
template std::size_t count_points<2>(const std::vector<std::string>&);
template std::size_t count_points<3>(const std::vector<std::string>&);

}  // namespace moho::survey
