// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/csv.hpp>
#include <moho/io/text_columns.hpp>
#include <moho/io/text_file.hpp>
#include <moho/io/writer.hpp>
#include <moho/tomography/detail/places.hpp>
#include <moho/tomography/detail/sgt_columns.hpp>
#include <moho/tomography/picks.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace moho::tomography {

namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_sgt(const fs::path& path, const PickFormat& format) {
  if (!format.format.empty()) return format.format == "sgt";
  return lower(path.extension().string()) == ".sgt";
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';') {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// The lines of a .sgt file; a comment that stands alone may hold the names of columns.
class SgtLines {
 public:
  explicit SgtLines(const fs::path& path) : m_name(path.string()), m_text(io::read_text(path)) {}

  // Moves to the next line with numbers; names of columns on the way are kept in `names`.
  bool next() {
    while (m_at < m_text.size()) {
      const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
      const std::string_view line(m_text.data() + m_at, end - m_at);
      m_at = end + 1;
      ++m_number;
      const auto hash = line.find('#');
      words = words_of(line.substr(0, hash));
      if (!words.empty()) return true;
      if (hash != std::string_view::npos) names = words_of(line.substr(hash + 1));
    }
    words.clear();
    return false;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw FileError(concat(m_name, ":", m_number, ": ", why));
  }
  double number(std::size_t k) const {
    const auto value = text::to_number(words[k]);
    if (!value) refuse(concat("'", words[k], "' is no finite number"));
    return *value;
  }
  // Reads the count that stands before points or picks.
  std::int64_t count(const char* what) {
    if (!next()) refuse(concat("the file ends before the number of ", what));
    const auto value = text::to_count(words[0]);
    if (!value) refuse(concat("'", words[0], "' is no number of ", what));
    names.clear();
    return *value;
  }
  void need(std::int64_t k, std::int64_t n, const char* what) {
    if (next()) return;
    refuse(concat("the file ends after ", k, " ", what, " (its count says ", n,
                  "): correct the count or add the lines"));
  }

  std::vector<std::string> words, names;

 private:
  std::string m_name, m_text;
  std::size_t m_at = 0;
  std::int64_t m_number = 0;
};

struct SgtPoint {
  std::vector<double> values;
};

std::vector<SgtPoint> read_points(SgtLines& lines, std::int64_t n) {
  std::vector<SgtPoint> points;
  detail::SgtColumns columns;
  for (std::int64_t k = 0; k < n; ++k) {
    lines.need(k, n, "points");
    if (k == 0) columns = detail::SgtColumns(lines.names);
    if (lines.words.size() < 2 || lines.words.size() > 3) {
      lines.refuse(concat("a point has ", lines.words.size(),
                          " numbers (allowed: x and elevation, or x, y and elevation)"));
    }
    SgtPoint point;
    for (std::size_t d = 0; d < lines.words.size(); ++d) point.values.push_back(lines.number(d));
    if (const auto fault = columns.sort(point.values); !fault.empty()) lines.refuse(fault);
    points.push_back(point);
  }
  return points;
}

// True where all points have three coordinates and y is not the same everywhere.
bool three_dimensional(const std::vector<SgtPoint>& points) {
  bool three = !points.empty(), varies = false;
  for (const SgtPoint& p : points) {
    three = three && p.values.size() == 3;
    varies = varies || (three && p.values[1] != points.front().values[1]);
  }
  return three && varies;
}

template <int Dim>
Point<Dim> to_point(const SgtPoint& p) {
  Point<Dim> result{};
  result[0] = p.values[0];
  if constexpr (Dim == 3) result[1] = p.values.size() == 3 ? p.values[1] : 0.0;
  result[Dim - 1] = 0.0 - p.values.back();  // 0, not -0
  return result;
}

// Gives points numbers in the order in which picks use them.
template <int Dim>
class PointList {
 public:
  explicit PointList(Points<Dim>& points) : m_points(points) {}
  int add(const Point<Dim>& p) {
    std::vector<double> key;
    for (int d = 0; d < Dim; ++d) key.push_back(p[d]);
    const auto [at, added] = m_numbers.emplace(key, static_cast<int>(m_points.size()));
    if (added) m_points.push_back(p);
    return at->second;
  }

 private:
  Points<Dim>& m_points;
  std::map<std::vector<double>, int> m_numbers;
};

template <int Dim>
void sort_picks(PickSet<Dim>& set) {
  std::stable_sort(set.picks.begin(), set.picks.end(), [](const Pick& a, const Pick& b) {
    return a.source != b.source ? a.source < b.source : a.receiver < b.receiver;
  });
}

template <int Dim>
PickSet<Dim> read_sgt(const fs::path& path, double unit) {
  SgtLines lines(path);
  const std::int64_t point_count = lines.count("points");
  const std::vector<SgtPoint> points = read_points(lines, point_count);
  const std::int64_t n = lines.count("picks");
  PickSet<Dim> set;
  PointList<Dim> sources(set.sources), receivers(set.receivers);
  std::map<std::string, std::size_t> column{{"s", 0}, {"g", 1}, {"t", 2}};
  for (std::int64_t k = 0; k < n; ++k) {
    lines.need(k, n, "picks");
    if (k == 0 && !lines.names.empty()) {
      column.clear();
      for (std::size_t c = 0; c < lines.names.size(); ++c) column[lower(lines.names[c])] = c;
      for (const char* name : {"s", "g", "t"}) {
        if (column.count(name) == 0) {
          lines.refuse(concat("the names above lack ", name, " (needed: s, g and t)"));
        }
      }
    }
    const auto value = [&](const char* name) -> std::optional<double> {
      const auto at = column.find(name);
      if (at == column.end()) return std::nullopt;
      if (at->second >= lines.words.size()) {
        lines.refuse(concat("there is no column ", at->second + 1, " for ", name));
      }
      return lines.number(at->second);
    };
    const auto point = [&](const char* name) {
      const double number = *value(name);
      if (number < 1 || number > static_cast<double>(point_count) || number != std::floor(number)) {
        lines.refuse(concat("point ", number, " of column ", name, " (allowed: 1 to ", point_count,
                            ", points count from 1)"));
      }
      return points[static_cast<std::size_t>(number) - 1];
    };
    Pick pick;
    pick.time = *value("t") * unit;
    pick.error = value("err").value_or(0.0) * unit;
    const SgtPoint from = point("s"), to = point("g");
    if (value("valid").value_or(1.0) == 0.0) {
      ++set.left_out;
      continue;
    }
    pick.source = sources.add(to_point<Dim>(from));
    pick.receiver = receivers.add(to_point<Dim>(to));
    set.picks.push_back(pick);
  }
  if (lines.next() && lines.words.size() >= 3) {
    lines.refuse(concat("there are more than ", n,
                        " picks, the number that the file states: correct the count"));
  }
  sort_picks(set);
  return set;
}

// Columns of a table by their names in lower case.
class Columns {
 public:
  Columns(const fs::path& path, const io::Table& table) : m_path(path), m_table(table) {
    for (std::size_t k = 0; k < table.names.size(); ++k) {
      if (!m_column.emplace(lower(table.names[k]), static_cast<std::int64_t>(k)).second) {
        throw FileError(concat(path.string(), ": the column ", table.names[k], " occurs twice"));
      }
    }
  }
  bool has(const std::string& name) const { return m_column.count(name) > 0; }
  // Refuses names that no list has: a misspelt column would be ignored.
  void allow(const std::vector<std::string>& names) const {
    for (const auto& [name, index] : m_column) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string list;
      for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
      throw FileError(concat(m_path.string(), ": the column ", name, " is not known (allowed: ",
                             list, "): correct its name or leave it out"));
    }
  }
  double at(std::int64_t row, const std::string& name) const {
    return m_table.at(row, m_column.at(name));
  }
  double at(std::int64_t row, const std::string& name, double otherwise) const {
    return has(name) ? at(row, name) : otherwise;
  }
  void need(const std::vector<std::string>& names, const std::string& form) const {
    for (const std::string& name : names) {
      if (has(name)) continue;
      throw FileError(
          concat(m_path.string(), ": there is no column ", name, " (needed: ", form,
                 "; optional: error, weight, use): name the columns in the first line"));
    }
  }

 private:
  fs::path m_path;
  const io::Table& m_table;
  std::map<std::string, std::int64_t> m_column;
};

// Points of a table id,x[,y],z.
template <int Dim>
std::map<double, Point<Dim>> read_stations(const fs::path& path, const std::string& name,
                                           double sign) {
  if (path.empty()) {
    throw InputError(concat(name, " is missing (the picks name points by ids): give a table with ",
                            "the columns id,x", Dim == 3 ? ",y" : "", ",z"));
  }
  const io::Table table = io::read_csv(path);
  const Columns columns(path, table);
  columns.need(Dim == 2 ? std::vector<std::string>{"id", "x", "z"}
                        : std::vector<std::string>{"id", "x", "y", "z"},
               Dim == 2 ? "id, x, z" : "id, x, y, z");
  std::map<double, Point<Dim>> points;
  for (std::int64_t k = 0; k < table.rows(); ++k) {
    Point<Dim> p{};
    p[0] = columns.at(k, "x");
    if constexpr (Dim == 3) p[1] = columns.at(k, "y");
    p[Dim - 1] = sign * columns.at(k, "z");
    if (!points.emplace(columns.at(k, "id"), p).second) {
      throw FileError(concat(path.string(), ": id ", columns.at(k, "id"), " occurs twice"));
    }
  }
  return points;
}

template <int Dim>
PickSet<Dim> read_table(const fs::path& path, const PickFormat& format) {
  const io::Table table = io::read_csv(path);
  const Columns columns(path, table);
  const double sign = format.elevations ? -1.0 : 1.0;
  PickSet<Dim> set;
  PointList<Dim> sources(set.sources), receivers(set.receivers);
  std::map<double, Point<Dim>> shots, stations;
  // the last ones are those of picks.csv, results of an inversion
  columns.allow({"sx", "sy", "sz", "rx", "ry", "rz", "time", "error", "weight", "use", "shot",
                 "receiver", "source", "offset", "predicted", "residual", "z", "flag"});
  const bool ids = columns.has("shot") && !columns.has("sx");
  if (ids) {
    columns.need({"shot", "receiver", "time"}, "shot, receiver, time");
    shots = read_stations<Dim>(format.shots, format.names("shots"), sign);
    stations = read_stations<Dim>(format.receivers, format.names("receivers"), sign);
  } else if (Dim == 2) {
    columns.need({"sx", "sz", "rx", "rz", "time"}, "sx, sz, rx, rz, time");
  } else {
    columns.need({"sx", "sy", "sz", "rx", "ry", "rz", "time"}, "sx, sy, sz, rx, ry, rz, time");
  }
  const auto index = [&](std::int64_t row, const std::string& s) {
    Point<Dim> p{};
    p[0] = columns.at(row, s + "x");
    if constexpr (Dim == 3) p[1] = columns.at(row, s + "y");
    p[Dim - 1] = sign * columns.at(row, s + "z");
    return p;
  };
  const auto station = [&](const std::map<double, Point<Dim>>& points, const char* name,
                           std::int64_t row) {
    const auto at = points.find(columns.at(row, name));
    if (at == points.end()) {
      throw FileError(concat(path.string(), ": row ", row + 1, " names ", name, " ",
                             columns.at(row, name), ", which its table does not have"));
    }
    return at->second;
  };
  for (std::int64_t k = 0; k < table.rows(); ++k) {
    Pick pick;
    pick.time = columns.at(k, "time") * format.time_unit;
    pick.error = columns.at(k, "error", 0.0) * format.time_unit;
    pick.weight = columns.at(k, "weight", 1.0);
    if (!(pick.weight >= 0.0)) {
      throw FileError(concat(path.string(), ": row ", k + 1, " has the weight ", pick.weight,
                             " (allowed: 0 or more)"));
    }
    if (columns.has("error") && !(pick.error > 0.0)) {
      throw FileError(concat(path.string(), ": row ", k + 1, " has the error ", pick.error,
                             " s (allowed: above 0): correct it, or leave the column out and give ",
                             format.names("an error of all picks")));
    }
    if (columns.at(k, "use", 1.0) == 0.0 || pick.weight == 0.0) {
      ++set.left_out;
      continue;
    }
    pick.source = sources.add(ids ? station(shots, "shot", k) : index(k, "s"));
    pick.receiver = receivers.add(ids ? station(stations, "receiver", k) : index(k, "r"));
    set.picks.push_back(pick);
  }
  sort_picks(set);
  return set;
}

// Refuses tables of points for picks that have their positions.
void need_ids(const fs::path& path, const PickFormat& format) {
  if (!is_sgt(path, format)) {
    const io::Table table = io::read_csv(path);
    const Columns columns(path, table);
    if (columns.has("shot") && !columns.has("sx")) return;
  }
  throw InputError(concat(format.names(format.shots.empty() ? "receivers" : "shots"),
                          " was given, and the picks of ", path.string(),
                          " have their positions (allowed: picks with the columns shot and "
                          "receiver): leave it out"));
}

template <int Dim>
double distance(const Point<Dim>& a, const Point<Dim>& b) {
  double square = 0.0;
  for (int d = 0; d < Dim; ++d) square += (a[d] - b[d]) * (a[d] - b[d]);
  return std::sqrt(square);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Distance of each point to its nearest other one, of all sources and receivers together.
template <int Dim>
double spacing_of(const PickSet<Dim>& set) {
  Points<Dim> all = set.receivers;
  std::sort(all.begin(), all.end(), [](const Point<Dim>& a, const Point<Dim>& b) {
    for (int d = 0; d < Dim; ++d) {
      if (a[d] != b[d]) return a[d] < b[d];
    }
    return false;
  });
  std::vector<double> nearest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    double min = 0.0;
    const auto look = [&](std::size_t j) {
      const double far = distance<Dim>(all[i], all[j]);
      if (far > 0.0 && (min == 0.0 || far < min)) min = far;
    };
    for (std::size_t j = i; j-- > 0 && (min == 0.0 || all[i][0] - all[j][0] < min);) look(j);
    for (std::size_t j = i + 1; j < all.size() && (min == 0.0 || all[j][0] - all[i][0] < min);
         ++j) {
      look(j);
    }
    if (min > 0.0) nearest.push_back(min);
  }
  return median(nearest);
}

template <int Dim>
void check_velocities(const PickSet<Dim>& set, const std::string& name, const ArgumentNames& names,
                      PickCheck& check) {
  std::vector<double> velocities;
  std::vector<std::string> strange;
  std::int64_t bad = 0;
  for (const Pick& pick : set.picks) {
    const double far = distance<Dim>(set.sources[static_cast<std::size_t>(pick.source)],
                                     set.receivers[static_cast<std::size_t>(pick.receiver)]);
    check.longest_offset = std::max(check.longest_offset, far);
    if (far == 0.0) continue;
    const double v = far / pick.time;
    velocities.push_back(v);
    if (v >= 50.0 && v <= 12000.0) continue;
    ++bad;
    if (strange.size() < 5) {
      strange.push_back(concat(detail::pick_text<Dim>(set, pick), ", ", pick.time, " s, has ",
                               text::significant(v, 4), " m/s"));
    }
  }
  const double middle = median(velocities);
  if (middle < 20.0) {
    throw InputError(concat(name, ": the median apparent velocity is ",
                            text::significant(middle, 3),
                            " m/s (allowed: 20 or more): times look like milliseconds, correct ",
                            names("the unit of times")));
  }
  if (bad == 0) return;
  std::string text = concat(bad, " of ", set.picks.size(),
                            " picks have apparent velocities outside of 50 to 12000 m/s");
  for (const std::string& line : strange) text += "; " + line;
  if (static_cast<double>(bad) > 0.01 * static_cast<double>(set.picks.size())) {
    throw InputError(concat(name, ": ", text,
                            " (allowed: up to 1 % of the picks): correct times, positions or ",
                            names("the unit of times")));
  }
  check.warnings.push_back(text);
}

// Refuses times that are not positive, and negative errors.
template <int Dim>
void check_values(const PickSet<Dim>& set, const std::string& name) {
  std::int64_t bad = 0;
  const Pick* first = nullptr;
  const auto is_time = [](double time) { return time > 0.0 && std::isfinite(time); };
  for (const Pick& pick : set.picks) {
    if (is_time(pick.time) && pick.error >= 0.0) continue;
    if (bad++ == 0) first = &pick;
  }
  if (bad == 0) return;
  const bool time = !is_time(first->time);
  throw InputError(concat(name, ": ", detail::pick_text<Dim>(set, *first), " has the ",
                          time ? "time " : "error ", time ? first->time : first->error,
                          " s (allowed: ", time ? "times above 0" : "errors from 0",
                          bad > 1 ? concat("; ", bad, " such picks") : "",
                          "): correct it, or leave it out by use 0 in a table, valid 0 in a file "
                          ".sgt"));
}

template <int Dim>
void compare_pairs(const PickSet<Dim>& set, PickCheck& check) {
  std::map<std::pair<std::vector<double>, std::vector<double>>, double> times;
  const auto key = [](const Point<Dim>& p) {
    return std::vector<double>(p.data(), p.data() + Dim);
  };
  double sum = 0.0;
  for (const Pick& pick : set.picks) {
    const auto s = key(set.sources[static_cast<std::size_t>(pick.source)]);
    const auto r = key(set.receivers[static_cast<std::size_t>(pick.receiver)]);
    const auto same = times.emplace(std::make_pair(s, r), pick.time);
    if (!same.second) {
      ++check.repeated;
      check.largest_repeated =
          std::max(check.largest_repeated, std::abs(pick.time - same.first->second));
    }
    if (s == r) continue;
    const auto other = times.find({r, s});
    if (other == times.end()) continue;
    ++check.reciprocal_pairs;
    sum += 0.5 * (pick.time - other->second) * (pick.time - other->second);
  }
  if (check.reciprocal_pairs > 0) {
    check.reciprocal_rms = std::sqrt(sum / static_cast<double>(check.reciprocal_pairs));
  }
}

}  // namespace

std::string to_string(StopReason stop, const ArgumentNames& names) {
  switch (stop) {
    case StopReason::target:
      return "chi^2 is at its target";
    case StopReason::floor:
      return concat("lambda is at its least, 1 / ", names("deviation_max"),
                    ", and chi^2 fell by less than 2 %");
    case StopReason::stalled:
      return "the last step was predicted to gain less than 2 %";
    case StopReason::iterations:
      return "the largest number of iterations is reached";
    case StopReason::failed:
      return "two iterations in turn found no better model";
    case StopReason::none:
      break;
  }
  return "not ended";
}

int dimensions_of_picks(const fs::path& path, const PickFormat& format) {
  if (is_sgt(path, format)) {
    SgtLines lines(path);
    const std::int64_t points = lines.count("points");
    return three_dimensional(read_points(lines, points)) ? 3 : 2;
  }
  const io::Table table = io::read_csv(path);
  const Columns columns(path, table);
  if (columns.has("shot") && !columns.has("sx") && !format.shots.empty()) {
    const io::Table shots = io::read_csv(format.shots);
    return Columns(format.shots, shots).has("y") ? 3 : 2;
  }
  return columns.has("sy") ? 3 : 2;
}

template <int Dim>
PickSet<Dim> read_picks(const fs::path& path, const PickFormat& format) {
  if (!format.shots.empty() || !format.receivers.empty()) need_ids(path, format);
  return is_sgt(path, format) ? read_sgt<Dim>(path, format.time_unit)
                              : read_table<Dim>(path, format);
}

template <int Dim>
void write_sgt(const fs::path& path, const PickSet<Dim>& set) {
  Points<Dim> points;
  PointList<Dim> numbers(points);
  bool errors = true;
  std::string rows;
  for (const Pick& pick : set.picks) errors = errors && pick.error > 0.0;
  for (const Pick& pick : set.picks) {
    const int s = numbers.add(set.sources[static_cast<std::size_t>(pick.source)]);
    const int g = numbers.add(set.receivers[static_cast<std::size_t>(pick.receiver)]);
    rows += concat(s + 1, '\t', g + 1, '\t');
    io::append_number(rows, pick.time);
    if (errors) {
      rows += '\t';
      io::append_number(rows, pick.error);
    }
    rows += '\n';
  }
  io::AtomicFile file(path);
  file.write(concat(points.size(), " # shot/geophone points\n#x\t", Dim == 3 ? "y\t" : "", "z\n"));
  for (const Point<Dim>& p : points) {
    std::string line;
    for (int d = 0; d < Dim; ++d) {
      if (d > 0) line += '\t';
      io::append_number(line, d + 1 < Dim ? p[d] : 0.0 - p[d]);
    }
    file.write(line + '\n');
  }
  file.write(concat(set.picks.size(), " # measurements\n#s\tg\tt", errors ? "\terr" : "", "\n"));
  file.write(rows);
  file.commit();
}

template <int Dim>
PickCheck check_picks(const PickSet<Dim>& set, const std::string& name,
                      const ArgumentNames& names) {
  if (set.picks.size() < 10) {
    throw InputError(concat(name, ": there are ", set.picks.size(), " picks in use and ",
                            set.left_out, " that are left out (allowed: 10 or more in use)"));
  }
  if (set.sources.size() < 2) {
    throw InputError(concat(name,
                            ": all picks have the same source (allowed: two sources or "
                            "more, which cover the model)"));
  }
  check_values<Dim>(set, name);
  PickCheck check;
  check_velocities(set, name, names, check);
  check.receiver_spacing = spacing_of(set);
  if (!(check.receiver_spacing > 0.0)) {
    throw InputError(
        concat(name, ": all receivers are at one point (allowed: two or more places)"));
  }
  compare_pairs(set, check);
  return check;
}

template PickSet<2> read_picks<2>(const fs::path&, const PickFormat&);
template PickSet<3> read_picks<3>(const fs::path&, const PickFormat&);
template void write_sgt<2>(const fs::path&, const PickSet<2>&);
template void write_sgt<3>(const fs::path&, const PickSet<3>&);
template PickCheck check_picks<2>(const PickSet<2>&, const std::string&, const ArgumentNames&);
template PickCheck check_picks<3>(const PickSet<3>&, const std::string&, const ArgumentNames&);

}  // namespace moho::tomography
