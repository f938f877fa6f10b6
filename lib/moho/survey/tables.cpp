// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/text_file.hpp>
#include <moho/io/writer.hpp>
#include <moho/survey/tables.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <unordered_map>

namespace moho::survey {

namespace {

io::Table read_npy_table(const std::string& path) {
  io::Array<double> array = io::read_npy<double>(path);
  if (array.rank() > 2) {
    throw FileError(concat(path, ": its shape is ", io::shape_string(array.shape),
                           " (allowed: n or n x columns)"));
  }
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    if (std::isfinite(array.data[i])) continue;
    throw FileError(
        concat(path, ": value ", i, " is ", array.data[i], " (allowed: finite numbers)"));
  }
  io::Table table;
  table.columns = array.rank() == 2 ? array.shape[1] : 1;
  table.values = std::move(array.data);
  return table;
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

// Returns a name of a column in lower case, without quotation marks.
std::string column_name(std::string_view field) {
  if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
    field = text::trim(field.substr(1, field.size() - 2));
  }
  std::string name(field);
  for (char& letter : name) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

// Finds the columns of shot, kind and the axes in a row of names.
// Returns why the row is refused; empty if it has each name once and no other.
template <int Dim>
std::string read_names(const std::vector<std::string_view>& fields,
                       std::array<std::size_t, Dim + 2>& column) {
  std::vector<std::string> wanted{"shot", "kind"};
  for (int d = 0; d < Dim; ++d) wanted.emplace_back(axis_name<Dim>(d));
  std::vector<bool> found(wanted.size());
  for (std::size_t at = 0; at < fields.size(); ++at) {
    const std::string name = column_name(fields[at]);
    const auto k =
        static_cast<std::size_t>(std::find(wanted.begin(), wanted.end(), name) - wanted.begin());
    if (k == wanted.size()) {
      return concat("'", fields[at], "' is no name of a column in the first row");
    }
    if (found[k]) return concat("the first row has the name '", fields[at], "' twice");
    found[k] = true;
    column[k] = at;
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!found[k]) return concat("the first row has no name '", wanted[k], "'");
  }
  return "";
}

template <int Dim>
void append_rows(std::string& text, const std::string& shot, const char* kind,
                 const Points<Dim>& points) {
  for (const Point<Dim>& point : points) {
    text += shot;
    text += kind;
    for (int d = 0; d < Dim; ++d) {
      text += ", ";
      io::append_number(text, point[d]);
    }
    text += '\n';
  }
}

// Returns the seconds of a unit of the times of a wavelet, by the name of their column.
double unit_of_times(const io::Table& table, const std::string& path) {
  if (table.names.empty()) return 1.0;
  const std::string name = column_name(table.names.front());
  for (const char* const known : {"time", "t", "time_s", "t_s"}) {
    if (name == known) return 1.0;
  }
  for (const char* const known : {"time_ms", "t_ms"}) {
    if (name == known) return 1e-3;
  }
  throw FileError(concat(path, ": the first column is '", table.names.front(),
                         "' (allowed: time, t, time_s or t_s in seconds, time_ms or t_ms in "
                         "milliseconds): name the unit of the times"));
}

// Samples of a wavelet, dt seconds apart.
std::vector<double> read_wavelet(const wave::WaveletText& text, const std::string& what,
                                 double dt) {
  if (text.kind != wave::WaveletText::Kind::file) return wave::make_wavelet(text, dt);
  io::Table table;
  try {
    table = read_table(text.path);
  } catch (const FileError& error) {
    throw FileError(concat(what, ": ", error.what()));
  }
  if (table.columns > 2) {
    throw FileError(concat(what, ": ", text.path, ": it has ", table.columns,
                           " columns (allowed: time and amplitude, or amplitude alone)"));
  }
  std::vector<double> samples;
  double interval = text.interval;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    samples.push_back(table.at(row, table.columns - 1));
  }
  if (table.columns == 1) {
    if (interval == 0.0) {
      throw InputError(concat("wavelet ", text.path,
                              ": it has no times (allowed: two columns, time and amplitude, or the "
                              "interval behind the path): write file:",
                              text.path, ":0.001 for an interval of 1 ms"));
    }
    return wave::resample(samples, interval, dt);
  }
  if (interval != 0.0) {
    throw InputError(concat("wavelet ", text.path, ": its interval is given, ", interval,
                            " s, and it has times (allowed: one of them): leave out the interval"));
  }
  if (table.rows() < 2) {
    throw FileError(concat(text.path, ": there is one time (allowed: 2 or more)"));
  }
  const double unit = unit_of_times(table, text.path);
  const double end = unit * table.at(table.rows() - 1, 0);
  interval = end / static_cast<double>(table.rows() - 1);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const double expected = static_cast<double>(row) * interval;
    if (interval > 0.0 && std::fabs(unit * table.at(row, 0) - expected) <= 1e-3 * interval)
      continue;
    throw FileError(
        concat(text.path, ": time ", row, " is ", unit * table.at(row, 0),
               " s (allowed: equal intervals from 0; up to the last time they would be ", interval,
               " s): resample the wavelet, or shift it to begin at 0"));
  }
  return wave::resample(samples, interval, dt);
}

}  // namespace

io::Table read_table(const std::string& path) {
  return std::filesystem::path(path).extension() == ".npy" ? read_npy_table(path)
                                                           : io::read_csv(path);
}

template <int Dim>
std::vector<wave::Shot<Dim>> shots_from_text(std::string_view text, const std::string& name) {
  constexpr std::int64_t every = -1;
  std::vector<wave::Shot<Dim>> shots;
  std::unordered_map<std::int64_t, std::size_t> index;
  Points<Dim> common_sources, common_receivers;
  std::int64_t line_number = 0;
  bool first_row = true;
  std::array<std::size_t, Dim + 2> column{};
  std::iota(column.begin(), column.end(), std::size_t(0));
  std::vector<std::string_view> fields, written;
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);  // byte order mark
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
        const std::string why = read_names<Dim>(written, column);
        if (!why.empty()) throw refuse(why);
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
std::vector<wave::Shot<Dim>> shots_from_file(const std::string& path, const std::string& what) {
  std::string text;
  try {
    text = io::read_text(path);
  } catch (const FileError& error) {
    throw FileError(concat(what, ": ", error.what()));
  }
  return shots_from_text<Dim>(text, path);
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

wave::WaveletAt wavelet_from_text(const std::string& text, const std::string& what) {
  return [wavelet = wave::parse_wavelet(text), what](double dt) {
    return read_wavelet(wavelet, what, dt);
  };
}

double peak_frequency(const std::string& text, const std::string& what) {
  constexpr double dt = 1e-3;
  const double of_ricker = wave::highest_frequency(wave::ricker(10.0, dt), dt) / 10.0;
  try {
    const wave::WaveletText wavelet = wave::parse_wavelet(text);
    if (wavelet.kind == wave::WaveletText::Kind::ricker) return wavelet.frequency;
    return wave::highest_frequency(read_wavelet(wavelet, what, dt), dt) / of_ricker;
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.rfind(what, 0) == 0 ? message : concat(what, ": ", message));
  }
}

template std::vector<wave::Shot<2>> shots_from_text<2>(std::string_view, const std::string&);
template std::vector<wave::Shot<3>> shots_from_text<3>(std::string_view, const std::string&);
template std::vector<wave::Shot<2>> shots_from_file<2>(const std::string&, const std::string&);
template std::vector<wave::Shot<3>> shots_from_file<3>(const std::string&, const std::string&);
template std::string format_shots<2>(const std::vector<wave::Shot<2>>&);
template std::string format_shots<3>(const std::vector<wave::Shot<3>>&);

}  // namespace moho::survey
